// Games of an FNO by the coalition engines, that of the processor's kernels and the one that runs on any device (here
// on CPU tensors), against the network applied to masked fields.

#include "operators/fno_coalitions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "games/cell_mask_game.hpp"
#include "games/games_together.hpp"
#include "kernels/kernels.hpp"
#include "operators/batches.hpp"
#include "operators/fno.hpp"
#include "operators/network.hpp"
#include "operators/weights.hpp"
#include "support/for_all.hpp"
#include "support/operator_inputs.hpp"
#include "support/refusal.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

/// A network, one input and baseline, players and coalitions.
struct Question {
  operators::FnoConfig config;
  FieldBatch input, baseline;
  Partition players;
  Coalitions coalitions;
  Readout readout;
};

operators::FnoConfig random_config(int dimension, Rng& rng) {
  const auto up_to = [&](int least, int most) {
    return least + static_cast<int>(rng.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  operators::FnoConfig config{.n_modes = {},
                              .hidden_channels = up_to(2, up_to(0, 1) == 0 ? 12 : 40),
                              .n_layers = up_to(1, 4),
                              .in_channels = up_to(1, 3),
                              .out_channels = up_to(1, 3)};
  for (int axis = 0; axis < dimension; ++axis) config.n_modes.push_back(up_to(1, up_to(0, 1) == 0 ? 9 : 16));
  config.domain_padding = 0.25 * up_to(0, 3);
  if (dimension == 2) config.domain_padding = std::vector{0.25 * up_to(0, 3), 0.25 * up_to(0, 3)};
  config.domain_padding_mode = up_to(0, 1) == 0 ? "symmetric" : "one-sided";
  config.positional_embedding = up_to(0, 2) > 0 ? "grid" : "none";
  config.inverse_shift = up_to(0, 1) == 0 ? operators::InverseShift::fftshift : operators::InverseShift::ifftshift;
  return config;
}

/// Inputs and baselines have different means: a mask then moves every mode.
FieldBatch random_field(const Domain& domain, int channels, double low, double high, Rng& rng) {
  FieldBatch field = FieldBatch::zeros(domain, 1, channels);
  for (double& value : field.values) value = rng.uniform(low, high);
  return field;
}

/// A query, or a weighted sum of three.
Readout random_readout(std::uint64_t points, int channels, Rng& rng) {
  const auto query = [&] {
    return Query{.point = static_cast<std::int64_t>(rng.below(points)),
                 .channel = static_cast<int>(rng.below(static_cast<std::uint64_t>(channels)))};
  };
  if (rng.below(2) == 0) return query();
  return Readout({{query(), 1.0}, {query(), -0.5}, {query(), rng.uniform(-1, 1)}});
}

Question random_question(Rng& rng) {
  const int dimension = 1 + static_cast<int>(rng.below(2));
  const operators::FnoConfig config = random_config(dimension, rng);
  std::vector<int> shape;
  for (int axis = 0; axis < dimension; ++axis)
    shape.push_back(2 + static_cast<int>(rng.below(dimension == 1 ? 70 : 9)));
  const Domain domain = Domain::unit(shape);
  const auto points = static_cast<std::uint64_t>(domain.points());
  Partition players = rng.below(2) == 0 ? Partition::one_player_per_point(domain)
                                        : random_cells(domain, 1 + static_cast<int>(rng.below(points)), rng);
  // Few enough to look up, or enough for a table of the players.
  Coalitions coalitions = random_coalitions(players.players, rng.below(2) == 0 ? 10 : 150, rng);
  return {.config = config,
          .input = random_field(domain, config.in_channels, 0, 2, rng),
          .baseline = random_field(domain, config.in_channels, -1, 0, rng),
          .players = std::move(players),
          .coalitions = std::move(coalitions),
          .readout = random_readout(points, config.out_channels, rng)};
}

void for_all_questions(double share, const auto& property) {
  for_all_streams(share, [&property](Rng& rng) { property(random_question(rng), rng.below(1000)); });
}
void for_all_questions(const auto& property) { for_all_questions(0.5, property); }

/// Networks with the same parameters, all of them float32 numbers, in this precision. They are twice as large as at the
/// start of a training, so that the layers are not nearly linear.
std::unique_ptr<operators::Network> network(const operators::FnoConfig& config, std::uint64_t seed,
                                            torch::Dtype dtype) {
  auto made = operators::make_network(config, torch::kFloat32);
  operators::initialise(*made, seed);
  auto result = operators::make_network(config, dtype);
  const torch::NoGradGuard no_grad;
  for (std::size_t i = 0; i < result->parameters().size(); ++i)
    result->parameters()[i].value.copy_(2 * made->parameters()[i].value);
  return result;
}

/// By the operations of LibTorch alone, in float32. Its GELU, x/2·(1 + erf), is known to a fixed error as those of the
/// engines are; far below 0 that error is all there is of the value. The GELU of our fused layers is known to a
/// relative one, so that a network may be a hundred times as exact with them.
std::unique_ptr<Operator> by_libtorch(const operators::FnoConfig& config, std::uint64_t seed) {
  auto plain = network(config, seed, torch::kFloat32);
  plain->set_fused(false);
  return as_operator(std::move(plain), false);
}

operators::FnoCoalitions engines_of(const operators::Network& network, std::int64_t largest_batch = 65536) {
  return {operators::FnoConfig::parse(network.config()), network.options(), network.parameters(), largest_batch};
}

/// On one thread: LibTorch's own threads would wait for each other longer than these small networks take.
std::vector<double> engine_values(const operators::Network& network, const Question& question,
                                  std::int64_t largest_batch = 65536) {
  at::set_num_threads(1);
  std::vector<double> values(question.coalitions.size());
  engines_of(network, largest_batch)
      .coalition_engine(question.input, question.baseline, question.players, question.readout)
      ->values(question.coalitions, 0, values);
  return values;
}

/// The operator applied to the masked fields, one by one.
std::vector<double> plain_values(const Operator& op, const Question& question) {
  return games::cell_mask_game(op, {question.input, question.baseline, question.players, question.readout})
      ->values(question.coalitions);
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

/// What an error is measured by: the standard deviation over the coalitions, since single values may be near 0; for a
/// network that hardly sees its input, 1 % of the values, since they have no more digits than their precision.
double spread(const std::vector<double>& values) {
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double square = 0;
  for (const double value : values) square += (value - mean) * (value - mean);
  return std::max(std::sqrt(square / static_cast<double>(values.size())), 0.01 * largest(values));
}

/// max |difference| over the spread.
double error(const std::vector<double>& exact, const std::vector<double>& found) {
  return largest_difference(exact, found) / spread(exact);
}

TEST(FnoCoalitions, AreTheNetworkAppliedToMaskedFields) {
  for_all_questions([](const Question& question, std::uint64_t seed) {
    const auto in_double = as_operator(network(question.config, seed, torch::kFloat64));
    const std::vector<double> exact = plain_values(*in_double, question);
    // A thousand roundings of numbers ten times as large as the differences.
    RC_ASSERT(error(exact, engine_values(*network(question.config, seed, torch::kFloat64), question)) < 1e-12);
    // A network may be sensitive to roundings itself. Two orders of the same sums round by chance: of the largest
    // errors of a few coalitions one was seen at 4.6 times the other in some thousand questions.
    const double plain = error(exact, plain_values(*by_libtorch(question.config, seed), question));
    RC_ASSERT(error(exact, engine_values(*network(question.config, seed, torch::kFloat32), question)) <
              std::max(2e-5, 10 * plain));
    const auto kernels = as_operator(network(question.config, seed, torch::kFloat32));
    RC_ASSERT(kernels->coalition_path(question.readout).starts_with("engine, "));
    RC_ASSERT(error(exact, plain_values(*kernels, question)) < 2e-5 + 4 * plain);
  });
}

TEST(FnoCoalitions, DoNotDependOnHowTheyAreSplit) {
  for_all_questions(0.3, [](const Question& question, std::uint64_t seed) {
    const auto network = opshap::network(question.config, seed, torch::kFloat64);
    const std::vector<double> whole = engine_values(*network, question);
    for (const std::int64_t batch : {1, 7}) RC_ASSERT(error(whole, engine_values(*network, question, batch)) < 1e-12);

    const operators::FnoCoalitions engines = engines_of(*network);
    const auto engine = engines.coalition_engine(question.input, question.baseline, question.players, question.readout);
    std::vector<double> parts(whole.size());
    for (std::size_t first = 0, size = 1; first < parts.size(); first += size, size *= 3)
      engine->values(question.coalitions, first, std::span(parts).subspan(first, std::min(size, parts.size() - first)));
    RC_ASSERT(error(whole, parts) < 1e-12);
  });
}

/// Further inputs, each with a baseline of its own or all with one, and as many coalitions for each.
struct ManyQuestions {
  std::vector<Scenario> scenarios;
  Coalitions coalitions;
  FieldBatch shown, hidden;

  ManyQuestions(const Question& first, std::uint64_t seed) : coalitions(first.players.players) {
    Rng rng(seed, "many inputs");
    const bool one_baseline = rng.below(2) == 0;
    const std::uint64_t inputs = 2 + rng.below(4);
    shown = FieldBatch::zeros(first.input.domain, 0, first.input.channels);
    hidden = one_baseline ? first.baseline : shown;
    for (std::uint64_t i = 0; i < inputs; ++i) {
      scenarios.push_back(
          {.input = random_field(shown.domain, shown.channels, 0, 2, rng),
           .baseline = one_baseline ? first.baseline : random_field(shown.domain, shown.channels, -1, 0, rng),
           .partition = first.players,
           .readout = first.readout});
      shown.append(scenarios.back().input);
      if (!one_baseline) hidden.append(scenarios.back().baseline);
      const Coalitions own = random_coalitions(first.players.players, first.coalitions.size(), rng);
      for (std::size_t row = 0; row < own.size(); ++row) coalitions.append(own.row(row));
    }
  }
  Coalitions of(std::size_t input) const {
    const std::size_t each = coalitions.size() / scenarios.size();
    Coalitions own(coalitions.players());
    for (std::size_t row = input * each; row < (input + 1) * each; ++row) own.append(coalitions.row(row));
    return own;
  }
};

TEST(FnoCoalitions, OfSeveralInputsAreThoseOfEach) {
  for_all_questions(0.2, [](const Question& question, std::uint64_t seed) {
    const ManyQuestions many(question, seed);
    const auto network = opshap::network(question.config, seed, torch::kFloat64);
    at::set_num_threads(1);
    const auto op = as_operator(opshap::network(question.config, seed, torch::kFloat64), false),
               by_kernels = as_operator(opshap::network(question.config, seed, torch::kFloat32));
    std::vector<double> expected, by_each;
    for (std::size_t input = 0; input < many.scenarios.size(); ++input) {
      const std::vector<double> exact = games::cell_mask_game(*op, many.scenarios[input])->values(many.of(input)),
                                found =
                                    games::cell_mask_game(*by_kernels, many.scenarios[input])->values(many.of(input));
      expected.insert(expected.end(), exact.begin(), exact.end());
      by_each.insert(by_each.end(), found.begin(), found.end());
    }
    for (const std::int64_t batch : {std::int64_t{7}, std::int64_t{65536}}) {
      const auto engine =
          engines_of(*network, batch).coalition_engine(many.shown, many.hidden, question.players, question.readout);
      std::vector<double> whole(expected.size()), parts(expected.size());
      engine->values(many.coalitions, 0, whole);
      RC_ASSERT(error(expected, whole) < 1e-12);
      for (std::size_t first = 0, size = 1; first < parts.size(); first += size, size *= 3)
        engine->values(many.coalitions, first, std::span(parts).subspan(first, std::min(size, parts.size() - first)));
      RC_ASSERT(error(expected, parts) < 1e-12);
    }
    // The processor's engine has the same bits whatever else is in the batch. LibTorch's products need not.
    RC_ASSERT(games::values_together(*by_kernels, many.scenarios, many.coalitions) == by_each);
    RC_ASSERT(error(expected, games::values_together(*op, many.scenarios, many.coalitions)) < 1e-12);
  });
}

TEST(FnoCoalitions, OfSeveralInputsNeedOneScenarioAndAsManyCoalitions) {
  const auto op = operators::untrained_operator(operators::FnoConfig{.n_modes = {4}, .hidden_channels = 8}, 1);
  const FieldBatch field = FieldBatch::zeros(Domain::unit({8}), 1, 1);
  const Scenario one{field, field, Partition::one_player_per_point(field.domain), Query{.point = 2}};
  Scenario other = one;
  other.readout = Query{.point = 3};
  EXPECT_TRUE(games::values_together(*op, {}, Coalitions(8)).empty());
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] {
                    games::values_together(*op, std::vector{one, other}, Coalitions(8, 4));
                  }),
                  "scenario 1"));
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] {
                    games::values_together(*op, std::vector{one, one}, Coalitions(8, 3));
                  }),
                  "coalitions=3"));
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] {
                    games::values_together(*op, std::vector{one, one}, Coalitions(7, 4));
                  }),
                  "players=7"));
}

