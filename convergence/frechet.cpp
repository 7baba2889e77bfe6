// A neural operator with smooth activations is continuously Fréchet differentiable between Sobolev spaces, and a ReLU
// is not: observed orders.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/spectral_convolution.hpp"
#include "reporting/evidence.hpp"
#include "statistics/study.hpp"

namespace opshap {
namespace {

using torch::Tensor;

constexpr std::int64_t points = 64;
constexpr int width = 12, modes = 12;
/// H^s with s > d/2 = 1/2, where the theorem needs it: fields are continuous and products of them are in the space
/// again.
constexpr double smoothness = 1;

/// Real fields as functions: [points, B, C] to the same shape.
using Map = std::function<Tensor(const Tensor& fields)>;

/// ‖u‖_{H^s}² = Σ_k (1 + k²)^s |û_k|² over all signed frequencies and channels.
double sobolev_norm(const Tensor& fields) {
  const Tensor spectrum = torch::fft_fft(fields, {}, 0) / static_cast<double>(fields.size(0));
  const Tensor frequency =
      torch::fft_fftfreq(fields.size(0), 1.0 / static_cast<double>(fields.size(0)), torch::kFloat64);
  const Tensor weight = (1 + frequency * frequency).pow(smoothness).view({-1, 1, 1});
  return std::sqrt((weight * torch::real(spectrum * torch::conj(spectrum))).sum().item<double>());
}

/// A random field in H^s' for every s' < 2: coefficients fall like k^-2.5.
Tensor random_field(std::uint64_t item) {
  Rng rng(21, "frechet", 0, item);
  Tensor field = torch::zeros({points, 1, 1}, torch::kFloat64);
  const Tensor x = torch::arange(points, torch::kFloat64).view({-1, 1, 1}) * (2 * M_PI / points);
  for (int k = 0; k <= points / 4; ++k) {
    const double scale = std::pow(1.0 + k, -2.5);
    field += scale * (rng.normal() * torch::cos(k * x) + rng.normal() * torch::sin(k * x));
  }
  return field;
}

/// DF(u)[w] by automatic differentiation: the derivative of ⟨v, DF(u)[·]⟩, which is linear in v, with respect to v.
Tensor derivative(const Map& map, const Tensor& u, const Tensor& w) {
  const torch::AutoGradMode with_grad(true);
  const Tensor at = u.detach().clone().set_requires_grad(true);
  const Tensor output = map(at);
  const Tensor v = torch::zeros_like(output).set_requires_grad(true);
  const Tensor pulled = torch::autograd::grad({output}, {at}, {v}, true, true)[0];
  return torch::autograd::grad({(pulled * w).sum()}, {v})[0].detach();
}

/// A Fourier neural operator in float64 with random weights, as it is initialised for training.
class FrechetDifferentiability : public ::testing::Test {
 protected:
  FrechetDifferentiability() {
    operators::FnoConfig config{.n_modes = {modes}, .hidden_channels = width, .n_layers = 3};
    config.domain_padding = 0.25;
    network_ = operators::make_network(config, torch::kFloat64);
    operators::initialise(*network_, 6);
    network_->set_fused(false);  // derivatives of derivatives are taken
  }

  Map fno() const {
    return [this](const Tensor& fields) { return network_->forward(fields, Domain::unit({static_cast<int>(points)})); };
  }
  Tensor parameter(const std::string& name) const {
    for (const operators::Parameter& parameter : network_->parameters()) {
      if (parameter.name == name) return parameter.value;
    }
    throw InvalidArgument(message("frechet: parameter=", name, " (not in the network). Check its name."));
  }

