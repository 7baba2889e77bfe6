#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "cli/globals.hpp"
#include "core/operator.hpp"
#include "networks/network_config.hpp"

namespace opshap::cli {

/// The operator that --operator names: trained weights, as networks::library().load_operator() reads them, or the program of
/// peer:FOLDER. `input` is the shape of an array that it is to get, where there is one.
///
/// In a kept program (cli/kept_program.hpp) an operator is loaded once and renewed when its file has changed.
///
/// With --sandbox a TorchScript archive, which is code, is run by a process of its own in the sandbox: `opshap operator
/// serve`, a program of opshap-peer/1. It works on regular grids and on the CPU there. Throws as
/// load_operator() and peers::peer_operator(), InvalidArgument for an archive in a sandbox on another device.
std::shared_ptr<const Operator> asked_operator(const std::filesystem::path& op, const Globals& globals,
                                               networks::Precision precision = networks::Precision::float32,
                                               const std::vector<std::int64_t>& input = {});

}  // namespace opshap::cli
