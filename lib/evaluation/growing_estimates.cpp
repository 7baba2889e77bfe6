#include "evaluation/growing_estimates.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "core/coalitions.hpp"
#include "core/rng.hpp"

namespace opshap::evaluation {

namespace {

/// Roundings between the game's values and an attribution: the condition of the regression is up to some hundreds.
constexpr double roundings_of_a_gap = 256;

/// The fewest pairs of orderings that tell how many directions their errors have: four rounds of one.
constexpr std::int64_t least_pairs = 4;

/// What the first step of each estimate may cost: where there are slopes, and where there are values alone.
constexpr std::int64_t first_with_slopes = 4096, first_of_values = 768;

/// Independent estimates, pooled with weights that do not depend on what was found.
class Pool {
 public:
  explicit Pool(int players) : sums_(static_cast<std::size_t>(players), 0.0), variances_(sums_) {}

  /// The values and the variances of an estimate, [n].
  void add(const std::vector<double>& values, const std::vector<double>& variances, double weight) {
    for (std::size_t player = 0; player < sums_.size(); ++player) {
      sums_[player] += weight * values[player];
      variances_[player] += weight * weight * variances[player];
    }
    weight_ += weight;
  }
  /// `found` with the mean of all estimates and its standard errors.
  Attribution mean(Attribution found) const {
    found.values.clear();
    found.standard_errors.emplace();
    for (std::size_t player = 0; player < sums_.size(); ++player) {
      found.values.push_back(sums_[player] / weight_);
      found.standard_errors->push_back(std::sqrt(variances_[player]) / weight_);
    }
    return found;
  }

 private:
  std::vector<double> sums_, variances_;
  double weight_ = 0;
};

/// What is asked for in independent rounds of one estimator, a few a step.
class InRounds : public GrowingEstimate {
 public:
  InRounds(const WatchedGame& game, const Estimator& estimator, std::uint64_t seed)
      : game_(game), estimator_(estimator), seed_(seed) {}

  const Estimator& estimator() const final { return estimator_; }
  const Attribution& spent() const final { return sum_; }
  const std::vector<std::vector<double>>& rounds() const final { return rounds_; }

 protected:
  /// The estimator's answer on `game`, with draws of its own.
  Attribution round_of(const Game& game, std::int64_t budget, ReferenceStream stream, int step, int round) const {
    return attribute(estimator_, game, {budget}, reference_seed(seed_, stream, step * most_rounds + round));
  }
  /// Keeps the means of a step's rounds unless an earlier step had more of them.
  void keep(std::vector<std::vector<double>> means) {
    if (means.size() >= rounds_.size()) rounds_ = std::move(means);
  }

  const WatchedGame& game_;
  Attribution sum_;  ///< what all rounds have cost

 private:
  const Estimator& estimator_;
  std::uint64_t seed_;
  std::vector<std::vector<double>> rounds_;
};

/// Rounds whose values and variances are pooled.
class Pooled : public InRounds {
 public:
  Pooled(const WatchedGame& game, const Estimator& estimator, std::uint64_t seed)
      : InRounds(game, estimator, seed), pool_(game.players()) {}

  std::int64_t cost() const final { return cost_; }
  Attribution attribution() const final { return pool_.mean(sum_); }
  double degrees() const final { return degrees_; }

 protected:
  Pool pool_;
  std::int64_t cost_ = 0;
  double degrees_ = 0;  ///< those of all rounds
};

class GrowingOrderings final : public InRounds {
 public:
  GrowingOrderings(const WatchedGame& game, const Estimator& estimator, std::uint64_t seed)
      : InRounds(game, estimator, seed),
        pair_cost_(2 * (std::int64_t{game.players()} - 1)),
        squares_(static_cast<std::size_t>(game.players()), 0.0) {
    sum_.values.resize(squares_.size());
  }

