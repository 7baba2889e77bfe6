#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reporting/error_bars.hpp"
#include "reporting/table.hpp"

namespace opshap {

/// One candidate on one game.
struct SecondOrderRow {
  std::string family;  ///< of solved games, or the backbone
  bool of_network = false;
  int players = 0, input = 0;
  std::string base;       ///< "plain" or "mean_field": which extension gives the gradients
  std::string candidate;  ///< Candidate::name
  int nodes = 0, directions = 0;
  std::int64_t gradients = 0;
  double reference_error = 0;    ///< ‖standard errors‖/‖values‖ of the truth; 0 of solved games
  double first_order_error = 0;  ///< ‖first order − truth‖/‖truth‖ with the efficiency by an equal shift
  double error = 0;              ///< the same of the corrected values
  double first_order_bar = 0;    ///< Corrected::first_order_bar
  double apart = 0;              ///< Corrected::apart
  double share = 1;              ///< Corrected::share

  /// reporting::without_reference().
  double true_error() const { return reporting::without_reference(error, reference_error); }
  double true_first_order_error() const { return reporting::without_reference(first_order_error, reference_error); }
};

/// All numbers with six significant digits.
std::string to_csv(const std::vector<SecondOrderRow>& rows);
/// Of a packed file. Throws DataError for one of another kind.
std::vector<SecondOrderRow> read_second_order_rows(const std::filesystem::path& file);

/// Medians and quartiles of the errors by family, number of players and base, a column a candidate.
reporting::Table table_of_candidates(const std::vector<SecondOrderRow>& rows);
/// Errors over those of half combs on the same inputs, by group of games and base.
reporting::Table table_of_ratios(const std::vector<SecondOrderRow>& rows);
/// How both error bars of some candidates tell the errors.
reporting::Table table_of_bars(const std::vector<SecondOrderRow>& rows, const std::vector<std::string>& of_candidates);
/// Rules for the bar of the corrected value, fitted on the inputs of even number and judged on the others.
reporting::Table table_of_rules(const std::vector<SecondOrderRow>& rows, const std::string& of_candidate);

/// The geometric mean of a candidate's errors over those of half combs, on the same inputs of all games or of networks.
double mean_ratio(const std::vector<SecondOrderRow>& rows, std::string_view candidate, bool of_networks);

}  // namespace opshap
