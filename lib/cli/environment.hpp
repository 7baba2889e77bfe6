#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/globals.hpp"

namespace opshap::cli {

/// What a reported time needs beside it: processor, threads, compiler, system.
nlohmann::ordered_json environment();

/// The same with BLAS, LibTorch and the engine's instruction set; in opshap-networks only.
nlohmann::ordered_json network_environment(const Globals& globals);

}  // namespace opshap::cli
