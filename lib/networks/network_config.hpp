#pragma once

#include <string>

namespace opshap::networks {

/// The CONFIG of a network: the JSON object of its weight files, with the Python reference's names.
///
/// "model" names the architecture. Only that architecture knows what the other keys mean; everybody else hands the text
/// on.
struct NetworkConfig {
  std::string json = "{}";

  bool operator==(const NetworkConfig&) const = default;
};

/// An architecture and its settings before there is a data set: the table [operator] of a profile, as a JSON object.
///
/// What the settings mean is the architecture's own business. Dimension and channels are not among them: they come from
/// the data.
struct NetworkSettings {
  std::string model = "fno";
  std::string json = "{}";

  bool operator==(const NetworkSettings&) const = default;
};

/// What a data set asks of a network.
struct NetworkSpaces {
  int dimension = 1;
  int in_channels = 1;
  int out_channels = 1;
};

/// What a network computes with; fields are double on the outside.
enum class Precision { float32, float64 };

}  // namespace opshap::networks
