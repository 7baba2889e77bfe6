#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace opshap {

/// "2026-01-31T12:00:00Z".
std::string now_utc();

/// What a reported time needs beside it: processor, threads, compiler, system.
nlohmann::ordered_json environment();

/// The same with BLAS and LibTorch; in opshap-networks only.
nlohmann::ordered_json network_environment();

}  // namespace opshap
