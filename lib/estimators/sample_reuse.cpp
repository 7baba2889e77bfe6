#include "estimators/sample_reuse.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "estimators/enumeration.hpp"
#include "estimators/members.hpp"
#include "estimators/sample_targets.hpp"

namespace opshap::estimators {

std::vector<double> reuse_sample(const CoalitionSample& sample, std::span<const double> targets) {
  const int players = sample.coalitions.players();
  std::vector<double> values(static_cast<std::size_t>(players), 0.0);
  double shares = 0;
  for (std::size_t row = 0; row < targets.size(); ++row) {
    const double pull = players * sample.weights[row] * targets[row];
    for_each_member(sample.coalitions.row(row), [&](std::size_t player) { values[player] += pull; });
    shares += pull * sample.coalitions.cardinality(row) / players;
  }
  for (double& value : values) value -= shares;
  return values;
}

std::optional<std::vector<double>> reuse_errors(const CoalitionSample& sample, std::span<const double> targets) {
  const auto draws = static_cast<double>(sample.draws.size());
  if (draws < 2) return std::nullopt;
  const int players = sample.coalitions.players();
  // Draw j alone gives x_i = c_j (1[i∈S_j] − s_j/n), of which the estimate is the mean: Var = (Σ_j x_i² − (Σ_j
  // x_i)²/m)/(m(m − 1)).
  std::vector<double> squares(static_cast<std::size_t>(players), 0.0);
  double shares = 0;
  for (const CoalitionSample::Draw& draw : sample.draws) {
    const double share = static_cast<double>(sample.coalitions.cardinality(draw.row)) / players;
    const double square = std::pow(players * draw.weight * targets[draw.row], 2);
    for_each_member(sample.coalitions.row(draw.row),
                    [&](std::size_t player) { squares[player] += square * (1 - 2 * share); });
    shares += square * share * share;
  }
  const std::vector<double> means = reuse_sample(sample, targets);
  for (std::size_t player = 0; player < squares.size(); ++player) {
    const double spread = squares[player] + shares - means[player] * means[player] / draws;
    squares[player] = std::sqrt(std::max(0.0, spread) * draws / (draws - 1));
  }
  return squares;
}

Attribution mean_over_draws(CountedGame& game, SizeMass mass, Pairing pairing, Centring centring, Rng& rng) {
  if (can_enumerate(game)) return enumerate_all(game);
  Attribution attribution;
  attribution.empty = game.empty();
  attribution.grand = game.grand();
  const CoalitionSample sample =
      sample_coalitions(Sampler::iid, SizeLaw(mass, game.players()), game.budget().coalitions - 2, pairing, rng);
  std::vector<double> targets = sample_targets(game, sample, attribution.empty);
  const double share = (attribution.grand - attribution.empty) / game.players();
  if (centring == Centring::equal_shares) subtract_equal_shares(targets, sample, share);
  attribution.values = reuse_sample(sample, targets);
  attribution.standard_errors = reuse_errors(sample, targets);
  for (double& value : attribution.values) value += share;
  return attribution;
}

}  // namespace opshap::estimators
