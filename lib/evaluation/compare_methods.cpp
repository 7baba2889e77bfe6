#include "evaluation/compare_methods.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "core/error.hpp"
#include "core/progress.hpp"
#include "core/scale.hpp"
#include "core/stop.hpp"
#include "evaluation/attempt.hpp"
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

class Contest {
 public:
  Contest(const ComparisonPlan& plan, const Truth& truth) : plan_(plan), truth_(truth) {}

  runs::MethodRow row(const methods::Method& method, std::optional<std::int64_t> budget, std::int64_t repeat) const {
    runs::MethodRow row;
    row.game = plan_.name;
    row.players = plan_.game.players();
    row.truth = truth_.method;
    row.truth_error = truth_.error;
    row.method = method.name();
    row.explainer = method.explainer();
    row.access = method.access();
    row.budget = budget;
    row.repeat = repeat;
    row.seed = Rng(plan_.seed, method.name(), static_cast<std::uint32_t>(repeat),
                   static_cast<std::uint64_t>(budget.value_or(0)))
                   .bits64();
    const Attempt attempt = attempted(method, {plan_.game, plan_.scenario, {budget.value_or(0)}, row.seed});
    if (!attempt.failure.empty()) row.failure = attempt.failure;
    if (attempt.found) {
      score(row, *attempt.found, method);
    } else {
      row.scores = metrics::no_scores(attempt.why, false);
    }
    return row;
  }

 private:
  void score(runs::MethodRow& row, const Attribution& attribution, const methods::Method& method) const {
    row.distinct = attribution.distinct;
    row.evaluations = attribution.evaluations;
    row.gradients = attribution.gradients;
    row.estimator_seconds = attribution.estimator_seconds;
    row.game_seconds = attribution.game_seconds;
    row.scores = metrics::score({attribution, truth_.values});
    const auto is_finite = [](double value) { return std::isfinite(value); };
    const bool has_size = std::ranges::any_of(truth_.values, [](double value) { return value != 0; });
    if (!row.scores["nrmse"].value && has_size && std::ranges::all_of(attribution.values, is_finite)) {
      // Its values are numbers, but its error is beyond all of them. It ranks last, as one without values does.
      row.failure = to_string(peers::Ending::invalid);
      row.scores["nrmse"] = Measured::undefined("its error is larger than any number");
    }
    if (promises_exactness(method, plan_.interaction_order)) {
      row.exact = "guarantee";
    } else if (attribution.exact) {
      row.exact = "all coalitions";
    } else if (truth_.error == 0 && row.scores["nrmse"].value && *row.scores["nrmse"].value <= truth_.rounding) {
      row.exact = "rounding";
    }
  }

  const ComparisonPlan& plan_;
  const Truth& truth_;
};

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
  std::map<Key, const runs::MethodRow*> known;
  for (const runs::MethodRow& row : done) known.emplace(Key(row.method, row.explainer, row.budget, row.repeat), &row);
  // Runs are numbered through, and no list is made of them: there may be billions of repeats.
  struct Runs {
    const methods::Method& method;
    std::optional<std::int64_t> budget;
    std::int64_t first;
  };
  std::vector<Runs> runs;
  std::int64_t all = 0;
  for (const auto& method : plan.methods) {
    if (!method->uses_budget()) {
      runs.push_back({*method, std::nullopt, all++});
      continue;
    }
    for (const std::int64_t budget : plan.budgets) {
      runs.push_back({*method, budget, all});
      all += plan.repeats;
    }
  }
  const Contest contest(plan, truth);
  Progress progress("compare", (all - part.index + part.of - 1) / part.of, "runs");
  std::vector<runs::MethodRow> rows;
  for (std::int64_t number = part.index; number < all; number += part.of) {
    const auto& [method, budget, first] = *std::prev(std::ranges::upper_bound(runs, number, {}, &Runs::first));
    const std::int64_t repeat = number - first;
    throw_if_stopped("compare");
    const auto found = known.find({std::string(method.name()), method.explainer(), budget, repeat});
    if (found != known.end()) {
      rows.push_back(*found->second);
      progress.skip(1);
      continue;
    }
    rows.push_back(contest.row(method, budget, repeat));
    store(rows.back());
    progress.advance(1, std::string(method.name()));
  }
  return rows;
}

}  // namespace opshap::evaluation
