// The multiwavelet operator against its authors' formulas written out, and files of the reference. architectures.cpp
// has the laws of all architectures.

#include "operators/mwt.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "data/safetensors.hpp"
#include "operators/network.hpp"
#include "operators/registry.hpp"
#include "operators/weights.hpp"
#include "support/networks.hpp"
#include "support/operator_golden.hpp"
#include "support/refusal.hpp"
#include "support/tolerance.hpp"
#include "support/weight_files.hpp"

namespace opshap {
namespace {

using operators::Multiwavelets;

const networks::NetworkConfig papers = {R"({"model": "mwt", "c": 16, "k": 4, "alpha": 10, "n_cz": 2})"};

double entry(const torch::Tensor& matrix, std::int64_t row, std::int64_t column) {
  return matrix.index({row, column}).item<double>();
}

TEST(Multiwavelets, HaveTheirClosedForm) {
  const auto root = [](double x) { return std::sqrt(x); };
  const double h0[4][4] = {{1, 0, 0, 0},
                           {-root(3) / 2, 0.5, 0, 0},
                           {0, -root(15) / 4, 0.25, 0},
                           {root(7) / 8, root(21) / 8, -root(35) / 8, 0.125}};
  const double g0[4][4] = {{0.375, 3 * root(3) / 8, 7 * root(5) / 24, -root(7) / 24},
                           {0, 0.25, root(15) / 4, 0},
                           {0, 0, 1.0 / 6, root(35) / 6},
                           {0, 0, 0, 1}};
  const Multiwavelets found(4);
  const Tolerance few = rounding(1000, 1);  // sums of sixteen products, made orthogonal four times
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const double mirrored = (i + j) % 2 == 0 ? 1 : -1;
      EXPECT_EQ("", mismatch(h0[i][j] / root(2), entry(found.h0, i, j), few)) << i << " " << j;
      EXPECT_EQ("", mismatch(mirrored * h0[i][j] / root(2), entry(found.h1, i, j), few)) << i << " " << j;
      EXPECT_EQ("", mismatch(g0[i][j] / root(2), entry(found.g0, i, j), few)) << i << " " << j;
      EXPECT_EQ("", mismatch(-mirrored * g0[i][j] / root(2), entry(found.g1, i, j), few)) << i << " " << j;
    }
}

TEST(Multiwavelets, AreTheRowsOfAnOrthogonalMatrix) {
  for (const int k : {1, 2, 3, 4, 7, 16}) {
    const Multiwavelets filters(k);
    const auto all = torch::cat({torch::cat({filters.h0, filters.h1}, 1), torch::cat({filters.g0, filters.g1}, 1)});
    const double worst = (torch::mm(all, all.t()) - torch::eye(2 * k, torch::kFloat64)).abs().max().item<double>();
    EXPECT_EQ("", mismatch(0, worst, rounding(1e4, 1))) << k;  // Legendre polynomials of degree 15, by recurrence
  }
}

/// A network in float64 whose parameters are zero but for those that are given: name to row-major values, complex ones
/// as pairs.
std::unique_ptr<operators::Network> network_of(const networks::NetworkConfig& config,
                                               const std::map<std::string, std::vector<double>>& given) {
  const torch::NoGradGuard no_grad;
  auto network = operators::make_network(config, torch::kFloat64);
  std::size_t used = 0;
  for (operators::Parameter& parameter : network->parameters()) {
    const auto found = given.find(parameter.name);
    if (found == given.end()) continue;
    parameter.value.copy_(torch::tensor(found->second, torch::kFloat64).view(parameter.value.sizes()));
    ++used;
  }
  require(used == given.size(), "mwt test: parameters=", given.size(), " (", used, " are known). Correct the names.");
  return network;
}

std::vector<double> identity(int k) {
  std::vector<double> values;
  for (int i = 0; i < k * k; ++i) values.push_back(i % (k + 1) == 0 ? 1 : 0);
  return values;
}

/// Parameters with which a network of one channel and one block writes wavelet 0 of every point of its block's output:
/// the field goes in there, the coarsest averages pass as they are, and the activation of the head never cuts.
std::map<std::string, std::vector<double>> transparent(int k) {
  constexpr double large = 1e3;
  const auto first = [](int count, double value) {
    std::vector<double> values(static_cast<std::size_t>(count), 0);
    values.front() = value;
    return values;
  };
  return {{"MWT_CZ.0.T0.weight", identity(k)}, {"Lk.weight", first(k, 1)},    {"Lc0.weight", first(128 * k, 1)},
          {"Lc0.bias", first(128, large)},     {"Lc1.weight", first(128, 1)}, {"Lc1.bias", {-large}}};
}

networks::NetworkConfig one_channel(int k, int alpha) {
  return {message(R"({"model": "mwt", "c": 1, "k": )", k, R"(, "alpha": )", alpha,
                  R"(, "n_cz": 1, "positional_embedding": null})")};
}

TEST(Mwt, PutsTogetherWhatItTookApart) {
  constexpr int k = 3, points = 32, alpha = points / 4 + 1;  // all frequencies of the finest details
  auto given = transparent(k);
  std::vector<double>& unchanged = given["MWT_CZ.0.A.weights1"];
  for (const double real : identity(k))
    for (int frequency = 0; frequency < alpha; ++frequency) unchanged.insert(unchanged.end(), {real, 0});
  const auto op = operators::as_operator(network_of(one_channel(k, alpha), given));
  const FieldBatch input = random_fields(Domain::unit({points}), 2, 1);
  EXPECT_EQ("", mismatch(input.values, op->apply(input).values, rounding(1e3, 1e3)));  // 1e3 is added and taken away
}

// Without its matrices a block keeps what a polynomial of degree < k on the whole domain has of the field.
TEST(Mwt, KeepsPolynomialsWithoutItsMatrices) {
  constexpr int k = 3, points = 16;
  const auto op = operators::as_operator(network_of(one_channel(k, 4), transparent(k)));
  const FieldBatch input = random_fields(Domain::unit({points}), 1, 1);
  // ∫ √(2i+1)·P_i(2x − 1) dx over a cell.
  const auto integral = [&](int i, int cell) {
    const auto antiderivative = [&](double t) {
      const auto degree = static_cast<unsigned>(i);
      return i == 0 ? t / 2
                    : (std::legendre(degree + 1, t) - std::legendre(degree - 1, t)) / (2 * std::sqrt(2 * i + 1));
    };
    const double left = 2.0 * cell / points - 1;
    return antiderivative(left + 2.0 / points) - antiderivative(left);
  };
  std::vector<double> expected(points, 0);
  for (int to = 0; to < points; ++to)
    for (int from = 0; from < points; ++from)
      for (int i = 0; i < k; ++i)
        expected[static_cast<std::size_t>(to)] +=
            points * integral(i, to) * integral(i, from) * input.values[static_cast<std::size_t>(from)];
  EXPECT_EQ("", mismatch(expected, op->apply(input).values, rounding(1e3, 1e3)));
}

/// The authors' formulas, point after point in natural order, with Fourier sums by their definition.
class WrittenOut {
 public:
  WrittenOut(const operators::Network& network, int c, int k, int alpha, int blocks)
      : c_(c), k_(k), alpha_(alpha), blocks_(blocks), filters_(k) {
    for (const operators::Parameter& parameter : network.parameters())
      parameters_[parameter.name] = parameter.value.detach().contiguous();
  }

