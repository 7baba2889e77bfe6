#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engines/axis_basis.hpp"
#include "networks/recipe.hpp"
#include "operators/config_reader.hpp"
#include "operators/layers.hpp"

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

/// The configuration of a Fourier neural operator, with the names and defaults of neuraloperator's FNO. What its
/// constructor has no default for is the paper's.
struct FnoConfig {
  std::vector<int> n_modes = {16};  ///< per axis; its length is the dimension
  int hidden_channels = 64;
  int n_layers = 4;
  int in_channels = 1;
  int out_channels = 1;
  engines::AxisFractions domain_padding = 0;
  std::string domain_padding_mode = "symmetric";  ///< "symmetric" (both sides) or "one-sided" (end only)
  /// "grid": the network gets each point's place i/n on each axis as further channels. "none" is null in a CONFIG.
  std::string positional_embedding = "grid";
  /// What a point of the padded grid counts in the Fourier sums of the spectral layers. "points": all points count as
  /// much, as in neuraloperator. The padded field jumps at the ends of the domain, and the sums are of first order in
  /// the spacing there. "volumes": each point counts as the part of the padded axis that belongs to it, see
  /// volume_quadrature(). The sums are of second order. On a periodic domain without padding the two are the same.
  std::string quadrature = "points";
  InverseShift inverse_shift = InverseShift::fftshift;  ///< without quadrature by volumes, which has no shift
  FnoOptions options = {};

  bool knows_places() const { return positional_embedding == "grid"; }
  bool knows_volumes() const { return quadrature == "volumes"; }

  /// Throws DataError for a key that is unknown and for a value that cannot work, naming it.
  static FnoConfig parse(const networks::NetworkConfig& config);
  /// Every key with its value; InverseShift alone where it matters, on two axes. Implicit: a FnoConfig is one kind of
  /// CONFIG.
  operator networks::NetworkConfig() const;

  bool operator==(const FnoConfig&) const = default;
};

}  // namespace opshap::operators
