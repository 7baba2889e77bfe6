#pragma once

#include <string>
#include <vector>

#include "cli/cli11_fwd.hpp"
#include "core/scenario.hpp"

namespace opshap::cli {

/// The option --resolutions of a command: a list such as 16,32 or 12x20,24x40, read into `resolutions`.
CLI::Option* add_resolutions(CLI::App& command, std::vector<Resolution>& resolutions, const std::string& meaning);

/// An option that takes one resolution, 64 or 24x40.
CLI::Option* add_resolution(CLI::App& command, const std::string& name, Resolution& resolution,
                            const std::string& meaning);

}  // namespace opshap::cli