  /// One field [Cin][N] to [Cout][N].
  std::vector<double> apply(const FieldBatch& input) const {
    const auto points = static_cast<std::size_t>(input.domain.points());
    Points x;
    for (std::size_t n = 0; n < points; ++n) {
      std::vector<double> channels;
      for (int channel = 0; channel < input.channels; ++channel)
        channels.push_back(input.values[static_cast<std::size_t>(channel) * points + n]);
      channels.push_back(static_cast<double>(n) / static_cast<double>(points));
      x.push_back(linear("Lk", channels));
    }
    for (int index = 0; index < blocks_; ++index) {
      if (index > 0)
        for (std::vector<double>& state : x)
          for (double& value : state) value = std::max(0.0, value);
      x = block(x, message("MWT_CZ.", index));
    }
    std::vector<double> output;
    for (const std::vector<double>& state : x) {
      std::vector<double> hidden = linear("Lc0", state);
      for (double& value : hidden) value = std::max(0.0, value);
      for (const double value : linear("Lc1", hidden)) output.push_back(value);
    }
    const std::size_t outputs = output.size() / points;
    std::vector<double> by_channel(output.size());
    for (std::size_t i = 0; i < output.size(); ++i) by_channel[i % outputs * points + i / outputs] = output[i];
    return by_channel;
  }

 private:
  using Points = std::vector<std::vector<double>>;  // [N'][c·k]

  double at(const std::string& name, std::vector<std::int64_t> index) const {
    const torch::Tensor& tensor = parameters_.at(name);
    std::int64_t flat = 0;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      flat = flat * tensor.size(static_cast<std::int64_t>(axis)) + index[axis];
    return tensor.data_ptr<double>()[flat];
  }

