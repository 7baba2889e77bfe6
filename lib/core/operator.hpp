#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/coalition_engine.hpp"
#include "core/field.hpp"
#include "core/partition.hpp"
#include "core/readout.hpp"

namespace opshap {

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

  /// ⟨w, G(input)⟩ for each input, [B]. The default applies and picks; an operator that can stop early overrides it.
  virtual std::vector<double> values_at(const FieldBatch& inputs, const Readout& readout) const;

  struct Gradient {
    std::vector<double> values;  ///< ⟨w, G(input)⟩, [B]
    FieldBatch gradient;  ///< ∂⟨w, G(input)⟩/∂input, the shape of the inputs; cell volumes are already in it
  };
  /// What the readout has of the outputs, and its gradients with respect to the inputs: one reverse pass for the batch.
  virtual Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const = 0;

  /// Whether mean_field_at works.
  virtual bool has_mean_field() const { return false; }
  /// ⟨w, F(t)⟩ for each field t of inclusion probabilities [B, 1, points], and ∂⟨w, F⟩/∂t: the mean-field closure of
  /// a hard random mask.
  ///
  /// Each point is in two states at once, shown (the input) with probability t and hidden (the baseline) with 1 − t.
  /// What is computed point by point is computed for both; what sees the field through integrals gets their mean
  /// t⊙shown + (1 − t)⊙hidden. F(1) = G(input), F(0) = G(baseline). `shown` and `hidden` are batches of one. One
  /// reverse pass of two branches. Throws InvalidArgument when the operator has none.
  virtual Gradient mean_field_at(const FieldBatch& shown, const FieldBatch& hidden, const FieldBatch& inclusion,
                                 const Readout& readout) const;

  /// A faster way to evaluate masked inputs than apply(), or nullptr when this operator has none for such a readout.
  /// `shown` and `hidden` are batches of one on one grid and fit the operator, as do partition and readout. Values
  /// agree with values_at() to the rounding of the operator's own precision.
  virtual std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& shown, const FieldBatch& hidden,
                                                            const Partition& partition, const Readout& readout) const;
  /// How coalitions are evaluated, in words, for reports: "engine, avx512", or "LibTorch, float64" and why.
  virtual std::string coalition_path(const Readout& /*readout*/ = {}) const { return "operator"; }

  /// How many fields of this domain the operator likes to see in one call: what fits its caches.
  virtual std::int64_t preferred_batch(const Domain& domain) const;

 protected:
  /// Σ_k w_k at(q_k): for an operator that knows its gradient at one query.
  static Gradient by_queries(const Readout& readout, const std::function<Gradient(Query)>& at);
};

/// Throws InvalidArgument unless the readout's queries are points and channels of this operator's outputs on this
/// domain.
void require_readout(const Operator& op, const Domain& domain, const Readout& readout);

}  // namespace opshap
