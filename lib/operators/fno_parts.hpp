#pragma once

#include <cstdint>
#include <vector>

#include "core/operator.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// x in place.
inline torch::Tensor gelu_in_place(torch::Tensor x) { return torch::gelu_(x); }

/// What the coalition engines of an FNO by LibTorch work with.
struct FnoParts {
  /// y = x·W + b for rows x, W [Cin, Cout].
  struct RowLinear {
    torch::Tensor weight, bias;

    torch::Tensor operator()(const torch::Tensor& x) const { return torch::addmm(bias, x, weight); }
    RowLinear in(const torch::Dtype dtype) const { return {weight.to(dtype), bias.to(dtype)}; }
  };

  /// The last block and the projection at one query, times its weight: its linear parts are multiplied out.
  struct Head {
    Query query;
    std::int64_t place = 0;  ///< of the query's point in the padded grid
    torch::Tensor first, first_here,
        first_bias;  ///< coefficients [2·frequencies·C, hidden] and the state at the query [C, hidden] to the MLP's
                     ///< hidden layer
    torch::Tensor second, second_here, second_bias;  ///< [hidden, wide] and [C, wide] to the projection's hidden layer
    torch::Tensor third, bias;                       ///< [wide], [1]: to the output's channel

    /// Coefficients [frequencies, 2, B, C] of the last block's input and that input at the query [B, C] to values [B].
    torch::Tensor operator()(const torch::Tensor& coefficients, const torch::Tensor& here) const {
      const std::int64_t batch = here.size(0);
      torch::Tensor hidden =
          torch::addmm(first_bias, coefficients.permute({2, 0, 1, 3}).reshape({batch, first.size(0)}), first);
      hidden = gelu_in_place(hidden.addmm_(here, first_here));
      const torch::Tensor wide = gelu_in_place(torch::addmm(second_bias, hidden, second).addmm_(here, second_here));
      return torch::addmv(bias, wide, third);
    }
  };

  using Heads = std::vector<Head>;

  /// Inputs and their baselines: what each point makes of them, shown and hidden, [axis 0, axis 1, inputs, C]. There
  /// may be one baseline for all inputs.
  struct Lifted {
    struct Pair {
      torch::Tensor shown, hidden;

      /// One of the two for each point and coalition, by masks [.., rows, 1]. Each input has as many rows.
      torch::Tensor by(const torch::Tensor& masks) const {
        const std::int64_t inputs = shown.size(-2);
        if (inputs == 1) return torch::where(masks, shown, hidden);
        std::vector<std::int64_t> shape = masks.sizes().vec();
        shape.insert(shape.end() - 2, inputs);
        shape[shape.size() - 2] /= inputs;
        return torch::where(masks.reshape(shape), shown.unsqueeze(-2), hidden.unsqueeze(-2)).flatten(-3, -2);
      }
      /// Those of some inputs.
      Pair of(std::int64_t first, std::int64_t count) const {
        return {shown.narrow(-2, first, count), hidden.size(-2) == 1 ? hidden : hidden.narrow(-2, first, count)};
      }
    };
    Pair states, skips, gates;  ///< after the lifting; what the first block's skip and gate make of them

    std::int64_t inputs() const { return states.shown.size(2); }
    Lifted of(std::int64_t first, std::int64_t count) const {
      return {states.of(first, count), skips.of(first, count), gates.of(first, count)};
    }
  };

  /// Who owns which point.
  struct Players {
    std::int64_t count = 0;
    torch::Tensor owner;  ///< [points]
    torch::Tensor
        table;  ///< [inputs, players, 2·frequencies·C]: what each of them adds to the first block's coefficients;
                ///< undefined where it does not pay
    torch::Tensor empty;  ///< [baselines, 1, 2·frequencies·C]: what the table adds to, the coefficients without players

    /// For some inputs.
    Players of(std::int64_t first, std::int64_t count) const {
      if (!table.defined()) return *this;
      return {this->count, owner, table.narrow(0, first, count),
              empty.size(0) == 1 ? empty : empty.narrow(0, first, count)};
    }
  };

  /// The parameters, with inputs first.
  struct Weights {
    struct Block {
      torch::Tensor spectral, spectral_bias, skip, gate;  ///< gate [C]
      RowLinear mlp0, mlp1;
    };

    FnoConfig config;
    torch::TensorOptions options;
    RowLinear lifting0, lifting1, projection0, projection1;  ///< in double, since they are only used to prepare
    std::vector<Block> blocks;

    /// Throws DataError for a parameter that is not finite.
    Weights(FnoConfig config, const torch::TensorOptions& options, const std::vector<Parameter>& parameters);
  };
};

}  // namespace opshap::operators
