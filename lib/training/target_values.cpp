#include "training/target_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/estimator.hpp"
#include "core/process.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/registry.hpp"
#include "estimators/second_order.hpp"
#include "networks/recipe.hpp"
#include "training/target.hpp"
#include "training/target_fastshap.hpp"

namespace opshap::training {

namespace {

constexpr double precision = 0.03;

/// What an estimator is asked for one label.
struct LabelRequest {
  std::shared_ptr<const Estimator> estimator;
  Budget budget = {};
  std::int64_t evaluations = 0;  ///< what it costs
};

/// The registered estimator of that name, which nobody owns.
std::shared_ptr<const Estimator> registered(std::string_view name) {
  return {&estimators::find(name), [](const Estimator*) {}};
}

class ValuesTarget final : public Target {
 public:
  ValuesTarget(std::string settings, std::function<LabelRequest(int)> request)
      : settings_(std::move(settings)), request_(std::move(request)) {}

  bool once() const override { return true; }
  std::int64_t evaluations(Use, int players) const override { return request_(players).evaluations; }

  /// Values [B, players] and the weight of each row [B].
  Labels draw(const SampleGames& games, const std::vector<std::int64_t>& members, const std::vector<Rng>& streams,
              Use) const override {
    const LabelRequest request = request_(games.players());
    const auto count = static_cast<std::int64_t>(members.size());
    torch::Tensor values = torch::empty({count, games.players()}, torch::kFloat32);
    std::vector<double> weights(members.size());
    const double least = small_share * games.mean_squared_gain() / games.players();
    games.play(members, [&](std::size_t b, const Game& game) {
      throw_if_stopped("explainer");
      Rng stream = streams[b];
      const Attribution found = attribute(*request.estimator, game, request.budget, stream.bits64());
      double squares = 0, variance = 0;
      float* row = values.data_ptr<float>() + b * found.values.size();
      for (std::size_t i = 0; i < found.values.size(); ++i) {
        require<NumericalError>(std::isfinite(found.values[i]), "explainer: label=", found.values[i], " (by ",
                                request.estimator->name(), ", player ", i, " of ", games.players(),
                                "). Look at what the operator makes of the training inputs.");
        row[i] = static_cast<float>(found.values[i]);
        squares += found.values[i] * found.values[i];
        if (found.standard_errors) variance += std::pow((*found.standard_errors)[i], 2);
      }
      if (found.second_order) variance = squares * std::pow(found.second_order->error_bar, 2);
      const double size = std::max(squares - variance, 0.0) + variance / (precision * precision) + least;
      weights[b] = size > 0 ? 1 / size : 1;
    });
    return {values, torch::tensor(weights, torch::kFloat64).to(torch::kFloat32)};
  }

  torch::Tensor loss(const torch::Tensor& densities, const PlayerVolumes& volumes, const torch::Tensor& gains,
                     const Labels& labels, std::int64_t batch) const override {
    const torch::Tensor errors = efficient_values(densities, volumes, gains) - labels[0];
    return (labels[1] * errors.square().sum(1)).sum() / static_cast<double>(batch);
  }

  std::string identity() const override { return settings_; }

