#include "evaluation/growing_estimates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::evaluation {

namespace {

/// Roundings between the game's values and an attribution: the condition of the regression is up to some hundreds.
constexpr double roundings_of_a_gap = 256;

/// Keeps the means of a step's rounds unless an earlier step had more of them.
void keep(std::vector<std::vector<double>>& kept, std::vector<std::vector<double>> fresh) {
  if (fresh.size() >= kept.size()) kept = std::move(fresh);
}

}  // namespace

WatchedGame::WatchedGame(const Game& game) : game_(game) {
  Coalitions both(game.players());
  both.append_empty();
  both.append_grand();
  ends_ = CountedGame(game, {2}).values(both);
  scale_.see(ends_);
}

void WatchedGame::rescale(const Outgrown& outgrown) {
  scale_ = Scale(outgrown.exponent);
  largest_ = 0;
}

std::vector<double> WatchedGame::scaled(std::vector<double> numbers) const {
  for (const double number : numbers) {
    if (!std::isfinite(number)) return numbers;  // whoever asked refuses it by name
  }
  if (const std::optional<int> exponent = scale_.see(numbers)) throw Outgrown{*exponent};
  return scale_.inside(std::move(numbers));
}

std::vector<double> WatchedGame::evaluate(const Coalitions& coalitions) const {
  charged_ += static_cast<std::int64_t>(coalitions.size());
  const bool ends = coalitions.size() == 2 && coalitions.cardinality(0) == 0 && coalitions.cardinality(1) == players();
  const std::vector<double> values = scaled(ends ? ends_ : game_.values(coalitions));
  for (const double value : values) largest_ = std::max(largest_, std::abs(value));
  return values;
}

std::vector<double> WatchedGame::coalition_slopes(const Coalitions& coalitions) const {
  charged_ += static_cast<std::int64_t>(coalitions.size()) * pass_cost();
  return scaled(game_.slopes()->coalition_slopes(coalitions));
}

std::vector<double> WatchedGame::mean_slopes(std::span<const double> nodes) const {
  charged_ += static_cast<std::int64_t>(nodes.size()) * pass_cost();
  return scaled(game_.slopes()->mean_slopes(nodes));
}

double WatchedGame::rounding() const { return roundings_of_a_gap * std::numeric_limits<double>::epsilon() * largest_; }

void add_cost(Attribution& sum, const Attribution& part) {
  sum.distinct += part.distinct;
  sum.evaluations += part.evaluations;
  sum.gradients += part.gradients;
  sum.game_seconds += part.game_seconds;
  sum.estimator_seconds += part.estimator_seconds;
}

std::uint64_t reference_seed(std::uint64_t seed, ReferenceStream stream, int item) {
  return Rng(seed, "reference", static_cast<std::uint32_t>(stream), static_cast<std::uint64_t>(item)).bits64();
}

GrowingOrderings::GrowingOrderings(const Game& game, const Estimator& estimator, std::uint64_t seed)
    : game_(game),
      estimator_(estimator),
      seed_(seed),
      pair_cost_(2 * (std::int64_t{game.players()} - 1)),
      squares_(static_cast<std::size_t>(game.players()), 0.0) {
  sum_.values.resize(squares_.size());
}

void GrowingOrderings::grow(std::int64_t fresh_pairs, int step) {
  const int rounds = static_cast<int>(std::min<std::int64_t>(most_rounds, fresh_pairs));
  std::vector<std::vector<double>> means;
  for (int round = 0; round < rounds; ++round) {
    const std::int64_t pairs = fresh_pairs / rounds;
    const Attribution part = attribute(estimator_, game_, {2 + pairs * pair_cost_},
                                       reference_seed(seed_, ReferenceStream::orderings, step * most_rounds + round));
    add(part, pairs);
    means.push_back(part.values);
  }
  keep(rounds_, std::move(means));
}

