#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "operators/torch.hpp"

namespace opshap::training {

/// AdamW with decoupled weight decay (Loshchilov & Hutter 2019), β = (0.9, 0.999), ε = 1e-8: the update of
/// torch.optim.AdamW.
///
/// Complex weights are real tensors with a last dimension of 2 here, which is how the reference treats them too: each
/// part has its own second moment.
class AdamW {
 public:
  using Tensors = std::map<std::string, torch::Tensor>;

  /// The tensors share their storage with `parameters`.
  AdamW(const Tensors& parameters, double weight_decay);

  /// One update from the gradients in the parameters, which are then cleared.
  void step(double learning_rate);

  /// Moments by name ("first.<parameter>", "second.<parameter>"), for checkpoints; they share their storage with the
  /// optimiser.
  Tensors moments() const;
  std::int64_t steps() const { return steps_; }
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  Tensors parameters_, first_, second_;
  double weight_decay_;
  std::int64_t steps_ = 0;
};

}  // namespace opshap::training