 private:
  std::string settings_;
  std::function<LabelRequest(int)> request_;
};

/// The target whose labels are Shapley values by an estimator, asked once for each sample: squared errors of the
/// explainer's values, relative to the size of the label.
///
/// A label that knows its standard errors, or its error bar, counts by the inverse of its variance: a sample's weight
/// is 1/(|values|² + variance/precision² + least), where |values| is the label's size without its noise, and
/// `precision` = 0.03 the relative error below which the explainer is hardly expected to come. `least` keeps games of
/// next to nothing from deciding: small_share of the mean squared v(N) − v(∅), over n. Unbiased labels may be noisy:
/// the explainer learns their mean (Covert et al. 2024, Stochastic amortization). `settings` are the label's own, as a
/// JSON object. `request` says what is asked of a game with so many players, and throws InvalidArgument where it
/// cannot be asked.
std::unique_ptr<Target> values_target(std::string settings, std::function<LabelRequest(int players)> request) {
  return std::make_unique<ValuesTarget>(std::move(settings), std::move(request));
}

/// A label by so many evaluations, or by all coalitions where these are fewer.
LabelRequest of_budget(std::shared_ptr<const Estimator> estimator, std::int64_t budget, int players) {
  const bool all = players < 62 && budget >= std::int64_t{1} << players;
  return {
      .estimator = std::move(estimator), .budget = {budget}, .evaluations = all ? std::int64_t{1} << players : budget};
}

/// The settings of labels by that method.
std::string label_settings(const char* method, const networks::ExplainerRecipe& recipe) {
  return nlohmann::ordered_json{{"labels", method}, {"label_evaluations", recipe.label_evaluations}}.dump();
}

/// Labels by a quadrature whose nodes cost `pass` evaluations each. It has `usual` nodes where the recipe does not say
/// what a label may cost. Throws InvalidArgument where that pays for no node, or for more than a quadrature has.
std::unique_ptr<Target> quadrature_target(const char* method, const networks::ExplainerRecipe& recipe,
                                          std::int64_t pass, int usual,
                                          const std::function<std::shared_ptr<const Estimator>(int)>& with_nodes) {
  const std::int64_t asked = recipe.label_evaluations, most = pass * estimators::max_quadrature_nodes;
  require(asked == 0 || (asked >= pass && asked <= most), "explainer: label_evaluations=", asked, " (a node of ",
          method, " costs ", pass, ", and there are 1..", estimators::max_quadrature_nodes, "). Give ", pass, "..",
          most, ", or leave it out.");
  const int nodes = asked == 0 ? usual : static_cast<int>(asked / pass);
  return values_target(label_settings(method, recipe),
                       [estimator = with_nodes(nodes), evaluations = 2 + nodes * pass](int) {
                         return LabelRequest{.estimator = estimator, .evaluations = evaluations};
                       });
}

}  // namespace

namespace targets {

// Shapley values by enumeration.

std::unique_ptr<Target> exact(const networks::ExplainerRecipe& recipe) {
  return values_target(label_settings("exact", recipe), [](int players) {
    constexpr int most = 16;
    require(players <= most, "explainer: target=exact, players=", players,
            " (a label takes 2^n evaluations, n <= ", most, "). Use it in a mixture with players = ", most,
            ", or two_level or mean_field instead.");
    return LabelRequest{.estimator = registered("exact"), .evaluations = std::int64_t{1} << players};
  });
}

// Integrated gradients: what they are without labels of their own. Not the Shapley values in the limit, unless the
// operator is linear.

std::unique_ptr<Target> integrated_gradients(const networks::ExplainerRecipe& recipe) {
  constexpr int pass = 3, usual_nodes = 16;
  return quadrature_target("integrated_gradients", recipe, pass, usual_nodes, [](int nodes) {
    return estimators::integrated_gradients(estimators::Rule::gauss_legendre, nodes);
  });
}

// Values of the mean-field closure, which need no sampling: off by O(1/n), the same at each sample.

std::unique_ptr<Target> mean_field(const networks::ExplainerRecipe& recipe) {
  constexpr int pass = 6, usual_nodes = 8;
  return quadrature_target("mean_field", recipe, pass, usual_nodes,
                           [](int nodes) { return estimators::mean_field(nodes); });
}

// Integrated gradients with the correction for fluctuations about the diagonal: off by O(1/n²), and by the noise of few
// directions. A label that costs more has more of them.

std::unique_ptr<Target> second_order(const networks::ExplainerRecipe& recipe) {
  constexpr int pass = 3, fewest = 2;
  constexpr double any_gap = 1e9;  // so that the nodes are never doubled, and every label costs the same
  const auto cost = [](int directions) {
    return 2 + pass * estimators::SecondOrderOptions().nodes * (1 + 2 * std::int64_t{directions});
  };
  const std::int64_t asked = recipe.label_evaluations;
  require(asked == 0 || asked >= cost(fewest), "explainer: label_evaluations=", asked, " (", fewest,
          " directions take ", cost(fewest), "). Raise it, or leave it out.");
  return values_target(label_settings("second_order", recipe), [=](int players) {
    int directions = asked == 0 ? estimators::comb_directions(players) : fewest;
    while (asked > 0 && 2 * directions <= players && cost(2 * directions) <= asked) directions *= 2;
    while (directions > std::max(players, fewest)) directions /= 2;
    return LabelRequest{
        .estimator = estimators::diagonal_second_order({.directions = directions, .tolerance = any_gap}),
        .evaluations = cost(directions)};
  });
}

// Noisy values by a regression on pairs of a coalition and its complement. Their bias vanishes with the budget.

std::unique_ptr<Target> kernel_shap_paired(const networks::ExplainerRecipe& recipe) {
  return values_target(label_settings("kernel_shap_paired", recipe), [asked = recipe.label_evaluations](int players) {
    // Twice as many pairs as a solution needs at the least: fewer may not determine it.
    constexpr std::int64_t times = 2;
    const auto estimator = registered("kernel_shap_paired");
    const std::int64_t least = times * estimator->minimum(players).coalitions;
    require(asked == 0 || asked >= least, "explainer: label_evaluations=", asked, " (a regression for ", players,
            " players takes ", least, " at the least). Raise it, or leave it out.");
    return of_budget(estimator, std::max(asked, times * least), players);
  });
}

// Noisy, unbiased values by a few orderings of the players, each with its reverse, weighed by their variance
// (stochastic amortisation, Covert et al. 2024).

std::unique_ptr<Target> permutation_pairs(const networks::ExplainerRecipe& recipe) {
  return values_target(label_settings("permutation_pairs", recipe), [asked = recipe.label_evaluations](int players) {
    constexpr std::int64_t fewest = 2;  // for a variance
    const std::int64_t pair = 2 * std::max<std::int64_t>(1, players - 1);
    require(asked == 0 || asked >= 2 + fewest * pair, "explainer: label_evaluations=", asked,
            " (two pairs of orderings of ", players, " players take ", 2 + fewest * pair,
            "). Raise it, or leave it out.");
    const std::int64_t cost = 2 + pair * std::max(fewest, (asked - 2) / pair);
    return LabelRequest{.estimator = registered("permutation_antithetic"), .budget = {cost}, .evaluations = cost};
  });
}

// Noisy, unbiased values by slopes and few exact marginal contributions, weighed by their variance (stochastic
// amortisation, Covert et al. 2024).

std::unique_ptr<Target> two_level(const networks::ExplainerRecipe& recipe) {
  return values_target(label_settings("two_level", recipe), [asked = recipe.label_evaluations](int players) {
    const auto estimator = registered("two_level");
    const std::int64_t least = estimator->minimum(players).coalitions;
    require(asked == 0 || asked >= least, "explainer: label_evaluations=", asked, " (two_level takes ", least, " for ",
            players, " players at the least). Raise it, or leave it out.");
    return of_budget(estimator, std::max(asked, least), players);
  });
}

}  // namespace targets

}  // namespace opshap::training
