// What every registered training target promises, what any training of an explainer relies on, the loss of FastSHAP
// beside stored values and gradients, and the steps and rates of the optimiser.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/operator.hpp"
#include "core/rng.hpp"
#include "games/cell_mask_game.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "support/golden.hpp"
#include "support/networks.hpp"
#include "support/run_folder.hpp"
#include "support/test_seed.hpp"
#include "support/tolerance.hpp"
#include "support/weighted_mean_operator.hpp"
#include "training/kept_labels.hpp"
#include "training/loop.hpp"
#include "training/samples.hpp"
#include "training/target.hpp"
#include "training/target_fastshap.hpp"

namespace opshap {
namespace {

using training::Target;

constexpr std::int64_t samples = 3;

/// Counts the fields that it is applied to, and passes by what their time is worth.
class CountingOperator final : public WeightedMeanOperator {
 public:
  CountingOperator() : WeightedMeanOperator(0) {}
  FieldBatch apply(const FieldBatch& inputs) const override {
    evaluations_ += inputs.batch;
    return WeightedMeanOperator::apply(inputs);
  }
  Gradient gradient_at(const FieldBatch& inputs, const Readout& readout) const override {
    evaluations_ += 3 * inputs.batch;
    return WeightedMeanOperator::gradient_at(inputs, readout);
  }
  Gradient mean_field_at(const FieldBatch& shown, const FieldBatch& hidden, const FieldBatch& inclusion,
                         const Readout& readout) const override {
    evaluations_ += 6 * inclusion.batch;
    return WeightedMeanOperator::mean_field_at(shown, hidden, inclusion, readout);
  }
  std::int64_t evaluations() const { return evaluations_; }

 private:
  mutable std::int64_t evaluations_ = 0;
};

/// Games of a linear operator, whose Shapley values are known: φ of a player is the sum of weight(x*, y)·u(y) over its
/// points.
struct Subject {
  CountingOperator op;
  data::SampleFields fields = FieldBatch::zeros(Domain::unit({12}), samples, 1);
  ScenarioRule rule;
  training::ResolutionGroup group{.resolution = 12, .samples = {0, 1, 2}};
  std::vector<std::int64_t> members = {0, 2};
  std::unique_ptr<training::SampleGames> games;

  explicit Subject(int blocks) {
    Rng rng(test_seed(), "training targets");
    for (double& value : fields.batch().values) value = rng.normal();
    if (blocks > 0) rule.players = ScenarioRule::Players::blocks;
    rule.blocks = blocks;
    games = std::make_unique<training::SampleGames>(op, fields, group, rule);
  }

  std::vector<Rng> streams() const {
    const Rng rng(test_seed(), "training targets' streams");
    return {rng.stream(0, 0), rng.stream(0, 2)};
  }

  /// Densities [points, B, 1] whose integrals over the players are the exact Shapley values of the members.
  torch::Tensor exact_densities() const {
    torch::Tensor densities = torch::zeros({12, static_cast<std::int64_t>(members.size()), 1}, torch::kFloat32);
    for (std::size_t b = 0; b < members.size(); ++b) {
      const Scenario scenario = make_scenario(rule, fields.one(members[b]));
      std::vector<double> values(static_cast<std::size_t>(scenario.partition.players), 0.0);
      for (int y = 0; y < 12; ++y)
        values[static_cast<std::size_t>(scenario.partition.player_of[static_cast<std::size_t>(y)])] +=
            WeightedMeanOperator::weight(static_cast<int>(scenario.readout.query().point), y, 12) *
            scenario.input.values[static_cast<std::size_t>(y)];
      for (int y = 0; y < 12; ++y) {
        const auto player = static_cast<std::size_t>(scenario.partition.player_of[static_cast<std::size_t>(y)]);
        densities[y][static_cast<std::int64_t>(b)][0] = values[player] / scenario.partition.volumes[player];
      }
    }
    return densities;
  }

