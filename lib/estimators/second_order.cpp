#include "estimators/second_order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/measured.hpp"
#include "estimators/diagonal.hpp"

namespace opshap::estimators {

int comb_directions(int players) {
  const auto quarter = static_cast<unsigned>(std::clamp((players + 3) / 4, 4, 32));
  return static_cast<int>(std::bit_ceil(quarter));
}

namespace {

/// The halves of a comb's rows are compared, so there are two at least.
constexpr int fewest_directions = 2;

/// With all directions there are as many as rows of Hadamard's matrix, so that each player has a column.
int directions_of(const SecondOrderOptions& options, int players) {
  const int wanted = options.all_directions ? players : options.directions.value_or(comb_directions(players));
  if (wanted < players) return wanted;
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::max(players, fewest_directions))));
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

std::int64_t gradients_of(const SecondOrderOptions& options, int players) {
  return options.nodes * (1 + 2 * std::int64_t{directions_of(options, players)});
}

namespace {

/// What each quarter of a comb's rows gives to its correction, [n] each.
class Quarters {
 public:
  explicit Quarters(std::size_t players) { sums_.fill(std::vector<double>(players, 0.0)); }

  std::vector<double>& operator[](std::size_t quarter) { return sums_[quarter]; }
  /// Σ_q signs[q]·quarter q.
  std::vector<double> sum(const std::array<double, 4>& signs) const {
    std::vector<double> found(sums_[0].size(), 0.0);
    for (std::size_t q = 0; q < sums_.size(); ++q)
      for (std::size_t i = 0; i < found.size(); ++i) found[i] += signs[q] * sums_[q][i];
    return found;
  }
  std::vector<double> correction() const { return sum({1, 1, 1, 1}); }
  /// N² of diagonal_second_order(): what aliases may have of ‖correction‖². Two directions have no quarters. They know
  /// the aliases at half of a tooth alone, which is the whole of it then.
  double aliases(int directions) const {
    const double at_half = square({1, 1, -1, -1});
    if (directions < 4) return at_half;
    const double at_quarter = (square({1, -1, 1, -1}) + square({1, -1, -1, 1})) / 2;
    return at_half < at_quarter ? at_half * (at_half / at_quarter) : at_half;
  }

 private:
  double square(const std::array<double, 4>& signs) const {
    const std::vector<double> part = sum(signs);
    return dot(part, part);
  }

  std::array<std::vector<double>, 4> sums_;
};

/// The correction of one comb, and how it asks a game.
class Comb {
 public:
  /// Gradients at points, [B, n].
  using Gradients = std::function<std::vector<double>(std::span<const double> points)>;

  /// `places` are the players' numbers of Game::places(); `middles` are the gradients on the diagonal at the nodes,
  /// [K, n]. Refers to what it is given.
  Comb(const Gradients& gradients, const Quadrature& quadrature, const std::vector<double>& middles,
       std::vector<std::int64_t> places)
      : gradients_(gradients), quadrature_(quadrature), middles_(middles), places_(std::move(places)) {}

  /// ∫₀¹ of both terms with `directions` directions, a power of two. Signs are drawn from streams of the first purpose,
  /// one for a node and its mirror image.
  Quarters quarters(int directions, const Rng& rng) const {
    const std::size_t n = places_.size(), nodes = quadrature_.nodes.size();
    Quarters sums(n);
    for (std::size_t node = 0; node < nodes; ++node) {
      const double t = quadrature_.nodes[node], step = std::min(t, 1 - t) / 2;
      const auto weight = quadrature_.weights[node] / directions;
      const std::vector<double> signs = this->signs(rng.stream(1, std::min(node, nodes - 1 - node)));
      const std::vector<double> z = comb(directions, signs);
      std::vector<double> points(2 * z.size());
      for (std::size_t i = 0; i < z.size(); ++i) {
        points[i] = t + step * z[i];
        points[z.size() + i] = t - step * z[i];
      }
      const std::vector<double> found = gradients_(points);
      for (std::size_t i = 0; i < z.size(); ++i) {
        std::vector<double>& sum = sums[4 * i / z.size()];
        const double ahead = found[i], behind = found[z.size() + i], middle = middles_[node * n + i % n];
        sum[i % n] += weight * (t * (1 - t) / 2 * (ahead + behind - 2 * middle) / (step * step) +
                                (0.5 - t) * z[i] * (ahead - behind) / (2 * step));
      }
    }
    return sums;
  }

 private:
  std::vector<double> signs(Rng draws) const {
    std::vector<double> signs(places_.size());
    for (double& sign : signs) sign = draws.uniform() < 0.5 ? -1 : 1;
    return signs;
  }

  /// [directions, n]: row d of Hadamard's matrix at each player's place within its tooth, times the player's sign.
  std::vector<double> comb(int directions, const std::vector<double>& signs) const {
    std::vector<double> rows;
    for (int direction = 0; direction < directions; ++direction) {
      for (std::size_t player = 0; player < signs.size(); ++player) {
        const auto common = static_cast<std::uint64_t>(direction) & static_cast<std::uint64_t>(places_[player]);
        rows.push_back(std::popcount(common) % 2 == 0 ? signs[player] : -signs[player]);
      }
    }
    return rows;
  }

