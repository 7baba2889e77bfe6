#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/field.hpp"
#include "core/operator.hpp"
#include "engines/fno_engine.hpp"
#include "engines/fno_slopes.hpp"

namespace opshap::engines {

/// An engine with its reverse passes, made when they are first asked for: trainings want values alone.
class FnoEngineAndSlopes {
 public:
  FnoEngineAndSlopes(const FnoWeights& weights, const std::vector<int>& shape, const Kernels& kernels)
      : engine_(weights, shape, kernels) {}

  const FnoEngine& engine() const { return engine_; }
  const FnoSlopes& slopes() const {
    std::call_once(once_, [this] { slopes_.emplace(engine_); });
    return *slopes_;
  }

 private:
  FnoEngine engine_;
  mutable std::once_flag once_;
  mutable std::optional<FnoSlopes> slopes_;
};

/// The engines of one trained FNO: one for each grid, made when it is first asked for and then kept with its latest
/// readout and baseline. Most questions about a grid have the same baseline, which is then lifted once.
class FnoEngines {
 public:
  /// Throws DataError for weights that do not fit together or are not finite, EnvironmentError when OPSHAP_ENGINE names
  /// an instruction set that cannot run.
  explicit FnoEngines(FnoWeights weights);

  /// "avx512", "avx2" or "baseline".
  std::string instruction_set() const { return kernels_.name; }
  /// As Operator::coalition_engine. Throws DataError for a field with a value that is not finite.
  std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                    const Partition& partition, const Readout& readout) const;

 private:
  struct OnGrid {
    std::shared_ptr<const FnoEngineAndSlopes> engine;
    Readout readout;
    std::shared_ptr<const FnoEngine::Heads> heads;
    std::shared_ptr<const FnoEngine::Lifted> baseline;
  };

  FnoWeights weights_;
  const Kernels& kernels_;
  mutable std::mutex mutex_;
  mutable std::map<std::vector<int>, OnGrid> grids_;
};

}  // namespace opshap::engines
