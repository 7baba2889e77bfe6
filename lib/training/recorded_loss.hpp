#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "operators/torch.hpp"

namespace opshap::training {

/// What a device was told to do, kept so that it can be told again in one call.
class Recording {
 public:
  virtual ~Recording() = default;
  virtual void repeat() const = 0;
};

/// Makes a recording of what `work` tells a device to do; `work` may be called several times. Null where the device
/// does not take it: then nothing has been done that counts.
using Recorder = std::function<std::unique_ptr<Recording>(const std::function<void()>& work)>;

/// By CUDA graphs. None for another device, and none in a build without the headers of the CUDA runtime.
Recorder recorder(const torch::Device& device);

/// A loss and its gradients by parameters.
struct LossAndGradients {
  torch::Tensor loss;
  std::vector<torch::Tensor> gradients;
};

/// The loss and gradients of batches of a training on a device. A step of a small batch is some hundred launches, each
/// of which takes the processor longer than the device: batches whose tensors have the same shapes are recorded once,
/// and repeated with other numbers.
class RecordedLoss {
 public:
  using Tensors = std::vector<torch::Tensor>;
  using Compute = std::function<LossAndGradients(const Tensors& tensors)>;

  /// Without a recorder everything is computed anew.
  explicit RecordedLoss(Recorder record) : record_(std::move(record)) {}

  /// What `compute` makes of these tensors, on which alone it depends among batches with this number. The second batch
  /// of its kind, which is the number and the shapes, is recorded, as the first one fills what a network keeps. At most
  /// 32 kinds are, since each has memory of its own. The result stays as it is until the next call.
  LossAndGradients operator()(const std::vector<std::int64_t>& number, const Tensors& tensors, const Compute& compute);

 private:
  struct Kind {
    int seen = 0;
    Tensors tensors;
    LossAndGradients found;
    std::unique_ptr<Recording> recording;
  };

  Recorder record_;
  std::map<std::vector<std::int64_t>, Kind> kinds_;
};

}  // namespace opshap::training
