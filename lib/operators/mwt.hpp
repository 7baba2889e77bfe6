#pragma once

#include "operators/torch.hpp"

namespace opshap::operators {

/// The filters of Legendre multiwavelets, float64: how a function that is a polynomial of degree < k on each half of
/// [0, 1] splits into one polynomial on all of it, and a rest.
///
/// φ_i is the i-th orthonormal Legendre polynomial on [0, 1]; √2·φ_j(2x) and √2·φ_j(2x − 1) are those on the halves. In
/// them, φ_i has the coefficients h0[i, j] and h1[i, j], and the wavelet ψ_i has g0[i, j] and g1[i, j]. The wavelets
/// come from the left half's functions in turn: each is made orthogonal to all φ and to the wavelets before it. So
/// [h0 h1] and [g0 g1] have orthonormal rows, and together they are an orthogonal matrix.
/// Source: Alpert (1993), A Class of Bases in L² for the Sparse Representation of Integral Operators, section 1; with
/// the choice of wavelets of Gupta, Xiao and Bogdan (2021), Multiwavelet-based Operator Learning, appendix B.
struct Multiwavelets {
  torch::Tensor h0, h1, g0, g1;  ///< [k, k]

  /// k >= 1. O(k³).
  explicit Multiwavelets(int k);
};

}  // namespace opshap::operators
