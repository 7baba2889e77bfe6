// The Burgers solver: a closed form, and the laws of the equation for random initial conditions.

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

#include "core/error.hpp"
#include "pde/fields.hpp"
#include "pde/registry.hpp"

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

double largest_magnitude(const FieldBatch& field) {
  double largest = 0;
  for (const double value : field.values) largest = std::max(largest, std::abs(value));
  return largest;
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
  const FieldBatch initial = field(1024, [](double x) { return std::sin(2 * pi * x); });
  const FieldBatch exact = field(1024, [](double x) { return cole_hopf(1, 0.01, 0.5, x); });
  EXPECT_NEAR(0.371607123978, exact.values[256], 5e-13) << "the series of this test is wrong";
  EXPECT_NEAR(0.620729606959, largest_magnitude(exact), 5e-13) << "the series of this test is wrong";
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
  const FieldBatch initial = field(256, [](double x) { return std::sin(2 * pi * x); });
  for (const double time : {1e-9, 0.00037, 0.1234567, 1.0}) {
    const FieldBatch exact = field(256, [time](double x) { return cole_hopf(1, 0.02, time, x); });
    EXPECT_LT(largest_difference(exact, solve(initial, time, {{"nu", 0.02}}).output), 1e-10) << time;
  }
}

// Fields so small that their squares underflow obey the heat equation.
TEST(BurgersSolver, DampsTinyFieldsAsTheHeatEquation) {
  for (const double amplitude : {1e-8, 1e-100, 1e-200, 1e-300}) {
    const FieldBatch initial = field(64, [=](double x) { return amplitude * std::sin(2 * pi * x); });
    const FieldBatch exact =
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

RC_GTEST_PROP(BurgersSolver, KeepsTheMean, ()) {
  const FieldBatch initial = random_initial(any_sample());
  // 1e-13: the rounding of a sum of 1024 numbers of size 1, twice.
  RC_ASSERT(std::abs(mean(initial.values) - mean(solve(initial, 0.2).output.values)) < 1e-13);
}

RC_GTEST_PROP(BurgersSolver, LosesEnergyAndStaysBetweenItsExtremes, ()) {
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
  const FieldBatch initial =
      field(16, [](double x) { return std::sin(2 * pi * x) + 0.005 * std::cos(10 * pi * x + 1); });
  const FieldBatch now = solve(initial, 0.01, {{"nu", 0.0}, {"dt", 1e-5}}).output;
  EXPECT_GT(largest_difference(initial, now), 0.01) << "nothing happened";
  EXPECT_NEAR(energy(initial), energy(now), 1e-14);
}

// Oleinik's one-sided bound u_x <= 1/t holds for every viscosity (Oleinik 1957).
RC_GTEST_PROP(BurgersSolver, RisesNoFasterThanOleinikAllows, ()) {
  const double time = 0.05 * static_cast<double>(*rc::gen::inRange(1, 11));
  const FieldBatch now = solve(random_initial(any_sample()), time).output;
  for (std::size_t j = 0; j < 1024; ++j)
    RC_ASSERT((now.values[(j + 1) % 1024] - now.values[j]) * 1024 <= 1 / time + 1e-6);
}

// u(x, t) + c with the profile moved by ct solves the equation when u does. With c·t a whole number of cells, the move
// is exact on the grid.
RC_GTEST_PROP(BurgersSolver, IsGalileanInvariant, ()) {
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
}

RC_GTEST_PROP(BurgersSolver, CommutesWithReflection, ()) {
  const FieldBatch initial = random_initial(any_sample());
  FieldBatch mirrored = initial;
  for (std::size_t j = 0; j < 1024; ++j) mirrored.values[j] = -initial.values[(1024 - j) % 1024];
  const FieldBatch plain = solve(initial, 0.3).output, reflected = solve(mirrored, 0.3).output;
  for (std::size_t j = 0; j < 1024; ++j)
    RC_ASSERT(std::abs(reflected.values[j] + plain.values[(1024 - j) % 1024]) < 1e-12);
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

RC_GTEST_PROP(BurgersSolver, HoldsAllInvariantsForTheInitialConditionsOfTheDataSets, ()) {
  const pde::Solution solution = pde::find("burgers1d").solve(random_initial(any_sample()));
  const std::vector<pde::Invariant> invariants = pde::find("burgers1d").invariants();
  for (std::size_t i = 0; i < invariants.size(); ++i) RC_ASSERT(invariants[i].allows(solution.departures[i]));
}

std::string broken_laws(const FieldBatch& initial, const FieldBatch& later) {
  std::string names;
  for (const pde::PairLaw& law : pde::find("burgers1d").pair_laws(initial, later)) {
    if (!law.holds()) names += (names.empty() ? "" : " ") + law.name;
  }
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
  const FieldBatch sine = field(16, [](double x) { return std::sin(2 * pi * x); });
  EXPECT_THROW(solve(sine, 0.5), NumericalError);
  EXPECT_NO_THROW(solve(sine, 0.5, {{"nu", 0.3}}));
  const FieldBatch zigzag = field(64, [](double x) { return std::cos(64 * pi * x); });
  EXPECT_THROW(solve(zigzag, 0.1), NumericalError);
  // Between hopeless and perfect, the departure is told.
  const FieldBatch coarse = field(64, [](double x) { return std::sin(2 * pi * x); });
  const std::vector<double> departures = solve(coarse, 0.5).departures;
  EXPECT_FALSE(std::ranges::equal(
      departures, pde::find("burgers1d").invariants(),
      [](double departure, const pde::Invariant& invariant) { return invariant.allows(departure); }));
}

TEST(BurgersSolver, BlowsUpLoudlyWhenTheStepIsTooLarge) {
  const FieldBatch wave = field(1024, [](double x) { return std::sin(2 * pi * x); });
  EXPECT_THROW(solve(wave, 1, {{"dt", 0.05}, {"nu", 1e-4}}), NumericalError);
}

TEST(BurgersSolver, NamesWhatCannotWork) {
  const FieldBatch wave = field(64, [](double x) { return std::sin(2 * pi * x); });
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(solve(field(7, [](double) { return 0.0; }), 1), InvalidArgument);
  EXPECT_THROW(solve(wave, -1), InvalidArgument);
  EXPECT_THROW(solve(wave, infinity), InvalidArgument);
  EXPECT_THROW(solve(wave, 1e12), InvalidArgument);
  EXPECT_THROW(solve(FieldBatch::zeros(Domain::unit({8, 8}), 1, 1), 1), InvalidArgument);
  EXPECT_THROW(solve(FieldBatch::zeros(Domain::unit({64}), 2, 1), 1), InvalidArgument);
  EXPECT_THROW(solve(FieldBatch::zeros(Domain::unit({64}), 1, 2), 1), InvalidArgument);
  EXPECT_THROW(solve(field(64, [](double x) { return 1e308 * std::sin(2 * pi * x); }), 1), InvalidArgument);
  EXPECT_THROW(solve(field(64, [](double x) { return 1e308 + std::sin(2 * pi * x); }), 1), InvalidArgument);
  EXPECT_THROW(solve(field(64, [](double x) { return 1e9 + std::sin(2 * pi * x); }), 1), InvalidArgument);
  FieldBatch broken = wave;
  broken.values[5] = std::nan("");
  EXPECT_THROW(solve(broken, 1), DataError);
  EXPECT_THROW(changed({{"nu", -1.0}}), InvalidArgument);
  EXPECT_THROW(changed({{"dt", 0.0}}), InvalidArgument);
  EXPECT_THROW(changed({{"nu", infinity}}), InvalidArgument);
  EXPECT_THROW(changed({{"viscosity", 1.0}}), InvalidArgument);
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
  const auto found = std::find_if(initial.drawn.begin(), initial.drawn.end(),
                                  [&](const pde::Drawn& drawn) { return drawn.name == name; });
  return found->values;
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
    const double largest = largest_magnitude(initial.input);
    if (static_cast<pde::Family1d>(family) == pde::Family1d::bumps) {
      EXPECT_LT(largest, 4);
    } else {
      EXPECT_GT(largest, 0.49);
      EXPECT_LT(largest, 1);
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

}  // namespace
}  // namespace opshap
