#pragma once

#include <string>

namespace opshap::cli {

/// Parses the arguments, runs the command that they name and returns its exit code: all that `opshap` does but for how
/// its process starts and ends. `--version` prints `version`. Errors of a command are printed, those of memory are
/// thrown.
int program(int argc, char** argv, const std::string& version);

}  // namespace opshap::cli