  std::vector<double> linear(const std::string& name, const std::vector<double>& x) const {
    std::vector<double> y;
    for (std::int64_t o = 0; o < parameters_.at(name + ".weight").size(0); ++o) {
      y.push_back(at(name + ".bias", {o}));
      for (std::size_t i = 0; i < x.size(); ++i)
        y.back() += at(name + ".weight", {o, static_cast<std::int64_t>(i)}) * x[i];
    }
    return y;
  }

  /// The `alpha` lowest frequencies of the points, each through its matrix.
  void add_mixed(const std::string& name, const Points& x, Points& y) const {
    const auto points = static_cast<int>(x.size());
    const std::int64_t width = c_ * k_;
    for (int f = 0; f <= points / 2 && f < alpha_; ++f)
      for (std::int64_t o = 0; o < width; ++o) {
        std::complex<double> coefficient = 0;
        for (int n = 0; n < points; ++n)
          for (std::int64_t i = 0; i < width; ++i)
            coefficient += x[static_cast<std::size_t>(n)][static_cast<std::size_t>(i)] *
                           std::polar(1.0, -2 * std::numbers::pi * f * n / points) *
                           std::complex(at(name + ".weights1", {i, o, f, 0}), at(name + ".weights1", {i, o, f, 1}));
        if (f == 0 || 2 * f == points) coefficient = coefficient.real();
        const double twice = f == 0 || 2 * f == points ? 1 : 2;
        for (int n = 0; n < points; ++n)
          y[static_cast<std::size_t>(n)][static_cast<std::size_t>(o)] +=
              twice / points * (coefficient * std::polar(1.0, 2 * std::numbers::pi * f * n / points)).real();
      }
  }

  /// to[c, j] += Σ_i from[c, i]·matrix[j, i], or with the transposed matrix.
  void add_filtered(const torch::Tensor& matrix, bool transposed, const std::vector<double>& from,
                    std::vector<double>& to) const {
    for (int c = 0; c < c_; ++c)
      for (int j = 0; j < k_; ++j)
        for (int i = 0; i < k_; ++i)
          to[static_cast<std::size_t>(c * k_ + j)] +=
              from[static_cast<std::size_t>(c * k_ + i)] * (transposed ? entry(matrix, i, j) : entry(matrix, j, i));
  }

  Points block(Points x, const std::string& name) const {
    const auto zeros = [&](std::size_t points) {
      return Points(points, std::vector<double>(static_cast<std::size_t>(c_ * k_), 0));
    };
    std::vector<Points> to_details, to_averages;
    while (x.size() > 1) {
      const std::size_t half = x.size() / 2;
      Points details = zeros(half), averages = zeros(half);
      for (std::size_t n = 0; n < half; ++n) {
        add_filtered(filters_.g0, false, x[2 * n], details[n]);
        add_filtered(filters_.g1, false, x[2 * n + 1], details[n]);
        add_filtered(filters_.h0, false, x[2 * n], averages[n]);
        add_filtered(filters_.h1, false, x[2 * n + 1], averages[n]);
      }
      to_details.push_back(zeros(half));
      to_averages.push_back(zeros(half));
      add_mixed(name + ".A", details, to_details.back());
      add_mixed(name + ".B", averages, to_details.back());
      add_mixed(name + ".C", details, to_averages.back());
      x = averages;
    }
    Points coarsest = zeros(1);
    for (int c = 0; c < c_; ++c)
      for (std::int64_t o = 0; o < k_; ++o) {
        double& value = coarsest[0][static_cast<std::size_t>(c * k_ + o)];
        value = at(name + ".T0.bias", {o});
        for (std::int64_t i = 0; i < k_; ++i)
          value += at(name + ".T0.weight", {o, i}) * x[0][static_cast<std::size_t>(c * k_ + i)];
      }
    x = coarsest;
    for (std::size_t level = to_details.size(); level-- > 0;) {
      Points finer = zeros(2 * x.size());
      for (std::size_t n = 0; n < x.size(); ++n) {
        for (std::size_t i = 0; i < x[n].size(); ++i) x[n][i] += to_averages[level][n][i];
        add_filtered(filters_.h0, true, x[n], finer[2 * n]);
        add_filtered(filters_.g0, true, to_details[level][n], finer[2 * n]);
        add_filtered(filters_.h1, true, x[n], finer[2 * n + 1]);
        add_filtered(filters_.g1, true, to_details[level][n], finer[2 * n + 1]);
      }
      x = finer;
    }
    return x;
  }

