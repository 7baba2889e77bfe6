// libopshap-networks.so as libopshap.so knows it.

#include <nlohmann/json.hpp>

#include "explainers/operator_shap.hpp"
#include "networks/networks.hpp"
#include "operators/blas.hpp"
#include "operators/golden.hpp"
#include "operators/network.hpp"
#include "operators/torch_script.hpp"
#include "operators/weights.hpp"
#include "training/loop.hpp"
#include "training/ranks.hpp"
#include "training/target.hpp"
#include "training/training.hpp"

namespace opshap::training {

extern const char* const build;  // cmake/version.cmake writes it

namespace {

namespace fs = std::filesystem;
using networks::BackboneRecipe;
using networks::ExplainerRecipe;
using networks::NetworkConfig;
using networks::TrainingSummary;

class Library final : public networks::Networks {
 public:
  networks::Blas blas() const override { return operators::examine_blas(); }
  void require_fast_blas() const override { operators::require_fast_blas(); }
  networks::Torch torch() const override { return operators::examine_torch(); }
  void require_device(const std::string& device) const override { operators::require_device(device); }

  bool is_torch_script(const fs::path& path) const override { return operators::is_torch_script(path); }
  std::unique_ptr<Operator> load_operator(const fs::path& path, const std::string& device,
                                          networks::Precision precision, bool engine,
                                          const std::vector<std::int64_t>& input) const override {
    return operators::load_operator(path, device, precision, engine, input);
  }
  std::unique_ptr<Operator> untrained_operator(const NetworkConfig& config, std::uint64_t seed) const override {
    return operators::untrained_operator(config, seed);
  }
  networks::GoldenValues golden_values(const NetworkConfig& config, const std::vector<std::int64_t>& input_shape,
                                       networks::Precision precision, const std::string& device) const override {
    return operators::golden_values(operators::golden_output(config, input_shape, precision, device));
  }
  nlohmann::ordered_json inspected(const fs::path& weights, const std::vector<std::int64_t>& input,
                                   const std::string& device) const override {
    return operators::inspected(weights, input, device);
  }
  void import_weights(const fs::path& from, const std::optional<NetworkConfig>& config,
                      const fs::path& to) const override {
    operators::import_weights(from, config, to);
  }
  std::unique_ptr<Explainer> load_explainer(const fs::path& weights, const Operator& explained,
                                            const std::string& device) const override {
    return explainers::load_explainer(weights, explained, device);
  }

  networks::Rank rank() const override { return Ranks::all(); }
  void leave_ranks() const override { Ranks::all().leave(); }
  void require_recipes(const BackboneRecipe& backbone, const ExplainerRecipe& explainer,
                       networks::NetworkSpaces spaces) const override {
    training::require_recipes(backbone, explainer, spaces);
  }
  TrainingSummary train_backbone(const BackboneRecipe& recipe, const data::Dataset& data, std::uint64_t seed,
                                 const fs::path& folder, const std::string& device) const override {
    return training::train_backbone(recipe, data, seed, folder, device);
  }
  TrainingSummary train_explainer(const ExplainerRecipe& recipe, const Operator& backbone, const data::Dataset& data,
                                  std::uint64_t seed, const fs::path& folder, const std::vector<int>& snapshots,
                                  const std::string& device) const override {
    return training::train_explainer(recipe, backbone, data, seed, folder, snapshots, device);
  }
  std::string training_identity(const ExplainerRecipe& recipe, const Operator& backbone, const data::Dataset& data,
                                std::uint64_t seed) const override {
    return training::training_identity(recipe, *targets::make(recipe), backbone, data, seed);
  }

  NetworkConfig backbone_config(const BackboneRecipe& recipe, const data::Dataset& data) const override {
    return training::backbone_config(recipe, data);
  }
  NetworkConfig explainer_config(const ExplainerRecipe& recipe, const data::Dataset& data) const override {
    return training::explainer_config(recipe, data);
  }
  networks::LabelCost label_cost(const ExplainerRecipe& recipe, int players) const override {
    const auto target = targets::make(recipe);
    return {.training = target->evaluations(Target::Use::training, players),
            .validation = target->evaluations(Target::Use::validation, players),
            .once = target->once()};
  }
  std::function<void()> training_step(const NetworkConfig& config, const Domain& native, const Resolution& resolution,
                                      int batch) const override {
    const std::shared_ptr<operators::Network> network = operators::make_network(config, torch::kFloat32);
    if (native.is_grid()) network->set_native_domain(native);
    operators::initialise(*network, 1);
    for (operators::Parameter& parameter : network->parameters()) parameter.value.set_requires_grad(true);
    const Domain domain = at_resolution(native, resolution);
    const torch::Tensor fields = torch::rand({domain.points(), batch, network->input_channels()});
    return [network, batch, domain, fields] {
      batch_loss_and_gradient(*network, batch, domain, [&](std::int64_t first, std::int64_t count) {
        return network->forward(fields.narrow(1, first, count), domain).square().sum();
      });
    };
  }
  std::int64_t parameter_count(const NetworkConfig& config) const override {
    std::int64_t numbers = 0;
    for (const operators::Parameter& parameter : operators::make_network(config, torch::kFloat32)->parameters())
      numbers += parameter.value.numel();
    return numbers;
  }
};

}  // namespace

}  // namespace opshap::training

extern "C" opshap::networks::Entry opshap_networks() {
  static const opshap::training::Library library;
  return {opshap::training::build, &library};
}
