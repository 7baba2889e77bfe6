#pragma once

#include <memory>
#include <string>
#include <vector>

#include "operators/coalition_engines.hpp"
#include "operators/gino.hpp"

namespace opshap::operators {

/// The coalition engines of one trained GINO by LibTorch, on the device and in the precision of its parameters.
///
/// The kernel on the way in sees one point of the mesh at a time, shown or hidden. So what an edge gives to its latent
/// point has two values, and the latent grid of a coalition is that of the empty one plus a sum over its players: one
/// sparse product, whose matrix is made once for an input. The kernel itself, which is most of the way in, runs twice
/// for an input instead of once for a coalition. On the way out only the query's edges are computed, and the last block
/// only around them. Values agree with values_at() to the rounding of the precision.
class GinoCoalitions final : public CoalitionEngines {
 public:
  /// Parameters of a Gino with this configuration, in its order; they are copied.
  GinoCoalitions(const GinoConfig& config, const torch::TensorOptions& options,
                 const std::vector<Parameter>& parameters);

  /// As Operator::coalition_engine. Throws DataError for a field with a value that is not finite, and InvalidArgument
  /// as Gino::forward.
  std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                    const Partition& partition, const Readout& readout) const override;
  std::string path() const override;

 private:
  std::shared_ptr<const Gino> network_;
};

}  // namespace opshap::operators