  double loss(const Target& target, const torch::Tensor& densities, const Target::Labels& labels) const {
    return target
        .loss(densities, games->volumes(), games->gains(members), labels, static_cast<std::int64_t>(members.size()))
        .item<double>();
  }
};

std::unique_ptr<Target> make(const std::string& name) {
  networks::ExplainerRecipe recipe;
  recipe.target = name;
  recipe.coalitions = 16;
  return training::targets::make(recipe);
}

// A baseline that depends on the input has a v(∅) of its own for each member.
TEST(SampleGames, EachMemberGainsOverItsOwnBaseline) {
  Subject subject(4);
  subject.rule.baseline = ScenarioRule::Hidden::blur;
  const training::SampleGames games(subject.op, subject.fields, subject.group, subject.rule);
  EXPECT_EQ(6, games.evaluations());
  const torch::Tensor gains = games.gains({0, 1, 2});
  for (std::int64_t member = 0; member < 3; ++member) {
    const Scenario of = make_scenario(subject.rule, subject.fields.one(member));
    const double grand = subject.op.values_at(of.input, of.readout).front(),
                 empty = subject.op.values_at(of.baseline, of.readout).front();
    // The tensor is of float32.
    EXPECT_EQ("", mismatch(grand - empty, gains[member].item<double>(), rounding(0x1p28, std::abs(grand - empty))));
  }
}

// An FNO has an engine, which evaluates games of several members together. They have the bits of each game alone.
TEST(SampleGames, AsksSeveralMembersTogetherForWhatEachOfThemHas) {
  SCOPED_TRACE(replay());
  constexpr int count = 24, each = 6;
  operators::FnoConfig config{.n_modes = {6}, .hidden_channels = 8, .n_layers = 3};
  auto network = operators::make_network(config, torch::kFloat32);
  operators::initialise(*network, 1);
  const auto op = operators::as_operator(std::move(network));
  data::SampleFields fields = FieldBatch::zeros(Domain::unit({16}), count, 1);
  Rng rng(test_seed(), "games together");
  for (double& value : fields.batch().values) value = rng.normal();
  training::ResolutionGroup group{.resolution = 16};
  std::vector<std::int64_t> members;
  for (std::int64_t sample = 0; sample < count; ++sample) {
    group.samples.push_back(sample);
    if (sample != 7) members.push_back(sample);  // 23 do not fall into equal parts
  }
  for (const auto baseline : {ScenarioRule::Hidden::zero, ScenarioRule::Hidden::blur}) {
    ScenarioRule rule;
    rule.baseline = baseline;
    const training::SampleGames games(*op, fields, group, rule);
    Coalitions coalitions(games.players());
    for (std::size_t row = 0; row < each * members.size(); ++row) {
      coalitions.append_empty();
      for (int player = 0; player < games.players(); ++player)
        if (rng.below(2) == 1) coalitions.insert(row, player);
    }
    const torch::Tensor gains = games.coalition_gains(members, coalitions);
    for (std::size_t b = 0; b < members.size(); ++b) {
      const auto game = games.game(members[b]);
      Coalitions own(games.players());
      for (std::size_t k = 0; k < each; ++k) own.append(std::as_const(coalitions).row(b * each + k));
      const std::vector<double> values = game->values(own);
      const Scenario of = games.scenario(members[b]);
      const double empty = op->values_at(of.baseline, of.readout).front();
      for (std::size_t k = 0; k < each; ++k)
        EXPECT_NEAR(gains[static_cast<std::int64_t>(b)][static_cast<std::int64_t>(k)].item<double>(),
                    static_cast<float>(values[k] - empty), 1e-6)  // v(∅) of one field rounds otherwise than in a batch
            << b << ' ' << k;
    }
  }
}

class EveryTarget : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Registered, EveryTarget, ::testing::ValuesIn(training::targets::names()),
                         [](const auto& name) { return name.param; });

// Labels and densities are float32 numbers of size 1. A squared error of some roundings is below a hundred squared
// roundings.
constexpr double squared_rounding = 100 * 1.2e-7 * 1.2e-7;

TEST_P(EveryTarget, HasNoLossAtTheExactValuesAndSomeElsewhere) {
  SCOPED_TRACE(replay());
  for (const int blocks : {0, 4}) {
    const Subject subject(blocks);
    const auto target = make(GetParam());
    for (const Target::Use use : {Target::Use::training, Target::Use::validation}) {
      const Target::Labels labels = target->draw(*subject.games, subject.members, subject.streams(), use);
      const torch::Tensor exact = subject.exact_densities();
      EXPECT_LT(subject.loss(*target, exact, labels), squared_rounding);
      // Efficiency alone does not make a density exact: the players' order matters too.
      EXPECT_GT(subject.loss(*target, exact.flip(0), labels), 1e3 * squared_rounding);
    }
  }
}

TEST_P(EveryTarget, HasAFiniteGradientThatLowersItsLoss) {
  SCOPED_TRACE(replay());
  const Subject subject(0);
  const auto target = make(GetParam());
  const Target::Labels labels = target->draw(*subject.games, subject.members, subject.streams(), Target::Use::training);
  const torch::Tensor densities = torch::zeros({12, 2, 1}).requires_grad_(true);
  const auto loss = target->loss(densities, subject.games->volumes(), subject.games->gains(subject.members), labels, 2);
  const torch::Tensor gradient = torch::autograd::grad({loss}, {densities})[0];
  ASSERT_TRUE(torch::isfinite(gradient).all().item<bool>());
  ASSERT_GT(gradient.norm().item<double>(), 0);
  const torch::Tensor lower = densities.detach() - 0.01 * gradient / gradient.norm();
  EXPECT_LT(subject.loss(*target, lower, labels), loss.item<double>());
}

TEST_P(EveryTarget, HasALossThatIsTheSumOfItsParts) {
  SCOPED_TRACE(replay());
  const Subject subject(0);
  const auto target = make(GetParam());
  const Target::Labels labels = target->draw(*subject.games, subject.members, subject.streams(), Target::Use::training);
  const torch::Tensor densities = torch::ones({12, 2, 1}), gains = subject.games->gains(subject.members);
  double parts = 0;
  for (std::int64_t field = 0; field < 2; ++field) {
    Target::Labels own;
    for (const torch::Tensor& label : labels) own.push_back(label.narrow(0, field, 1));
    parts += target->loss(densities.narrow(1, field, 1), subject.games->volumes(), gains.narrow(0, field, 1), own, 2)
                 .item<double>();
  }
  const double whole = subject.loss(*target, densities, labels);
  EXPECT_NEAR(whole, parts, 1e-5 * whole);  // sums of a few dozen float32 terms
}

TEST_P(EveryTarget, AsksTheGamesAsOftenAsItSays) {
  for (const Target::Use use : {Target::Use::training, Target::Use::validation}) {
    const Subject subject(4);
    EXPECT_EQ(subject.games->evaluations(), subject.op.evaluations());
    const std::int64_t before = subject.op.evaluations();
    const auto target = make(GetParam());
    target->draw(*subject.games, subject.members, subject.streams(), use);
    // What an estimator does with its budget may leave a rest.
    const std::int64_t said = 2 * target->evaluations(use, 4), asked = subject.op.evaluations() - before;
    EXPECT_LE(asked, said);
    EXPECT_GT(2 * asked, said);
  }
}

TEST_P(EveryTarget, DrawsTheSameFromTheSameStreamsWhateverTheBatch) {
  const Subject subject(0);
  const auto target = make(GetParam());
  const Target::Labels both = target->draw(*subject.games, subject.members, subject.streams(), Target::Use::training);
  const auto alone = target->draw(*subject.games, {subject.members[1]}, {subject.streams()[1]}, Target::Use::training);
  ASSERT_EQ(both.size(), alone.size());
  for (std::size_t i = 0; i < both.size(); ++i) EXPECT_TRUE(torch::equal(both[i].narrow(0, 1, 1), alone[i])) << i;
}

TEST(Targets, HaveIdentitiesOfTheirOwn) {
  std::set<std::string> identities;
  for (const std::string& name : training::targets::names())
    EXPECT_TRUE(identities.insert(make(name)->identity()).second) << name;
  networks::ExplainerRecipe more;
  more.coalitions = 18;
  EXPECT_TRUE(identities.insert(training::targets::make(more)->identity()).second);
}

torch::Tensor row(const std::vector<double>& values) { return torch::tensor(values, torch::kFloat64).unsqueeze(0); }

/// Players with these volumes. Each has `points` points of a mesh on [0, 1], which share its volume equally.
struct Players {
  Domain domain;
  Partition partition;

