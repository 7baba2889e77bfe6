#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/problem.hpp"

namespace opshap::pde {

namespace {

/// Cosine modes per axis of a random input channel: 0..3.
constexpr int drawn_modes = 4;
/// The transform of one axis takes n² products for each line.
constexpr int most_points = 4096;

class Synthetic2d final : public MadeOfParameters<Synthetic2d, Problem> {
 public:
  explicit Synthetic2d(std::vector<Parameter> parameters) : MadeOfParameters(std::move(parameters)) {
    require(length() >= 0, "synthetic2d: length=", length(), " (a length is not negative). Give 0 or more.");
    require(std::abs(coupling()) < 1, "synthetic2d: coupling=", coupling(),
            " (the factor 1 + coupling gain could vanish). Give a number between -1 and 1.");
  }

  std::string_view name() const override { return "synthetic2d"; }
  std::string_view summary() const override {
    return "Synthetic, not in the paper: u = (1 + coupling gain) s with s - length^2 (s_xx + s_yy) = source on "
           "[0, 2] x [0, 1] between walls";
  }
  bool in_paper() const override { return false; }
  std::string_view scheme() const override { return "cosine series on cell centres, exact for the grid's modes"; }

  Space input() const override { return {{{"gain", "1"}, {"source", "1"}}, native()}; }
  Space output() const override { return {{{"u", "1"}}, native()}; }
  std::vector<Invariant> invariants() const override {
    return {{"mean_drift", 1e-13, "Report this: no setting can break the law."},
            {"energy_growth", 1e-13, "Report this: no setting can break the law."}};
  }

  Rest rest() const override {
    return {.state = {}, .reason = "its input is a gain and a source, which do not evolve"};
  }
  Sample draw(const Rng& root, std::uint64_t sample) const override;
  Solution solve(const FieldBatch& input) const override;
  std::vector<PairLaw> pair_laws(const FieldBatch& input, const FieldBatch& output) const override;
  /// Hidden points have the mean of their channel: a gain of 0 is no more usual than another.
  ScenarioRule default_rule() const override { return {.baseline = ScenarioRule::Hidden::mean}; }

