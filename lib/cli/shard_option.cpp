#include "cli/shard_option.hpp"

#include <CLI/CLI.hpp>

namespace opshap::cli {

CLI::Option* add_shard(CLI::App& command, std::string& shard) {
  return command
      .add_option(
          "--shard", shard,
          "i/N: only the i-th of N parts, i from 0, for `opshap merge`; the same command without it ends the run")
      ->capture_default_str();
}

}  // namespace opshap::cli
