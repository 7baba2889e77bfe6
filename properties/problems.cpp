// What every registered problem promises: samples that depend on their number alone, outputs that obey its laws, and
// data sets that say what they hold.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/threads.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "data/verify.hpp"
#include "pde/registry.hpp"
#include "support/refusal.hpp"
#include "support/run_folder.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

class Problems : public RunFolder, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    RunFolder::SetUp();
    set_verbosity(Verbosity::quiet);
  }

  /// With parameters for tests: some problems take seconds a sample otherwise.
  const pde::Problem& problem() const { return *problem_; }
  pde::Sample sample(std::uint64_t number, std::uint64_t seed = 7) const {
    return problem().draw(Rng(seed, "problems"), number);
  }
  static data::DatasetRequest request(std::int64_t samples) {
    return {.pde = GetParam(), .parameters = pde::find(GetParam()).quick(), .layout = {.samples = samples}};
  }

 private:
  std::unique_ptr<pde::Problem> problem_ = pde::find(GetParam()).with(pde::find(GetParam()).quick());
};

/// What a data set keeps of a field.
FieldBatch stored(FieldBatch field) {
  for (double& value : field.values) value = static_cast<float>(value);
  return field;
}

std::string broken_laws(const pde::Problem& problem, const FieldBatch& input, const FieldBatch& output) {
  std::string names;
  for (const pde::PairLaw& law : problem.pair_laws(input, output))
    if (!law.holds()) names += message(law.name, "=", law.departure, " limit ", law.limit, "; ");
  return names;
}

TEST_P(Problems, SaysWhatItIs) {
  EXPECT_EQ(GetParam(), problem().name());
  EXPECT_FALSE(problem().summary().empty());
  EXPECT_FALSE(problem().scheme().empty());
  for (const pde::Space& space : {problem().input(), problem().output()}) {
    EXPECT_GE(space.channel_count(), 1);
    std::set<std::string> names;
    for (const pde::Channel& channel : space.channels) {
      EXPECT_TRUE(names.insert(channel.name).second) << channel.name;
      EXPECT_FALSE(channel.unit.empty()) << channel.name;
    }
  }
  std::set<std::string> names;
  for (const pde::Invariant& invariant : problem().invariants()) {
    EXPECT_TRUE(names.insert(invariant.name).second) << invariant.name;
    EXPECT_TRUE(invariant.allows(0)) << invariant.name;
    EXPECT_FALSE(invariant.allows(std::nan(""))) << invariant.name;
    EXPECT_TRUE(invariant.remedy.ends_with('.')) << invariant.name;
  }
}

TEST_P(Problems, ChangesItsParametersByName) {
  const std::vector<pde::Parameter> parameters = problem().parameters();
  for (const pde::Parameter& parameter : parameters) {
    EXPECT_FALSE(parameter.meaning.empty()) << parameter.name;
    // Half of the value: counts are powers of two here, and what has a largest value stays below it.
    const pde::ParameterValue other = parameter.choices.empty()
                                          ? pde::ParameterValue(parameter.value == 0 ? 0.5 : parameter.value / 2)
                                          : pde::ParameterValue(parameter.choices.at(parameter.value == 0 ? 1 : 0));
    const std::vector<pde::Parameter> changed = problem().with({{parameter.name, other}})->parameters();
    ASSERT_EQ(parameters.size(), changed.size());
    for (std::size_t i = 0; i < changed.size(); ++i)
      EXPECT_EQ(parameters[i].name == parameter.name, changed[i].value != parameters[i].value)
          << parameter.name << " " << changed[i].name;
    EXPECT_THROW(problem().with({{parameter.name, std::nan("")}}), InvalidArgument) << parameter.name;
    EXPECT_THROW(problem().with({{parameter.name, "no_such_choice"}}), InvalidArgument) << parameter.name;
    EXPECT_EQ(pde::values(parameters), pde::values(problem().with(pde::values(parameters))->parameters()));
  }
  EXPECT_THROW(problem().with({{"no_such_parameter", 1.0}}), InvalidArgument);
}

