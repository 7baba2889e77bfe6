#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cli/globals.hpp"
#include "runs/manifest.hpp"

namespace opshap::cli {

/// What a reported time needs beside it: processor and how many there are, threads, compiler, system.
nlohmann::ordered_json environment();

/// The same with the device, BLAS, LibTorch and the engine's instruction set. Loads LibTorch.
nlohmann::ordered_json network_environment(const Globals& globals);

/// How a run of this program begins: the command's name, its manifest's schema, what it runs on and what it runs
/// (runs::Beginning). Arguments, seed and commit are known.
runs::Beginning beginning(const std::string& who, std::string_view schema, const Globals& globals,
                          nlohmann::ordered_json environment, nlohmann::ordered_json subject);

}  // namespace opshap::cli
