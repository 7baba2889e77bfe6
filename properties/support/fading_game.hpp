#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/game.hpp"
#include "games/measure.hpp"
#include "games/smooth_functions.hpp"

namespace opshap {

/// Σ_k (exp(c_k Σ_i max(0, 3 − |i−k|) a_i) − 1) on a line: interactions that fade with distance, as those of a
/// smoothing operator. Where all a_i of a term had one weight, integrated gradients would be exact.
class FadingGame final : public SolvedGame, public Extension {
 public:
  FadingGame(int players, double rate) {
    for (int k = 0; k < players; ++k) {
      std::vector<double> cells(static_cast<std::size_t>(players), 0.0);
      for (int i = std::max(0, k - 2); i <= std::min(players - 1, k + 2); ++i)
        cells[static_cast<std::size_t>(i)] = 3 - std::abs(i - k);
      terms_.push_back(games::exponential_of_measure(games::Measure(cells), rate * std::sin(k)));
    }
  }

  int players() const override { return static_cast<int>(terms_.size()); }
  const Extension* extension() const override { return this; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    return sum([&](const SolvedGame& term) { return term.values(coalitions); });
  }
  std::vector<double> gradients(std::span<const double> points) const override {
    return sum([&](const SolvedGame& term) { return term.extension()->gradients(points); });
  }
  std::vector<double> shapley_values() const override {
    return sum([](const SolvedGame& term) { return term.shapley_values(); });
  }
  std::optional<std::vector<double>> aumann_shapley_values() const override {
    return sum([](const SolvedGame& term) { return *term.aumann_shapley_values(); });
  }

 private:
  std::vector<double> sum(const auto& of_term) const {
    std::vector<double> sum = of_term(*terms_.front());
    for (std::size_t k = 1; k < terms_.size(); ++k) {
      const std::vector<double> more = of_term(*terms_[k]);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
    }
    return sum;
  }

  std::vector<std::unique_ptr<SolvedGame>> terms_;
};

}  // namespace opshap