  const Gradients& gradients_;
  const Quadrature& quadrature_;
  const std::vector<double>& middles_;
  std::vector<std::int64_t> places_;
};

class DiagonalSecondOrder final : public Estimator {
 public:
  explicit DiagonalSecondOrder(const SecondOrderOptions& options) : options_(options) {
    require(options.nodes >= 1 && options.nodes <= max_quadrature_nodes, name(), ": nodes=", options.nodes,
            " (needs 1..", max_quadrature_nodes, "). Give a number in that range.");
    const int directions = options.directions.value_or(fewest_directions);
    require(directions >= fewest_directions && std::has_single_bit(static_cast<unsigned>(directions)), name(),
            ": directions=", directions, " (combs are made of Hadamard matrices). Give a power of two from ",
            fewest_directions, " on, or all.");
  }

  std::string_view name() const override { return "diagonal_second_order"; }
  std::string_view summary() const override {
    return "integrated gradients with the correction of order 1/n for fluctuations about the diagonal";
  }
  Guarantees guarantees() const override {
    return {.access = Access::gradient,
            .bias = Bias::lasting,
            .mse_rate = 0,
            .exact_on_additive = true,
            .exact_on_two_additive = true};
  }
  Budget minimum(int) const override { return {2}; }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    const int players = game.players();
    require(options_.all_directions || options_.directions.value_or(0) <= players, name(),
            ": directions=", options_.directions.value_or(0), " (there are ", players,
            " players, and as many directions are all there are). Give fewer, or all.");
    const int directions = directions_of(options_, players);
    Attribution found;
    found.empty = game.empty();
    found.grand = game.grand();
    const double gain = found.grand - found.empty;
    const Comb::Gradients gradients = [&](std::span<const double> points) {
      return options_.mean_field ? game.mean_field_gradients(name(), points) : game.extension_gradients(name(), points);
    };
    Quadrature nodes;
    std::vector<double> middles;
    for (int count = options_.nodes;; count *= 2) {
      nodes = quadrature(Rule::gauss_legendre, count, name());
      middles = gradients(on_diagonal(nodes.nodes, players));
      found.values = nodes.integral(middles);
      const double sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
      double size = std::abs(gain);
      for (const double value : found.values) size = std::max(size, std::abs(value));
      if (std::abs(sum - gain) <= options_.tolerance / 10 * size || 2 * count > options_.most_nodes) break;
    }
    std::vector<std::int64_t> places = game.places();
    if (directions >= players) std::iota(places.begin(), places.end(), 0);
    correct(Comb(gradients, nodes, middles, std::move(places)), rng, directions, found);
    found.second_order->nodes = static_cast<int>(nodes.nodes.size());
    return found;
  }

 private:
  /// What each player gets of what the values miss of v(N) − v(∅).
  static double missing(const Attribution& found) {
    return -found.efficiency_gap() / static_cast<double>(found.values.size());
  }

  /// Adds the correction to the first order, lets both add up, and says how far off both are.
  static void correct(const Comb& comb, const Rng& rng, int directions, Attribution& found) {
    const std::size_t n = found.values.size();
    const bool all = static_cast<std::size_t>(directions) >= n;
    const Quarters quarters = comb.quarters(directions, rng);
    const std::vector<double> correction = quarters.correction();
    const double square = dot(correction, correction);
    const double noise = all ? 0 : std::min(square, quarters.aliases(directions));
    const double share = square == 0 ? 0 : 1 - noise / square;
    SecondOrder& order = found.second_order.emplace();
    order.directions = directions;
    order.first_order = found.values;
    const double first_size = norm(found.values), first_missing = missing(found), root = std::sqrt(n);
    const double fluctuation = square > noise ? relative_to(first_size, std::sqrt(square - noise)) : 0;
    order.first_order_error_bar = std::hypot(fluctuation, relative_to(first_size, root * std::abs(first_missing)));
    order.spread = relative_to(first_size, std::sqrt(noise));
    for (std::size_t i = 0; i < n; ++i) {
      order.correction.push_back(share * correction[i]);
      found.values[i] += order.correction[i];
    }
    const double shift = missing(found);
    for (double& value : found.values) value += shift;
    const double size = norm(found.values);
    // Not hypot() of three numbers, which is NaN where one is infinite.
    order.error_bar = std::hypot(std::hypot(relative_to(size, std::sqrt(noise)), left_of(fluctuation)),
                                 relative_to(size, root * std::abs(first_missing)));
  }

  /// What a correction of relative size r leaves: terms of the next order, and a part of what it corrects where the
  /// orders do not fall quickly (diffusion–sorption, geometry-informed operators).
  static double left_of(double r) { return std::hypot(3 * r * r, r / 4); }

  static double relative_to(double size, double error) {
    return size > 0 ? error / size : std::numeric_limits<double>::infinity();
  }

  SecondOrderOptions options_;
};

}  // namespace

std::unique_ptr<Estimator> diagonal_second_order(const SecondOrderOptions& options) {
  return std::make_unique<DiagonalSecondOrder>(options);
}

std::unique_ptr<Estimator> diagonal_second_order() { return diagonal_second_order(SecondOrderOptions{}); }

}  // namespace opshap::estimators
