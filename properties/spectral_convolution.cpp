// The truncated Fourier products against sums of complex exponentials, written from the definition, and with weights
// against the integrals of fields that jump.

#include "operators/spectral_convolution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "support/networks.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using Complex = std::complex<double>;

Complex wave(std::int64_t frequency, std::int64_t point, std::int64_t size) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(frequency) * static_cast<double>(point) /
                             static_cast<double>(size));
}

/// The convolution of fields [n0, n1, Cin] (n0 = 1 on a line) by weights [Cin, Cout, m0, m1/2+1, 2], as a sum over
/// points and frequencies. The spectrum is mixed with the frequency 0 in place n0/2, as fftshift has put it there, and
/// then rolled by n0/2 (fftshift) or back by n0/2 (ifftshift).
torch::Tensor direct_convolution(const torch::Tensor& fields, const torch::Tensor& weights, bool plane, int first_modes,
                                 int last_modes, operators::InverseShift shift) {
  const std::int64_t n0 = fields.size(0), n1 = fields.size(1), inputs = fields.size(2), outputs = weights.size(1);
  const auto u = fields.accessor<double, 3>();
  const auto w = weights.accessor<double, 5>();
  const std::int64_t rows = plane ? std::min<std::int64_t>(n0, first_modes) : 1;
  const std::int64_t skipped = plane ? (first_modes - rows) / 2 : 0;
  const std::int64_t columns = std::min<std::int64_t>(n1 / 2 + 1, last_modes / 2 + 1);
  torch::Tensor result = torch::zeros({n0, n1, outputs}, torch::kFloat64);
  auto y = result.accessor<double, 3>();
  for (std::int64_t o = 0; o < outputs; ++o) {
    for (std::int64_t c = 0; c < columns; ++c) {
      std::vector<Complex> lines(static_cast<std::size_t>(n0));  // after the inverse along axis 0
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t f = r - rows / 2;
        Complex mixed = 0;
        for (std::int64_t i = 0; i < inputs; ++i) {
          Complex coefficient = 0;
          for (std::int64_t p = 0; p < n0; ++p) {
            for (std::int64_t q = 0; q < n1; ++q) coefficient += u[p][q][i] * wave(-f, p, n0) * wave(-c, q, n1);
          }
          mixed += coefficient / static_cast<double>(n0 * n1) *
                   Complex(w[i][o][skipped + r][c][0], w[i][o][skipped + r][c][1]);
        }
        const std::int64_t place = n0 / 2 + f, roll = shift == operators::InverseShift::fftshift ? n0 / 2 : -(n0 / 2);
        for (std::int64_t p = 0; p < n0; ++p) lines[static_cast<std::size_t>(p)] += mixed * wave(place + roll, p, n0);
      }
      const bool alone = c == 0 || 2 * c == n1;  // these have no mirror image, and their imaginary parts are dropped
      for (std::int64_t p = 0; p < n0; ++p) {
        for (std::int64_t q = 0; q < n1; ++q) {
          const Complex line = lines[static_cast<std::size_t>(p)];
          y[p][q][o] += alone ? line.real() * wave(c, q, n1).real() : 2 * (line * wave(c, q, n1)).real();
        }
      }
    }
  }
  return result;
}

struct Case {
  std::vector<std::int64_t> shape;
  std::vector<int> modes;
};

/// Sizes below, at and above the modes, odd ones, some of them with few modes, and such that have the frequency N/2.
const std::vector<Case> cases = {
    {{1}, {4}},       {{2}, {4}},       {{3}, {4}},        {{5}, {4}},         {{8}, {4}},       {{16}, {4}},
    {{7}, {5}},       {{8}, {16}},      {{9}, {16}},       {{4, 4}, {6, 6}},   {{6, 6}, {6, 6}}, {{8, 8}, {6, 6}},
    {{7, 8}, {6, 6}}, {{5, 3}, {8, 4}}, {{4, 12}, {5, 3}}, {{16, 10}, {6, 6}}, {{9, 5}, {1, 4}}, {{9, 5}, {2, 4}},
    {{3, 4}, {3, 4}}, {{3, 4}, {2, 4}}, {{1, 6}, {4, 4}},  {{11, 9}, {5, 6}},  {{9, 4}, {8, 4}}, {{3, 3}, {1, 1}}};

constexpr auto fftshift = operators::InverseShift::fftshift, ifftshift = operators::InverseShift::ifftshift;

