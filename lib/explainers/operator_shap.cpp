#include "explainers/operator_shap.hpp"

#include <utility>

#include "core/error.hpp"
#include "operators/weights.hpp"

namespace opshap::explainers {

namespace {

class OperatorShap final : public Explainer {
 public:
  explicit OperatorShap(std::unique_ptr<Operator> network) : network_(std::move(network)) {}
  std::string describe() const override { return "OperatorSHAP: " + network_->describe(); }
  FieldBatch densities(const FieldBatch& inputs) const override { return network_->apply(inputs); }

 private:
  std::unique_ptr<Operator> network_;
};

}  // namespace

std::unique_ptr<Explainer> load_explainer(const std::filesystem::path& weights, const Operator& explained,
                                          const std::string& device) {
  auto network =
      operators::load_operator(weights, device, operators::Precision::float32, false);  // applied, never masked
  require<DataError>(network->output_channels() == 1, "explainer: out_channels=", network->output_channels(), " in ",
                     weights.string(), " (a density is one channel). Give an explainer's weights.");
  require(network->dimension() == explained.dimension() && network->input_channels() == explained.input_channels(),
          "explainer: dimension=", network->dimension(), ", in_channels=", network->input_channels(), " in ",
          weights.string(), " (the operator has ", explained.dimension(), " and ", explained.input_channels(),
          "). Give an explainer that was trained for this operator.");
  return std::make_unique<OperatorShap>(std::move(network));
}

}  // namespace opshap::explainers