  std::int64_t least() const override { return cost_of(pairs_ == 0 ? least_pairs : 1); }
  std::int64_t telling() const override { return cost_of(least_pairs); }
  std::int64_t first() const override {
    return std::max(least(), game_.extension() == nullptr ? first_of_values : first_with_slopes);
  }
  void grow(std::int64_t budget, int step, const std::vector<double>& /*known*/) override {
    std::int64_t fresh = std::max<std::int64_t>(1, (budget - 2 * most_rounds) / pair_cost_);
    while (cost_of(fresh + 1) <= budget) ++fresh;
    const std::int64_t rounds = std::min<std::int64_t>(most_rounds, fresh), pairs = fresh / rounds;
    std::vector<std::vector<double>> means;
    for (int round = 0; round < rounds; ++round) {
      const Attribution part = round_of(game_, 2 + pairs * pair_cost_, ReferenceStream::orderings, step, round);
      add(part, pairs);
      means.push_back(part.values);
    }
    keep(std::move(means));
  }
  std::int64_t cost() const override { return pairs_ * pair_cost_; }
  double degrees() const override { return static_cast<double>(pairs_ - 1); }
  Attribution attribution() const override {
    Attribution found = sum_;
    const auto count = static_cast<double>(pairs_);
    found.standard_errors.emplace();
    for (const double squares : squares_) found.standard_errors->push_back(std::sqrt(squares / (count * (count - 1))));
    return found;
  }

 private:
  /// Each round looks at ∅ and N.
  std::int64_t cost_of(std::int64_t pairs) const {
    return pairs * pair_cost_ + 2 * std::min<std::int64_t>(pairs, most_rounds);
  }
  void add(const Attribution& round, std::int64_t pairs) {
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

  std::int64_t pair_cost_, pairs_ = 0;
  std::vector<double> squares_;  ///< of the deviations of independent pairs
};

class GrowingTwoLevel final : public Pooled {
 public:
  GrowingTwoLevel(const WatchedGame& game, const Estimator& estimator, std::uint64_t seed)
      : Pooled(game, estimator, seed), one_run_(estimator.minimum(game.players()).coalitions * 5 / 4) {}

  /// Three runs where they are no more than a first step.
  std::int64_t least() const override { return telling() <= first_with_slopes ? telling() : one_run_; }
  std::int64_t telling() const override { return 3 * one_run_; }
  std::int64_t first() const override { return std::max(least(), first_with_slopes); }
  void grow(std::int64_t budget, int step, const std::vector<double>& /*known*/) override {
    const std::int64_t wanted =
        std::max(budget / (2 * one_run_), budget >= telling() ? std::int64_t{3} : std::int64_t{1});
    const int rounds = static_cast<int>(std::min<std::int64_t>(wanted, most_rounds));
    std::vector<std::vector<double>> means;
    for (int round = 0; round < rounds; ++round) {
      Attribution part = round_of(game_, budget / rounds, ReferenceStream::two_level, step, round);
      std::vector<double> variances;
      for (const double error : *part.standard_errors) variances.push_back(error * error);
      pool_.add(part.values, variances, static_cast<double>(budget / rounds));
      sum_.empty = part.empty;
      sum_.grand = part.grand;
      degrees_ += static_cast<double>(std::max<std::int64_t>(1, part.error_samples - 1));
      part.evaluations = part.distinct + game_.pass_cost() * part.gradients;
      add_cost(sum_, part);
      means.push_back(std::move(part.values));
    }
    cost_ += rounds * (budget / rounds);
    keep(std::move(means));
  }

 private:
  std::int64_t one_run_;  ///< a quarter more than the least budget, which leaves level 0 hardly any pairs
};

/// A game less an additive one. Refers to both.
class Residual final : public Game {
 public:
  Residual(const Game& game, const std::vector<double>& additive) : game_(game), additive_(additive) {}
  int players() const override { return game_.players(); }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values = game_.values(coalitions);
    for (std::size_t row = 0; row < values.size(); ++row) values[row] -= coalition_sum(additive_, coalitions.row(row));
    return values;
  }

