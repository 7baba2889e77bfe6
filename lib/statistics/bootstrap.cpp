#include "statistics/bootstrap.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "core/error.hpp"

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

}  // namespace opshap::statistics
