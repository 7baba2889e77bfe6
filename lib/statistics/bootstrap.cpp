#include "statistics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::statistics {

namespace {

/// The draws for one number of inputs under one seed, in the order of the resamples.
class Draws {
 public:
  Draws(std::size_t inputs, std::uint64_t seed) : inputs_(inputs), root_(seed, "bootstrap inputs") {}

  Draw draw(std::size_t resample) {
    for (std::size_t item = noise_.size(); item <= resample; ++item) {
      Rng choice = root_.stream(0, item);
      for (std::size_t i = 0; i < inputs_; ++i) chosen_.push_back(static_cast<std::uint32_t>(choice.below(inputs_)));
      noise_.emplace_back(root_.stream(1, item));
    }
    noise_[resample].begin();
    // Those of the next resample lie elsewhere: waiting for them was a third of the time of a report's medians.
    if (resample + 1 < noise_.size()) noise_[resample + 1].fetch();
    return {.inputs = std::span(chosen_).subspan(resample * inputs_, inputs_), .noise = noise_[resample]};
  }

 private:
  std::size_t inputs_;
  Rng root_;
  std::vector<std::uint32_t> chosen_;
  std::vector<Noise> noise_;
};

/// At most eight of them are kept.
Draws& kept_draws(std::size_t inputs, std::uint64_t seed) {
  thread_local std::map<std::pair<std::size_t, std::uint64_t>, Draws> kept;
  const std::pair key(inputs, seed);
  if (kept.size() >= 8 && !kept.contains(key)) kept.clear();
  return kept.try_emplace(key, inputs, seed).first->second;
}

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

}  // namespace

Resamples::Resamples(std::vector<double> found) : sorted_(std::move(found)) {
  undefined_ = std::erase_if(sorted_, [](double number) { return std::isnan(number); });
  std::sort(sorted_.begin(), sorted_.end());
}

Interval Resamples::interval(double tail) const {
  require(tail > 0 && tail < 0.5, "bootstrap: tail=", tail, " (needs 0 < tail < 0.5). Use 0.025.");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::size_t all = sorted_.size() + undefined_;
  // The order statistic below a lower end and above an upper one: no interpolation, so infinity stays infinity.
  const auto below = static_cast<std::size_t>(std::floor(tail * static_cast<double>(all - 1))), above = all - 1 - below;
  return {.low = below < undefined_ ? -infinity : sorted_[below - undefined_],
          .high = above < sorted_.size() ? sorted_[above] : infinity};
}

Resamples bootstrap(std::size_t inputs, const Statistic& statistic, std::uint64_t seed, int resamples) {
  require(inputs > 0, "bootstrap: inputs=0 (nothing to draw from). Give at least one input.");
  require(resamples > 0, "bootstrap: resamples=", resamples, " (needs one). Use 10000.");
  Draws& draws = kept_draws(inputs, seed);
  std::vector<double> found;
  for (std::size_t resample = 0; resample < static_cast<std::size_t>(resamples); ++resample) {
    Draw draw = draws.draw(resample);
    found.push_back(statistic(draw));
  }
  return Resamples(std::move(found));
}

std::vector<Rank> bootstrap_ranks(const std::vector<std::vector<Repeats>>& errors, std::uint64_t seed,
                                  double confidence, int resamples) {
  require(!errors.empty() && !errors.front().empty(), "ranks: competitors=0 (nobody to rank). Give at least one.");
  require(confidence > 0 && confidence < 1 && resamples > 0, "ranks: confidence=", confidence,
          ", resamples=", resamples, " (needs 0 < confidence < 1 and a resample). Use 0.95 and 2000.");
  const std::size_t competitors = errors.front().size();
  // Sums of the ranks over the conditions, by the errors that `taken` takes of those of a cell.
  const auto ranks_of = [&](const auto& taken) {
    std::vector<double> ranks(competitors, 0.0);
    for (const auto& condition : errors) {
      require(condition.size() == competitors, "ranks: competitors=", condition.size(), " (the first condition has ",
              competitors, "). Leave out who is missing somewhere.");
      std::vector<double> medians;
      for (const Repeats& repeats : condition)
        medians.push_back(repeats.empty() ? std::nan("") : quantile(taken(repeats), 0.5));
      add_ranks(medians, ranks);
    }
    return ranks;
  };
  const std::vector<double> ranks = ranks_of([](const Repeats& repeats) { return repeats; });
  std::vector<std::vector<double>> resampled(competitors);
  for (int resample = 0; resample < resamples; ++resample) {
    Rng rng(seed, "bootstrap ranks", 0, static_cast<std::uint64_t>(resample));
    const std::vector<double> drawn_ranks = ranks_of([&rng](const Repeats& repeats) {
      Repeats drawn(repeats.size());
      for (double& error : drawn) error = repeats[rng.below(repeats.size())];
      return drawn;
    });
    for (std::size_t i = 0; i < competitors; ++i) resampled[i].push_back(drawn_ranks[i]);
  }

  std::vector<Rank> found;
  for (std::size_t i = 0; i < competitors; ++i) {
    const double tail = (1 - confidence) / 2;
    const auto conditions = static_cast<std::size_t>(
        std::ranges::count_if(errors, [i](const auto& condition) { return !condition[i].empty(); }));
    const double count = std::max(static_cast<double>(conditions), 1.0);
    found.push_back({.rank = ranks[i] / count,
                     .low = quantile(resampled[i], tail) / count,
                     .high = quantile(resampled[i], 1 - tail) / count,
                     .conditions = conditions});
  }
  return found;
}

}  // namespace opshap::statistics
