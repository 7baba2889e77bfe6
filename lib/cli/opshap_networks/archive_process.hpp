#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "cli/globals.hpp"
#include "core/operator.hpp"

namespace opshap::cli {

/// The model of a TorchScript archive in a process of its own, which --sandbox hides the machine from: it may read the
/// archive, this program and the libraries that it is made of. `input` is the shape of an array that the model is to
/// get. On grids alone. Throws as peers::peer_operator().
std::unique_ptr<Operator> archive_in_a_process(const std::filesystem::path& archive,
                                               const std::vector<std::int64_t>& input);

/// Adds the hidden command that such a process runs.
void add_serve(CLI::App& app);

}  // namespace opshap::cli
