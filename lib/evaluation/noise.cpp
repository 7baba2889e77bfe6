#include "evaluation/noise.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/measured.hpp"

namespace opshap::evaluation {

namespace {

constexpr double same = 1e-6;

}  // namespace

std::vector<double> RepeatedGame::evaluate(const Coalitions& coalitions) const {
  std::vector<double> values = game_.values(coalitions);
  const std::lock_guard lock(mutex_);
  for (std::size_t row = 0; row < values.size(); ++row) {
    largest_ = std::max(largest_, std::abs(values[row]));
    const int size = coalitions.cardinality(row);
    if (!coalition_.empty() || size == 0 || size == players()) continue;
    coalition_.assign(coalitions.row(row).begin(), coalitions.row(row).end());
    value_ = values[row];
  }
  return values;
}

std::optional<Noise> RepeatedGame::noise() const {
  if (coalition_.empty()) return std::nullopt;
  Coalitions one(players());
  one.append(coalition_);
  const double second = game_.values(one).front();
  ++repeated_;
  const double relative = opshap::relative(std::abs(second - value_), std::max(largest_, std::abs(second)))
                              .value.value_or(std::numeric_limits<double>::infinity());
  if (relative <= same) return std::nullopt;
  return Noise{.coalition = to_string(coalition_, players()), .first = value_, .second = second, .relative = relative};
}

std::string in_words(const Noise& noise) {
  return message("v(", noise.coalition, ")=", noise.first, " and then ", noise.second, ", which differ by ",
                 noise.relative, " of the largest value");
}

}  // namespace opshap::evaluation
