#include "second_order_candidates.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "core/measured.hpp"
#include "core/rng.hpp"
#include "estimators/diagonal.hpp"

namespace opshap {

const std::vector<Candidate>& candidates() {
  using enum Shrinking;
  static const std::vector<Candidate> all = {
      {.name = "one comb", .meaning = "all directions in one comb", .halves = false},
      {.name = "half combs, λ = 1", .meaning = "the mean of two half combs"},
      {.name = half_combs, .meaning = "the mean of two half combs times λ", .shrinking = by_halves},
      {.name = "one comb, λ of rows",
       .meaning = "one comb times the λ of the halves of its rows",
       .halves = false,
       .shrinking = by_halves},
      {.name = product,
       .meaning = "one comb times the λ of the decay of its aliases",
       .halves = false,
       .shrinking = by_decay},
      {.name = "one comb, constant", .meaning = "one comb without the constant", .halves = false, .constant = true},
      {.name = "half combs, constant",
       .meaning = "two half combs without the constant, times λ",
       .shrinking = by_halves,
       .constant = true},
      {.name = "two cosines",
       .meaning = "the same without the two lowest cosines, which are taken exactly",
       .shrinking = by_halves,
       .constant = true,
       .cosines = 2},
      {.name = "four cosines",
       .meaning = "the same with the four lowest cosines",
       .shrinking = by_halves,
       .constant = true,
       .cosines = 4},
      {.name = "first order",
       .meaning =
           "half combs without the constant and the direction of the first order, which is taken exactly, times λ",
       .shrinking = by_halves,
       .constant = true,
       .first_order = true},
  };
  return all;
}

namespace {

using Vector = std::vector<double>;

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double largest(const Vector& vector) {
  double size = 0;
  for (const double entry : vector) size = std::max(size, std::abs(entry));
  return size;
}

/// vector minus its components along orthonormal vectors.
Vector without(Vector vector, const std::vector<Vector>& basis) {
  for (const Vector& along : basis) {
    const double component = dot(vector, along);
    for (std::size_t i = 0; i < vector.size(); ++i) vector[i] -= component * along[i];
  }
  return vector;
}

/// The directions that a candidate takes exactly, orthonormal. The constant, which contributes nothing, comes first.
std::vector<Vector> exact_directions(const Candidate& candidate, const Vector& first_order) {
  const std::size_t n = first_order.size();
  std::vector<Vector> raw;
  for (int k = candidate.constant ? 0 : 1; k <= candidate.cosines; ++k) {
    Vector& cosine = raw.emplace_back(n);
    for (std::size_t i = 0; i < n; ++i)
      cosine[i] = std::cos(std::numbers::pi * k * (static_cast<double>(i) + 0.5) / static_cast<double>(n));
  }
  if (candidate.first_order) raw.push_back(first_order);
  std::vector<Vector> basis;
  for (Vector& vector : raw) {
    const double size = norm(vector);
    vector = without(std::move(vector), basis);
    const double rest = norm(vector);
    if (rest <= 1e-9 * size) continue;  // it lies in the span of the others
    for (double& entry : vector) entry /= rest;
    basis.push_back(std::move(vector));
  }
  return basis;
}

/// Both terms of second derivatives in pairs of directions at all nodes.
class Terms {
 public:
  Terms(const Extension& extension, const FirstOrder& first) : extension_(extension), first_(first) {}