  std::unique_ptr<operators::Network> network_;
};

/// ‖F(u + εw) − F(u) − ε DF(u)[w]‖ / ε over ε = 1/2 … 1/256, the mean over some base points and directions.
statistics::Study remainder_study(const std::string& title, const Map& map,
                                  const std::function<Tensor(std::uint64_t)>& base) {
  const torch::NoGradGuard no_grad;
  statistics::Study study(title, "step", "remainder / step");
  for (int halvings = 1; halvings <= 8; ++halvings) {
    const double step = std::ldexp(1.0, -halvings);
    double mean = 0;
    constexpr int cases = 6;
    for (std::uint64_t item = 0; item < cases; ++item) {
      const Tensor u = base(item), w = random_field(100 + item);
      const Tensor remainder = map(u + step * w) - map(u) - step * derivative(map, u, w);
      mean += sobolev_norm(remainder) / (step * sobolev_norm(w)) / cases;
    }
    study.add(step, mean);
  }
  return study;
}

// A smooth map's remainder falls with the step. At u = 0 a ReLU is no better than its one-sided slope in any direction,
// while GELU is smooth there.
TEST_F(FrechetDifferentiability, TheRemainderFallsWithTheStepForSmoothActivationsOnly) {
  const auto zero = [](std::uint64_t) { return torch::zeros({points, 1, 1}, torch::kFloat64); };
  const auto half_zero = [](std::uint64_t item) {
    Tensor field = random_field(item);
    field.slice(0, 0, points / 2).zero_();
    return field;
  };
  const Map relu = [](const Tensor& u) { return torch::relu(u); };
  const Map gelu = [](const Tensor& u) { return torch::gelu(u); };
  const std::vector<statistics::Study> studies = {
      remainder_study("FNO", fno(), random_field), remainder_study("GELU at 0", gelu, zero),
      remainder_study("ReLU at 0", relu, zero), remainder_study("ReLU, field half 0", relu, half_zero)};
  reporting::publish(
      {.name = "frechet_remainder",
       .title = "‖F(u + εw) − F(u) − ε DF(u)[w]‖/ε in H^1",
       .finding = "It vanishes like ε for an FNO with GELU, and not at all for a ReLU where the field is 0.",
       .studies = studies});
  // A twice differentiable map has slope 1; over a factor of 128 the next term moves it by hundredths.
  EXPECT_NEAR(1, studies[0].fit().slope, 0.1);
  EXPECT_NEAR(1, studies[1].fit().slope, 0.1);
  EXPECT_NEAR(0, studies[2].fit().slope, 1e-6);
  EXPECT_LT(studies[3].fit().slope, 0.5);
}

TEST_F(FrechetDifferentiability, CentralDifferencesConvergeToTheDerivativeAtSecondOrder) {
  const torch::NoGradGuard no_grad;
  statistics::Study study("frechet: FNO, central difference against automatic differentiation", "step", "error");
  for (int halvings = 1; halvings <= 7; ++halvings) {
    const double step = std::ldexp(1.0, -halvings);
    double mean = 0;
    for (std::uint64_t item = 0; item < 6; ++item) {
      const Tensor u = random_field(item), w = random_field(100 + item);
      const Tensor difference = (fno()(u + step * w) - fno()(u - step * w)) / (2 * step);
      mean += sobolev_norm(difference - derivative(fno(), u, w)) / sobolev_norm(w) / 6;
    }
    study.add(step, mean);
  }
  reporting::publish(
      {.name = "frechet_derivative",
       .title = "Automatic differentiation of an FNO against central differences in H^1",
       .finding = "The difference is of second order in the step: what is differentiated is the derivative.",
       .studies = {study}});
  EXPECT_NEAR(2, study.fit().slope, 0.15);
}

TEST_F(FrechetDifferentiability, TheDerivativeIsContinuousInTheBasePoint) {
  const torch::NoGradGuard no_grad;
  statistics::Study study("frechet: FNO, change of the derivative with the base point", "distance", "change");
  for (int halvings = 1; halvings <= 8; ++halvings) {
    const double distance = std::ldexp(1.0, -halvings);
    double largest = 0;
    for (std::uint64_t item = 0; item < 6; ++item) {
      const Tensor u = random_field(item), towards = random_field(200 + item), w = random_field(100 + item);
      const Tensor there = u + distance / sobolev_norm(towards) * towards;
      const Tensor change = derivative(fno(), there, w) - derivative(fno(), u, w);
      largest = std::max(largest, sobolev_norm(change) / sobolev_norm(w));
    }
    study.add(distance, largest);
  }
  reporting::publish(
      {.name = "frechet_continuity",
       .title = "The derivative of an FNO at neighbouring base points in H^1",
       .finding =
           "It changes in proportion to their distance: F is continuously differentiable, with a Lipschitz derivative.",
       .studies = {study}});
  EXPECT_NEAR(1, study.fit().slope, 0.1);
}

/// ‖K v‖ in H^s after each step of power iteration on K*K, the adjoint taken in that space; it rises to the norm of K.
std::vector<double> power_iteration(const Map& layer, int steps) {
  Tensor v = torch::randn({points, 1, width}, torch::kFloat64);
  const Tensor frequency = torch::fft_fftfreq(points, 1.0 / points, torch::kFloat64);
  const Tensor weight = (1 + frequency * frequency).pow(smoothness).view({-1, 1, 1});
  const auto weighted = [&](const Tensor& u, double power) {
    return torch::real(torch::fft_ifft(weight.pow(power) * torch::fft_fft(u, {}, 0), {}, 0));
  };
  std::vector<double> norms;
  for (int step = 0; step < steps; ++step) {
    v = v / sobolev_norm(v);
    Tensor at = v.detach().clone().set_requires_grad(true);
    const torch::AutoGradMode with_grad(true);
    const Tensor image = layer(at);
    norms.push_back(sobolev_norm(image.detach()));
    // ⟨Kv, K·⟩ in H^s is ⟨W Kv, K·⟩ in L²; its representer in H^s is W⁻¹ Kᵀ W K v.
    v = weighted(torch::autograd::grad({image}, {at}, {weighted(image.detach(), 1)})[0], -1).detach();
  }
  return norms;
}

/// ‖R_k‖ of every kept frequency; of frequency 0 a real field uses the real part only.
Tensor matrix_norms(const Tensor& weights) {
  Tensor matrices = torch::view_as_complex(weights.detach().contiguous()).permute({2, 0, 1}).clone();
  torch::imag(matrices[0]).zero_();
  return std::get<0>(torch::linalg_svdvals(matrices).max(1));
}

TEST_F(FrechetDifferentiability, TheNormOfASpectralLayerIsThatOfItsLargestMatrix) {
  constexpr int steps = 256;
  torch::manual_seed(4);
  const auto basis = operators::fourier_basis({points}, {modes}, torch::kFloat64);
  reporting::Evidence evidence{
      .name = "spectral_norms",
      .title = "Norms of an FNO's spectral layers in H^1",
      .finding =
          fmt::format("‖K‖ is the norm of the largest matrix, max ‖R_k‖ over the {} kept frequencies (of frequency 0 "
                      "the real part, since fields are real): power iteration reaches it and does not pass it.",
                      basis->frequencies()),
      .studies = {},
      .tables = {{.name = "norms",
                  .caption = fmt::format("After {} steps of power iteration.", steps),
                  .columns = {{"layer", true},
                              {"power iteration", true},
                              {"max ‖R_k‖", true},
                              {"at k", true},
                              {"relative difference", true}},
                  .rows = {}}}};
  for (int index = 0; index < 3; ++index) {
    const Tensor weights = parameter(message("fno_blocks.convs.", index, ".weight.tensor"));
    const Map layer = [&](const Tensor& u) {
      return basis->inverse(operators::mix(basis->transform(u), weights, *basis));
    };
    const Tensor matrices = matrix_norms(weights);
    const double norm = matrices.max().item<double>();
    const std::vector<double> found = power_iteration(layer, steps);
    statistics::Study study(message("layer ", index), "steps of power iteration", "1 − ‖Kv‖/max‖R_k‖");
    for (int step = 1; step <= steps; step *= 2) {
      const double missing = 1 - found[static_cast<std::size_t>(step - 1)] / norm;
      if (missing > 1e-12) study.add(step, missing);  // below it is rounding
    }
    evidence.studies.push_back(study);
    evidence.tables[0].add({std::to_string(index), fmt::format("{:.9f}", found.back()), fmt::format("{:.9f}", norm),
                            std::to_string(matrices.argmax().item<std::int64_t>()),
                            fmt::format("{:.1g}", found.back() / norm - 1)});
    EXPECT_NEAR(1, found.back() / norm, 1e-6) << "layer " << index;
    EXPECT_LE(*std::ranges::max_element(found), norm * (1 + 1e-12)) << "layer " << index;
  }
  reporting::publish(evidence);
}

}  // namespace
}  // namespace opshap
