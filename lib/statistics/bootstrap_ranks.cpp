#include "statistics/bootstrap_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::statistics {

namespace {

/// Adds to `ranks` those of one condition: 1 + how many are better + half of the others that are equal. Who takes no
/// part has NaN for a median, which is neither better nor equal.
void add_ranks(const std::vector<double>& medians, std::vector<double>& ranks) {
  for (std::size_t i = 0; i < medians.size(); ++i) {
    if (std::isnan(medians[i])) continue;
    double rank = 1;
    for (std::size_t j = 0; j < medians.size(); ++j)
      rank += medians[j] < medians[i] ? 1 : j != i && medians[j] == medians[i] ? 0.5 : 0;
    ranks[i] += rank;
  }
}

double median(Repeats repeats) {
  return repeats.empty() ? std::numeric_limits<double>::quiet_NaN() : quantile(std::move(repeats), 0.5);
}

}  // namespace

std::vector<Rank> bootstrap_ranks(const std::vector<std::vector<Repeats>>& errors, std::uint64_t seed,
                                  double confidence, int resamples) {
  require(!errors.empty() && !errors.front().empty(), "ranks: competitors=0 (nobody to rank). Give at least one.");
  require(confidence > 0 && confidence < 1 && resamples > 0, "ranks: confidence=", confidence,
          ", resamples=", resamples, " (needs 0 < confidence < 1 and a resample). Use 0.95 and 2000.");
  const std::size_t competitors = errors.front().size();
  std::vector<double> ranks(competitors, 0.0);
  std::vector<std::size_t> conditions(competitors, 0);
  for (const auto& condition : errors) {
    require(condition.size() == competitors, "ranks: competitors=", condition.size(), " (the first condition has ",
            competitors, "). Leave out who is missing somewhere.");
    std::vector<double> medians;
    for (const Repeats& repeats : condition) medians.push_back(median(repeats));
    add_ranks(medians, ranks);
    for (std::size_t i = 0; i < competitors; ++i) conditions[i] += !condition[i].empty();
  }

  std::vector<std::vector<double>> resampled(competitors);
  for (int resample = 0; resample < resamples; ++resample) {
    Rng rng(seed, "bootstrap ranks", 0, static_cast<std::uint64_t>(resample));
    std::vector<double> drawn_ranks(competitors, 0.0);
    for (const auto& condition : errors) {
      std::vector<double> medians;
      for (const Repeats& repeats : condition) {
        Repeats drawn(repeats.size());
        for (double& error : drawn) error = repeats[rng.below(repeats.size())];
        medians.push_back(median(std::move(drawn)));
      }
      add_ranks(medians, drawn_ranks);
    }
    for (std::size_t i = 0; i < competitors; ++i) resampled[i].push_back(drawn_ranks[i]);
  }

  std::vector<Rank> found;
  for (std::size_t i = 0; i < competitors; ++i) {
    const double tail = (1 - confidence) / 2;
    const double count = std::max(static_cast<double>(conditions[i]), 1.0);
    found.push_back({.rank = ranks[i] / count,
                     .low = quantile(resampled[i], tail) / count,
                     .high = quantile(resampled[i], 1 - tail) / count,
                     .conditions = conditions[i]});
  }
  return found;
}

}  // namespace opshap::statistics
