// What holds for every kind of trajectories that is registered: what is drawn, what a run returns, what cannot work.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "pde/registry.hpp"
#include "support/for_all.hpp"
#include "support/refusal.hpp"

namespace opshap {
namespace {

using pde::NodeType;
using pde::Trajectories;
using pde::Trajectory;

/// With parameters that make a flow of some tenths of a second at most.
std::unique_ptr<Trajectories> quick_one(const Trajectories& all) { return all.with(all.quick()); }

std::vector<double> drawn_values(const std::vector<pde::Parameter>& numbers) {
  std::vector<double> values;
  for (const pde::Parameter& number : numbers) values.push_back(number.value);
  return values;
}

std::vector<std::string> drawn_names(const std::vector<pde::Parameter>& numbers) {
  std::vector<std::string> names;
  for (const pde::Parameter& number : numbers) names.push_back(number.name);
  return names;
}

bool same_flow(const Trajectory& a, const Trajectory& b) {
  return a.domain == b.domain && a.node_types == b.node_types && a.times == b.times && a.frames == b.frames &&
         a.step == b.step && a.steps == b.steps && a.departures == b.departures;
}

class EveryTrajectories : public testing::TestWithParam<std::string> {
 protected:
  const Trajectories& all() const { return pde::find_trajectories(GetParam()); }
};

TEST_P(EveryTrajectories, AreFoundByTheirName) {
  EXPECT_TRUE(pde::has_trajectories(GetParam()));
  EXPECT_EQ(GetParam(), pde::find_equation(GetParam()).name());
  EXPECT_NE("", refusal<InvalidArgument>([&] { pde::find(GetParam()); }));
  EXPECT_FALSE(all().summary().empty());
  EXPECT_FALSE(all().scheme().empty());
  for (const auto& list : {all().parameters(), all().numbers()}) {
    for (const pde::Parameter& one : list) EXPECT_FALSE(one.meaning.empty()) << one.name;
  }
}

TEST_P(EveryTrajectories, DrawFromTheNameOfTheStreamAndTheNumberAlone) {
  for_all([this](std::uint16_t seed, std::uint16_t trajectory) {
    Rng root(seed, "draws");
    const std::vector<double> first = drawn_values(all().draw(root, trajectory));
    root.uniform();
    RC_ASSERT(drawn_values(all().draw(root, trajectory)) == first);
    RC_ASSERT(drawn_names(all().draw(root, trajectory)) == drawn_names(all().numbers()));
    RC_ASSERT(std::ranges::all_of(first, [](double value) { return std::isfinite(value); }));
    RC_ASSERT(drawn_values(all().draw(root, trajectory + 1u)) != first);
    RC_ASSERT(drawn_values(all().draw(Rng(seed, "other draws"), trajectory)) != first);
  });
}

TEST_P(EveryTrajectories, HaveFramesAtEqualDistancesAndAWholeLead) {
  for (const auto& trajectories : {all().with({}), quick_one(all())}) {
    const std::vector<double> times = trajectories->times();
    ASSERT_GE(times.size(), 2u);
    const double spacing = times[1] - times[0], last = times.back();
    EXPECT_GT(spacing, 0);
    for (std::size_t k = 0; k < times.size(); ++k)
      EXPECT_NEAR(times[0] + static_cast<double>(k) * spacing, times[k], 1e-9 * last);  // a lead is rounded to frames
    const double frames = trajectories->lead() / spacing;
    EXPECT_NEAR(std::round(frames), frames, 1e-6);
    EXPECT_GE(std::round(frames), 1);
    EXPECT_LE(times[0] + trajectories->lead(), last + 1e-9 * last);
  }
}

TEST_P(EveryTrajectories, RunToFramesOfThePromisedShape) {
  const auto trajectories = quick_one(all());
  const std::vector<double> times = trajectories->times();
  const std::size_t channels = trajectories->state().size();
  Rng root(test_seed(), "runs");
  for (std::uint64_t number = 0; number < 2; ++number) {
    const Trajectory flow = trajectories->run(trajectories->draw(root, number), times);
    EXPECT_EQ(times, flow.times);
    EXPECT_EQ(flow.node_types.size(), static_cast<std::size_t>(flow.nodes()));
    EXPECT_EQ(flow.frames.size(), times.size() * channels * flow.node_types.size());
    EXPECT_EQ(flow.frame_size(), channels * flow.node_types.size());
    EXPECT_TRUE(std::ranges::all_of(flow.frames, [](float value) { return std::isfinite(value); }));
    EXPECT_FALSE(flow.domain.as_mesh().cells.empty());
    EXPECT_GT(flow.step, 0);
    EXPECT_GT(flow.steps, 0);
    const auto invariants = trajectories->invariants();
    ASSERT_EQ(invariants.size(), flow.departures.size());
    for (std::size_t i = 0; i < invariants.size(); ++i)
      EXPECT_TRUE(invariants[i].allows(flow.departures[i])) << invariants[i].name << ": " << flow.departures[i];
    for (const pde::Recorded& recorded : flow.recorded) {
      EXPECT_EQ(times.size(), recorded.values.size()) << recorded.name;
      EXPECT_TRUE(std::ranges::all_of(recorded.values, [](double value) { return std::isfinite(value); }));
    }
    const std::vector<float> seen = trajectories->observed(flow.frame(1));
    EXPECT_EQ(seen.size(), trajectories->channels().size() * flow.node_types.size());
    EXPECT_TRUE(std::ranges::all_of(seen, [](float value) { return std::isfinite(value); }));
    EXPECT_NE(seen, trajectories->observed(flow.frame(0))) << "nothing flows";
  }
}

/// The edges of triangles that belong to one triangle alone: how many end at each node.
std::vector<int> boundary_edges(const Mesh& mesh) {
  std::map<std::pair<std::int64_t, std::int64_t>, int> triangles;
  for (std::size_t first = 0; first < mesh.cells.size(); first += 3) {
    for (std::size_t i = 0; i < 3; ++i)
      ++triangles[std::minmax(mesh.cells[first + i], mesh.cells[first + (i + 1) % 3])];
  }
  std::vector<int> ends(static_cast<std::size_t>(mesh.size()));
  for (const auto& [edge, count] : triangles) {
    EXPECT_LE(count, 2);
    if (count > 1) continue;
    ++ends[static_cast<std::size_t>(edge.first)];
    ++ends[static_cast<std::size_t>(edge.second)];
  }
  return ends;
}

TEST_P(EveryTrajectories, HaveNodesOfAnotherTypeThanNormalOnTheBoundaryAlone) {
  const auto trajectories = quick_one(all());
  const Trajectory flow =
      trajectories->run(trajectories->draw(Rng(test_seed(), "types"), 0), std::vector{trajectories->times()[0]});
  const std::vector<int> edges = boundary_edges(flow.domain.as_mesh());
  for (std::size_t node = 0; node < edges.size(); ++node)
    EXPECT_EQ(flow.node_types[node] == NodeType::normal ? 0 : 2, edges[node]) << node;
}

TEST_P(EveryTrajectories, AreTheSameInEachThread) {
  const auto trajectories = quick_one(all());
  const std::vector<double> times = trajectories->times();
  const auto numbers = trajectories->draw(Rng(test_seed(), "threads"), 3);
  const Trajectory alone = trajectories->run(numbers, times);
  std::vector<Trajectory> together(2, alone);
  std::vector<std::thread> threads;
  for (Trajectory& one : together) {
    one.frames.clear();
    threads.emplace_back([&] { one = trajectories->run(numbers, times); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Trajectory& one : together) EXPECT_TRUE(same_flow(alone, one));
}

TEST_P(EveryTrajectories, HaveAQueryThatNoWallHolds) {
  const auto trajectories = quick_one(all());
  const ScenarioRule rule = trajectories->default_rule();
  ASSERT_EQ(ScenarioRule::Where::position, rule.query);
  Rng root(test_seed(), "queries");
  const std::vector<double> first{trajectories->times()[0]};
  for (std::uint64_t number = 0; number < 3; ++number) {
    const Trajectory flow = trajectories->run(trajectories->draw(root, number), first);
    const auto node = static_cast<std::size_t>(flow.domain.nearest(rule.position));
    EXPECT_FALSE(is_wall(flow.node_types[node])) << "trajectory " << number;
  }
}

TEST_P(EveryTrajectories, SayWhyNoStateRests) {
  const pde::Rest rest = all().rest();
  EXPECT_EQ(!rest, !rest.reason.empty());
  EXPECT_EQ(rest ? all().channels().size() : 0, rest.state.size());
}

TEST_P(EveryTrajectories, RefuseWhatCannotWork) {
  constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto trajectories = quick_one(all());
  const double time = trajectories->times()[0];
  expect_refusals<InvalidArgument>(
      Refusals<std::vector<double>>{{{}, "times"},
                                    {{-time}, "time="},
                                    {{nan}, "time="},
                                    {{infinity}, "time="},
                                    {{2 * time, time}, "time="},
                                    {{time, time}, "time="}},
      [&](const std::vector<double>& times) { trajectories->run(trajectories->numbers(), times); });
  EXPECT_NE("", refusal<InvalidArgument>([&] { trajectories->run({}, std::vector{time}); })) << "no numbers";
  EXPECT_NE("", refusal<InvalidArgument>([&] { all().with({{"no such parameter", 1.0}}); }));
  for (const pde::Parameter& number : trajectories->numbers()) {
    for (const double wrong : {nan, infinity, -infinity, 1e300}) {
      auto numbers = trajectories->numbers();
      std::ranges::find(numbers, number.name, &pde::Parameter::name)->value = wrong;
      EXPECT_NE("", refusal<InvalidArgument>([&] { trajectories->run(numbers, std::vector{time}); }))
          << number.name << "=" << wrong;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryTrajectories, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const auto& all : pde::all_trajectories()) names.emplace_back(all->name());
                           return names;
                         }()),
                         [](const auto& name) { return name.param; });

}  // namespace
}  // namespace opshap
