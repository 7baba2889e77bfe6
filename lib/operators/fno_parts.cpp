#include "operators/fno_parts.hpp"

#include <map>
#include <string>
#include <utility>

#include "core/error.hpp"

namespace opshap::operators {

FnoParts::Weights::Weights(FnoConfig of, const torch::TensorOptions& in, const std::vector<Parameter>& parameters)
    : config(std::move(of)), options(in) {
  std::map<std::string, torch::Tensor> known;
  for (const Parameter& parameter : parameters) {
    known[parameter.name] = parameter.value.detach();
    require<DataError>(parameter.value.is_meta() || torch::isfinite(parameter.value).all().item<bool>(),
                       "engine: ", parameter.name,
                       " (has numbers that are not finite). Train again or repair the file.");
  }
  const auto linear = [&](const std::string& name) {
    return RowLinear{known.at(name + ".weight").squeeze(-1).t(), known.at(name + ".bias")};
  };
  lifting0 = linear("lifting.fcs.0").in(torch::kFloat64);
  if (!config.knows_places()) {  // the first layer gets the places, and makes nothing of them
    const auto axes = static_cast<std::int64_t>(config.n_modes.size());
    lifting0.weight = torch::cat({lifting0.weight, lifting0.weight.new_zeros({axes, lifting0.weight.size(1)})});
  }
  lifting1 = linear("lifting.fcs.1").in(torch::kFloat64);
  projection0 = linear("projection.fcs.0").in(torch::kFloat64);
  projection1 = linear("projection.fcs.1").in(torch::kFloat64);
  for (int index = 0; index < config.n_layers; ++index) {
    const std::string at = message(".", index);
    blocks.push_back({.spectral = known.at("fno_blocks.convs" + at + ".weight.tensor"),
                      .spectral_bias = known.at("fno_blocks.convs" + at + ".bias").flatten(),
                      .skip = known.at("fno_blocks.fno_skips" + at + ".conv.weight").squeeze(-1).t(),
                      .gate = known.at("fno_blocks.channel_mlp_skips" + at + ".weight").flatten(),
                      .mlp0 = linear("fno_blocks.channel_mlp" + at + ".fcs.0"),
                      .mlp1 = linear("fno_blocks.channel_mlp" + at + ".fcs.1")});
  }
}

}  // namespace opshap::operators
