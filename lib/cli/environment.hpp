#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "cli/globals.hpp"

namespace opshap::cli {

/// "2026-01-31T12:00:00Z".
std::string now_utc();

/// What a reported time needs beside it: processor, threads, compiler, system.
nlohmann::ordered_json environment();

/// The same with BLAS, LibTorch and the engine's instruction set; in opshap-networks only.
nlohmann::ordered_json network_environment(const Globals& globals);

}  // namespace opshap::cli