void GrowingOrderings::add(const Attribution& round, std::int64_t pairs) {
  const auto before = static_cast<double>(pairs_), fresh = static_cast<double>(pairs), total = before + fresh;
  for (std::size_t player = 0; player < squares_.size(); ++player) {
    const double within = pairs > 1 ? fresh * (fresh - 1) * std::pow((*round.standard_errors)[player], 2) : 0;
    const double shift = round.values[player] - sum_.values[player];
    squares_[player] += within + shift * shift * before * fresh / total;  // Chan, Golub, LeVeque (1979)
    sum_.values[player] += shift * fresh / total;
  }
  pairs_ += pairs;
  sum_.empty = round.empty;
  sum_.grand = round.grand;
  add_cost(sum_, round);
}

Attribution GrowingOrderings::attribution() const {
  Attribution found = sum_;
  const auto count = static_cast<double>(pairs_);
  found.standard_errors.emplace();
  for (const double squares : squares_) found.standard_errors->push_back(std::sqrt(squares / (count * (count - 1))));
  return found;
}

GrowingTwoLevel::GrowingTwoLevel(const Game& game, const Estimator& estimator, std::uint64_t seed)
    : game_(game), estimator_(estimator), seed_(seed), variances_(static_cast<std::size_t>(game.players()), 0.0) {
  sum_.values.resize(variances_.size());
}

std::int64_t GrowingTwoLevel::one_run(const Estimator& estimator, int players) {
  return estimator.minimum(players).coalitions * 5 / 4;
}

std::int64_t GrowingTwoLevel::least(const Estimator& estimator, int players) {
  const std::int64_t one = one_run(estimator, players);
  return 3 * one <= first_budget ? 3 * one : one;
}

/// The least budget pays for what a run begins with and two samples of each player. What a run evaluates beyond what it
/// begins with are two values a sample of each player, and at most two values a pair of passes.
double GrowingTwoLevel::degrees_of(const Attribution& run) const {
  const std::int64_t of_sample = 2 * std::int64_t{game_.players()};
  const std::int64_t begins_with = estimator_.minimum(game_.players()).coalitions - 2 * of_sample;
  const std::int64_t samples = (run.evaluations - run.gradients - begins_with) / of_sample;
  return static_cast<double>(std::max<std::int64_t>(samples - 1, 1));
}

void GrowingTwoLevel::grow(std::int64_t budget, int step) {
  const std::int64_t one = one_run(estimator_, game_.players());
  const std::int64_t wanted = std::max(budget / (2 * one), budget >= 3 * one ? std::int64_t{3} : std::int64_t{1});
  const int rounds = static_cast<int>(std::min<std::int64_t>(wanted, most_rounds));
  const auto weight = static_cast<double>(budget / rounds);
  std::vector<std::vector<double>> means;
  for (int round = 0; round < rounds; ++round) {
    Attribution part = attribute(estimator_, game_, {budget / rounds},
                                 reference_seed(seed_, ReferenceStream::two_level, step * most_rounds + round));
    for (std::size_t player = 0; player < variances_.size(); ++player) {
      sum_.values[player] += weight * part.values[player];
      variances_[player] += std::pow(weight * (*part.standard_errors)[player], 2);
    }
    sum_.empty = part.empty;
    sum_.grand = part.grand;
    degrees_ += degrees_of(part);
    part.evaluations = part.distinct + game_.slopes()->pass_cost() * part.gradients;
    add_cost(sum_, part);
    means.push_back(std::move(part.values));
  }
  cost_ += rounds * (budget / rounds);
  keep(rounds_, std::move(means));
}

Attribution GrowingTwoLevel::attribution() const {
  Attribution found = sum_;
  const auto all = static_cast<double>(cost_);
  found.standard_errors.emplace();
  for (std::size_t player = 0; player < variances_.size(); ++player) {
    found.values[player] /= all;
    found.standard_errors->push_back(std::sqrt(variances_[player]) / all);
  }
  return found;
}

}  // namespace opshap::evaluation