  const Game& game_;
  const std::vector<double>& additive_;
};

class GrowingRegression final : public Pooled {
 public:
  GrowingRegression(const WatchedGame& game, const Estimator& estimator, std::uint64_t seed)
      : Pooled(game, estimator, seed), one_round_(2 * estimator.minimum(game.players()).coalitions) {}

  std::int64_t least() const override { return fewest_rounds * one_round_; }
  std::int64_t telling() const override { return least(); }
  std::int64_t first() const override { return std::max(least(), first_of_values); }
  void grow(std::int64_t budget, int step, const std::vector<double>& known) override {
    const int rounds =
        static_cast<int>(std::clamp<std::int64_t>(budget / one_round_, fewest_rounds, std::int64_t{most_rounds}));
    const Residual residual(game_, known);
    const double gain = std::accumulate(known.begin(), known.end(), 0.0);
    std::vector<std::vector<double>> means;
    const std::size_t n = known.size();
    std::vector<double> mean(n, 0.0), variance(n, 0.0);
    for (int round = 0; round < rounds; ++round) {
      Attribution part = round_of(residual, budget / rounds, ReferenceStream::regression, step, round);
      for (std::size_t player = 0; player < n; ++player) {
        part.values[player] += known[player];
        mean[player] += part.values[player] / rounds;
      }
      add_cost(sum_, part);
      sum_.empty = part.empty;
      sum_.grand = part.grand + gain;
      means.push_back(std::move(part.values));
    }
    for (const std::vector<double>& found : means)
      for (std::size_t player = 0; player < n; ++player)
        variance[player] += std::pow(found[player] - mean[player], 2) / (rounds * (rounds - 1));
    pool_.add(mean, variance, static_cast<double>(budget));
    degrees_ += rounds - 1;
    cost_ += rounds * (budget / rounds);
    keep(std::move(means));
  }

 private:
  static constexpr std::int64_t fewest_rounds = 3;

  std::int64_t one_round_;  ///< its least budget
};

}  // namespace

const std::vector<double>& WatchedGame::ends() const {
  if (ends_.empty()) {
    Coalitions both(players());
    both.append_empty();
    both.append_grand();
    ends_ = CountedGame(game_, {2}).values(both);
    scale_.see(ends_);
  }
  return ends_;
}

std::vector<double> WatchedGame::gradients(std::span<const double> points) const {
  ends();
  charged_ += static_cast<std::int64_t>(points.size()) / players() * pass_cost();
  return scaled(game_.slopes()->gradients(points));
}

double WatchedGame::rounding() const { return roundings_of_a_gap * std::numeric_limits<double>::epsilon() * largest_; }

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
  const std::vector<double>& both = ends();
  const bool asked_for_ends =
      coalitions.size() == 2 && coalitions.cardinality(0) == 0 && coalitions.cardinality(1) == players();
  const std::vector<double> values = scaled(asked_for_ends ? both : game_.values(coalitions));
  for (const double value : values) largest_ = std::max(largest_, std::abs(value));
  return values;
}

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

std::unique_ptr<GrowingEstimate> growing_orderings(const WatchedGame& game, const Estimator& estimator,
                                                   std::uint64_t seed) {
  return std::make_unique<GrowingOrderings>(game, estimator, seed);
}

std::unique_ptr<GrowingEstimate> growing_two_level(const WatchedGame& game, const Estimator& estimator,
                                                   std::uint64_t seed) {
  return std::make_unique<GrowingTwoLevel>(game, estimator, seed);
}

std::unique_ptr<GrowingEstimate> growing_regression(const WatchedGame& game, const Estimator& estimator,
                                                    std::uint64_t seed) {
  return std::make_unique<GrowingRegression>(game, estimator, seed);
}

}  // namespace opshap::evaluation