void expect_the_direct_sum(operators::InverseShift shift) {
  for (const Case& each : cases) {
    constexpr std::int64_t inputs = 2, outputs = 3, batch = 2;
    const bool plane = each.shape.size() == 2;
    const std::int64_t n0 = plane ? each.shape[0] : 1, n1 = each.shape.back();
    const operators::FourierBasis basis(each.shape, each.modes, torch::kFloat64, shift);
    const torch::Tensor fields = random_tensor({n0 * n1, batch, inputs}, 1);
    torch::Tensor weights = operators::spectral_weights(inputs, outputs, each.modes, torch::kFloat64);
    weights.copy_(random_tensor(weights.sizes().vec(), 2));

    const torch::Tensor mixed = operators::mix(basis.transform(fields), weights, basis);
    const torch::Tensor found = basis.inverse(mixed);
    const std::string where = message(n0, "x", n1, ", modes ", each.modes.front());
    for (std::int64_t b = 0; b < batch; ++b) {
      const torch::Tensor expected =
          direct_convolution(fields.select(1, b).reshape({n0, n1, inputs}), plane ? weights : weights.unsqueeze(2),
                             plane, each.modes.front(), each.modes.back(), shift);
      EXPECT_EQ("", mismatch(numbers(expected), numbers(found.select(1, b)), rounding(1e4, 1)))
          << where;  // at most 160·30·2 terms of size 1
      for (std::int64_t point = 0; point < n0 * n1; ++point) {
        EXPECT_EQ("", mismatch(numbers(found.select(1, b)[point]), numbers(basis.inverse_at(mixed, point)[b]),
                               rounding(1e3, 1)))
            << where << " point " << point;
      }
    }
  }
}

TEST(SpectralConvolution, EqualsADirectFourierSum) { expect_the_direct_sum(ifftshift); }

// neuraloperator up to 2.0.0: on an odd first axis every frequency comes out one place too low.
TEST(SpectralConvolution, EqualsADirectFourierSumThatIsShiftedOnceMore) { expect_the_direct_sum(fftshift); }

// A bias is a constant field, wherever the frequencies come out.
TEST(SpectralConvolution, AddsABiasToAllPointsAlike) {
  for (const Case& each : cases) {
    for (const operators::InverseShift shift : {fftshift, ifftshift}) {
      const operators::FourierBasis basis(each.shape, each.modes, torch::kFloat64, shift);
      const torch::Tensor fields =
          random_tensor({each.shape[0] * (each.shape.size() == 2 ? each.shape[1] : 1), 1, 2}, 1);
      torch::Tensor weights = operators::spectral_weights(2, 3, each.modes, torch::kFloat64);
      weights.copy_(random_tensor(weights.sizes().vec(), 2));
      const torch::Tensor bias = random_tensor({3}, 4), coefficients = basis.transform(fields);
      const torch::Tensor without = basis.inverse(operators::mix(coefficients, weights, basis)),
                          with = basis.inverse(operators::mix(coefficients, weights, bias, basis));
      EXPECT_EQ("", mismatch(numbers(without + bias), numbers(with), rounding(1e4, 1)))
          << message(each.shape.front(), ", modes ", each.modes.front(), ", ", operators::to_string(shift));
    }
  }
}

// A field without frequencies above 3 has the same convolution at all points that two grids share.
TEST(SpectralConvolution, OfABandLimitedFieldDoesNotDependOnTheGrid) {
  torch::Tensor weights = operators::spectral_weights(1, 2, {16}, torch::kFloat64);
  weights.copy_(random_tensor(weights.sizes().vec(), 3));
  const auto convolve = [&](std::int64_t points) {
    torch::Tensor field = torch::zeros({points, 1, 1}, torch::kFloat64);
    for (std::int64_t p = 0; p < points; ++p) {
      field[p] = (Complex(0.3, 0) + Complex(1, -2) * wave(1, p, points) + Complex(0.5, 1) * wave(3, p, points)).real();
    }
    const operators::FourierBasis basis({points}, {16}, torch::kFloat64);
    return basis.inverse(operators::mix(basis.transform(field), weights, basis));
  };
  EXPECT_EQ("", mismatch(numbers(convolve(32)), numbers(convolve(64).index_select(0, torch::arange(0, 64, 2))),
                         rounding(1e3, 1)));
}

// On the 8×8 grid of a padded 4×4 field only the weight rows 4..11 and columns 0..4 of 16×9 take part.
TEST(SpectralConvolution, UsesTheMiddleRowsOfTheWeightsOnSmallGrids) {
  const operators::FourierBasis basis({8, 8}, {16, 16}, torch::kFloat64);
  EXPECT_EQ(4, basis.first_weight_row());
  EXPECT_EQ(8, basis.rows());
  EXPECT_EQ(5, basis.columns());
  torch::Tensor weights = operators::spectral_weights(1, 1, {16, 16}, torch::kFloat64);
  weights.copy_(random_tensor(weights.sizes().vec(), 4));
  const torch::Tensor coefficients = basis.transform(random_tensor({64, 1, 1}, 5));
  torch::Tensor others = weights.clone();
  others.narrow(2, 0, 4).zero_();
  others.narrow(2, 12, 4).zero_();
  others.narrow(3, 5, 4).zero_();
  EXPECT_EQ(numbers(operators::mix(coefficients, weights, basis)),
            numbers(operators::mix(coefficients, others, basis)));
}

