#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/coalitions.hpp"
#include "core/game.hpp"
#include "core/rng.hpp"

namespace opshap::games {

/// A finite signed measure seen through a partition: what it gives to each cell. The cells are the players.
class Measure {
 public:
  /// Throws InvalidArgument unless 1 <= cells <= Coalitions::max_players and all are finite.
  explicit Measure(std::vector<double> cells);
  /// The cells [F(k/n), F((k+1)/n)] of a distribution function F on [0, 1]: for n = 2^l, nested partitions of one
  /// measure, graded by F.
  static Measure of_distribution(int cells, const std::function<double(double)>& distribution);

  int players() const { return static_cast<int>(cells_.size()); }
  const std::vector<double>& cells() const { return cells_; }
  double operator[](std::size_t player) const { return cells_[player]; }
  /// μ(Ω).
  double total() const;
  /// Σ_k μ(B_k)².
  double squares() const { return inner_product(*this); }
  /// Σ_k μ(B_k) ν(B_k).
  double inner_product(const Measure& other) const;
  /// μ(S) for each row.
  std::vector<double> of(const Coalitions& coalitions) const;
  /// Σ_k a_k μ(B_k) of a point of the cube.
  double of(std::span<const double> point) const;

 private:
  std::vector<double> cells_;
};

/// Positive cells of different sizes with a total near 1.
Measure random_measure(int players, Rng& rng);
/// As random_measure, with cells of either sign.
Measure random_signed_measure(int players, Rng& rng);
/// Integer cells from 1 to `largest`.
std::vector<int> random_integer_cells(int players, int largest, Rng& rng);

/// What is used of a function f: R → R in a game v = f∘μ.
struct ScalarFunction {
  std::function<double(double)> value;
  std::function<double(double)> slope;  ///< f', almost everywhere
  bool absolutely_continuous =
      true;  ///< f is the integral of its slope: then f∘μ is in pNA (Aumann and Shapley 1974, theorem C)
  bool smooth_at_ends = true;  ///< near 0 and μ(Ω)
};

/// v(S) = f(μ(S)) for one measure μ; the Shapley values are what `shapley_values` finds, since they depend on f.
///
/// The extension is f(Σ a_i μ_i), with gradient μ_i f'(tL) on the diagonal, L = μ(Ω); a jump of f is invisible to it.
/// The Aumann–Shapley value is μ_i (f(L) − f(0))/L, and the discretisation error μ_i (M₂/L − μ_i) C/L with M₂ = Σ μ_j²
/// and C = ½(f'(0) + f'(L)) − (f(L) − f(0))/L, the error of the trapezoidal rule on f'. Uniform cells have none, by
/// symmetry.
std::unique_ptr<SolvedGame> function_of_measure(Measure measure, ScalarFunction f,
                                                std::function<std::vector<double>()> shapley_values);

/// What a SmoothExtension says of itself.
struct ExtensionTraits {
  std::int64_t pass_cost = 3;  ///< Extension::pass_cost()
  bool multilinear = false;    ///< Extension::multilinear()
};

/// A game's smooth extension, whose gradients a function writes.
class SmoothExtension final : public Extension {
 public:
  /// `gradient(point, slopes)` adds ∂F/∂a_i at the point, [n], to zeros, [n].
  using Gradient = std::function<void(std::span<const double> point, std::span<double> slopes)>;
  SmoothExtension(int players, Gradient gradient, const ExtensionTraits& traits = {})
      : players_(static_cast<std::size_t>(players)), gradient_(std::move(gradient)), traits_(traits) {}

  std::vector<double> gradients(std::span<const double> points) const override {
    std::vector<double> gradients(points.size(), 0.0);
    for (std::size_t first = 0; first < points.size(); first += players_)
      gradient_(points.subspan(first, players_), std::span(gradients).subspan(first, players_));
    return gradients;
  }
  std::int64_t pass_cost() const override { return traits_.pass_cost; }
  bool multilinear() const override { return traits_.multilinear; }

 private:
  std::size_t players_;
  Gradient gradient_;
  ExtensionTraits traits_;
};

}  // namespace opshap::games