  /// Adds to `sum` at one node, with this weight:
  ///   ½t(1−t)(g₊ + g₋ − 2g)/ε² + (½−t) b⊙(g₊ − g₋)/(2ε), g± = ∇F(t ± ε·a), for each pair (a, b).
  void add(std::size_t node, const std::vector<Vector>& a, const std::vector<Vector>& b, double weight, Vector& sum) {
    if (a.empty()) return;
    const std::size_t n = sum.size();
    const double t = first_.nodes[node];
    Vector points, steps;
    for (const Vector& direction : a) {
      // Inside of the cube, whatever the largest entry is.
      const double step = std::min(t, 1 - t) / std::max(2.0, 1.05 * largest(direction));
      steps.push_back(step);
      for (const double sign : {1.0, -1.0})
        for (const double entry : direction) points.push_back(t + sign * step * entry);
    }
    const Vector found = extension_.gradients(points);
    gradients_ += static_cast<std::int64_t>(2 * a.size());
    for (std::size_t d = 0; d < a.size(); ++d) {
      for (std::size_t i = 0; i < n; ++i) {
        const double ahead = found[2 * d * n + i], behind = found[(2 * d + 1) * n + i],
                     middle = first_.middles[node * n + i];
        sum[i] += weight * first_.weights[node] *
                  (t * (1 - t) / 2 * (ahead + behind - 2 * middle) / (steps[d] * steps[d]) +
                   (0.5 - t) * b[d][i] * (ahead - behind) / (2 * steps[d]));
      }
    }
  }

  std::int64_t gradients() const { return gradients_; }

