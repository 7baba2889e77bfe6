#include "training/target_fastshap.hpp"

#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "operators/fno_coalitions.hpp"
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

/// Adds so many coalitions: each from the Shapley kernel and then its complement.
void draw_pairs(const KernelLaw& law, int count, Rng rng, Coalitions& coalitions) {
  for (int pair = 0; pair < count / 2; ++pair) {
    coalitions.append_empty();
    const auto row = coalitions.row(coalitions.size() - 1);
    law.draw_subset(rng, law.draw_size(rng), row);
    coalitions.append_complement(row);
  }
}

/// Members as 1 and others as 0, [games, K, players]: each game has as many of the coalitions. They go to a device as
/// bits.
torch::Tensor indicators(const Coalitions& coalitions, std::size_t games, const torch::TensorOptions& options) {
  const int players = coalitions.players();
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(games),
                                           static_cast<std::int64_t>(coalitions.size() / games), players};
  if (!options.device().is_cpu()) {
    const torch::Tensor words =
        operators::words_of(coalitions, 0, static_cast<std::int64_t>(coalitions.size()), options.device());
    return operators::member_rows(words, players).to(options).view(shape);
  }
  const torch::Tensor rows = torch::empty(shape, options);
  auto* out = rows.data_ptr<float>();
  for (std::size_t k = 0; k < coalitions.size(); ++k) {
    const auto row = std::as_const(coalitions).row(k);
    for (int player = 0; player < players; ++player) *out++ = contains(row, player) ? 1.0F : 0.0F;
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
    Coalitions coalitions(games.players());
    coalitions.reserve(streams.size() * static_cast<std::size_t>(count(use)));
    for (const Rng& stream : streams) draw_pairs(law, count(use), stream, coalitions);
    const torch::Tensor rows = indicators(coalitions, members.size(), games.options()),
                        gains = games.coalition_gains(members, coalitions);
    if (!relative_) return {rows, gains};
    return {rows, gains, weights(gains, games)};
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
