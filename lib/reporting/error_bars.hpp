#pragma once

#include <span>
#include <string>
#include <vector>

#include "reporting/table.hpp"

namespace opshap::reporting {

/// From here on an attribution has failed: its relative error.
inline constexpr double failed_from = 0.1;
/// A bar above it warns: the tolerance by default (--tolerance).
inline constexpr double warns_above = 0.05;

/// √(distance² − reference_error²), all relative: what the reference's own error does not explain of a distance to it.
/// It is not taken for less than a third of that error, below which nothing is known.
double without_reference(double distance, double reference_error);

/// The columns of bars_judged(): how many games, the rank correlation of bars and errors, error over bar, the share of
/// errors below the bar and below twice the bar, failures with a warning, and warnings for what is no failure.
const std::vector<Column>& columns_of_bars();

/// The cells of a row: how error bars told the errors, one each a game. One game at the least.
std::vector<std::string> bars_judged(std::span<const double> errors, std::span<const double> bars);

}  // namespace opshap::reporting
