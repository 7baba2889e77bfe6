#include "engines/fno_weights.hpp"

#include <cmath>
#include <cstddef>

#include "core/error.hpp"

namespace opshap::engines {

namespace {

bool finite(float value) { return std::isfinite(value); }
bool finite(const std::complex<float>& value) { return finite(value.real()) && finite(value.imag()); }

template <typename Number>
void check_tensor(const std::string& who, const std::string& name, const std::vector<Number>& values,
                  std::size_t wanted) {
  require<DataError>(values.size() == wanted, who, ": ", name, "=", values.size(), " numbers (", wanted,
                     " fit the others). Load the weights anew.");
  for (std::size_t i = 0; i < values.size(); ++i)
    require<DataError>(finite(values[i]), who, ": ", name, "[", i,
                       "] (not a finite number). Train again or repair the file.");
}

void check_linear(const std::string& who, const std::string& name, const FnoWeights::Linear& linear, int inputs,
                  int outputs, bool biased = true) {
  require<DataError>(linear.inputs == inputs && linear.outputs == outputs, who, ": ", name, "=", linear.outputs, "x",
                     linear.inputs, " (", outputs, "x", inputs, " fits the others). Load the weights anew.");
  const auto size = static_cast<std::size_t>(outputs);
  check_tensor(who, name + ".weight", linear.weight, size * static_cast<std::size_t>(inputs));
  check_tensor(who, name + ".bias", linear.bias, biased ? size : 0);
}

}  // namespace

void FnoWeights::check(const std::string& who) const {
  require<DataError>((dimension() == 1 || dimension() == 2) && width >= 1 && !layers.empty(), who,
                     ": axes=", dimension(), ", width=", width, ", layers=", layers.size(),
                     " (an FNO has 1 or 2 axes, channels and layers). Load the weights anew.");
  std::size_t frequencies = static_cast<std::size_t>(modes.back() / 2 + 1);
  if (dimension() == 2) frequencies *= static_cast<std::size_t>(modes.front());
  const auto size = static_cast<std::size_t>(width);
  check_linear(who, "lifting.fcs.0", lifting0, in_channels + dimension(), lifting0.outputs);
  check_linear(who, "lifting.fcs.1", lifting1, lifting0.outputs, width);
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const Layer& layer = layers[l];
    const std::string block = "fno_blocks.", at = message(".", l);
    check_tensor(who, block + "convs" + at + ".weight", layer.spectral, size * size * frequencies);
    check_tensor(who, block + "convs" + at + ".bias", layer.spectral_bias, size);
    check_linear(who, block + "fno_skips" + at, layer.skip, width, width, false);
    const int hidden = layers.front().mlp0.outputs;
    check_linear(who, block + "channel_mlp" + at + ".fcs.0", layer.mlp0, width, hidden);
    check_linear(who, block + "channel_mlp" + at + ".fcs.1", layer.mlp1, hidden, width);
    check_tensor(who, block + "channel_mlp_skips" + at, layer.gate, size);
  }
  check_linear(who, "projection.fcs.0", projection0, width, projection0.outputs);
  check_linear(who, "projection.fcs.1", projection1, projection0.outputs, out_channels);
}

}  // namespace opshap::engines
