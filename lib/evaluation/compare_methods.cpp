#include "evaluation/compare_methods.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "core/error.hpp"
#include "core/game.hpp"
#include "core/threads.hpp"
#include "metrics/registry.hpp"
#include "peers/ending.hpp"

namespace opshap::evaluation {

namespace {

using Key = std::tuple<std::string, std::optional<std::string>, std::optional<std::int64_t>, std::int64_t>;

/// Roundings between the values of a game and an attribution, as in certified_reference().
constexpr double roundings = 256;

double relative_rounding(const Game& game, const std::vector<double>& values) {
  CountedGame ends(game, {2});
  const std::vector<double> both = {ends.empty(), ends.grand()};
  Scale scale;
  scale.see(both);
  double largest = std::max(std::abs(scale.inside(both[0])), std::abs(scale.inside(both[1]))), sum = 0, squares = 0;
  for (const double given : values) {
    const double value = scale.inside(given);
    sum += std::abs(value);
    squares += value * value;
  }
  largest = std::max(largest, sum);
  if (squares == 0) return 0;
  return roundings * std::numeric_limits<double>::epsilon() * largest *
         std::sqrt(static_cast<double>(values.size()) / squares);
}

/// What is said of an reply beside its scores: how its program ended, and why it cannot but be right.
void judge(runs::MethodRow& row, const Reply& reply, const methods::Method& method, const ComparisonPlan& plan,
           const Truth& truth) {
  row.failure = reply.failure;
  if (!reply.attribution) return;
  const Attribution& attribution = *reply.attribution;
  const auto is_finite = [](double value) { return std::isfinite(value); };
  const bool has_size = std::ranges::any_of(truth.values, [](double value) { return value != 0; });
  if (!row.scores["nrmse"].value && has_size && std::ranges::all_of(attribution.values, is_finite)) {
    // Its values are numbers, but its error is beyond all of them. It ranks last, as one without values does.
    row.failure = to_string(peers::Ending::invalid);
    row.scores["nrmse"] = Measured::undefined("its error is larger than any number");
  }
  if (promises_exactness(method, plan.interaction_order)) {
    row.exact = "guarantee";
  } else if (attribution.exact) {
    row.exact = "all coalitions";
  } else if (truth.error == 0 && row.scores["nrmse"].value && *row.scores["nrmse"].value <= truth.rounding) {
    row.exact = "rounding";
  }
}

}  // namespace

Truth truth_of(const Game& game, const ReferenceSettings& settings, std::uint64_t seed) {
  Truth truth;
  if (const auto* solved = dynamic_cast<const SolvedGame*>(&game)) {
    truth = {.method = "closed form", .values = solved->shapley_values()};
  } else {
    CertifiedReference reference = certified_reference(game, settings, seed);
    require<NumericalError>(reference.error.value.has_value(), "compare: truth (", reference.error.why,
                            ", so no error is relative to them). Choose another game.");
    truth = {.method = reference.method, .values = reference.attribution.values, .error = *reference.error.value};
  }
  truth.rounding = relative_rounding(game, truth.values);
  return truth;
}

bool promises_exactness(const methods::Method& method, int interaction_order) {
  const std::optional<Guarantees> promised = method.guarantees();
  if (!promised) return false;
  return promised->mse_rate == exact_rate || (interaction_order == 1 && promised->exact_on_additive) ||
         ((interaction_order == 1 || interaction_order == 2) && promised->exact_on_two_additive);
}

std::vector<runs::MethodRow> compare_methods(const ComparisonPlan& plan, const Truth& truth,
                                             const std::vector<runs::MethodRow>& done,
                                             const std::function<void(const runs::MethodRow&)>& store,
                                             const runs::Part& part) {
  require(plan.repeats >= 1, "compare: repeats=", plan.repeats, " (no run). Give at least one.");
  std::map<Key, const runs::MethodRow*> stored;
  for (const runs::MethodRow& row : done) stored.emplace(Key(row.method, row.explainer, row.budget, row.repeat), &row);
  static constexpr std::array<std::int64_t, 1> no_budget = {0};
  Schedule schedule;
  for (const auto& method : plan.methods)
    schedule.add(*method, method->uses_budget() ? std::span(plan.budgets) : std::span<const std::int64_t>(no_budget),
                 plan.repeats);
  Progress progress("compare", (schedule.size() - part.index + part.of - 1) / part.of, "runs");
  std::vector<runs::MethodRow> rows;
  const auto known = [&](const Turn& turn) {
    const auto budget = turn.method.uses_budget() ? std::optional(turn.budget) : std::nullopt;
    const auto found = stored.find({std::string(turn.method.name()), turn.method.explainer(), budget, turn.repeat});
    if (found == stored.end()) return false;
    rows.push_back(*found->second);
    progress.skip(1);
    return true;
  };
  const auto keep = [&](const Turn& turn, const Reply& reply) {
    runs::MethodRow row{reply.answer};
    row.game = plan.name;
    row.players = plan.game.players();
    row.truth = truth.method;
    row.truth_error = truth.error;
    row.repeat = turn.repeat;
    judge(row, reply, turn.method, plan, truth);
    store(row);
    progress.advance(1, row.method);
    rows.push_back(std::move(row));
  };
  play({.who = "compare", .game = plan.game, .scenario = plan.scenario, .seed = plan.seed, .truth = truth.values},
       schedule, keep, part, known);
  return rows;
}

}  // namespace opshap::evaluation
