#pragma once

#include <filesystem>
#include <memory>

#include "methods/method.hpp"
#include "peers/plugin.hpp"

namespace opshap::methods {

/// A program in any language as the method "peer:<its name>", through the protocol opshap-peer/1.
///
/// It spends the budget that it is given, which the game counts and not the program. It promises what its plugin.toml
/// claims. Its time is what the host waits for it, without its start. One question at a time: threads wait for each
/// other. attribute() throws peers::Failure for a program that has no attribution to give.
std::unique_ptr<Method> of_peer(peers::Plugin plugin);

/// The same for the plugin of a folder. Throws DataError where there is none, or its plugin.toml cannot be read.
std::unique_ptr<Method> of_peer(const std::filesystem::path& folder);

}  // namespace opshap::methods
