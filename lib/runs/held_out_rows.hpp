#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opshap::runs {

/// `method` of the rows of the references themselves with 0 for the query's own player
/// (evaluation::HeldOut::own_player_missed). They have no times.
inline constexpr std::string_view own_player_missed = "own_player_missed";

/// Errors of one method on held-out inputs at one resolution (schema opshap.held_out/1).
struct HeldOutRow {
  static constexpr std::string_view schema = "opshap.held_out/1";

  std::string pde;
  std::string method;                     ///< registry name, "operator_shap" or own_player_missed
  std::string setting;                    ///< what it was told: "4 nodes", "1024 evaluations"; or the recipe's name
  std::uint64_t seed = 0;                 ///< of an explainer's training
  std::int64_t epoch = 0;                 ///< of an explainer's training; 0 for the weights that it kept
  std::int64_t training_evaluations = 0;  ///< of the operator, until then
  double training_seconds = 0;
  std::vector<int> shape;  ///< points per axis
  int players = 0;
  std::vector<double> nrmse;                   ///< of each input
  std::vector<double> seconds;                 ///< of each explanation
  std::vector<double> reference_errors;        ///< ‖standard errors‖₂/‖values‖₂ of each input's reference
  std::optional<double> drift = std::nullopt;  ///< of an explainer, against the finest resolution
};

/// One line of JSON without the newline. Throws NumericalError for a number that is not finite.
std::string to_json_line(const HeldOutRow& row);

/// As read_method_rows().
std::vector<HeldOutRow> read_held_out_rows(const std::filesystem::path& file);

}  // namespace opshap::runs
