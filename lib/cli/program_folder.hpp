#pragma once

#include <filesystem>

namespace opshap::cli {

/// Where this program lies. What is installed with it is in its `share` or that of its
/// parent. Throws EnvironmentError where the system does not tell.
std::filesystem::path program_folder();

}  // namespace opshap::cli
