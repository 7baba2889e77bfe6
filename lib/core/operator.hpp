#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/coalitions.hpp"
#include "core/domain.hpp"
#include "core/field.hpp"

namespace opshap {

/// Which player owns each point, player_of[point] in 0..players-1, and the volume of each player's points together.
struct Partition {
  int players = 0;
  std::vector<int> player_of;   ///< [points]
  std::vector<double> volumes;  ///< [players]

  static Partition one_player_per_point(const Domain& domain);
  /// Contiguous blocks of equal size, or with one point more or less where the players do not divide the points. 1D:
  /// player of point x is ⌊x·players/n⌋; 2D: a √players × √players grid of blocks, row-major. Throws InvalidArgument
  /// where an axis has fewer points than blocks. On a mesh: the blocks of its bounding box that hold
  /// points, as mesh_blocks() numbers them; there may be fewer players than asked for.
  static Partition blocks(const Domain& domain, int players);
  /// Contiguous blocks of graded sizes: blocks() after Grading(ratio) of every axis, from wide blocks to narrow ones
  /// for ratio > 1; a ratio of 1 gives blocks(). Each block of `players` is a union of those of 2·players in 1D and of
  /// 4·players in 2D. Throws InvalidArgument when a block has no point or, in 2D, players is not a square.
  static Partition graded(const Domain& domain, int players, double ratio);
  /// From one label per point. Labels are 0..players-1 and each occurs; otherwise throws InvalidArgument.
  static Partition from_labels(const Domain& domain, const std::vector<std::int64_t>& labels);

  /// Game::places() of the players: the bits of the ranks of their middles along each axis, interleaved. Where the
  /// players are no grid of middles (meshes, labels), the rank in that order.
  std::vector<std::int64_t> places(const Domain& domain) const;
};

/// One number of an output field: its channel and its point.
struct Query {
  std::int64_t point = 0;
  int channel = 0;

  bool operator==(const Query&) const = default;
};

/// What is explained of an output: ⟨w, F⟩ = Σ_k w_k F(q_k), a weighted sum of its numbers. The value at a query, the
/// mean over a region, the derivative of a norm: whatever is linear in the output.
///
/// Shapley values are linear in the game, so those of a readout are the same sum of those of its queries. A value:
/// compared by content.
class Readout {
 public:
  struct Term {
    Query query;
    double weight = 1;

    bool operator==(const Term&) const = default;
  };

  /// The value at the query. Implicit: a query is a readout.
  Readout(Query query = {}) : terms_{{query, 1}} {}
  /// Terms whose weight is 0 are left out. Throws InvalidArgument when none is left, and for a weight that is not
  /// finite.
  explicit Readout(const std::vector<Term>& terms);
  /// Weights of all numbers of an output, [C, points]. Throws as above, and for another number of weights than a
  /// multiple of the points.
  static Readout of_weights(std::span<const double> weights, std::int64_t points);

  const std::vector<Term>& terms() const { return terms_; }
  /// Whether it is the value at one query.
  bool is_query() const { return terms_.size() == 1 && terms_.front().weight == 1; }
  /// That query. Throws std::logic_error for another readout.
  Query query() const;
  /// ⟨w, F⟩ of one output, [C, points]. The value at a query comes out as it is.
  double of(std::span<const double> output, std::int64_t points) const;

  /// "the value at point 5, channel 0", or "a weighted sum of 20 numbers of the output".
  std::string describe() const;

  bool operator==(const Readout&) const = default;

