#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/coalition_engine.hpp"
#include "core/field.hpp"
#include "core/partition.hpp"

namespace opshap {

/// One number of an output field: its channel and its point.
struct Query {
  std::int64_t point = 0;
  int channel = 0;
};

/// An operator G: input fields to output fields on the same grid, at any resolution it supports.
///
/// Immutable after construction; every member may be called from several threads at once.
class Operator {
 public:
  virtual ~Operator() = default;

  /// Registry name and the facts that tell two operators apart, for reports: "fno 1D, width 64, 16 modes, 4 layers".
  virtual std::string describe() const = 0;
  /// What knows the operator again, whatever its file is called: a checksum over configuration and tensors, or over the
  /// files of a model that nothing else is known of. Empty where there is none. Cost: a pass over all weights.
  virtual std::string checksum() const { return {}; }
  virtual int dimension() const = 0;
  virtual int input_channels() const = 0;
  virtual int output_channels() const = 0;
  /// The domain for which it takes a grid of this shape. An operator that knows the domain it learned from gives that
  /// one, with so many points on each axis. The default is the unit interval or square.
  virtual Domain domain(const std::vector<int>& shape) const { return Domain::unit(shape); }

  /// [B, Cin, points] to [B, Cout, points]. Throws InvalidArgument for a wrong channel count or dimension.
  virtual FieldBatch apply(const FieldBatch& inputs) const = 0;

  /// G(input)(query) for each input, [B]. The default applies and picks; an operator that can stop early overrides it.
  virtual std::vector<double> values_at(const FieldBatch& inputs, Query query) const;

  struct Gradient {
    std::vector<double> values;  ///< G(input)(query), [B]
    FieldBatch gradient;  ///< ∂G(input)(query)/∂input, the shape of the inputs; cell volumes are already in it
  };
  /// Values at the query and their gradients with respect to the inputs: one reverse pass for the batch.
  virtual Gradient gradient_at(const FieldBatch& inputs, Query query) const = 0;

  /// Whether mean_field_at works.
  virtual bool has_mean_field() const { return false; }
  /// F(t) at the query for each field t of inclusion probabilities [B, 1, points], and ∂F/∂t: the mean-field closure of
  /// a hard random mask.
  ///
  /// Each point is in two states at once, shown (the input) with probability t and hidden (the baseline) with 1 − t.
  /// What is computed point by point is computed for both; what sees the field through integrals gets their mean
  /// t⊙shown + (1 − t)⊙hidden. F(1) = G(input), F(0) = G(baseline). `shown` and `hidden` are batches of one. One
  /// reverse pass of two branches. Throws InvalidArgument when the operator has none.
  virtual Gradient mean_field_at(const FieldBatch& shown, const FieldBatch& hidden, const FieldBatch& inclusion,
                                 Query query) const;

  /// A faster way to evaluate masked inputs than apply(), or nullptr when this operator has none. `shown` and `hidden`
  /// are batches of one on one grid and fit the operator, as do partition and query. Values agree with values_at() to
  /// the rounding of the operator's own precision.
  virtual std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                            const Partition& partition, Query query) const;
  /// How coalitions are evaluated, in words, for reports: "engine, avx512", or "LibTorch, float64" and why.
  virtual std::string coalition_path() const { return "operator"; }

  /// How many fields of this domain the operator likes to see in one call: what fits its caches.
  virtual std::int64_t preferred_batch(const Domain& domain) const;
};

/// Throws InvalidArgument unless the query is a point and channel of this operator's outputs on this domain.
void require_query(const Operator& op, const Domain& domain, Query query);

}  // namespace opshap
