// The Burgers solver: a closed form, and the laws of the equation for random initial conditions. The synthetic problem
// of two channels in the plane: closed forms on any grid. Inputs and parameters that a problem cannot work with: each
// is refused by what is wrong with it.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/registry.hpp"
#include "support/field_of.hpp"
#include "support/for_all.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

constexpr double pi = std::numbers::pi;

/// Burgers' equation with some parameters changed.
std::unique_ptr<pde::Problem> changed(const pde::ParameterValues& parameters) {
  return pde::find("burgers1d").with(parameters);
}

pde::Solution solve(const FieldBatch& initial, double time, const pde::ParameterValues& parameters = {}) {
  return changed(parameters)->evolution()->solve(initial, time);
}

FieldBatch field(int points, const std::function<double(double)>& function) {
  FieldBatch field = FieldBatch::zeros(Domain::unit({points}), 1, 1);
  for (int j = 0; j < points; ++j) field.values[static_cast<std::size_t>(j)] = function(field.domain.coordinate(0, j));
  return field;
}

double largest_difference(const FieldBatch& a, const FieldBatch& b) {
  double largest = 0;
  for (std::size_t j = 0; j < a.values.size(); ++j) largest = std::max(largest, std::abs(a.values[j] - b.values[j]));
  return largest;
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double energy(const FieldBatch& field) {
  return std::inner_product(field.values.begin(), field.values.end(), field.values.begin(), 0.0) / 2 /
         static_cast<double>(field.values.size());
}

FieldBatch sine(int points) {
  return field(points, [](double x) { return std::sin(2 * pi * x); });
}

FieldBatch random_initial(std::uint64_t sample) {
  return pde::find("burgers1d").draw(Rng(7, "pde_burgers"), sample).input;
}

std::uint64_t any_sample() { return *rc::gen::arbitrary<std::uint32_t>(); }

/// The solution of u_t + u u_x = ν u_xx with u(x, 0) = A sin 2πx: the Cole–Hopf transform makes it a heat equation,
/// whose solution is a series with modified Bessel functions I_n (Cole 1951; Hopf 1950). The denominator cancels to
/// e^-2z of its terms in the shock, so: long double.
double cole_hopf(double amplitude, double viscosity, double time, double x) {
  using Real = long double;
  const Real pi = std::numbers::pi_v<Real>, z = amplitude / (4 * pi * viscosity),
             bessel0 = std::cyl_bessel_i(Real{0}, z);
  Real above = 0, below = 1;
  for (int n = 1; n <= 60; ++n) {
    const Real term =
        std::cyl_bessel_i(static_cast<Real>(n), z) / bessel0 * std::exp(-4 * pi * pi * n * n * viscosity * time);
    above += n * term * std::sin(2 * pi * n * x);
    below += 2 * term * std::cos(2 * pi * n * x);
  }
  return static_cast<double>(8 * pi * viscosity * above / below);
}

// The fourth-order error of the scheme is 4.2e-11 with the default dt = 5e-4 and 8e-14 with 1e-4; twice that is room
// for other processors.
TEST(BurgersSolver, AgreesWithTheColeHopfSolution) {
  const FieldBatch initial = sine(1024), exact = field(1024, [](double x) { return cole_hopf(1, 0.01, 0.5, x); });
  EXPECT_NEAR(0.371607123978, exact.values[256], 5e-13) << "the series of this test is wrong";
  EXPECT_NEAR(0.620729606959, largest(exact.values), 5e-13) << "the series of this test is wrong";
  EXPECT_LT(largest_difference(exact, solve(initial, 0.5).output), 1e-10);
  EXPECT_LT(largest_difference(exact, solve(initial, 0.5, {{"dt", 1e-4}}).output), 1e-12);
}

TEST(BurgersSolver, AgreesWithTheColeHopfSolutionOnAnyGridAndForOtherParameters) {
  for (const int points : {64, 99, 100, 255, 256, 2048}) {
    const FieldBatch initial = field(points, [](double x) { return 0.7 * std::sin(2 * pi * x); });
    const FieldBatch exact = field(points, [](double x) { return cole_hopf(0.7, 0.05, 0.3, x); });
    EXPECT_LT(largest_difference(exact, solve(initial, 0.3, {{"nu", 0.05}}).output), 1e-10) << points;
  }
}

TEST(BurgersSolver, ReachesTimesThatAreNoMultipleOfTheStep) {
  for (const double time : {1e-9, 0.00037, 0.1234567, 1.0}) {
    const FieldBatch exact = field(256, [time](double x) { return cole_hopf(1, 0.02, time, x); });
    EXPECT_LT(largest_difference(exact, solve(sine(256), time, {{"nu", 0.02}}).output), 1e-10) << time;
  }
}

// Fields so small that their squares underflow obey the heat equation.
TEST(BurgersSolver, DampsTinyFieldsAsTheHeatEquation) {
  for (const double amplitude : {1e-8, 1e-100, 1e-200, 1e-300}) {
    const FieldBatch initial = field(64, [=](double x) { return amplitude * std::sin(2 * pi * x); });
    const auto exact =
        field(64, [=](double x) { return amplitude * std::exp(-0.01 * 4 * pi * pi * 0.5) * std::sin(2 * pi * x); });
    EXPECT_LT(largest_difference(exact, solve(initial, 0.5).output), 1e-7 * amplitude) << amplitude;
  }
}

TEST(BurgersSolver, LeavesConstantFieldsAndTimeZeroAsTheyAre) {
  const FieldBatch constant = field(100, [](double) { return -0.3; }),
                   wave = field(64, [](double x) { return std::cos(2 * pi * x); });
  EXPECT_EQ(constant.values, solve(constant, 5).output.values);
  EXPECT_EQ(wave.values, solve(wave, 0).output.values);
}

TEST(BurgersSolver, KeepsTheMean) {
  for_all(0.4, [] {
    const FieldBatch initial = random_initial(any_sample());
    // 1e-13: the rounding of a sum of 1024 numbers of size 1, twice.
    RC_ASSERT(std::abs(mean(initial.values) - mean(solve(initial, 0.2).output.values)) < 1e-13);
  });
}

TEST(BurgersSolver, LosesEnergyAndStaysBetweenItsExtremes) {
  for_all(0.4, [] {
    FieldBatch now = random_initial(any_sample());
    const auto [low, high] = std::minmax_element(now.values.begin(), now.values.end());
    const double lowest = *low, highest = *high;
    double before = energy(now);
    for (int i = 0; i < 5; ++i) {
      now = solve(now, 0.05).output;
      RC_ASSERT(energy(now) <= before);
      before = energy(now);
    }
    // The grid misses up to h²/8 max|u''| of an extreme at the start: 4e-4 for eight waves on 1024 points.
    RC_ASSERT(*std::max_element(now.values.begin(), now.values.end()) <= highest + 4e-4);
    RC_ASSERT(*std::min_element(now.values.begin(), now.values.end()) >= lowest - 4e-4);
  });
}

// dE/dt = −ν ∫ u_x² dx; both sides by central differences, which are good to about 1 % here.
TEST(BurgersSolver, DissipatesEnergyAtTheRateOfItsGradient) {
  const FieldBatch initial = field(1024, [](double x) { return std::sin(2 * pi * x) + 0.3 * std::cos(6 * pi * x); });
  const double interval = 1e-3;
  const FieldBatch early = solve(initial, 0.3 - interval).output, now = solve(initial, 0.3).output,
                   late = solve(initial, 0.3 + interval).output;
  double dissipation = 0;
  for (std::size_t j = 0; j < 1024; ++j) {
    const double slope = (now.values[(j + 1) % 1024] - now.values[(j + 1023) % 1024]) * 512;
    dissipation += 0.01 * slope * slope / 1024;
  }
  EXPECT_NEAR(1, (energy(early) - energy(late)) / (2 * interval) / dissipation, 0.01);
}

// Without viscosity the truncated system keeps Σ|u_k|² exactly, however coarse the grid, if and only if the product is
// free of aliasing: the sums k + l + m = N of three kept modes are what breaks it. Orszag (1971). The time steps are so
// small that only rounding remains.
TEST(BurgersSolver, KeepsTheEnergyWithoutViscosityOnACoarseGrid) {
  const auto initial = field(16, [](double x) { return std::sin(2 * pi * x) + 0.005 * std::cos(10 * pi * x + 1); });
  const FieldBatch now = solve(initial, 0.01, {{"nu", 0.0}, {"dt", 1e-5}}).output;
  EXPECT_GT(largest_difference(initial, now), 0.01) << "nothing happened";
  EXPECT_NEAR(energy(initial), energy(now), 1e-14);
}

// Oleinik's one-sided bound u_x <= 1/t holds for every viscosity (Oleinik 1957).
TEST(BurgersSolver, RisesNoFasterThanOleinikAllows) {
  for_all(0.4, [] {
    const double time = 0.05 * static_cast<double>(*rc::gen::inRange(1, 11));
    const FieldBatch now = solve(random_initial(any_sample()), time).output;
    for (std::size_t j = 0; j < 1024; ++j)
      RC_ASSERT((now.values[(j + 1) % 1024] - now.values[j]) * 1024 <= 1 / time + 1e-6);
  });
}

// u(x, t) + c with the profile moved by ct solves the equation when u does. With c·t a whole number of cells, the move
// is exact on the grid.
TEST(BurgersSolver, IsGalileanInvariant) {
  for_all(0.4, [] {
    const FieldBatch initial = random_initial(any_sample());
    const int cells = *rc::gen::inRange(-3000, 3000);
    const double time = 0.25, speed = cells / 1024.0 / time;
    FieldBatch moving = initial;
    for (double& value : moving.values) value += speed;
    const FieldBatch rest = solve(initial, time).output, moved = solve(moving, time).output;
    for (int j = 0; j < 1024; ++j) {
      const auto from = static_cast<std::size_t>(((j - cells) % 1024 + 1024) % 1024);
      // Rounding of numbers up to 12, which the steepening amplifies by a factor of about 100.
      RC_ASSERT(std::abs(moved.values[static_cast<std::size_t>(j)] - speed - rest.values[from]) < 1e-11);
    }
  });
}

TEST(BurgersSolver, CommutesWithReflection) {
  for_all(0.4, [] {
    const FieldBatch initial = random_initial(any_sample());
    FieldBatch mirrored = initial;
    for (std::size_t j = 0; j < 1024; ++j) mirrored.values[j] = -initial.values[(1024 - j) % 1024];
    const FieldBatch plain = solve(initial, 0.3).output, reflected = solve(mirrored, 0.3).output;
    for (std::size_t j = 0; j < 1024; ++j)
      RC_ASSERT(std::abs(reflected.values[j] + plain.values[(1024 - j) % 1024]) < 1e-12);
  });
}

// u → λu(x, λt) maps solutions for ν to solutions for λν: a field of amplitude 10 needs, and gets, steps ten times
// smaller.
TEST(BurgersSolver, ScalesWithItsAmplitude) {
  const FieldBatch small = random_initial(3);
  FieldBatch large = small;
  for (double& value : large.values) value *= 10;
  FieldBatch expected = solve(small, 0.4).output;
  for (double& value : expected.values) value *= 10;
  EXPECT_LT(largest_difference(expected, solve(large, 0.04, {{"nu", 0.1}}).output), 1e-7);
}

TEST(BurgersSolver, HoldsAllInvariantsForTheInitialConditionsOfTheDataSets) {
  for_all(0.4, [] {
    const pde::Solution solution = pde::find("burgers1d").solve(random_initial(any_sample()));
    const std::vector<pde::Invariant> invariants = pde::find("burgers1d").invariants();
    for (std::size_t i = 0; i < invariants.size(); ++i) RC_ASSERT(invariants[i].allows(solution.departures[i]));
  });
}

std::string broken_laws(const FieldBatch& initial, const FieldBatch& later) {
  std::string names;
  for (const pde::PairLaw& law : pde::find("burgers1d").pair_laws(initial, later))
    if (!law.holds()) names += (names.empty() ? "" : " ") + law.name;
  return names;
}

TEST(BurgersSolver, ItsPairLawsNameWhatAWrongSolutionBreaks) {
  const FieldBatch initial = field(256, [](double x) { return 0.5 + std::sin(2 * pi * x); });
  const FieldBatch later = solve(initial, 0.5).output;
  EXPECT_EQ("", broken_laws(initial, later));
  FieldBatch wrong = later;
  for (double& value : wrong.values) value += 1e-6;
  EXPECT_EQ("mean_kept", broken_laws(initial, wrong));
  // The solution backwards in time gains energy and leaves the range of where it starts.
  EXPECT_EQ("energy_not_grown range_not_left", broken_laws(later, initial));
  wrong = later;
  wrong.values[7] = std::nan("");
  EXPECT_NE("", broken_laws(initial, wrong));
}

TEST(BurgersSolver, RefusesWhatItsGridCannotHold) {
  EXPECT_THROW(solve(sine(16), 0.5), NumericalError);
  EXPECT_NO_THROW(solve(sine(16), 0.5, {{"nu", 0.3}}));
  EXPECT_THROW(solve(field(64, [](double x) { return std::cos(64 * pi * x); }), 0.1), NumericalError);
  // Between hopeless and perfect, the departure is told.
  EXPECT_FALSE(std::ranges::equal(
      solve(sine(64), 0.5).departures, pde::find("burgers1d").invariants(),
      [](double departure, const pde::Invariant& invariant) { return invariant.allows(departure); }));
}

TEST(BurgersSolver, BlowsUpLoudlyWhenTheStepIsTooLarge) {
  EXPECT_THROW(solve(sine(1024), 1, {{"dt", 0.05}, {"nu", 1e-4}}), NumericalError);
}

TEST(BurgersSolver, NamesWhatCannotWork) {
  const FieldBatch wave = sine(64);
  const double infinity = std::numeric_limits<double>::infinity();
  const auto scaled = [](double offset, double scale) {
    return field(64, [=](double x) { return offset + scale * std::sin(2 * pi * x); });
  };
  for (const double time : {-1.0, infinity, 1e12}) EXPECT_THROW(solve(wave, time), InvalidArgument);
  for (const FieldBatch& bad :
       {field(7, [](double) { return 0.0; }), FieldBatch::zeros(Domain::unit({8, 8}), 1, 1),
        FieldBatch::zeros(Domain::unit({64}), 2, 1), FieldBatch::zeros(Domain::unit({64}), 1, 2), scaled(0, 1e308),
        scaled(1e308, 1), scaled(1e9, 1)})
    EXPECT_THROW(solve(bad, 1), InvalidArgument);
  FieldBatch broken = wave;
  broken.values[5] = std::nan("");
  EXPECT_THROW(solve(broken, 1), DataError);
  for (const auto& [name, value] : {std::pair("nu", -1.0), {"dt", 0.0}, {"nu", infinity}, {"viscosity", 1.0}})
    EXPECT_THROW(changed({{name, value}}), InvalidArgument) << name;
  EXPECT_THROW(pde::find("burger1d"), InvalidArgument);
}

TEST(PdeParameters, AreReadFromNameAndValue) {
  EXPECT_EQ((pde::ParameterValues{{"nu", 0.02}, {"dt", 1e-4}}), pde::parse_parameters({"nu=0.02", "dt=1e-4"}));
  EXPECT_EQ((pde::ParameterValues{{"solver", "rk45"}}), pde::parse_parameters({"solver=rk45"}));
  for (const char* wrong : {"nu", "=1", "nu="}) EXPECT_THROW(pde::parse_parameters({wrong}), InvalidArgument) << wrong;
  for (const char* wrong : {"nu=x", "nu=1x", "nu=1 "})
    EXPECT_THROW(changed(pde::parse_parameters({wrong})), InvalidArgument) << wrong;
  EXPECT_THROW(pde::parse_parameters({"nu=1", "nu=2"}), InvalidArgument);
}

const std::vector<double>& drawn(const pde::Sample& initial, const std::string& name) {
  return std::ranges::find(initial.drawn, name, &pde::Drawn::name)->values;
}

/// The field that the recorded numbers describe.
double described(const pde::Sample& initial, double x) {
  double value = 0;
  switch (static_cast<pde::Family1d>(static_cast<int>(drawn(initial, "family")[0]))) {
    case pde::Family1d::series:
    case pde::Family1d::low_modes:
      for (std::size_t i = 0; i < 20 && !std::isnan(drawn(initial, "cosine_coefficients")[i]); ++i) {
        const double angle = 2 * pi * static_cast<double>(i + 1) * x;
        value += drawn(initial, "cosine_coefficients")[i] * std::cos(angle) +
                 drawn(initial, "sine_coefficients")[i] * std::sin(angle);
      }
      return value;
    case pde::Family1d::single_mode:
      return drawn(initial, "amplitude")[0] *
             std::sin(2 * pi * drawn(initial, "wavenumber")[0] * x + drawn(initial, "phase")[0]);
    case pde::Family1d::bumps:
      for (std::size_t i = 0; i < 4 && !std::isnan(drawn(initial, "bump_centres")[i]); ++i) {
        const double away =
            std::remainder(x - drawn(initial, "bump_centres")[i], 1.0) / drawn(initial, "bump_widths")[i];
        value += drawn(initial, "bump_heights")[i] * std::exp(-away * away / 2);
      }
      return value;
  }
  return value;
}

RC_GTEST_PROP(InitialConditions, AreWhatTheirRecordedNumbersSay, ()) {
  const pde::Sample initial = pde::find("burgers1d").draw(Rng(*rc::gen::arbitrary<std::uint32_t>(), "x"), any_sample());
  for (int j = 0; j < 1024; ++j) {
    // 40 terms of size up to 2, each rounded.
    RC_ASSERT(std::abs(initial.input.values[static_cast<std::size_t>(j)] -
                       described(initial, initial.input.domain.coordinate(0, j))) < 1e-13);
  }
}

TEST(InitialConditions, ComeFromFourFamiliesWithTheirRanges) {
  std::vector<int> counts(4, 0);
  for (std::uint64_t sample = 0; sample < 2000; ++sample) {
    const pde::Sample initial = pde::find("burgers1d").draw(Rng(42, "families"), sample);
    const auto family = static_cast<std::size_t>(drawn(initial, "family")[0]);
    ++counts.at(family);
    const double size = largest(initial.input.values);
    if (static_cast<pde::Family1d>(family) == pde::Family1d::bumps) {
      EXPECT_LT(size, 4);
    } else {
      EXPECT_GT(size, 0.49);
      EXPECT_LT(size, 1);
    }
  }
  // 2000 draws with probability 1/4: standard deviation 19.4, five of them.
  for (const int count : counts) EXPECT_NEAR(500, count, 97);
}

TEST(InitialConditions, DependOnSeedAndSampleAlone) {
  const Rng root(42, "order");
  const std::vector<double> alone = pde::find("burgers1d").draw(root, 4999).input.values;
  Rng used = root;
  used.normal();
  pde::find("burgers1d").draw(used, 17);
  EXPECT_EQ(alone, pde::find("burgers1d").draw(used, 4999).input.values);
  EXPECT_NE(alone, pde::find("burgers1d").draw(root, 4998).input.values);
  EXPECT_NE(alone, pde::find("burgers1d").draw(Rng(43, "order"), 4999).input.values);
}

Domain box(int nx, int ny) { return Domain::grid({Axis::cells(nx, 2), Axis::cells(ny, 1)}); }

using Function = std::function<double(double, double)>;

std::vector<double> values(const Domain& domain, const Function& function) {
  std::vector<double> values;
  for (int i = 0; i < domain.shape()[0]; ++i)
    for (int j = 0; j < domain.shape()[1]; ++j)
      values.push_back(function((i + 0.5) * 2 / domain.shape()[0], (j + 0.5) / domain.shape()[1]));
  return values;
}

FieldBatch input(const Domain& domain, const Function& gain, const Function& source) {
  FieldBatch field = FieldBatch::zeros(domain, 1, 2);
  field.values = values(domain, gain);
  const std::vector<double> second = values(domain, source);
  field.values.insert(field.values.end(), second.begin(), second.end());
  return field;
}

// The source is an eigenfunction of the Laplacian with walls: s is the source times 1/(1 + length² λ).
TEST(Synthetic2d, AgreesWithTheClosedFormOfOneModeOnAnyGrid) {
  const Function gain = [](double x, double y) { return 0.3 + x * y; };
  const Function source = [](double x, double y) { return std::cos(3 * pi * x / 2) * std::cos(2 * pi * y); };
  for (const auto& [nx, ny] : {std::pair{4, 3}, {8, 8}, {32, 32}, {17, 40}}) {
    const Domain domain = box(nx, ny);
    const double length = 0.3, lambda = 9 * pi * pi / 4 + 4 * pi * pi;
    const std::vector<double> exact = values(domain, [&](double x, double y) {
      return (1 - 0.25 * gain(x, y)) * source(x, y) / (1 + length * length * lambda);
    });
    const auto problem = pde::find("synthetic2d").with({{"length", length}, {"coupling", -0.25}});
    EXPECT_EQ(
        "", mismatch(exact, problem->solve(input(domain, gain, source)).output.values, rounding(20.0 * (nx + ny), 1)));
  }
}

// The recorded coefficients, summed by hand at the points of the native grid.
TEST(Synthetic2d, DrawsTheSeriesItRecords) {
  const pde::Problem& problem = pde::find("synthetic2d");
  for (std::uint64_t number = 0; number < 5; ++number) {
    const pde::Sample sample = problem.draw(Rng(11, "synthetic"), number);
    const auto series = [&](std::size_t channel, double x, double y, double area) {
      double sum = 0;
      for (int k = 0; k < 4; ++k)
        for (int l = 0; l < 4; ++l)
          sum += sample.drawn[channel].values[static_cast<std::size_t>(4 * k + l)] * std::cos(pi * k * x / 2) *
                 std::cos(pi * l * y) / (1 + area * pi * pi * (k * k / 4.0 + l * l));
      return sum;
    };
    const Domain domain = problem.input().domain;
    const FieldBatch expected = input(
        domain, [&](double x, double y) { return series(0, x, y, 0); },
        [&](double x, double y) { return series(1, x, y, 0); });
    EXPECT_EQ("", mismatch(expected.values, sample.input.values, rounding(1000, 1)));
    const std::vector<double> solution =
        values(domain, [&](double x, double y) { return (1 + 0.5 * series(0, x, y, 0)) * series(1, x, y, 0.04); });
    EXPECT_EQ("", mismatch(solution, problem.solve(sample.input).output.values, rounding(2000, 1)));
    for (const std::size_t channel : {0, 1}) {
      const double size = largest(std::span(sample.input.values).subspan(channel * 1024, 1024));
      EXPECT_GE(size, 0.5);
      EXPECT_LE(size, 1);
    }
  }
}

// The gain acts at its own point alone, the source everywhere.
TEST(Synthetic2d, IsLocalInTheGainAndNotInTheSource) {
  const Function one = [](double, double) { return 1.0; };
  const FieldBatch plain = input(box(16, 8), one, one);
  FieldBatch gained = plain, sourced = plain;
  gained.values[40] += 0.5;
  sourced.values[128 + 40] += 0.5;
  const auto solve = [](const FieldBatch& field) { return pde::find("synthetic2d").solve(field).output.values; };
  const std::vector<double> before = solve(plain), with_gain = solve(gained), with_source = solve(sourced);
  for (std::size_t p = 0; p < before.size(); ++p) {
    EXPECT_EQ(p == 40, before[p] != with_gain[p]) << p;
    EXPECT_GT(std::abs(before[p] - with_source[p]), 1e-12) << p;
  }
}

TEST(Synthetic2d, RefusesGridsWithoutItsWallsAndWrongParameters) {
  const pde::Problem& problem = pde::find("synthetic2d");
  EXPECT_THROW(problem.solve(FieldBatch::zeros(Domain::unit({8, 8}), 1, 2)), InvalidArgument);
  // Every other point of its own grid: the walls are no longer half a cell away.
  EXPECT_THROW(problem.solve(FieldBatch::zeros(problem.input().domain.strided({16, 16}), 1, 2)), InvalidArgument);
  EXPECT_THROW(problem.with({{"coupling", 1.0}}), InvalidArgument);
  EXPECT_THROW(problem.with({{"length", -0.1}}), InvalidArgument);
}

/// What the refusal of solving `field` says; "" when it is solved.
template <typename E>
std::string refused(const pde::Problem& problem, const FieldBatch& field) {
  return refusal<E>([&] { problem.solve(field); });
}

std::string refused(const std::string& name, const pde::ParameterValues& values) {
  return refusal<InvalidArgument>([&] { pde::find(name).with(values); });
}

TEST(PdeInputs, AFieldWithAJumpAtTheSeamIsSolvedWithARemark) {
  for (const char* name : {"advection1d", "heat1d"}) {
    const pde::Problem& problem = pde::find(name);
    const FieldBatch sawtooth = field_of(problem.input(), {64}, [](double x, double, int) { return x; });
    EXPECT_TRUE(has(pde::seam_remark(sawtooth), "jump=0.984375"));
    EXPECT_EQ("", refused<InvalidArgument>(problem, sawtooth)) << name;
    EXPECT_EQ("", pde::seam_remark(field_of(problem.input(), {64}, [](double, double, int) { return 0.25; })));
    // A jump has a second one elsewhere in a periodic field, wherever the axis begins.
    const FieldBatch step = field_of(problem.input(), {64}, [](double x, double, int) { return x < 0.5 ? 0 : 0.5; });
    EXPECT_EQ("", pde::seam_remark(step));
  }
  const pde::Problem& plane = pde::find("heat2d");
  EXPECT_TRUE(has(
      pde::seam_remark(field_of(plane.input(), {16, 32}, [](double x, double y, int) { return y + std::sin(7 * x); })),
      "axis=1, jump=0.96875"));
  EXPECT_TRUE(has(pde::seam_remark(field_of(plane.input(), {16, 16}, [](double x, double, int) { return x; })),
                  "axis=0, jump="));
}

TEST(PdeInputs, ThePapersFieldsWithAJumpAreSolved) {
  const auto jumping = pde::find("allen_cahn1d").with({{"ic.closure", "seam_jump"}});
  const FieldBatch field = jumping->draw(Rng(3, "pde_inputs"), 0).input;
  // tanh at both ends, of opposite signs.
  EXPECT_GT(std::abs(field.values.front() - field.values.back()), 1.8);
  EXPECT_EQ("", refused<InvalidArgument>(*jumping, field));
  EXPECT_TRUE(has(pde::seam_remark(field), "jump="));
}

TEST(PdeInputs, ImpossibleValuesAreRefusedWithTheirPoint) {
  for (const auto& [name, shape, point, value, says] :
       {std::tuple("darcy2d", std::vector{8, 8}, 19, 0.0, "point=19, a=0 (a permeability is positive)"),
        {"shallow_water2d", {8, 8}, 7, -0.1, "point=7, h=-0.1 (a depth is not negative)"},
        {"diffusion_sorption1d", {32}, 31, -1e-3, "point=31, u=-0.001 (a concentration is not negative)"}}) {
    const pde::Problem& problem = pde::find(name);
    FieldBatch field = field_of(problem.input(), shape, [](double, double, int) { return 1.0; });
    field.values[static_cast<std::size_t>(point)] = value;
    EXPECT_TRUE(has(refused<DataError>(problem, field), says));
  }
}

TEST(PdeInputs, GridsOfAnotherKindAreRefused) {
  const auto on = [](const Domain& domain) { return FieldBatch::zeros(domain, 1, 1); };
  EXPECT_TRUE(has(refused<InvalidArgument>(pde::find("darcy2d"), on(Domain::unit({8, 8}))), "middles of cells"));
  EXPECT_TRUE(has(refused<InvalidArgument>(pde::find("shallow_water2d"), on(Domain::unit({8, 8}))), "its walls"));
  EXPECT_TRUE(has(refused<InvalidArgument>(pde::find("diffusion_sorption1d"), on(Domain::unit({32}))), "both ends"));
  EXPECT_TRUE(has(refused<InvalidArgument>(pde::find("heat1d"), on(Domain::grid({Axis::nodes(32)}))), "periodic"));
  EXPECT_TRUE(has(refused<InvalidArgument>(pde::find("allen_cahn1d"), on(Domain::unit({4}))), "N=4"));
}

TEST(PdeInputs, ParametersThatCannotWorkAreRefused) {
  EXPECT_TRUE(
      has(refused("shallow_water2d", {{"cfl", 0.6}}), "cfl=0.6 (an unsplit scheme in the plane is stable up to 0.5)"));
  EXPECT_TRUE(has(refused("shallow_water2d", {{"order", "third"}}),
                  "order=third (not one of its choices). Give one of first, muscl."));
  EXPECT_TRUE(has(refused("shallow_water2d", {{"points", 20.5}}), "points=20.5"));
  EXPECT_TRUE(has(refused("gray_scott2d", {{"dt", 0.0}}), "dt=0"));
  EXPECT_TRUE(has(refused("gray_scott2d", {{"F", -0.1}}), "F=-0.1"));
  EXPECT_TRUE(has(refused("allen_cahn1d", {{"dt", -1.0}}), "dt=-1"));
  EXPECT_TRUE(has(refused("allen_cahn1d", {{"ic.closure", 1.0}}), "ic.closure=1 (not one of its choices)"));
  EXPECT_TRUE(has(refused("diffusion_sorption1d", {{"phi", 0.0}}), "phi=0"));
  EXPECT_TRUE(has(refused("darcy2d", {{"sigma", -1.0}}), "sigma=-1"));
  EXPECT_TRUE(has(refused("heat1d", {{"kappa", -0.1}}), "kappa=-0.1 (must not be negative)"));
  EXPECT_TRUE(has(refused("heat2d", {{"kapa", 0.1}}), "Did you mean kappa?"));
  EXPECT_TRUE(has(refused("burgers1d", {{"nu", "thick"}}), "nu=thick (not a finite number)"));
}

// A step so long that the numbers overflow is told, not returned.
TEST(PdeInputs, SolutionsThatBlowUpAreRefused) {
  const auto problem = pde::find("gray_scott2d").with({{"points", 16.0}, {"dt", 100.0}, {"time", 4000.0}});
  const FieldBatch hot = field_of(problem->input(), {16, 16}, [](double, double, int c) { return c == 0 ? 5.0 : 4.0; });
  EXPECT_TRUE(has(refused<NumericalError>(*problem, hot), "blows up: dt=100"));
}

TEST(PdeInputs, WaterWithMomentaKeepsThem) {
  const pde::Evolution& water = *pde::find("shallow_water2d").evolution();
  const FieldBatch swirl = field_of(water.state(), {16, 16}, [](double x, double y, int channel) {
    return channel == 0 ? 1 : channel == 1 ? 0.1 * std::sin(6 * y) : -0.1 * std::sin(6 * x);
  });
  const FieldBatch later = water.solve(swirl, 0.05).output;
  EXPECT_EQ(3, later.channels);
  const std::size_t points = 256;
  const std::span<const double> depth(later.values.data(), points), along(later.values.data() + points, points);
  EXPECT_GT(pde::largest(along), 0.01);
  EXPECT_NEAR(1, pde::mean(depth), 1e-13);
}

}  // namespace
}  // namespace opshap
