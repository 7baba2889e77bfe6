#pragma once

#include <string>
#include <vector>

namespace opshap::operators {

/// What an operator is made of: the CONFIG of its weight files, with the Python reference's names and defaults.
struct OperatorConfig {
  std::string model = "fno";        ///< registry name
  std::vector<int> n_modes = {16};  ///< per axis; its length is the dimension
  int hidden_channels = 64;
  int n_layers = 4;
  int in_channels = 1;
  int out_channels = 1;
  double domain_padding = 0;                      ///< fraction of each axis, 0 for none
  std::string domain_padding_mode = "symmetric";  ///< "symmetric" (both sides) or "one-sided" (end only)

  bool operator==(const OperatorConfig&) const = default;
};

/// What an operator computes with; fields are double on the outside.
enum class Precision { float32, float64 };

/// From the JSON text of a CONFIG. Unknown keys, wrong types and impossible sizes throw DataError naming the key; absent keys keep their defaults.
OperatorConfig parse_operator_config(const std::string& json);
std::string to_json(const OperatorConfig& config);

}  // namespace opshap::operators