  int c_, k_, alpha_, blocks_;
  Multiwavelets filters_;
  std::map<std::string, torch::Tensor> parameters_;
};

TEST(Mwt, IsItsAuthorsFormulas) {
  constexpr int c = 2, k = 3, alpha = 5, blocks = 2;
  const auto network = operators::make_network(
      {R"({"model": "mwt", "in_channels": 2, "out_channels": 2, "c": 2, "k": 3, "alpha": 5, "n_cz": 2})"},
      torch::kFloat64);
  operators::initialise(*network, 5);
  // Larger than at the start of a training, so that the spectra count as much as what passes beside them.
  const torch::NoGradGuard no_grad;
  for (operators::Parameter& parameter : network->parameters())
    if (parameter.complex) parameter.value.mul_(20).sub_(0.2);
  const WrittenOut written_out(*network, c, k, alpha, blocks);
  for (const int points : {1, 2, 4, 8, 16, 32, 64}) {
    const FieldBatch input = random_fields(Domain::unit({points}), 1, 2);
    const torch::Tensor output = network->forward(operators::to_tensor(input, 0, 1, torch::kFloat64), input.domain);
    FieldBatch found = FieldBatch::zeros(input.domain, 1, 2);
    operators::from_tensor(output, found, 0);
    const std::vector<double> expected = written_out.apply(input);
    EXPECT_EQ("", mismatch(expected, found.values, rounding(1e5, largest(expected)))) << points;  // sums of 64·6 terms
  }
}

TEST(Mwt, HasTheDefaultsOfTheReferencesConstructor) {
  const auto network = operators::make_network({R"({"model": "mwt"})"}, torch::kFloat32);
  EXPECT_EQ("mwt 1D, 1 channels of 3 wavelets, 2 frequencies, 3 blocks", network->describe());
  EXPECT_EQ(1, network->input_channels());
}

TEST(Mwt, RefusesGridsThatItCannotHalve) {
  const auto op = operators::untrained_operator(papers, 1);
  const auto fields = [](int points) { return random_fields(Domain::unit({points}), 1, 1); };
  for (const int points : {3, 6, 12, 100}) {
    const std::string message = refusal<InvalidArgument>([&] { op->apply(fields(points)); });
    EXPECT_TRUE(has(message, "points=" + std::to_string(points)));
    EXPECT_TRUE(has(message, "Use a power of two"));
    EXPECT_THROW(op->values_at(fields(points), Query{.point = 0}), InvalidArgument);
  }
  EXPECT_NO_THROW(op->apply(fields(1)));
}

TEST(Mwt, RefusesSettingsThatCannotWork) {
  const auto mwt = operators::architecture("mwt");
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { mwt->fitted(mwt->of_the_paper(), {.dimension = 2}); }), "one axis"));
  EXPECT_TRUE(has(
      refusal<InvalidArgument>([&] { mwt->fitted({.model = "mwt", .json = R"({"c": 4, "k": 4, "alpha": 4})"}, {}); }),
      "n_cz"));
}

using MwtFiles = WeightsFolder;

const fs::path reference = fs::path(OPSHAP_SOURCE_DIR) / "reference_data" / "mwt" / "model.safetensors";

// Two dozen layers in float32 on both sides.
TEST_F(MwtFiles, OfTheReferenceGiveItsOutput) {
  EXPECT_LT(distance_from_reference(*operators::load_operator(reference), "mwt/"), 1e-5);
}

TEST_F(MwtFiles, HoldTheFiltersForTheReference) {
  operators::save_network(*operators::load_network(reference, torch::kFloat32), file_);
  const data::Safetensors theirs = data::read_safetensors(reference), ours = data::read_safetensors(file_);
  ASSERT_EQ(theirs.tensors.size(), ours.tensors.size());
  for (const auto& [name, tensor] : theirs.tensors) {
    ASSERT_TRUE(ours.tensors.contains(name)) << name;
    EXPECT_EQ(tensor.shape, ours.tensors.at(name).shape) << name;
  }
}

TEST_F(MwtFiles, MayLackTheFiltersButNotHaveOthers) {
  data::Safetensors content = data::read_safetensors(reference);
  const float other = 0.5;
  std::memcpy(content.tensors.at("MWT_CZ.1.rc_o").bytes.data() + 4, &other, sizeof other);
  data::write_safetensors(file_, content);
  EXPECT_TRUE(has(refusal<DataError>([&] { operators::load_operator(file_); }), "MWT_CZ.1.rc_o"));
  std::erase_if(content.tensors, [](const auto& entry) {
    return entry.first.find(".ec_") != std::string::npos || entry.first.find(".rc_") != std::string::npos;
  });
  data::write_safetensors(file_, content);
  EXPECT_NO_THROW(operators::load_operator(file_));
}

}  // namespace
}  // namespace opshap