#if TORCH_VERSION_MAJOR >= 2  // Debian's has half of the operations
// LibTorch's device meta has shapes and no numbers.
TEST(FnoCoalitions, HaveTheirShapesWithoutNumbers) {
  for_all_questions([](const Question& question, std::uint64_t seed) {
    const ManyQuestions many(question, seed);
    const auto network =
        operators::make_network(question.config, torch::TensorOptions(torch::kFloat64).device(torch::kMeta));
    const auto engine =
        engines_of(*network).coalition_engine(many.shown, many.hidden, question.players, question.readout);
    const auto* there = dynamic_cast<const operators::DeviceEngine*>(engine.get());
    RC_ASSERT(there != nullptr);
    const auto count = static_cast<std::int64_t>(many.coalitions.size());
    const torch::Tensor values = there->values_there(many.coalitions, 0, count);
    RC_ASSERT(values.is_meta() && values.sizes() == std::vector{count});
  });
}
#endif

TEST(FnoCoalitions, MayBeAskedForByManyThreadsWithDifferentPlayers) {
  Rng rng(1, "engine threads");
  const operators::FnoConfig config{.n_modes = {6}, .hidden_channels = 8, .n_layers = 3};
  const auto network = opshap::network(config, 1, torch::kFloat64);
  const auto op = as_operator(opshap::network(config, 1, torch::kFloat64));
  const Domain domain = Domain::unit({24});
  const FieldBatch input = random_field(domain, 1, rng), baseline = random_field(domain, 1, rng);
  const Query query{.point = 5};
  const operators::FnoCoalitions engines = engines_of(*network, 50);
  std::vector<Partition> players;
  for (int i = 0; i < 12; ++i) players.push_back(random_cells(domain, 4, rng));
  const auto shared = engines.coalition_engine(input, baseline, players.front(), query);
  const Coalitions all = Coalitions::enumerate(4, 0, 16);
  std::vector<std::vector<double>> values(players.size(), std::vector<double>(all.size()));
  set_threads(4);
  parallel_for(players.size(), [&](std::size_t i) {
    const auto own = engines.coalition_engine(input, baseline, players[i], query);
    (i < 8 ? own : shared)->values(all, 0, values[i]);
  });
  for (std::size_t i = 0; i < players.size(); ++i) {
    const auto game = games::cell_mask_game(*op, {input, baseline, players[i < 8 ? i : 0], query});
    EXPECT_LT(error(game->values(all), values[i]), 1e-12) << i;
  }
}