  Players(const std::vector<double>& volumes_of_players, int points) {
    std::vector<double> positions, volumes;
    std::vector<std::int64_t> labels;
    for (std::size_t player = 0; player < volumes_of_players.size(); ++player)
      for (int point = 0; point < points; ++point) {
        positions.push_back(static_cast<double>(positions.size()) / 100);
        volumes.push_back(volumes_of_players[player] / points);
        labels.push_back(static_cast<std::int64_t>(player));
      }
    domain = Domain::mesh(Mesh::of_points(1, positions, volumes));
    partition = Partition::from_labels(domain, labels);
  }
};

/// Loss and gradient of an entry of the file, with the entry's values spread over the points of the players.
void expect_stored(const golden::Json& entry, const Players& players) {
  const int n = players.partition.players;
  const double empty = entry.at("empty").get<double>(), grand = entry.at("grand").get<double>();
  const Coalitions drawn = golden::coalitions(n, entry.at("coalitions"));
  const auto count = static_cast<std::int64_t>(drawn.size());
  torch::Tensor coalitions = torch::zeros({1, count, n}, torch::kFloat64);
  for (std::size_t k = 0; k < drawn.size(); ++k)
    for (int player = 0; player < n; ++player)
      if (drawn.contains(k, player)) coalitions[0][static_cast<std::int64_t>(k)][player] = 1.0;
  // Densities whose integrals over the players are the stored values.
  const auto values = golden::numbers(entry.at("values")), slopes = golden::numbers(entry.at("gradient"));
  std::vector<double> density, slope_of_density;
  for (std::int64_t point = 0; point < players.domain.points(); ++point) {
    const auto player = static_cast<std::size_t>(players.partition.player_of[static_cast<std::size_t>(point)]);
    density.push_back(values[player] / players.partition.volumes[player]);
    slope_of_density.push_back(slopes[player] * players.domain.volume(point));
  }
  const torch::Tensor densities = row(density).t().unsqueeze(2).clone().requires_grad_(true);
  const training::PlayerVolumes volumes = training::player_volumes(players.domain, players.partition, torch::kFloat64);
  const auto loss = training::fastshap_errors(densities, volumes, torch::full({1}, grand - empty, torch::kFloat64),
                                              coalitions, row(golden::numbers(entry.at("coalition_values"))) - empty) /
                    static_cast<double>(count);
  EXPECT_EQ("", mismatch(entry.at("loss").get<double>(), loss.item<double>(), rounding(100, 1)));
  EXPECT_EQ("", mismatch(slope_of_density, numbers(torch::autograd::grad({loss}, {densities})[0]), rounding(100, 1)));
}

// The file has the loss with shifts by equal shares, which is players of equal volume, and by areas. It also has one
// without a shift, which is not ours.
TEST(FastShapLoss, HasTheStoredValueAndGradient) {
  int found = 0;
  for (const golden::Json& entry : golden::cases("fastshap_loss")) {
    const std::string normalisation = entry.at("normalisation");
    if (normalisation == "none") continue;
    std::vector<double> volumes = golden::numbers(entry.at("areas"));
    if (normalisation == "equal") volumes.assign(volumes.size(), 1.0 / static_cast<double>(volumes.size()));
    for (const int points : {1, 3}) expect_stored(entry, Players(volumes, points));
    ++found;
  }
  EXPECT_EQ(found, 2);
}

using KeptLabels = RunFolder;

TEST_F(KeptLabels, AreAskedForOnceByATrainingAndRefusedToAnother) {
  int asked = 0;
  const auto ask = [&asked] {
    ++asked;
    return Target::Labels{torch::rand({3, 4}), torch::rand({3}, torch::kFloat64)};
  };
  const training::KeptLabels kept(folder_ / "a", R"({"seed":1})"), of_another(folder_ / "a", R"({"seed":2})");
  const Target::Labels first = kept.of(0, ask), second = kept.of(1, ask), again = kept.of(0, ask);
  EXPECT_EQ(2, asked);
  ASSERT_EQ(first.size(), again.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_TRUE(first[i].equal(again[i])) << i;
  EXPECT_FALSE(first[0].equal(second[0]));

  EXPECT_THROW(of_another.of(0, ask), InvalidArgument);
  EXPECT_TRUE(kept.of(0, ask)[0].equal(first[0]));
  EXPECT_EQ(2, asked);
  const fs::path file = folder_ / "a" / "labels" / "0.safetensors";
  std::string broken = read_file(file);
  broken.back() ^= 1;
  write_file(file, broken);
  EXPECT_THROW(kept.of(0, ask), DataError);
  kept.forget();
  EXPECT_EQ(names_in(folder_ / "a"), std::set<std::string>());
}

TEST(AdamW, DoesTheUpdateItsAuthorsDefine) {
  // One scalar parameter by hand, double precision, against the tensors in float32: 10 steps of the formulas of
  // Loshchilov & Hutter (2019), algorithm 2.
  torch::Tensor parameter = torch::tensor({0.7F});
  parameter.set_requires_grad(true);
  training::AdamW optimiser({{"p", parameter}}, 0.1);
  double p = 0.7F, m = 0, v = 0;
  for (int step = 1; step <= 10; ++step) {
    const double gradient = std::cos(static_cast<double>(step));
    parameter.mutable_grad() = torch::tensor({static_cast<float>(gradient)});
    optimiser.step(0.01);
    m = 0.9 * m + 0.1 * gradient;
    v = 0.999 * v + 0.001 * gradient * gradient;
    p -= 0.01 * 0.1 * p;
    p -= 0.01 * (m / (1 - std::pow(0.9, step))) / (std::sqrt(v / (1 - std::pow(0.999, step))) + 1e-8);
    EXPECT_NEAR(p, parameter.item<double>(), 10 * step * 6e-8);  // about ten float32 roundings a step
  }
}

/// A small network whose gradients are drawn at random.
class RandomGradients {
 public:
  explicit RandomGradients(std::uint64_t item) {
    operators::FnoConfig config{.n_modes = {2}, .hidden_channels = 2, .n_layers = 1};
    network_ = operators::make_network(config, torch::kFloat32);
    operators::initialise(*network_, item);
    Rng rng(test_seed(), "gradients", 0, item);
    for (operators::Parameter& parameter : network_->parameters()) {
      parameter.value.set_requires_grad(true);
      torch::Tensor gradient = torch::empty(parameter.value.sizes(), torch::kFloat64);
      std::generate_n(gradient.data_ptr<double>(), gradient.numel(), [&] { return rng.normal(); });
      parameter.value.mutable_grad() = torch::empty_like(parameter.value).copy_(gradient).detach();
    }
  }
  operators::Network& network() { return *network_; }
  training::AdamW::Tensors parameters() const {
    training::AdamW::Tensors all;
    for (const operators::Parameter& parameter : network_->parameters()) all[parameter.name] = parameter.value;
    return all;
  }
  double length() const {
    double squares = 0;
    for (const operators::Parameter& parameter : network_->parameters())
      squares += parameter.value.grad().to(torch::kFloat64).square().sum().item<double>();
    return std::sqrt(squares);
  }

 private:
  std::unique_ptr<operators::Network> network_;
};

// Of all parameters at once, as on a GPU, and one by one. A parameter moves by 1e-2, of which each has some roundings.
TEST(AdamW, HasTheSameStepsTogetherAsOneByOne) {
  RandomGradients one(1), other(1);
  training::AdamW apart(one.parameters(), 0.1), together(other.parameters(), 0.1, true);
  for (int step = 0; step < 3; ++step) {
    const RandomGradients gradients(2 + static_cast<std::uint64_t>(step));
    const training::AdamW::Tensors given = gradients.parameters();
    for (RandomGradients* of : {&one, &other})
      for (auto& [name, parameter] : of->parameters())
        torch::Tensor(parameter).mutable_grad().copy_(given.at(name).grad());
    apart.step(1e-2);
    together.step(1e-2);
  }
  const training::AdamW::Tensors expected = one.parameters();
  for (const auto& [name, parameter] : other.parameters()) {
    EXPECT_LT((parameter - expected.at(name)).abs().max().item<double>(), 3 * 10 * 1.2e-7) << name;
    EXPECT_EQ(parameter.grad().abs().max().item<double>(), 0) << name;
  }
}

// Their lengths are float32 numbers of tens of entries.
TEST(ClippedGradients, AreNoLongerThanTheRunningMeanAllows) {
  SCOPED_TRACE(replay());
  constexpr double clipping = 1.5, rounding = 1e-5;
  torch::Tensor mean = torch::zeros({}, torch::kFloat64);
  double expected = 0;
  bool clipped = false, left = false;
  for (std::uint64_t step = 0; step < 20; ++step) {
    RandomGradients of(step);
    const double scale = step % 5 == 4 ? 7 : 1, before = scale * of.length();
    for (operators::Parameter& parameter : of.network().parameters()) parameter.value.mutable_grad().mul_(scale);
    training::clip_gradients(of.network(), clipping, mean);
    const double most = expected > 0 ? clipping * expected : before, kept = std::min(before, most);
    EXPECT_NEAR(of.length(), kept, rounding * before) << step;
    (kept < before ? clipped : left) = true;
    expected = expected > 0 ? 0.98 * expected + 0.02 * kept : before;
    EXPECT_NEAR(mean.item<double>(), expected, rounding * expected) << step;
  }
  EXPECT_TRUE(clipped && left);
}

TEST(ScheduledRate, WarmsUpLinearlyThenFallsAsACosine) {
  training::TrainingLoop loop;
  loop.epochs = 25;
  loop.warmup_epochs = 5;
  loop.learning_rate = 2;
  EXPECT_DOUBLE_EQ(2.0 / 5, training::scheduled_rate(loop, 0));
  EXPECT_DOUBLE_EQ(2.0, training::scheduled_rate(loop, 4));
  EXPECT_DOUBLE_EQ(2.0, training::scheduled_rate(loop, 5));
  EXPECT_NEAR(1.0, training::scheduled_rate(loop, 15), 1e-15);
  EXPECT_GT(training::scheduled_rate(loop, 24), 0);
}

}  // namespace
}  // namespace opshap
