#pragma once

#include <complex>
#include <string>
#include <vector>

#include "engines/axis_basis.hpp"

namespace opshap::engines {

/// The parameters of a trained FNO in one or two dimensions, in the layout of the Python reference's state_dict.
struct FnoWeights {
  /// y = W·x + b; `weight` is [outputs, inputs], `bias` may be empty.
  struct Linear {
    int inputs = 0, outputs = 0;
    std::vector<float> weight, bias;
  };
  struct Layer {
    std::vector<std::complex<float>> spectral;  ///< [width, width, modes[0] (2D), modes.back()/2 + 1], inputs first
    std::vector<float> spectral_bias;           ///< [width]
    Linear skip;                                ///< width to width, no bias
    Linear mlp0, mlp1;                          ///< width to hidden to width
    std::vector<float> gate;                    ///< [width]
  };

  std::vector<int> modes;  ///< per axis; its length is the dimension
  int width = 0, in_channels = 1, out_channels = 1;
  AxisFractions padding;
  bool both_sides = true;
  /// On an odd number of points on the first of two axes, what was computed for the frequency k comes out at k − 1
  /// there, as in neuraloperator up to 2.0.0.
  bool inverse_fftshift = false;
  Linear lifting0, lifting1, projection0, projection1;
  std::vector<Layer> layers;

  int dimension() const { return static_cast<int>(modes.size()); }
  /// Throws DataError for a shape that does not fit, and for a number that is not finite, naming the tensor.
  void check(const std::string& who) const;
};

}  // namespace opshap::engines