TEST(VolumeQuadrature, GivesEachPointThePartOfThePaddedAxisThatBelongsToIt) {
  const auto weights = [](const Axis& axis, const operators::AxisPadding& padding) {
    return operators::volume_quadrature(axis, padding).weights;
  };
  using Weights = std::vector<double>;
  // The padding's first point is a whole spacing behind the last node, and has what is between them. In the middle of
  // the padding the last points from either side are at the same place, since nodes have an interval less than points.
  EXPECT_EQ((Weights{0, 1.5, 0.5, 1, 1, 0.5, 1.5, 0}),
            weights(Axis::nodes(4), {.before = 2, .behind = 2, .length = 1}));
  EXPECT_EQ(Weights(8, 1), weights(Axis::cells(4), {.before = 2, .behind = 2, .length = 1}));
  // Every second of 8 cells: the first is a quarter of the spacing behind the beginning, the last ¾ before the end.
  EXPECT_EQ((Weights{1, 1.25, 0.75, 1, 1, 1.25, 0.75, 1}),
            weights(Axis::cells(8).strided(2), {.before = 2, .behind = 2, .length = 1}));
  EXPECT_EQ((Weights{0.5, 1, 1, 1.5, 0.5, 1.5}), weights(Axis::ring(4), {.before = 0, .behind = 2, .length = 0.5}));
  EXPECT_EQ((Weights{0.5, 1, 1, 0.5}), weights(Axis::nodes(4), {}));
  EXPECT_EQ(Weights(4, 1), weights(Axis::ring(4), {}));

  const Axis strided = Axis::nodes(12).strided(3);
  const auto rule = operators::volume_quadrature(strided, {.before = 2, .behind = 2, .length = 1});
  for (int index = 0; index < strided.points; ++index)
    EXPECT_EQ("", mismatch(strided.length(index) / strided.spacing(), rule.weights[static_cast<std::size_t>(index) + 2],
                           rounding(10, 1)));
  EXPECT_EQ("", mismatch(2 * strided.intervals, rule.period, rounding(1, 10)));
  EXPECT_EQ("",
            mismatch(rule.period, std::accumulate(rule.weights.begin(), rule.weights.end(), 0.0), rounding(10, 10)));
}

// exp(x) on [0, 1] and exp(−x) in the padding, up to 2: the coefficient of frequency k is ½ ∫ exp((±1 − iπk)·x) dx.
TEST(VolumeQuadrature, IsOfSecondOrderForAFieldThatJumpsAtTheEndsOfTheAxis) {
  const auto integral = [](double rate, int frequency, double begin, double end) {
    const Complex exponent(rate, -std::numbers::pi * frequency);
    return (std::exp(exponent * end) - std::exp(exponent * begin)) / (2.0 * exponent);
  };
  const auto error = [&](const Axis& axis) {
    const std::int64_t points = axis.points, before = points / 2;
    const operators::FourierBasis basis(
        {2 * points}, {8}, torch::kFloat64, operators::InverseShift::ifftshift,
        {operators::volume_quadrature(axis, {.before = before, .behind = before, .length = 1})});
    torch::Tensor field = torch::empty({2 * points, 1, 1}, torch::kFloat64);
    for (std::int64_t point = 0; point < 2 * points; ++point) {
      const double place = axis.coordinate(static_cast<int>(point - before));
      const bool inside = point >= before && point < before + points;
      field[point] = inside ? std::exp(place) : std::exp(-(place < 0 ? place + 2 : place));
    }
    const torch::Tensor found = basis.transform(field);
    double most = 0;
    for (int k = 0; k <= 4; ++k) {
      const Complex value(found[k][0].item<double>(), found[k][1].item<double>());
      // The transform counts places from the first point of the padding.
      const Complex here = value * std::polar(1.0, -std::numbers::pi * k * axis.coordinate(static_cast<int>(-before)));
      most = std::max(most, std::abs(here - integral(1, k, 0, 1) - integral(-1, k, 1, 2)));
    }
    return most;
  };
  for (const Axis& native : {Axis::nodes(4096), Axis::cells(4096), Axis::ring(4096)}) {
    // A stride s leaves a part of 1 − 1/s spacings behind the last point. Its square is in the error, and is 3 % larger
    // with s = 64 than with s = 32.
    EXPECT_NEAR(4, error(native.strided(64)) / error(native.strided(32)), 0.4) << native.describe();
    // ½·1/n² times a derivative of at most 4π·e, over the period 2, at either end.
    EXPECT_LT(error(native), 1e-6) << native.describe();
  }
}

}  // namespace
}  // namespace opshap
