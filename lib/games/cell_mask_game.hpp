#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/field.hpp"
#include "core/game.hpp"
#include "core/operator.hpp"
#include "core/scenario.hpp"

namespace opshap::games {

/// A matrix of which only the entries that are not 0 are stored, row after row.
class SparseRows {
 public:
  std::size_t rows() const { return first_.size() - 1; }
  /// Adds a row. Entries are (column, value) in any order; those of one column are added up, and then divided by
  /// `divisor`. They are sorted in place.
  void append(std::vector<std::pair<int, double>>& entries, double divisor = 1);

  /// Σ_j matrix(row, j)·vector(j).
  double dot(std::size_t row, std::span<const double> vector) const {
    double sum = 0;
    for_each(row, [&](std::size_t column, double value) { sum += value * vector[column]; });
    return sum;
  }
  /// sum(j) += scale·matrix(row, j).
  void add_to(std::span<double> sum, std::size_t row, double scale = 1) const {
    for_each(row, [&](std::size_t column, double value) { sum[column] += scale * value; });
  }
  /// Calls visit(column, value) for the entries of a row.
  template <typename Visit>
  void for_each(std::size_t row, const Visit& visit) const {
    for (std::size_t entry = first_[row]; entry < first_[row + 1]; ++entry)
      visit(static_cast<std::size_t>(columns_[entry]), values_[entry]);
  }

 private:
  std::vector<std::size_t> first_ = {0};
  std::vector<int> columns_;
  std::vector<double> values_;
};

/// f(w) = G(u_b + w ⊙ (u − u_b))(x*) of a field of weights w: what the games of an operator are made of. All channels
/// of a point have its weight.
///
/// f(0) and f(1) are the operator's answers to exactly the baseline and the input. Memory: one batch of
/// Operator::preferred_batch fields, however many are asked for.
class MaskedOperator {
 public:
  /// `input` and `baseline` are batches of one on the same grid; the operator is referred to. `who` starts the
  /// messages. Throws InvalidArgument when shapes or query do not fit, DataError when a field has a value that is not
  /// finite.
  MaskedOperator(std::string_view who, const Operator& op, FieldBatch input, FieldBatch baseline, Readout readout);
  /// The f of several scenarios with the same domain, players and readout: fields of weights are then for all of them,
  /// each as many, those of the first one first. Throws as the other constructor, and InvalidArgument for scenarios
  /// that differ.
  MaskedOperator(const Operator& op, std::span<const Scenario> scenarios);

  const Domain& domain() const { return input_.domain; }
  const FieldBatch& input() const { return input_; }
  const FieldBatch& baseline() const { return baseline_; }
  bool has_gradients() const { return operator_.has_gradients(); }
  bool has_mean_field() const { return operator_.has_mean_field(); }

  /// Writes all points of the field of weights with that number.
  using Weigh = std::function<void(std::size_t index, std::span<double> weights)>;
  /// Takes the derivatives by the weight of each point, at the field of weights with that number.
  using UseSlopes = std::function<void(std::size_t index, std::span<const double> slopes)>;

  /// f of `count` fields of weights.
  std::vector<double> values(std::size_t count, const Weigh& weigh) const;

  /// ∂f/∂w at `count` fields of weights: one reverse pass for each.
  void slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const;

  /// ∂F/∂w of the operator's mean-field closure F, Operator::mean_field_at, at `count` fields of weights. Throws
  /// InvalidArgument when it has none.
  void mean_field_slopes(std::size_t count, const Weigh& weigh, const UseSlopes& use) const;

  /// The constant fields of weights with these values.
  static Weigh constant(std::span<const double> nodes);

  /// Derivatives by the weights of players, at points of their cube [B, n]: [B, n]. Calls pass(B, weigh, use) once,
  /// which is one of the two functions of slopes, or asks an engine.
  using Pass = std::function<void(std::size_t count, const Weigh& weigh, const UseSlopes& use)>;
  static std::vector<double> gradients(const Partition& partition, std::span<const double> points, const Pass& pass);

 private:
  /// Writes the input under the weights in place of the weights themselves, of `count` fields.
  Weigh mixed(const Weigh& weigh, std::size_t count) const;
  /// The number of the input to which a field of weights belongs, of `count` fields.
  std::size_t owner(std::size_t index, std::size_t count) const;
  /// Calls work(first, fields) for batches of the size the operator likes, each field written by `fill`; `fields` is
  /// one buffer, used again for each.
  template <typename Work>
  void for_each_batch(std::size_t count, int channels, const Weigh& fill, const Work& work) const;

  const Operator& operator_;
  FieldBatch input_, baseline_;  ///< one baseline for all inputs, or one for each
  Readout readout_;
};

/// v(S) = G(u_b + 1_S (u − u_b))(x*): the cells of the players in S show the input, the others the baseline; the game
/// of every experiment of the paper.
///
/// v(∅) is the operator's answer to the baseline, not 0. All channels of a cell are masked together. Gradients are of
/// f(a) = G(u_b + Σ_i a_i 1_i (u − u_b))(x*). The mean-field closure is the operator's, with the inclusion probability
/// of a player at all points of its cells. The scenario's input and baseline are batches of one on the same domain.
/// They are kept. The operator is referred to and must outlive the game. Values come from Operator::coalition_engine
/// where there is one. The first question prepares it, so a game that is asked for nothing costs next to nothing.
/// Memory: one batch of its or of Operator::preferred_batch fields, however many coalitions are asked for. Throws
/// InvalidArgument when shapes, partition or query do not fit, DataError when a field has a value that is not finite.
std::unique_ptr<Game> cell_mask_game(const Operator& op, Scenario scenario);

/// v(S) of all coalitions by an engine, on all threads.
std::vector<double> values_by(const CoalitionEngine& engine, const Coalitions& coalitions);

}  // namespace opshap::games