TEST_P(Problems, DrawsASampleFromSeedAndNumberAlone) {
  const std::vector<double> alone = sample(4999).input.values;
  sample(17);
  EXPECT_EQ(alone, sample(4999).input.values);
  EXPECT_NE(alone, sample(4998).input.values);
  EXPECT_NE(alone, sample(4999, 8).input.values);
  EXPECT_EQ(problem().input().domain, sample(0).input.domain);
  EXPECT_EQ(problem().input().channel_count(), sample(0).input.channels);
  // One row of numbers in every data set: the same names and lengths for all samples.
  for (std::uint64_t number = 1; number < 20; ++number) {
    const std::vector<pde::Drawn> first = sample(0).drawn, other = sample(number).drawn;
    ASSERT_EQ(first.size(), other.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].name, other[i].name);
      EXPECT_EQ(first[i].values.size(), other[i].values.size());
    }
  }
}

TEST_P(Problems, SolvesItsOwnInputsWithinItsInvariants) {
  const std::vector<pde::Invariant> invariants = problem().invariants();
  for (std::uint64_t number = 0; number < 5; ++number) {
    const FieldBatch input = sample(number).input;
    const pde::Solution solution = problem().solve(input);
    EXPECT_EQ(problem().output().domain, solution.output.domain);
    EXPECT_EQ(problem().output().channel_count(), solution.output.channels);
    EXPECT_EQ(1, solution.output.batch);
    ASSERT_EQ(solution.output.field_size(), solution.output.values.size());
    EXPECT_NO_THROW(require_finite(solution.output, "problems"));
    EXPECT_EQ(solution.output.values, problem().solve(input).output.values) << "the same input, another output";
    ASSERT_EQ(invariants.size(), solution.departures.size());
    for (std::size_t i = 0; i < invariants.size(); ++i)
      EXPECT_TRUE(invariants[i].allows(solution.departures[i])) << invariants[i].name << " " << solution.departures[i];
  }
}

TEST_P(Problems, ItsPairLawsHoldForItsSolutionsAndNoticeOthers) {
  const FieldBatch input = stored(sample(0).input), output = stored(problem().solve(input).output);
  EXPECT_EQ("", broken_laws(problem(), input, output));
  FieldBatch doubled = output;
  for (double& value : doubled.values) value *= 2;
  int noticed = broken_laws(problem(), input, doubled).empty() ? 0 : 1;
  for (std::uint64_t number = 1; number < 10; ++number) {
    const FieldBatch other = stored(problem().solve(stored(sample(number).input)).output);
    noticed += broken_laws(problem(), input, other).empty() ? 0 : 1;
  }
  EXPECT_GT(noticed, 0) << "twice the output and the solutions of nine other inputs obey all laws";
  FieldBatch broken = output;
  broken.values.back() = std::nan("");
  EXPECT_NE("", broken_laws(problem(), input, broken));
}