 private:
  std::vector<Term> terms_;
};

/// G(u_b + 1_S (u − u_b))(x*) for many S, one input u, baseline u_b, partition into players and query x*, by an
/// operator that knows its own structure. Or for several inputs: coalitions, and fields of weights, are then asked for
/// all of them together. Each input has as many, those of the first one first.
///
/// Immutable; may be called from several threads at once. Does not refer to the operator's inputs.
class CoalitionEngine {
 public:
  virtual ~CoalitionEngine() = default;
  /// values[i] = v(S) for row first + i of the coalitions, whose number is a multiple of that of the inputs. On the
  /// calling thread, or a device in its turn. An engine of the CPU gives the same bits whatever else is in the batch;
  /// one of a device the same values to rounding.
  virtual void values(const Coalitions& coalitions, std::size_t first, std::span<double> values) const = 0;
  /// Whether it has the slopes below; where it has not, the operator's own reverse passes have them. They throw
  /// std::logic_error then.
  virtual bool has_slopes() const { return false; }
  /// ∂f/∂w_p of f(w) = G(u_b + w ⊙ (u − u_b))(x*) at fields of weights w, [B, points], for each point p: [B, points].
  /// A reverse pass a field, on the calling thread. Fields share work, but a field's bits do not depend on the others.
  virtual void slopes(std::span<const double> weights, std::span<double> slopes) const;
  /// The same of the operator's mean-field closure (Operator::mean_field_at).
  virtual void mean_field_slopes(std::span<const double> weights, std::span<double> slopes) const;
  /// How many coalitions it likes to see in one call of a thread.
  virtual std::size_t batch() const = 0;
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
  /// The problem with its parameters that it was trained to solve, as the data set says it. Empty where nobody said.
  virtual std::string problem() const { return {}; }
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

  /// Whether gradient_at works: a program in another process may have values alone.
  virtual bool has_gradients() const { return true; }
  struct Gradient {
    std::vector<double> values;  ///< ⟨w, G(input)⟩, [B]
    FieldBatch gradient;  ///< ∂⟨w, G(input)⟩/∂input, the shape of the inputs; cell volumes are already in it
  };
  /// What the readout has of the outputs, and its gradients with respect to the inputs: one reverse pass for the batch.
  virtual Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const = 0;

  /// Whether its gradients are known to jump somewhere, as with the activation ReLU. False where nothing is known.
  virtual bool has_kinks() const { return false; }

  /// Whether mean_field_at works.
  virtual bool has_mean_field() const { return false; }
  /// ⟨w, F(t)⟩ for each field t of inclusion probabilities [B, 1, points], and ∂⟨w, F⟩/∂t: the mean-field closure of
  /// a hard random mask.
  ///
  /// Each point is in two states at once, shown (the input) with probability t and hidden (the baseline) with 1 − t.
  /// What is computed point by point is computed for both; what sees the field through integrals gets their mean
  /// t⊙shown + (1 − t)⊙hidden. F(1) = G(input), F(0) = G(baseline). `shown` and `hidden` are batches of one, or have
  /// one for each field of inclusion. One reverse pass of two branches. Throws InvalidArgument when the operator has
  /// none.
  virtual Gradient mean_field_at(const FieldBatch& shown, const FieldBatch& hidden, const FieldBatch& inclusion,
                                 const Readout& readout) const;

  /// A faster way to evaluate masked inputs than apply(), or nullptr when this operator has none for such a readout, or
  /// none for several inputs at once. `shown` and `hidden` are on one grid and fit the operator, as do partition and
  /// readout; there is one baseline for all inputs, or one for each. Values agree with values_at() to the rounding of
  /// the operator's own precision.
  virtual std::unique_ptr<CoalitionEngine> coalition_engine(const FieldBatch& /*shown*/, const FieldBatch& /*hidden*/,
                                                            const Partition& /*partition*/,
                                                            const Readout& /*readout*/) const {
    return nullptr;
  }
  /// How coalitions are evaluated, in words, for reports: "engine, avx512", or "LibTorch, float64" and why.
  virtual std::string coalition_path(const Readout& /*readout*/ = {}) const { return "operator"; }

  /// How many fields of this domain the operator likes to see in one call: what fits its caches.
  virtual std::int64_t preferred_batch(const Domain& /*domain*/) const { return 64; }

 protected:
  /// Σ_k w_k at(q_k): for an operator that knows its gradient at one query.
  static Gradient by_queries(const Readout& readout, const std::function<Gradient(Query)>& at);
};

/// Throws InvalidArgument unless the readout's queries are points and channels of this operator's outputs on this
/// domain.
void require_readout(const Operator& op, const Domain& domain, const Readout& readout);

}  // namespace opshap
