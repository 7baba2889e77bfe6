#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"
#include "devices/fno_kernels.hpp"
#include "operators/fno.hpp"
#include "operators/fno_parts.hpp"
#include "operators/network.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

/// A coalition engine whose values stay on a device until somebody wants them.
class DeviceEngine : public CoalitionEngine {
 public:
  /// As values(), on the device and in its precision, [count].
  virtual torch::Tensor values_there(const Coalitions& coalitions, std::size_t first, std::int64_t count) const = 0;
};

/// Members of coalitions that lie on a device as Coalitions has them, [rows, words] of int64, as booleans
/// [rows, players].
torch::Tensor member_rows(const torch::Tensor& words, std::int64_t players);
/// The words of `count` coalitions, on this device.
torch::Tensor words_of(const Coalitions& coalitions, std::size_t first, std::int64_t count,
                       const torch::Device& device);

/// The coalition engines of one trained FNO by LibTorch, on the device and in the precision of its parameters.
///
/// What they save against applying the network to masked fields: each point is lifted twice for an input, shown and
/// hidden, and looked up by the masks afterwards; what the first block makes of a coalition's coefficients is a sum
/// over its players where that is the cheaper way; the last block and the projection are computed at the query alone,
/// with their linear parts multiplied out beforehand. Several inputs share all of this. Coalitions go to the device as
/// bits, in one transfer for a call, and their values come back in one; in between there are as many batches as its
/// memory asks for. Calls from several threads take turns on the device. Values agree to the rounding of the precision
/// for any batch; unlike those of FnoEngine they are not the same bits, since a BLAS chooses its kernels by size.
class FnoCoalitions final : public CoalitionEngines {
 public:
  /// Parameters under the names of the Python reference's state_dict; they are shared and must not change any more. At
  /// most `largest_batch` coalitions are computed together, and fewer where they are not worth their memory. Throws
  /// DataError for a parameter that is not finite.
  FnoCoalitions(FnoConfig config, const torch::TensorOptions& options, const std::vector<Parameter>& parameters,
                std::int64_t largest_batch = 65536);
  /// The same in float32 by the kernel of lib/devices, with products of this arithmetic: on a GPU where the options
  /// name one, else emulated. `shared_floats` is the shared memory that the emulation has. Networks or readouts that
  /// the kernel does not cover are computed as above.
  FnoCoalitions(FnoConfig config, const torch::TensorOptions& options, const std::vector<Parameter>& parameters,
                devices::Arithmetic arithmetic, long long shared_floats = devices::shared_floats_90);
  ~FnoCoalitions() override;

  /// As Operator::coalition_engine. Throws DataError for a field with a value that is not finite.
  std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                    const Partition& partition, const Readout& readout) const override;
  std::string path() const override;

 private:
  class Kernel;
  class OnGrid;
  class Engine;

  std::shared_ptr<const FnoParts::Weights> weights_;
  std::int64_t largest_batch_;
  std::shared_ptr<const Kernel> kernel_;  ///< null without any
  mutable std::mutex mutex_;
  mutable std::map<std::vector<int>, std::shared_ptr<OnGrid>> grids_;  ///< made when first asked for, then kept
};

}  // namespace opshap::operators