TEST_P(Problems, RefusesInputsThatAreNotItsOwn) {
  const FieldBatch input = sample(0).input;
  FieldBatch two = input;
  two.batch = 2;
  two.values.insert(two.values.end(), input.values.begin(), input.values.end());
  EXPECT_THROW(problem().solve(two), InvalidArgument);
  EXPECT_THROW(problem().solve(FieldBatch::zeros(input.domain, 1, input.channels + 1)), InvalidArgument);
  EXPECT_THROW(problem().solve(FieldBatch::zeros(
                   Domain::unit(input.domain.dimension() == 1 ? std::vector<int>{8, 8} : std::vector<int>{64}), 1,
                   input.channels)),
               InvalidArgument);
  FieldBatch broken = input;
  broken.values[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(problem().solve(broken), DataError);
}

// A query or baseline that does not fit would throw; the rule must also name a channel that the output has.
TEST_P(Problems, ItsDefaultRuleMakesAGameOfItsInputs) {
  ScenarioRule rule = problem().default_rule();
  const FieldBatch input = sample(0).input;
  rule.constants.assign(static_cast<std::size_t>(input.channels), 0.5);  // a data set knows them
  const Scenario scenario = make_scenario(rule, input);
  EXPECT_EQ(input.values, scenario.input.values);
  EXPECT_EQ(input.domain, scenario.baseline.domain);
  EXPECT_GE(scenario.partition.players, 1);
  EXPECT_LT(scenario.readout.query().channel, problem().output().channel_count());
  EXPECT_LT(scenario.readout.query().point, input.domain.points());
}

/// The same field everywhere: the input at rest on the native grid.
FieldBatch at_rest(const pde::Problem& problem) {
  const pde::Space space = problem.input();
  FieldBatch field = FieldBatch::zeros(space.domain, 1, space.channel_count());
  const auto points = static_cast<std::size_t>(space.domain.points());
  for (std::size_t i = 0; i < field.values.size(); ++i) field.values[i] = problem.rest().state.at(i / points);
  return field;
}

/// How far the solver takes the input at rest from itself, "" for no further than its rounding.
std::string moved(const pde::Problem& problem) {
  const FieldBatch field = at_rest(problem);
  const pde::Solution solution = problem.solve(field);
  // Each step rounds numbers of order 1, a transform some ten times.
  const double steps = static_cast<double>(std::max<std::int64_t>(solution.steps, 1));
  return mismatch(field.values, solution.output.values, rounding(100 * steps, 1));
}

TEST_P(Problems, ItsStateAtRestStaysAtRest) {
  const pde::Rest rest = problem().rest();
  if (!rest) {
    EXPECT_FALSE(rest.reason.empty());
    EXPECT_FALSE(rest.reason.ends_with('.')) << "a clause of a message";
    return;
  }
  ASSERT_EQ(static_cast<std::size_t>(problem().input().channel_count()), rest.state.size());
  ASSERT_NE(nullptr, problem().evolution()) << "nothing else can rest";
  EXPECT_EQ("", moved(problem()));
}

// Whatever the parameters are.
TEST(StatesAtRest, AreThoseOfTheParameters) {
  const auto with = [](const char* name, pde::ParameterValues values) {
    values.merge(pde::find(name).quick());
    return pde::find(name).with(values);
  };
  for (const double inflow : {0.0, 0.3, 2.0}) {
    const auto ground = with("diffusion_sorption1d", {{"c_left", inflow}});
    EXPECT_EQ(std::vector<double>{inflow}, ground->rest().state);
    EXPECT_EQ("", moved(*ground)) << inflow;
  }
  for (const double rate : {0.0, 0.02, 0.09})
    EXPECT_EQ("", moved(*with("gray_scott2d", {{"F", rate}, {"k", 0.09 - rate}}))) << rate;
}

TEST(StatesAtRest, AreTheBaselineOfADataSet) {
  const auto rule = [](const std::string& pde, const std::string& parameters) {
    return data::rule_for({.baseline = ScenarioRule::Hidden::rest},
                          data::Dataset{.pde = pde, .parameters = parameters});
  };
  EXPECT_EQ((std::vector<double>{1, 0}), rule("gray_scott2d", "{\"F\":0.02}").constants);
  EXPECT_EQ((std::vector<double>{0.5}), rule("diffusion_sorption1d", "{\"c_left\":0.5}").constants);
  const auto says = [&](const std::string& pde, const std::string& parameters) {
    return refusal([&] { rule(pde, parameters); });
  };
  EXPECT_TRUE(has(says("darcy2d", "{}"), "pde=darcy2d, baseline=rest (there is no state at rest: its input is a"));
  EXPECT_TRUE(has(says("allen_cahn1d", "{}"), "0 is not stable"));
  EXPECT_TRUE(has(says("npy_waves", "{}"), "nothing here knows the problem"));
  EXPECT_TRUE(has(says("burgers1d", ""), "nothing here knows the problem"));
  EXPECT_TRUE(has(says("burgers1d", "{\"viscosity\":1}"), "not those of today's problem"));
  const ScenarioRule given{.baseline = ScenarioRule::Hidden::rest, .constants = {7}};
  EXPECT_EQ(given.constants, data::rule_for(given, data::Dataset{.pde = "darcy2d"}).constants);
}

TEST_P(Problems, AnEvolutionStartsAtItsInput) {
  const pde::Evolution* evolution = problem().evolution();
  if (evolution == nullptr) GTEST_SKIP() << "does not depend on time";
  const FieldBatch input = sample(0).input;
  EXPECT_GT(evolution->target_time(), 0);
  EXPECT_EQ(evolution->solve(input, evolution->target_time()).output.values, problem().solve(input).output.values);
  if (problem().input() == problem().output()) {
    EXPECT_EQ(input.values, evolution->solve(input, 0).output.values);
  }
  EXPECT_THROW(evolution->solve(input, -1), InvalidArgument);
  if (!evolution->time_stepping()) return;
  std::set<std::string> names;
  for (const pde::Parameter& parameter : problem().parameters()) names.insert(parameter.name);
  EXPECT_TRUE(names.contains(evolution->time_stepping()->parameter)) << evolution->time_stepping()->parameter;
  EXPECT_GT(evolution->time_stepping()->order, 0);
}

TEST_P(Problems, ADataSetSaysWhatItHolds) {
  data::generate(request(7), folder_ / "set.h5");
  const data::Dataset set = data::read_dataset(folder_ / "set.h5");
  EXPECT_EQ(GetParam(), set.pde);
  EXPECT_EQ(problem().input().domain, set.inputs.domain());
  EXPECT_EQ(problem().output().domain, set.targets.domain());
  EXPECT_EQ(problem().input().channels, set.input_channels);
  EXPECT_EQ(problem().output().channels, set.target_channels);
  EXPECT_EQ(problem().input().channel_count(), set.inputs.channels());
  EXPECT_EQ(problem().output().channel_count(), set.targets.channels());
  for (const data::DataCheck& check : data::verify_dataset(folder_ / "set.h5"))
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
}

TEST_P(Problems, ADataSetKnowsTheMeanOfItsTrainingInputs) {
  const pde::ParameterValues quick = request(5).parameters;
  data::generate(
      {.pde = GetParam(), .parameters = quick, .layout = {.samples = 5, .train = 2, .validation = 1, .test = 2}},
      folder_ / "set.h5");
  const data::Dataset set = data::read_dataset(folder_ / "set.h5");
  ASSERT_EQ(static_cast<std::size_t>(set.inputs.channels()), set.input_mean.size());
  const Domain& domain = set.inputs.domain();
  const std::int64_t points = domain.points();
  for (int channel = 0; channel < set.inputs.channels(); ++channel) {
    long double mean = 0, scale = 0;
    for (const std::int64_t sample : set.indices(data::Split::train))
      for (std::int64_t p = 0; p < points; ++p) {
        const long double value = set.inputs.field(sample)[static_cast<std::size_t>(channel * points + p)] / 2.0L *
                                  static_cast<long double>(domain.volume(p) / domain.volume());
        mean += value;
        scale += std::abs(value);
      }
    EXPECT_EQ("", mismatch(static_cast<double>(mean), set.input_mean[static_cast<std::size_t>(channel)],
                           rounding(4.0 * static_cast<double>(points), static_cast<double>(scale))))
        << channel;
  }
  data::generate({.pde = GetParam(), .parameters = quick, .layout = {.samples = 2, .test = 2}},
                 folder_ / "untrained.h5");
  EXPECT_EQ(std::vector<double>{}, data::read_dataset(folder_ / "untrained.h5").input_mean);
}

TEST_P(Problems, ADataSetDoesNotDependOnItsShards) {
  data::DatasetRequest pieces = request(7);
  pieces.shard_samples = 3;
  data::generate(request(7), folder_ / "whole.h5");
  data::generate(pieces, folder_ / "pieces.h5");
  EXPECT_EQ(read_file(folder_ / "whole.h5"), read_file(folder_ / "pieces.h5"));
  pieces.shard_samples = 0;
  EXPECT_THROW(data::resolved(pieces), InvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(All, Problems, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& problem : pde::all()) names.emplace_back(problem->name());
                           return names;
                         }()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace opshap