TEST(FnoCoalitions, NameWhatIsNotFinite) {
  const operators::FnoConfig config{.n_modes = {4}, .hidden_channels = 4, .n_layers = 2};
  auto network = opshap::network(config, 1, torch::kFloat32);
  const operators::FnoCoalitions engines = engines_of(*network);
  FieldBatch input = FieldBatch::zeros(Domain::unit({8}), 1, 1);
  const FieldBatch baseline = input;
  input.values[3] = NAN;
  EXPECT_THROW(engines.coalition_engine(input, baseline, Partition::one_player_per_point(input.domain), {}), DataError);
  network->parameters()[2].value[0] = INFINITY;
  EXPECT_TRUE(has(refusal<DataError>([&] { engines_of(*network); }), network->parameters()[2].name));
}

// Of all points as players. LibTorch rounds as often as the engine does: where a network is so ill conditioned that it
// errs by more, so may the engine. It may err 20 times as much where slopes are those of GELUs far below 0: LibTorch
// knows one to 3e-8, half a unit in the last place of 1 + erf, halved, and the engine to 5e-7. All slopes are measured
// by the largest one, since these errors do not shrink where a network is flat.
TEST(CoalitionEngine, HasTheSlopesOfLibTorch) {
  for_all_questions(0.3, [](const Question& of, std::uint64_t seed) {
    const auto engine = as_operator(network(of.config, seed, torch::kFloat32)), plain = by_libtorch(of.config, seed),
               precise = as_operator(network(of.config, seed, torch::kFloat64));
    const Partition cells = Partition::one_player_per_point(of.input.domain);
    Rng rng(seed, "coalitions");
    const Coalitions coalitions = random_coalitions(cells.players, 5, rng);
    const std::vector<double> diagonal = on_diagonal(std::vector{0.0, 0.3, 0.8, 1.0}, cells.players);
    std::vector<double> anywhere;  // each player with a weight of its own
    for (int i = 0; i < 3 * cells.players; ++i) anywhere.push_back(rng.uniform());
    const auto slopes = [&](const Operator& op) {
      const auto game = games::cell_mask_game(op, {of.input, of.baseline, cells, of.readout});
      std::vector<double> all;
      const auto add = [&all](const std::vector<double>& some) { all.insert(all.end(), some.begin(), some.end()); };
      for (const std::vector<double>& weights : {diagonal, anywhere}) {
        add(game->extension()->gradients(weights));
        add(game->mean_field()->gradients(weights));
      }
      add(game->slopes()->gradients(corners(coalitions)));
      return all;
    };
    const std::vector<double> exact = slopes(*precise), found = slopes(*engine), torch = slopes(*plain);
    RC_ASSERT(largest_difference(found, exact) < 2e-5 * largest(exact) + 20 * largest_difference(torch, exact));
  });
}

