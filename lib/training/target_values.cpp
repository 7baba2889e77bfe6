#include "training/target_values.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/process.hpp"
#include "estimators/diagonal.hpp"
#include "training/fastshap_loss.hpp"

namespace opshap::training {

namespace {

constexpr double precision = 0.03;

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
    games.for_each(members.size(), [&](std::size_t b) {
      throw_if_stopped("explainer");
      Rng stream = streams[b];
      const Attribution found = attribute(request.estimator, *games.game(members[b]), request.budget, stream.bits64());
      double squares = 0, variance = 0;
      float* row = values.data_ptr<float>() + b * found.values.size();
      for (std::size_t i = 0; i < found.values.size(); ++i) {
        require<NumericalError>(std::isfinite(found.values[i]), "explainer: label=", found.values[i], " (by ",
                                request.estimator.name(), ", player ", i, " of ", games.players(),
                                "). Look at what the operator makes of the training inputs.");
        row[i] = static_cast<float>(found.values[i]);
        squares += found.values[i] * found.values[i];
        if (found.standard_errors) variance += std::pow((*found.standard_errors)[i], 2);
      }
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

}  // namespace

std::unique_ptr<Target> values_target(std::string settings, std::function<LabelRequest(int players)> request) {
  return std::make_unique<ValuesTarget>(std::move(settings), std::move(request));
}

int label_nodes(const char* method, const networks::ExplainerRecipe& recipe, std::int64_t pass, std::int64_t usual) {
  const std::int64_t asked = recipe.label_evaluations;
  if (asked == 0) return static_cast<int>(usual);
  const std::int64_t most = pass * estimators::max_quadrature_nodes;
  require(asked >= pass && asked <= most, "explainer: label_evaluations=", asked, " (a node of ", method, " costs ",
          pass, ", and there are 1..", estimators::max_quadrature_nodes, "). Give ", pass, "..", most,
          ", or leave it out.");
  return static_cast<int>(asked / pass);
}

std::string label_settings(const char* method, const networks::ExplainerRecipe& recipe) {
  return nlohmann::ordered_json{{"labels", method}, {"label_evaluations", recipe.label_evaluations}}.dump();
}

}  // namespace opshap::training
