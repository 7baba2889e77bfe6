#include "training/recorded_loss.hpp"

#include <utility>

#ifdef OPSHAP_CUDA_GRAPHS
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#endif

namespace opshap::training {

namespace {

constexpr std::size_t most_kinds = 32;

#ifdef OPSHAP_CUDA_GRAPHS

class CudaRecording final : public Recording {
 public:
  /// Throws c10::Error where the device does not take it.
  explicit CudaRecording(const std::function<void()>& work) {
    // Beside the default stream, which cannot be recorded. What libraries make at their first call is made before.
    c10::cuda::device_synchronize();
    const c10::cuda::CUDAStreamGuard guard(c10::cuda::getStreamFromPool());
    for (int time = 0; time < 3; ++time) work();
    c10::cuda::device_synchronize();
    // Another thread may ask the device for labels meanwhile, which is none of this recording's business.
    graph_.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
    try {
      work();
    } catch (...) {
      try {
        graph_.capture_end();
      } catch (const c10::Error&) {
        // It has nothing to end: the first error says why.
      }
      throw;
    }
    graph_.capture_end();
    c10::cuda::device_synchronize();
  }
  void repeat() const override { graph_.replay(); }

 private:
  mutable at::cuda::CUDAGraph graph_;
};

#endif

}  // namespace

Recorder recorder(const torch::Device& device) {
#ifdef OPSHAP_CUDA_GRAPHS
  if (device.is_cuda())
    return [device](const std::function<void()>& work) -> std::unique_ptr<Recording> {
      const c10::cuda::CUDAGuard guard(device);
      try {
        return std::make_unique<CudaRecording>(work);
      } catch (const c10::Error&) {
        return nullptr;
      }
    };
#else
  static_cast<void>(device);
#endif
  return {};
}

LossAndGradients RecordedLoss::operator()(const std::vector<std::int64_t>& number, const Tensors& tensors,
                                          const Compute& compute) {
  if (!record_) return compute(tensors);
  std::vector<std::int64_t> key = number;
  for (const torch::Tensor& tensor : tensors) {
    key.push_back(tensor.dim());
    key.insert(key.end(), tensor.sizes().begin(), tensor.sizes().end());
  }
  if (kinds_.size() >= most_kinds && !kinds_.contains(key)) return compute(tensors);
  Kind& kind = kinds_[key];
  if (++kind.seen == 1) return compute(tensors);
  if (!kind.recording) {
    for (const torch::Tensor& tensor : tensors) kind.tensors.push_back(tensor.clone());
    kind.recording = record_([&] { kind.found = compute(kind.tensors); });
    if (!kind.recording) {
      record_ = nullptr;
      kinds_.clear();
      return compute(tensors);
    }
  }
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < tensors.size(); ++i) kind.tensors[i].copy_(tensors[i]);
  kind.recording->repeat();
  return kind.found;
}

}  // namespace opshap::training
