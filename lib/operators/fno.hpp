#pragma once

#include <string>
#include <vector>

#include "engines/padded_grid.hpp"
#include "networks/network_config.hpp"
#include "operators/fno_options.hpp"
#include "operators/inverse_shift.hpp"

namespace opshap::operators {

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