 private:
  static Domain native() { return Domain::grid({Axis::cells(32, 2), Axis::cells(32, 1)}); }
  double length() const { return number("length"); }
  double coupling() const { return number("coupling"); }
};

double eigenvalue(const Domain& domain, std::size_t k, std::size_t l) {
  const double x = std::numbers::pi * static_cast<double>(k) / domain.axes()[0].extent,
               y = std::numbers::pi * static_cast<double>(l) / domain.axes()[1].extent;
  return x * x + y * y;
}

/// Multiplies each cosine mode of a field by factor(λ), λ the eigenvalue of −Δ that belongs to it.
template <typename Factor>
std::vector<double> filtered(const Domain& domain, std::span<const double> field, const Factor& factor) {
  const Cosines x(domain.shape()[0]), y(domain.shape()[1]);
  std::vector<double> modes(field.begin(), field.end());
  for (std::size_t i = 0; i < x.points(); ++i) y.forward(&modes[i * y.points()], 1);
  for (std::size_t j = 0; j < y.points(); ++j) x.forward(&modes[j], y.points());
  for (std::size_t k = 0; k < x.points(); ++k) {
    for (std::size_t l = 0; l < y.points(); ++l) modes[k * y.points() + l] *= factor(eigenvalue(domain, k, l));
  }
  for (std::size_t j = 0; j < y.points(); ++j) x.backward(&modes[j], y.points());
  for (std::size_t i = 0; i < x.points(); ++i) y.backward(&modes[i * y.points()], 1);
  return modes;
}

Sample Synthetic2d::draw(const Rng& root, std::uint64_t sample) const {
  Rng amplitudes = root.stream(static_cast<std::uint32_t>(Purpose::amplitudes), sample);
  const Domain domain = native();
  const Cosines x(domain.shape()[0]), y(domain.shape()[1]);
  Sample made{FieldBatch::zeros(domain, 1, 2), {}};
  for (const std::size_t channel : {0, 1}) {
    // The mode (k, l) is placed on the grid of modes, and the series brings it to the points.
    const auto points = static_cast<std::size_t>(domain.points());
    const std::span<double> field = std::span(made.input.values).subspan(channel * points, points);
    std::vector<double> coefficients;
    for (std::size_t k = 0; k < drawn_modes; ++k) {
      for (std::size_t l = 0; l < drawn_modes; ++l)
        coefficients.push_back(amplitudes.normal() / static_cast<double>(1 + k * k + l * l));
    }
    const double amplitude = amplitudes.uniform(0.5, 1);
    for (std::size_t k = 0; k < drawn_modes; ++k) {
      for (std::size_t l = 0; l < drawn_modes; ++l) field[k * y.points() + l] = coefficients[k * drawn_modes + l];
    }
    for (std::size_t j = 0; j < y.points(); ++j) x.backward(&field[j], y.points());
    for (std::size_t i = 0; i < x.points(); ++i) y.backward(&field[i * y.points()], 1);
    const double scale = amplitude / largest(field);
    for (double& value : field) value *= scale;
    for (double& value : coefficients) value *= scale;
    made.drawn.push_back({channel == 0 ? "gain_coefficients" : "source_coefficients", std::move(coefficients)});
  }
  return made;
}

Solution Synthetic2d::solve(const FieldBatch& input) const {
  const Domain& domain = input.domain;
  require_one_field("synthetic2d", input, this->input());
  for (const Axis& axis : domain.axes()) {
    require(axis == Axis::cells(axis.points, axis.extent, axis.origin), "synthetic2d: axis=", axis.describe(),
            " (its walls lie half a cell from the outer points). Give the middles of the cells between the walls.");
    require(axis.points <= most_points, "synthetic2d: points=", axis.points, " (an axis has at most ", most_points,
            "). Give a coarser grid.");
  }
  const auto points = static_cast<std::size_t>(domain.points());
  const std::span<const double> gain = input.field(0).first(points), source = input.field(0).last(points);
  const double scale = std::max(largest(source), 1e-300);
  std::vector<double> smooth =
      filtered(domain, source, [&](double lambda) { return 1 / (1 + length() * length() * lambda); });
  Solution solution{{domain, 1, 1, std::vector<double>(points)}, 0, {}};
  solution.departures = {std::abs(mean(smooth) - mean(source)) / scale,
                         (mean_square(smooth) - mean_square(source)) / (scale * scale)};
  for (std::size_t p = 0; p < points; ++p) solution.output.values[p] = (1 + coupling() * gain[p]) * smooth[p];
  return solution;
}

std::vector<PairLaw> Synthetic2d::pair_laws(const FieldBatch& input, const FieldBatch& output) const {
  const auto points = static_cast<std::size_t>(input.domain.points());
  const std::span<const double> gain = input.field(0).first(points), source = input.field(0).last(points);
  std::vector<double> smooth(points);
  for (std::size_t p = 0; p < points; ++p) smooth[p] = output.values[p] / (1 + coupling() * gain[p]);
  const double area = length() * length();
  std::vector<double> residual = filtered(input.domain, smooth, [&](double lambda) { return 1 + area * lambda; });
  for (std::size_t p = 0; p < points; ++p) residual[p] -= source[p];
  // float32 rounds an output by up to 2^-24 of itself, and s with it. The mean passes this on; the equation multiplies
  // the root mean square of it by at most the factor of the highest mode.
  const double rounding = std::ldexp(largest(smooth), -24), scale = std::max(largest(source), 1e-300),
               highest = 1 + area * eigenvalue(input.domain, static_cast<std::size_t>(input.domain.shape()[0] - 1),
                                               static_cast<std::size_t>(input.domain.shape()[1] - 1));
  return {{"mean_kept", std::abs(mean(smooth) - mean(source)) / scale, rounding / scale + 1e-13},
          {"filter_equation", std::sqrt(mean_square(residual)) / scale, highest * (rounding / scale + 1e-13)}};
}

}  // namespace

std::unique_ptr<Problem> synthetic2d() {
  return std::make_unique<Synthetic2d>(std::vector<Parameter>{{"length", 0.2, "reach of the source's influence"},
                                                              {"coupling", 0.5, "how strongly the gain acts"}});
}

}  // namespace opshap::pde