 private:
  const Extension& extension_;
  const FirstOrder& first_;
  std::int64_t gradients_ = 0;
};

/// [rows, n]: an orthogonal matrix at each player's place within its tooth, times the player's sign. Hadamard's for a
/// power of two, else that of the cosine transform.
std::vector<Vector> comb(int rows, std::span<const std::int64_t> places, const Vector& signs) {
  std::vector<Vector> directions;
  const bool hadamard = std::has_single_bit(static_cast<unsigned>(rows));
  for (int row = 0; row < rows; ++row) {
    Vector& direction = directions.emplace_back();
    for (std::size_t player = 0; player < places.size(); ++player) {
      const std::int64_t place = places[player] % rows;
      double entry = 1;
      if (hadamard) {
        entry = std::popcount(static_cast<std::uint64_t>(row) & static_cast<std::uint64_t>(place)) % 2 == 0 ? 1 : -1;
      } else if (row > 0) {
        entry = std::numbers::sqrt2 *
                std::cos(std::numbers::pi * row * (static_cast<double>(place) + 0.5) / static_cast<double>(rows));
      }
      direction.push_back(entry * signs[player]);
    }
  }
  return directions;
}

int exact_count(const Candidate& candidate) { return candidate.cosines + (candidate.first_order ? 1 : 0); }

int comb_rows(const Candidate& candidate, int directions) {
  return (directions - exact_count(candidate)) / (candidate.halves ? 2 : 1);
}

/// What a comb's quarters of rows give, of which the comb is the mean.
using Quarters = std::array<Vector, 4>;

/// Σ_q signs[q]·quarters[q] / 4.
Vector mean(const Quarters& quarters, const std::array<double, 4>& signs) {
  Vector found(quarters[0].size(), 0.0);
  for (std::size_t q = 0; q < 4; ++q)
    for (std::size_t i = 0; i < found.size(); ++i) found[i] += signs[q] * quarters[q][i] / 4;
  return found;
}

/// With a sum of rows for each quarter, weighted so that their mean is that of the rows.
Quarters comb_of(Terms& terms, const FirstOrder& first, const std::vector<Vector>& exact, int rows,
                 std::span<const std::int64_t> places, const Rng& rng, std::uint32_t purpose) {
  Quarters quarters;
  quarters.fill(Vector(places.size(), 0.0));
  const std::size_t nodes = first.nodes.size();
  for (std::size_t node = 0; node < nodes; ++node) {
    Rng draws = rng.stream(purpose, std::min(node, nodes - 1 - node));
    Vector signs(places.size());
    for (double& sign : signs) sign = draws.uniform() < 0.5 ? -1 : 1;
    std::array<std::vector<Vector>, 4> z, projected;
    const std::vector<Vector> all = comb(rows, places, signs);
    for (std::size_t row = 0; row < all.size(); ++row) {
      z[4 * row / all.size()].push_back(all[row]);
      projected[4 * row / all.size()].push_back(without(all[row], exact));
    }
    for (std::size_t q = 0; q < 4; ++q) terms.add(node, projected[q], z[q], 4.0 / rows, quarters[q]);
  }
  return quarters;
}

double ratio(double error, double size) { return error == 0 ? 0 : error / size; }

}  // namespace

FirstOrder first_order(const Extension& extension, int players, int nodes) {
  const estimators::Quadrature rule = quadrature(estimators::Rule::gauss_legendre, nodes);
  FirstOrder first{.nodes = rule.nodes, .weights = rule.weights, .middles = {}, .values = {}};
  first.middles = extension.gradients(on_diagonal(rule.nodes, players));
  first.values = rule.integral(first.middles);
  return first;
}

bool has_room(const Candidate& candidate, int directions) { return comb_rows(candidate, directions) >= 1; }

Corrected corrected(const Candidate& candidate, const Extension& extension, const FirstOrder& first,
                    std::span<const std::int64_t> places, int directions, double gain, std::uint64_t seed) {
  require(has_room(candidate, directions), candidate.name, ": directions=", directions, " (", exact_count(candidate),
          " are taken exactly, which leaves none to the combs). Give more.");
  const std::size_t n = places.size();
  const Rng rng(seed, "diagonal_second_order");
  const int rows = comb_rows(candidate, directions);
  const std::vector<Vector> exact = exact_directions(candidate, first.values);
  Terms terms(extension, first);

  // An exact direction q is asked for with the largest entry 1. Its square then is that of the unit vector times s².
  Vector sure(n, 0.0);
  for (std::size_t q = candidate.constant ? 1 : 0; q < exact.size(); ++q) {
    const double size = largest(exact[q]);
    Vector scaled = exact[q];
    for (double& entry : scaled) entry /= size;
    for (std::size_t node = 0; node < first.nodes.size(); ++node)
      terms.add(node, {scaled}, {scaled}, size * size, sure);
  }
  constexpr std::array<double, 4> all = {1, 1, 1, 1};
  const Quarters quarters = comb_of(terms, first, exact, rows, places, rng, 1);
  Vector of_combs = mean(quarters, all);
  double noise = 0;  // of the square of the combs' correction
  if (candidate.halves) {
    const Vector other = mean(comb_of(terms, first, exact, rows, places, rng, 2), all);
    noise = std::pow(distance(of_combs, other) / 2, 2);
    for (std::size_t i = 0; i < n; ++i) of_combs[i] = (of_combs[i] + other[i]) / 2;
  } else {
    const auto square = [&](const std::array<double, 4>& signs) { return std::pow(norm(mean(quarters, signs)), 2); };
    noise = square({1, 1, -1, -1});
    const double nearer = (square({1, -1, 1, -1}) + square({1, -1, -1, 1})) / 2;
    if (candidate.shrinking == Shrinking::by_decay && rows >= 4 && noise < nearer) noise *= noise / nearer;
  }

  Corrected found{.values = first.values};
  Vector whole = sure;
  const double square = dot(of_combs, of_combs);
  if (candidate.shrinking != Shrinking::none) found.share = square == 0 ? 0 : std::clamp(1 - noise / square, 0.0, 1.0);
  for (std::size_t i = 0; i < n; ++i) {
    whole[i] += of_combs[i];
    found.values[i] += sure[i] + found.share * of_combs[i];
  }
  if (candidate.shrinking != Shrinking::none) {
    found.first_order_bar = ratio(std::sqrt(std::max(0.0, dot(whole, whole) - noise)), norm(first.values));
    found.apart = ratio(std::sqrt(noise), norm(found.values));
  }
  const double missing =
      (gain - std::accumulate(found.values.begin(), found.values.end(), 0.0)) / static_cast<double>(n);
  for (double& value : found.values) value += missing;
  found.gradients = terms.gradients() + static_cast<std::int64_t>(first.nodes.size());
  return found;
}

}  // namespace opshap