TEST(CoalitionEngine, SaysWhichPathComputesAndWhy) {
  const operators::FnoConfig config{.n_modes = {4}, .hidden_channels = 8};
  EXPECT_TRUE(operators::untrained_operator(config, 1)->coalition_path().starts_with("engine, "));
  EXPECT_TRUE(has(operators::untrained_operator(config, 1, networks::Precision::float64)->coalition_path(), "float32"));
  const auto off = as_operator(network(config, 1, torch::kFloat32), false);
  EXPECT_TRUE(has(off->coalition_path(), "switched off"));
  const FieldBatch field = FieldBatch::zeros(Domain::unit({8}), 1, 1);
  const Partition cells = Partition::one_player_per_point(field.domain);
  EXPECT_EQ(off->coalition_engine(field, field, cells, Query{.point = 2}), nullptr);
  EXPECT_EQ(games::cell_mask_game(*off, {field, field, cells, Query{.point = 2}})->path(), off->coalition_path());
  // Beyond 64 points the whole output is no dearer.
  const auto on = operators::untrained_operator(config, 1);
  const FieldBatch wide = FieldBatch::zeros(Domain::unit({65}), 1, 1);
  const Readout few = Readout::of_weights(std::vector<double>(64, 1.0), 64),
                many = Readout::of_weights(std::vector<double>(65, 1.0), 65);
  EXPECT_TRUE(on->coalition_path(few).starts_with("engine, ")) << on->coalition_path(few);
  EXPECT_TRUE(has(on->coalition_path(many), "65 points"));
  EXPECT_EQ(on->coalition_engine(wide, wide, Partition::one_player_per_point(wide.domain), many), nullptr);
}

