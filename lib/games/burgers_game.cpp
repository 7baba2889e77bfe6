#include "games/burgers_game.hpp"

#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

#include "core/error.hpp"
#include "games/registry.hpp"

namespace opshap::games {

namespace {

/// erf(b) − erf(a) for a <= b, without cancellation in the tails.
double erf_difference(double a, double b) {
  if (a > 0) return std::erfc(a) - std::erfc(b);
  if (b < 0) return std::erfc(-b) - std::erfc(-a);
  return std::erf(b) - std::erf(a);
}

/// exp(−Φ/2ν) over one cell [0, width] where the field is `height` and Φ begins at z²/2t, z = x − edge.
struct CellIntegral {
  double integral = 0;
  double slope = 0;  ///< its derivative by the height
};

class BurgersGame final : public Game, public Extension {
 public:
  explicit BurgersGame(BurgersProblem problem)
      : problem_(std::move(problem)), deviation_(std::sqrt(2 * problem_.viscosity * problem_.time)) {
    const double root = deviation_ * std::numbers::sqrt2, half_mass = deviation_ * std::sqrt(std::numbers::pi / 2);
    left_ = half_mass * std::erfc((problem_.query - problem_.edges.front()) / root);
    right_ = half_mass * std::erfc((problem_.edges.back() - problem_.query) / root);
    for (std::size_t k = 0; k < cells(); ++k) {
      hidden_.push_back(over_cell(k, 0).integral);
      shown_.push_back(over_cell(k, problem_.heights[k]).integral);
      decay_.push_back(std::exp(-problem_.heights[k] * width(k) / (2 * problem_.viscosity)));
    }
  }

  int players() const override { return static_cast<int>(cells()); }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto row = coalitions.row(i);
      double level = 1, weighted = 0, mass = left_;  // level: exp(−∫u₀/2ν) up to the cell
      for (std::size_t k = 0; k < cells(); ++k) {
        if (contains(row, static_cast<int>(k))) {
          mass += level * shown_[k];
          weighted += level * shown_[k] * problem_.heights[k];
          level *= decay_[k];
        } else {
          mass += level * hidden_[k];
        }
      }
      values[i] = weighted / (mass + level * right_);
    }
    return values;
  }

  const Extension* extension() const override { return this; }

  std::vector<double> gradients(std::span<const double> points) const override {
    const std::size_t n = cells();
    std::vector<double> gradients(points.size()), masses(n), mass_slopes(n);
    for (std::size_t first = 0; first < points.size(); first += n) {
      double level = 1, weighted = 0, mass = left_;
      for (std::size_t k = 0; k < n; ++k) {
        const double height = points[first + k] * problem_.heights[k];
        const CellIntegral cell = over_cell(k, height);
        masses[k] = level * cell.integral;
        mass_slopes[k] = level * cell.slope;
        mass += masses[k];
        weighted += height * masses[k];
        level *= std::exp(-height * width(k) / (2 * problem_.viscosity));
      }
      mass += level * right_;
      const double value = weighted / mass;
      // A higher field in cell k lowers the level of all that is to its right.
      double mass_right = level * right_, weighted_right = 0;
      for (std::size_t k = n; k-- > 0;) {
        const double height = points[first + k] * problem_.heights[k], lowering = width(k) / (2 * problem_.viscosity);
        const double by_weighted = masses[k] + height * mass_slopes[k] - lowering * weighted_right;
        const double by_mass = mass_slopes[k] - lowering * mass_right;
        gradients[first + k] = problem_.heights[k] * (by_weighted - value * by_mass) / mass;
        mass_right += masses[k];
        weighted_right += height * masses[k];
      }
    }
    return gradients;
  }

 private:
  std::size_t cells() const { return problem_.heights.size(); }
  double width(std::size_t k) const { return problem_.edges[k + 1] - problem_.edges[k]; }

  /// ∫₀^width g, g(y) = exp(−(z−y)²/4νt − height·y/2ν): a Gaussian around m = z − t·height.
  CellIntegral over_cell(std::size_t k, double height) const {
    const double z = problem_.query - problem_.edges[k], shift = problem_.time * height, m = z - shift,
                 variance = deviation_ * deviation_, root = deviation_ * std::numbers::sqrt2, end = width(k);
    const auto g = [&](double y) {
      return std::exp(-(z - y) * (z - y) / (2 * variance) - height * y / (2 * problem_.viscosity));
    };
    const double integral = std::exp(-shift * (2 * z - shift) / (2 * variance)) * deviation_ *
                            std::sqrt(std::numbers::pi / 2) * erf_difference(-m / root, (end - m) / root);
    // ∂/∂height = −(1/2ν) ∫ y g, and g' = −(y − m) g/variance.
    const double first_moment = m * integral + variance * (g(0) - g(end));
    return {.integral = integral, .slope = -first_moment / (2 * problem_.viscosity)};
  }

  BurgersProblem problem_;
  double deviation_;  ///< of the heat kernel, √(2νt)
  double left_ = 0, right_ = 0;
  std::vector<double> hidden_, shown_, decay_;
};

}  // namespace

std::unique_ptr<Game> burgers_game(BurgersProblem problem) {
  require(!problem.heights.empty() && problem.heights.size() <= Coalitions::max_players,
          "burgers_game: heights=", problem.heights.size(), " (needs 1..", Coalitions::max_players,
          "). Give the initial field in each cell.");
  require(problem.edges.size() == problem.heights.size() + 1, "burgers_game: edges=", problem.edges.size(), " (",
          problem.heights.size(), " cells have one more). Give the ends of all cells.");
  for (std::size_t k = 0; k < problem.heights.size(); ++k) {
    require(std::isfinite(problem.heights[k]), "burgers_game: height=", problem.heights[k], " (cell ", k,
            " is not finite). Give a number.");
    require(problem.edges[k] < problem.edges[k + 1], "burgers_game: edges=", problem.edges[k], " and ",
            problem.edges[k + 1], " (of cell ", k, "; they must increase). Sort them.");
  }
  require(std::isfinite(problem.edges.front()) && std::isfinite(problem.edges.back()) && std::isfinite(problem.query),
          "burgers_game: query=", problem.query, " on [", problem.edges.front(), ", ", problem.edges.back(),
          "] (not finite). Give numbers.");
  require(problem.viscosity > 0 && std::isfinite(problem.viscosity) && problem.time > 0 && std::isfinite(problem.time),
          "burgers_game: viscosity=", problem.viscosity, ", time=", problem.time,
          " (both must be positive). Give positive numbers.");
  return std::make_unique<BurgersGame>(std::move(problem));
}

/// Cells of different sizes on [0, 1], heights in [-1, 2).
std::unique_ptr<Game> random_burgers_game(int players, Rng& rng) {
  BurgersProblem problem;
  problem.edges.push_back(0);
  for (int k = 0; k < players; ++k) {
    problem.edges.push_back(problem.edges.back() + rng.uniform(0.5, 1.5));
    problem.heights.push_back(rng.uniform(-1, 2));
  }
  const double length = problem.edges.back();
  for (double& edge : problem.edges) edge /= length;
  return burgers_game(std::move(problem));
}

}  // namespace opshap::games
