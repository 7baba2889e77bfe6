#include "explainers/operator_shap.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "operators/density.hpp"
#include "operators/network.hpp"

namespace opshap::explainers {

namespace {

class OperatorShap final : public Explainer {
 public:
  OperatorShap(std::unique_ptr<Operator> network, bool any_query, ExplainerBase base,
               std::vector<Resolution> trained_at, TrainedFor trained_for)
      : network_(std::move(network)),
        any_query_(any_query),
        base_(base),
        trained_at_(std::move(trained_at)),
        trained_for_(std::move(trained_for)) {}
  std::string describe() const override { return "OperatorSHAP: " + network_->describe(); }
  bool any_query() const override { return any_query_; }
  std::vector<Resolution> trained_at() const override { return trained_at_; }
  TrainedFor trained_for() const override { return trained_for_; }
  ExplainerBase base() const override { return base_; }

  FieldBatch densities(const FieldBatch& inputs, const Readout& readout) const override {
    if (!any_query_) return network_->apply(inputs);
    const auto at = [&](Query query) {
      return network_->apply(with_query(inputs, std::vector(static_cast<std::size_t>(inputs.batch), query.point)));
    };
    if (readout.is_query()) return at(readout.query());
    FieldBatch sum = FieldBatch::zeros(inputs.domain, inputs.batch, 1);
    for (const auto& [query, weight] : readout.terms()) {
      const FieldBatch density = at(query);
      for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += weight * density.values[i];
    }
    return sum;
  }

 private:
  std::unique_ptr<Operator> network_;
  bool any_query_;
  ExplainerBase base_;
  std::vector<Resolution> trained_at_;
  TrainedFor trained_for_;
};

}  // namespace

FieldBatch with_query(const FieldBatch& inputs, const std::vector<std::int64_t>& points) {
  const Domain& domain = inputs.domain;
  FieldBatch both = FieldBatch::zeros(domain, inputs.batch, inputs.channels + domain.dimension());
  for (std::int64_t index = 0; index < inputs.batch; ++index) {
    auto to = std::copy_n(inputs.field(index).begin(), inputs.field_size(), both.field(index).begin());
    for (const double coordinate : domain.position(points[static_cast<std::size_t>(index)]))
      to = std::fill_n(to, domain.points(), coordinate);
  }
  return both;
}

std::unique_ptr<Explainer> load_explainer(const std::filesystem::path& weights, const Operator& explained,
                                          const std::string& device) {
  auto network = operators::load_network(weights, operators::tensor_options(networks::Precision::float32, device));
  // Weights of before, and those of other programs, say nothing of themselves.
  require<DataError>(network->trained_for().empty() || network->trained_for().contains("players"),
                     "explainer: file=", weights.string(),
                     " (holds an operator). Give the weights of an explainer, as `opshap train explainer` writes them.");
  require<DataError>(network->output_channels() == 1, "explainer: out_channels=", network->output_channels(), " in ",
                     weights.string(), " (a density is one channel). Give an explainer's weights.");
  const bool any_query = operators::takes_any_query(network->config());
  const ExplainerBase base = operators::base_of(network->config());
  const int channels = network->input_channels() - (any_query ? network->dimension() : 0) - base.channels();
  require(network->dimension() == explained.dimension() && channels == explained.input_channels(),
          "explainer: dimension=", network->dimension(), ", in_channels=", channels, " in ", weights.string(),
          " (the operator has ", explained.dimension(), " and ", explained.input_channels(),
          "). Give an explainer that was trained for this operator.");
  require_base(base, explained);
  std::vector<Resolution> trained_at = operators::trained_at(network->config());
  TrainedFor trained_for = network->trained_for();
  return std::make_unique<OperatorShap>(operators::as_operator(std::move(network), false),  // never masked
                                        any_query, base, std::move(trained_at), std::move(trained_for));
}

}  // namespace opshap::explainers
