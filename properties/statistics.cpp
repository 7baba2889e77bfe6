// Quantiles, means and power laws against values that are known.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/quantiles.hpp"
#include "statistics/squared_length.hpp"
#include "statistics/study.hpp"
#include "support/for_all.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

const double few_roundings = rounding(1e3, 10).bound;

TEST(Quantiles, AreThoseOfTypeSeven) {
  // R: quantile(c(4, 1, 3, 2), type = 7) and quantile(c(1, 2, 4, 8, 16, 32), c(.1, .25, .5, .75), type = 7).
  const statistics::Quartiles four = statistics::quartiles({4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(1.75, four.q25);
  EXPECT_DOUBLE_EQ(2.5, four.median);
  EXPECT_DOUBLE_EQ(3.25, four.q75);
  EXPECT_EQ(4u, four.count);
  const std::vector<double> powers = {32, 16, 8, 4, 2, 1};
  for (const auto& [share, expected] :
       {std::pair(0.1, 1.5), {0.25, 2.5}, {0.5, 6.0}, {0.75, 14.0}, {0.0, 1.0}, {1.0, 32.0}})
    EXPECT_DOUBLE_EQ(expected, statistics::quantile(powers, share)) << share;
}

TEST(Quantiles, OfOneValueAreThatValue) {
  const statistics::Quartiles one = statistics::quartiles({7});
  for (const double quartile : {one.q25, one.median, one.q75}) EXPECT_EQ(7, quartile);
}

TEST(Quantiles, OfAnySizeAreNumbers) {
  constexpr double largest = std::numeric_limits<double>::max(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(0, statistics::quantile({-largest, largest}, 0.5));
  EXPECT_EQ(infinity, statistics::quantile({1, infinity, infinity, infinity}, 0.5));
  EXPECT_EQ(infinity, statistics::quantile({1, infinity}, 0.5));
  EXPECT_EQ(largest, statistics::mean(std::vector<double>{largest, largest}).value);
}

TEST(Quantiles, RefuseWhatHasNone) {
  EXPECT_THROW(statistics::quartiles({}), InvalidArgument);
  EXPECT_THROW(statistics::quantile({1, 2}, 1.5), InvalidArgument);
  EXPECT_THROW(statistics::quartiles({1, std::nan("")}), InvalidArgument);
}

TEST(Quantiles, AreOrderedAndInsideTheSample) {
  for_all([](std::vector<std::int16_t> drawn) {
    std::vector<double> sample = {0};
    for (const std::int16_t value : drawn) sample.push_back(value);
    const statistics::Quartiles found = statistics::quartiles(sample);
    RC_ASSERT(*std::min_element(sample.begin(), sample.end()) <= found.q25);
    RC_ASSERT(found.q25 <= found.median);
    RC_ASSERT(found.median <= found.q75);
    RC_ASSERT(found.q75 <= *std::max_element(sample.begin(), sample.end()));
  });
}

TEST(Mean, HasTheStandardErrorOfIndependentValues) {
  const std::vector<double> sample = {2, 4, 4, 4, 5, 5, 7, 9};  // mean 5, squared deviations 32
  const statistics::Mean found = statistics::mean(sample);
  EXPECT_DOUBLE_EQ(5, found.value);
  EXPECT_NEAR(std::sqrt(32.0 / 7 / 8), found.standard_error, few_roundings);
  EXPECT_EQ(std::numeric_limits<double>::infinity(), statistics::mean(std::vector<double>{3}).standard_error);
  EXPECT_THROW(statistics::mean({}), InvalidArgument);
}

TEST(Bootstrap, CoversTheMeanAsOftenAsItSays) {
  // 400 samples of 40 normal numbers: the percentile interval of the mean covers 0 in 95 % of them, less the share that
  // 40 inputs cost (about 1 %). A binomial of 400 with .94 is below 358 once in 10^4, and above 395 as rarely.
  const std::size_t inputs = 40;
  int covered = 0;
  for (std::uint64_t trial = 0; trial < 400; ++trial) {
    Rng rng(trial, "coverage");
    std::vector<double> sample(inputs);
    for (double& value : sample) value = rng.normal();
    const auto sum = [&](statistics::Draw& draw) {
      double sum = 0;
      for (const std::size_t input : draw.inputs) sum += sample[input];
      return sum;
    };
    const statistics::Interval interval = statistics::bootstrap(inputs, sum, trial, 1000).interval();
    covered += interval.low <= 0 && 0 <= interval.high;
  }
  EXPECT_GE(covered, 358);
  EXPECT_LE(covered, 395);
}

TEST(Bootstrap, IsPairedAndDeterministic) {
  // Both sums are over the same draws, so their difference is the same in every resample.
  const auto difference = [](statistics::Draw& draw) {
    double plain = 0, shifted = 0;
    for (const std::size_t input : draw.inputs) {
      plain += static_cast<double>(input);
      shifted += static_cast<double>(input) + 1;
    }
    return shifted - plain;
  };
  const statistics::Interval certain = statistics::bootstrap(30, difference, 1).interval();
  EXPECT_EQ(30, certain.low);
  EXPECT_EQ(30, certain.high);
  const auto noisy = [](statistics::Draw& draw) { return static_cast<double>(draw.inputs[0]) + draw.noise.normal(); };
  const statistics::Interval once = statistics::bootstrap(30, noisy, 7).interval(),
                             again = statistics::bootstrap(30, noisy, 7).interval(),
                             other = statistics::bootstrap(30, noisy, 8).interval();
  EXPECT_EQ(once.low, again.low);
  EXPECT_EQ(once.high, again.high);
  EXPECT_NE(once.low, other.low);
}

TEST(Bootstrap, KeepsInfinityAndRefusesWhatHasNoInterval) {
  const auto half_infinite = [](statistics::Draw& draw) {
    return draw.inputs[0] == 0 ? std::numeric_limits<double>::infinity() : 1.0;
  };
  const statistics::Interval interval = statistics::bootstrap(2, half_infinite, 1).interval();
  EXPECT_EQ(1, interval.low);
  EXPECT_EQ(std::numeric_limits<double>::infinity(), interval.high);
  EXPECT_THROW(statistics::bootstrap(0, half_infinite, 1), InvalidArgument);
  EXPECT_THROW(statistics::bootstrap(2, half_infinite, 1, 0), InvalidArgument);
  EXPECT_THROW(statistics::bootstrap(2, half_infinite, 1).interval(0.5), InvalidArgument);
}

TEST(Bootstrap, TakesWhatIsUndefinedForAnything) {
  std::vector<double> found;
  for (int number = 1; number <= 101; ++number) found.push_back(number);
  EXPECT_EQ(3, statistics::Resamples(found).interval(0.02).low);
  EXPECT_EQ(99, statistics::Resamples(found).interval(0.02).high);
  EXPECT_EQ(1, statistics::Resamples(found).interval(0.001).low) << "beyond the ends there is nothing";
  found[50] = found[20] = std::nan("");  // two of 101 lie at either end
  EXPECT_EQ(1, statistics::Resamples(found).interval(0.02).low);
  EXPECT_EQ(101, statistics::Resamples(found).interval(0.02).high);
  EXPECT_EQ(-std::numeric_limits<double>::infinity(), statistics::Resamples(found).interval(0.01).low);
  EXPECT_EQ(std::numeric_limits<double>::infinity(), statistics::Resamples(found).interval(0.01).high);
}

TEST(SquaredLength, IsTheMeanProductOfTwoEstimates) {
  // Products 0, 1 and 1; without the third estimate 0, without one of the others 1.
  const statistics::Mean found = statistics::squared_length({{1, 0}, {0, 1}, {1, 1}});
  EXPECT_NEAR(2.0 / 3, found.value, few_roundings);
  EXPECT_NEAR(std::sqrt(2.0 / 3 * (4.0 / 9 + 2 * 1.0 / 9)), found.standard_error, few_roundings);
  EXPECT_EQ(3u, found.count);
  const statistics::Mean known = statistics::squared_length({{3, 4}});
  EXPECT_EQ(25, known.value);
  EXPECT_EQ(0, known.standard_error);
}

/// Four estimates of a vector of that length in 50 dimensions, whose noise has the length 1 on average: the mean of
/// what is found over many trials, its variance, and the mean of the claimed variance.
struct SquaredLengths {
  statistics::Mean found;
  double variance = 0, claimed = 0;

  explicit SquaredLengths(double length) {
    constexpr std::size_t trials = 2000, dimension = 50;
    std::vector<double> values;
    for (std::uint64_t trial = 0; trial < trials; ++trial) {
      Rng rng(trial, "squared length");
      std::vector<std::vector<double>> estimates(4, std::vector<double>(dimension, length / std::sqrt(dimension)));
      for (auto& estimate : estimates)
        for (double& value : estimate) value += rng.normal() / std::sqrt(dimension);
      const statistics::Mean one = statistics::squared_length(estimates);
      values.push_back(one.value);
      claimed += one.standard_error * one.standard_error / trials;
    }
    found = statistics::mean(values);
    variance = found.standard_error * found.standard_error * trials;
  }
};

TEST(SquaredLength, IsUnbiasedUnderNoise) {
  // Four standard errors of 2000 trials. A tenth of the noise is a hundredth of the square of one estimate.
  for (const double length : {0.0, 0.1, 1.0, 10.0}) {
    const SquaredLengths all(length);
    EXPECT_NEAR(length * length, all.found.value, 4 * all.found.standard_error) << length;
  }
}

TEST(SquaredLength, ClaimsNoSmallerErrorThanItHas) {
  // The ratio of variances is 1 where the vector is long. In pure noise products of different pairs are uncorrelated:
  // with v the variance of one, the value has v/6 and the jackknife v/2. Both means are known to some per cent.
  const SquaredLengths clear(10), noise(0);
  EXPECT_NEAR(1, clear.claimed / clear.variance, 0.2);
  EXPECT_NEAR(3, noise.claimed / noise.variance, 0.5);
}

TEST(SquaredLength, RefusesWhatHasNoError) {
  EXPECT_THROW(statistics::squared_length({}), InvalidArgument);
  EXPECT_THROW(statistics::squared_length({{1}, {2}}), InvalidArgument);
  EXPECT_THROW(statistics::squared_length({{1}, {2}, {3, 4}}), InvalidArgument);
}

TEST(Study, FindsThePowerOfAPowerLaw) {
  statistics::Study study("law", "budget", "error");
  for (double budget = 16; budget <= 4096; budget *= 2) study.add(budget, 3 * std::pow(budget, -0.5));
  const statistics::Fit fit = study.fit();
  EXPECT_NEAR(-0.5, fit.slope, few_roundings);
  EXPECT_NEAR(0, fit.slope_error, 1e-7);  // the square root of rounding
  EXPECT_NEAR(3, fit.constant, 1e-11);    // an exponential of a sum of nine logarithms
}

TEST(Study, SlopeErrorIsThatOfTheScatter) {
  // log-log points (0, 0), (1, 1), (2, 1): slope 1/2, residuals (-1/6, 1/3, -1/6), so the error is sqrt(1/6 / 1 / 2).
  statistics::Study study("scatter", "effort", "error");
  study.add(1, 1);
  study.add(std::exp(1), std::exp(1));
  study.add(std::exp(2), std::exp(1));
  const statistics::Fit fit = study.fit();
  EXPECT_NEAR(0.5, fit.slope, few_roundings);
  EXPECT_NEAR(std::sqrt(1.0 / 12), fit.slope_error, few_roundings);
}

TEST(Study, TabulatesItsPointsAndItsFit) {
  statistics::Study study("law", "budget", "error");
  study.add(100, 0.1);
  study.add(10000, 0.01);
  EXPECT_EQ("budget,error\n100,0.1\n1e+04,0.01\n", study.csv());
  EXPECT_EQ(
      "## law\n\n| budget | error | local slope |\n|---:|---:|---:|\n| 100 | 0.1 |  |\n| 1e+04 | 0.01 | -0.5 "
      "|\n\nerror = 1 · budget^(-0.5 ± 0)\n",
      study.markdown());
}

TEST(Study, RefusesWhatHasNoLogarithmAndSlopesOfOnePoint) {
  statistics::Study study("law", "budget", "error");
  for (const auto& [effort, error] : {std::pair(0.0, 1.0), {1.0, 0.0}, {1.0, std::nan("")}})
    EXPECT_THROW(study.add(effort, error), InvalidArgument) << effort;
  study.add(8, 1);
  study.add(8, 2);
  EXPECT_THROW(study.fit(), InvalidArgument);
  EXPECT_THROW(study.add(8, 1, 2, 3), InvalidArgument) << "a band beside its curve";
  EXPECT_THROW(study.add(8, 1, 0, 3), InvalidArgument);
  EXPECT_EQ(2u, study.size()) << "nothing of what was refused";
}

}  // namespace
}  // namespace opshap
