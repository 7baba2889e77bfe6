#pragma once

#include <memory>
#include <string>

#include "core/field.hpp"
#include "core/operator.hpp"

namespace opshap::operators {

/// The coalition engines of one trained network, on the network's own device.
class CoalitionEngines {
 public:
  virtual ~CoalitionEngines() = default;
  /// As Operator::coalition_engine.
  virtual std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                            const Partition& partition,
                                                            const Readout& readout) const = 0;
  /// What computes, for Operator::coalition_path: "engine, avx512".
  virtual std::string path() const = 0;
};

/// Engines, or the reason why a network has none.
struct EngineChoice {
  std::unique_ptr<CoalitionEngines> engines;
  std::string why_not;
};

}  // namespace opshap::operators
