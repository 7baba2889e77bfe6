#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/profile.hpp"
#include "evaluation/certified_reference.hpp"

namespace opshap::cli {

/// The suites as they were compiled into the program.
const std::vector<EmbeddedSettings>& embedded_suites();

/// A game of a suite that is an operator's prediction: of one random input of a problem, in the centre of the domain,
/// with the problem's usual rule and every point a player.
struct SuiteOperator {
  std::filesystem::path file;  ///< its weights
  std::string problem;         ///< of `opshap list pdes`, whose inputs are drawn
  std::uint64_t sample = 0;    ///< which of them
};

/// One game of a suite: a member of a family of `opshap list games`, or an operator's prediction.
struct SuiteGame {
  std::string name;
  int players = 1;
  std::string family = {};  ///< empty for an operator's prediction
  std::uint64_t seed = 0;   ///< which member of the family
  std::optional<SuiteOperator> op = {};
  std::string budgets;  ///< in the grammar of parse_budgets()

  /// "unanimity_sum_n16": the name of its folder.
  std::string folder() const;
};

/// Games on which methods are compared: one TOML file.
///
///     summary = "..."                   # one line for `opshap list suites`
///     repeats = 5                       # runs of each method at each budget
///     budgets = "2n..16n"               # of the games that name none
///
///     [reference]                       # how well the values must be known where there is no closed form
///     relative_error = 0.01
///     max_evaluations = 131072
///
///     [[games]]
///     family = "unanimity_sum"          # of `opshap list games`
///     players = [16, 64]                # a game for each
///     seed = 1                          # which member of the family; 0 where it is left out
///
///     [[games]]
///     name = "burgers1d_fno"            # a family's game has the family's name where this is left out
///     operator = "burgers1d.safetensors"
///     problem = "burgers1d"             # of `opshap list pdes`: its random inputs
///     sample = 0                        # which of them; 0 where it is left out
///     players = [1024]                  # the points of the grid
///     budgets = "2n..4n"                # where a run at the usual budgets costs too much
struct Suite {
  std::string name, summary;
  int repeats = 5;
  evaluation::ReferenceSettings reference;
  std::vector<SuiteGame> games;

  bool has_operators() const;
  /// What decides its games, for a manifest.
  nlohmann::ordered_json settings() const;
};

/// The suite of that name, or of that .toml file. `op` takes the place of every operator that it names; without it a
/// file is looked for beside the suite's own, and where operators are installed with this program. Throws
/// InvalidArgument for an unknown name or key, values that cannot work and an operator that is not there; DataError for
/// a file that cannot be parsed.
Suite load_suite(const std::string& name_or_file, const std::filesystem::path& op);

/// The line of an embedded suite for `opshap list`.
std::string suite_summary(const EmbeddedSettings& suite);

}  // namespace opshap::cli
