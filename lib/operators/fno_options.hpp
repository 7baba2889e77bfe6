#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operators/config_reader.hpp"
#include "operators/fno_block.hpp"

namespace opshap::operators {

/// What neuraloperator's FNO can be told beside its sizes, with the names and defaults of its constructor.
struct FnoOptions {
  double lifting_channel_ratio = 2;  ///< width of the lifting's hidden layer in hidden_channels; 0: one layer
  double projection_channel_ratio = 2;
  bool use_channel_mlp = true;
  double channel_mlp_expansion = 0.5;
  BlockOptions block;

  /// Throws as ConfigReader for a value that is not supported, naming it. The keys of factorised weights mean nothing
  /// here: such weights are expanded when a file is read.
  static FnoOptions read(ConfigReader& reader);
  /// Adds the keys whose values are not the constructor's defaults.
  void write(nlohmann::ordered_json& config) const;

  /// Sizes of hidden layers, rounded as the reference does.
  int lifting_channels(int width) const { return static_cast<int>(lifting_channel_ratio * width); }
  int projection_channels(int width) const { return static_cast<int>(projection_channel_ratio * width); }
  int mlp_channels(int width) const;

  /// The first option of the blocks that the kernels do not have, with its value; "" when they have all.
  std::string beyond_kernels() const;

  bool operator==(const FnoOptions&) const = default;
};

}  // namespace opshap::operators
