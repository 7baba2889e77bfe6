// Configs of networks from outside, changed at a few places: each is a network or refused by name, before it takes the
// memory that it asks for.

#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/torch.hpp"
#include "support/mutations.hpp"

namespace opshap {
namespace {

TEST(HostileConfigs, AreTakenOrRefused) {
  const torch::TensorOptions options = torch::kFloat32;
  const std::vector<std::string> seeds = {
      R"({"model":"fno","n_modes":[4],"hidden_channels":4,"n_layers":2,"in_channels":1,"out_channels":1,"domain_padding":0.5})",
      R"({"model":"fno","n_modes":[2,3],"hidden_channels":2,"n_layers":1,"in_channels":2,"out_channels":1})",
      R"({"model":"local_no","n_modes":[4,4],"hidden_channels":4,"n_layers":1,"in_channels":1,"out_channels":1,"default_in_shape":[8,8]})",
      R"({"model":"mwt","c":2,"k":2,"alpha":2,"n_cz":1,"in_channels":1,"out_channels":1})",
      R"({"model":"gino","n_modes":[2,2],"hidden_channels":4,"n_layers":1,"in_channels":1,"out_channels":1})"};
  survive("config", seeds, [&](const std::string& text) { operators::make_network({.json = text}, options); });
}

}  // namespace
}  // namespace opshap
