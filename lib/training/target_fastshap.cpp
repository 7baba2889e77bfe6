#include "training/target_fastshap.hpp"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "training/target.hpp"
#include "training/target_values.hpp"

namespace opshap::training {

torch::Tensor fastshap_errors(const torch::Tensor& densities, const PlayerVolumes& volumes, const torch::Tensor& gains,
                              const torch::Tensor& coalitions, const torch::Tensor& coalition_gains,
                              const torch::Tensor& weights) {
  const torch::Tensor values = efficient_values(densities, volumes, gains);
  const torch::Tensor sums = torch::bmm(coalitions, values.unsqueeze(2)).squeeze(2);
  if (!weights.defined()) return torch::mse_loss(sums, coalition_gains, torch::Reduction::Sum);
  return (weights * (sums - coalition_gains).square().sum(1)).sum();
}

torch::Tensor efficient_values(const torch::Tensor& densities, const PlayerVolumes& volumes,
                               const torch::Tensor& gains) {
  const torch::Tensor cells = volumes.cells(densities);
  return cells + (gains - cells.sum(1)).unsqueeze(1) * volumes.shares;
}

// FastSHAP: an explainer whose sums over coalitions are the games' values has their Shapley values (Jethani et al.
// 2022; OperatorSHAP, Algorithm 1).

namespace targets {

namespace {

constexpr int validation_coalitions = 32;

/// Pairs of a coalition from the Shapley kernel and its complement, as 0/1 rows [K, n].
torch::Tensor draw_pairs(const KernelLaw& law, int count, Rng rng) {
  const auto n = static_cast<std::size_t>(law.players());
  torch::Tensor rows = torch::empty({count, law.players()}, torch::kFloat32);
  float* out = rows.data_ptr<float>();
  Coalitions drawn(law.players(), 1);
  for (int pair = 0; pair < count / 2; ++pair) {
    auto row = drawn.row(0);
    std::fill(row.begin(), row.end(), 0);
    law.draw_subset(rng, law.draw_size(rng), row);
    float* first = out + static_cast<std::size_t>(2 * pair) * n;
    for (std::size_t player = 0; player < n; ++player) {
      const bool member = contains(row, static_cast<int>(player));
      first[player] = member ? 1.0F : 0.0F;
      first[n + player] = member ? 0.0F : 1.0F;
    }
  }
  return rows;
}

class FastShap final : public Target {
 public:
  FastShap(const networks::ExplainerRecipe& recipe, bool once)
      : coalitions_(recipe.coalitions), relative_(recipe.relative), once_(once) {
    require(coalitions_ >= 2 && coalitions_ % 2 == 0, "fastshap: coalitions=", coalitions_,
            " (they come in complementary pairs). Give an even number of at least 2.");
  }

  bool once() const override { return once_; }

  /// Coalitions [B, K, players] and v(S) − v(∅) of each [B, K]; relative errors also need a weight of each field [B].
  Labels draw(const SampleGames& games, const std::vector<std::int64_t>& members, const std::vector<Rng>& streams,
              Use use) const override {
    const KernelLaw law(games.players());
    std::vector<torch::Tensor> rows;
    for (const Rng& stream : streams) rows.push_back(draw_pairs(law, count(use), stream));
    const torch::Tensor coalitions = torch::stack(rows);
    const torch::Tensor gains = games.coalition_gains(members, coalitions);
    if (!relative_) return {coalitions, gains};
    return {coalitions, gains, weights(gains, games)};
  }

  std::int64_t evaluations(Use use, int) const override { return count(use); }

  torch::Tensor loss(const torch::Tensor& densities, const PlayerVolumes& volumes, const torch::Tensor& gains,
                     const Labels& labels, std::int64_t batch) const override {
    return fastshap_errors(densities, volumes, gains, labels[0], labels[1], relative_ ? labels[2] : torch::Tensor()) /
           static_cast<double>(batch * labels[1].size(1));
  }

  std::string identity() const override {
    nlohmann::ordered_json json = {{"coalitions", coalitions_}};
    if (relative_) json["relative"] = true;
    if (once_) json["once"] = true;
    return json.dump();
  }

 private:
  int count(Use use) const { return use == Use::training ? coalitions_ : validation_coalitions; }

  /// 2·n·H_{n−1} over the mean of the squared gains: errors of the values of size ε|φ| then give a loss of about ε²,
  /// whatever the number of players, since squared sums over coalitions are |φ error|²/(2H_{n−1}) in the mean, and
  /// values are about 1/n of the gains.
  static torch::Tensor weights(const torch::Tensor& gains, const SampleGames& games) {
    double factor = 0;
    for (int j = 1; j < games.players(); ++j) factor += 2.0 * games.players() / j;
    const torch::Tensor size = gains.square().mean(1) + small_share * games.mean_squared_gain();
    return torch::where(size > 0, factor / size, torch::ones_like(size));
  }

  int coalitions_;
  bool relative_, once_;
};

}  // namespace

std::unique_ptr<Target> fastshap(const networks::ExplainerRecipe& recipe) {
  return std::make_unique<FastShap>(recipe, false);
}

std::unique_ptr<Target> fastshap_reused(const networks::ExplainerRecipe& recipe) {
  return std::make_unique<FastShap>(recipe, true);
}

}  // namespace targets

}  // namespace opshap::training
