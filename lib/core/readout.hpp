#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace opshap {

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

}  // namespace opshap