TEST(CoalitionEngine, RunsTheInstructionSetThatIsForced) {
  const operators::FnoConfig config{.n_modes = {4}, .hidden_channels = 8};
  for (const std::string& set : kernels::instruction_sets()) {
    setenv("OPSHAP_ENGINE", set.c_str(), 1);
    EXPECT_EQ(operators::untrained_operator(config, 1)->coalition_path(), "engine, " + set);
  }
  setenv("OPSHAP_ENGINE", "altivec", 1);
  EXPECT_THROW(operators::untrained_operator(config, 1), EnvironmentError);
  unsetenv("OPSHAP_ENGINE");
}

TEST(CoalitionEngine, GivesTheSameBitsForEveryNumberOfThreads) {
  const auto op = operators::untrained_operator(
      operators::FnoConfig{.n_modes = {8}, .hidden_channels = 16, .domain_padding = 0.5}, 1);
  Rng rng(2, "coalition engine test");
  const auto input = random_field(Domain::unit({24}), 1, 0, 2, rng), baseline = FieldBatch::zeros(input.domain, 1, 1);
  const auto game =
      games::cell_mask_game(*op, {input, baseline, Partition::one_player_per_point(input.domain), Query{.point = 5}});
  const Coalitions coalitions = random_coalitions(24, 333, rng);
  const int before = threads();
  set_threads(1);
  const std::vector<double> one = game->values(coalitions);
  for (const int count : {2, 3, 8}) {
    set_threads(count);
    EXPECT_EQ(game->values(coalitions), one) << count << " threads";
  }
  set_threads(before);
}

TEST(MemoryBatches, AreHalvedUntilTheyFit) {
  std::atomic<std::int64_t> size = 100;
  std::vector<int> done(250, 0);
  const auto fits_seven = [&](std::int64_t first, std::int64_t count) {
    TORCH_CHECK(count <= 7, "CUDA out of memory. Tried to allocate 2.00 GiB");
    for (std::int64_t i = first; i < first + count; ++i) ++done[static_cast<std::size_t>(i)];
  };
  operators::memory_batches("test", 250, size, fits_seven);
  EXPECT_EQ(done, std::vector<int>(250, 1));
  EXPECT_EQ(size, 6);
  const auto never = [](std::int64_t, std::int64_t) { TORCH_CHECK(false, "can't allocate memory"); };
  EXPECT_THROW(operators::memory_batches("test", 250, size, never), EnvironmentError);
  const auto other = [](std::int64_t, std::int64_t) { TORCH_CHECK(false, "sizes do not match"); };
  EXPECT_THROW(operators::memory_batches("test", 250, size, other), c10::Error);
}

}  // namespace
}  // namespace opshap
