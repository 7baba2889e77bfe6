#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/scenario.hpp"
#include "methods/of_density.hpp"

namespace opshap::methods {

namespace {

class OfExplainer final : public Method {
 public:
  OfExplainer(std::unique_ptr<Explainer> explainer, std::optional<std::string> name, std::string checksum)
      : explainer_(std::move(explainer)), weights_(std::move(name)), checksum_(std::move(checksum)) {}

  std::string_view name() const override { return "operator_shap"; }
  std::optional<std::string> explainer() const override { return weights_; }
  std::string checksum() const override { return checksum_; }
  std::string_view access() const override { return "amortised"; }
  bool any_query() const override { return explainer_->any_query(); }
  TrainedFor trained_for() const override { return explainer_->trained_for(); }
  std::string remark(const Question& question) const override {
    const std::vector<Resolution> known = explainer_->trained_at();
    const std::vector<int> shape = shape_of(scenario_of(name(), question).input.domain);
    if (known.empty() || std::ranges::count(known, Resolution(shape)) > 0) return "";
    std::string sizes, asked;
    for (const Resolution& size : known) sizes += message(sizes.empty() ? "" : ", ", size);
    for (const int points : shape) asked += message(asked.empty() ? "" : " x ", points);
    return message("the explainer was trained on grids of ", sizes, " points an axis, and not of ", asked);
  }

  Attribution attribute(const Question& question) const override {
    const Scenario& scenario = scenario_of(name(), question);
    return of_density(
        name(), [&] { return explainer_->densities(scenario.input, scenario.readout).values; }, question);
  }

 private:
  std::unique_ptr<Explainer> explainer_;
  std::optional<std::string> weights_;
  std::string checksum_;
};

}  // namespace

std::unique_ptr<Method> of_explainer(std::unique_ptr<Explainer> explainer, std::optional<std::string> name,
                                     std::string checksum) {
  return std::make_unique<OfExplainer>(std::move(explainer), std::move(name), std::move(checksum));
}

}  // namespace opshap::methods
