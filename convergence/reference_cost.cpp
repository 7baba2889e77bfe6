// What it costs to know the Shapley values of an operator's cells to a relative error.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "estimators/registry.hpp"
#include "evaluation/certified_reference.hpp"
#include "operators/fno.hpp"
#include "reporting/evidence.hpp"
#include "statistics/quantiles.hpp"
#include "subject.hpp"
#include "support/values_alone.hpp"

namespace opshap {
namespace {

constexpr double targets[] = {0.01, 0.003};
constexpr const char* certified = "certified reference";

/// One run: what it was allowed and what it cost, and its relative error.
struct Run {
  double budget = 0, evaluations = 0, passes = 0, equivalents = 0, seconds = 0, error = 0;

  /// The same run with a budget that gives another error, by the law of one over its root.
  Run with_error(double wanted) const {
    const double factor = std::pow(error / wanted, 2);
    return {budget * factor, evaluations * factor, passes * factor, equivalents * factor, seconds * factor, wanted};
  }
};

/// What a method needs on one input for one error: measured, or extrapolated from the run of `from`.
struct Cost {
  Run run;
  std::optional<Run> from;
};

double norm(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return std::sqrt(squares);
}

/// From the standard errors, or the distance to the truth without what the truth's own errors explain of it.
double relative_error(const Attribution& found, const Attribution& truth) {
  if (found.exact) return 0;
  if (found.standard_errors) return norm(*found.standard_errors) / norm(truth.values);
  double squares = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i)
    squares += std::pow(found.values[i] - truth.values[i], 2) - std::pow((*truth.standard_errors)[i], 2);
  return std::sqrt(std::max(squares, 0.0)) / norm(truth.values);
}

/// Runs a method on a game with budgets that lead to the error, none of them above `most`.
class Search {
 public:
  Search(std::function<Run(double)> run, double first, double least, double most)
      : run_(std::move(run)), first_(first), least_(least), most_(most) {}

  Cost to(double target) {
    if (runs_.empty()) measure(first_);
    for (int attempt = 0; attempt < 4; ++attempt) {
      const auto enough = std::find_if(runs_.begin(), runs_.end(), [&](const auto& one) {
        return one.second.error <= target && (one.first <= least_ || one.second.error > target / 1.5);
      });
      if (enough != runs_.end()) return {enough->second, std::nullopt};
      const Run& known = runs_.rbegin()->second;  // the largest one is known best
      const double wanted = std::max(least_, 1.1 * known.with_error(target).budget);
      if (wanted > most_ || runs_.contains(wanted)) break;
      measure(wanted);
    }
    for (const auto& [budget, run] : runs_)
      if (run.error <= target) return {run, std::nullopt};
    const Run& known = runs_.rbegin()->second;
    return {known.with_error(target), known};
  }

 private:
  void measure(double budget) { runs_[budget] = run_(budget); }

  std::function<Run(double)> run_;
  double first_, least_, most_;
  std::map<double, Run> runs_;
};

/// What may be spent on one run, in forward equivalents: up to 20 seconds of the backbone of the profile `paper`.
double most_for(int players) {
  if (!is_run()) return 20000;
  return players <= 16 ? 65536 : players <= 64 ? 150000 : players <= 256 ? 50000 : 20000;
}

/// All methods on one input on n points.
class Bench {
 public:
  explicit Bench(const Game& game) : game_(game), truth_(reference(0.003, 5 * most_for(game.players()))) {}

  Cost method(const std::string& name, double target) {
    const int n = game_.players();
    const Estimator& estimator = estimators::find(name);
    const auto least = static_cast<double>(estimator.minimum(n).coalitions);
    // Regressions need several rows a player before their errors fall as the law says.
    const double first = name == "two_level"                ? std::max(1.25 * least, 2048.0)
                         : name == "permutation_antithetic" ? std::max(4 * (least - 2) + 2, 2048.0)
                                                            : std::max(16.0 * n, 2048.0);
    auto [search, fresh] = searches_.try_emplace(
        name, [this, &estimator](double budget) { return measured(estimator, budget); }, first,
        name == "two_level" ? 1.25 * least : first, std::max(first, most_for(n)));
    return search->second.to(target);
  }

  Cost certified_reference(double target) {
    const evaluation::CertifiedReference found =
        target == 0.003 ? truth_ : reference(target, 5 * most_for(game_.players()));
    const double error = found.error.value.value();
    const Run run = run_of(found.attribution, 0, static_cast<double>(found.attribution.evaluations), error);
    if (error <= target) return {run, std::nullopt};
    return {run.with_error(target), run};
  }

 private:
  evaluation::CertifiedReference reference(double target, double most) const {
    return evaluation::certified_reference(
        game_, {.relative_error = target, .max_evaluations = static_cast<std::int64_t>(most)}, 11);
  }

  static Run run_of(const Attribution& found, double budget, double equivalents, double error) {
    return {budget,      static_cast<double>(found.distinct),          static_cast<double>(found.gradients),
            equivalents, found.game_seconds + found.estimator_seconds, error};
  }

  Run measured(const Estimator& estimator, double budget) const {
    const Attribution found = attribute(estimator, game_, {static_cast<std::int64_t>(budget)}, 7);
    const double passes = static_cast<double>(found.gradients * game_.slopes()->pass_cost());
    return run_of(found, budget, static_cast<double>(found.distinct) + passes,
                  relative_error(found, truth_.attribution));
  }

  const Game& game_;
  evaluation::CertifiedReference truth_;
  std::map<std::string, Search> searches_;
};

std::string range(std::vector<double> values, const std::function<std::string(double)>& show) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{} to {}", show(*low), show(*high));
}

std::string rounded(double count) {
  const double unit = count < 1000 ? 1 : std::pow(10, std::floor(std::log10(count)) - 2);
  return reporting::show_count(unit * std::round(count / unit));
}

/// Of the inputs, how many were run to the target, and what the others are extrapolated from.
std::string origin(const std::vector<Cost>& costs) {
  std::vector<double> budgets, errors;
  for (const Cost& cost : costs) {
    if (!cost.from) continue;
    budgets.push_back(cost.from->equivalents);
    errors.push_back(cost.from->error);
  }
  if (budgets.empty()) return "measured";
  const std::string from =
      fmt::format("extrapolated from an error of {} at {}", fmt::format("{:.2g}", statistics::quartiles(errors).median),
                  rounded(statistics::quartiles(budgets).median));
  if (budgets.size() == costs.size()) return from;
  return fmt::format("measured on {}, {} {}", costs.size() - budgets.size(), budgets.size(), from);
}

/// Medians over the inputs, by method and target.
struct Row {
  double equivalents = 0, seconds = 0;
};

Row add_row(reporting::Table& table, int players, const std::string& method, double target,
            const std::vector<Cost>& costs) {
  std::vector<double> evaluations, passes, equivalents, seconds;
  for (const Cost& cost : costs) {
    evaluations.push_back(cost.run.evaluations);
    passes.push_back(cost.run.passes);
    equivalents.push_back(cost.run.equivalents);
    seconds.push_back(cost.run.seconds);
  }
  const auto median = [](const std::vector<double>& of) { return statistics::quartiles(of).median; };
  const auto time = [](double value) { return reporting::show_seconds(value); };
  table.add({std::to_string(players), method, fmt::format("{}", target), rounded(median(evaluations)),
             rounded(median(passes)), rounded(median(equivalents)), range(equivalents, rounded), time(median(seconds)),
             range(seconds, time), origin(costs)});
  return {median(equivalents), median(seconds)};
}

Subject make_subject() {
  if (is_run()) return read_subject(std::getenv("OPSHAP_RUN"), 5);
  Subject subject{.name = {},
                  .op = operators::untrained_operator(
                      operators::FnoConfig{.n_modes = {12}, .hidden_channels = 16, .n_layers = 4}, 5),
                  .inputs = FieldBatch::zeros(Domain::unit({256}), 1, 1)};
  subject.name = message(subject.op->describe(), ", untrained");
  for (int x = 0; x < 256; ++x)
    subject.inputs.values[static_cast<std::size_t>(x)] =
        20 * std::cos(2 * std::numbers::pi * x / 256) - 12 * std::sin(6 * std::numbers::pi * x / 256);
  return subject;
}

// Orderings are cheap for few players, where slopes tell little; the two-level estimator for many, and with it
// references of which the check is a part.
TEST(ReferenceCost, SlopesMakeManyPlayersCheap) {
  const Subject subject = make_subject();
  const std::vector<int> sizes = is_run() ? std::vector<int>{16, 64, 256, 1024} : std::vector<int>{16, 256};
  const std::vector<std::string> methods = {"two_level", "permutation_antithetic", "kernel_shap_paired",
                                            "leverage_shap"};
  reporting::Table table{.name = "costs",
                         .caption =
                             "Medians over the inputs, and from the least to the largest. A reverse pass counts "
                             "as six evaluations in the forward equivalents. The error is |standard "
                             "errors|/|values|, of leverage_shap the distance to the certified reference.",
                         .columns = {{"n", true},
                                     {"method"},
                                     {"error", true},
                                     {"evaluations", true},
                                     {"passes", true},
                                     {"forward equivalents", true},
                                     {"range"},
                                     {"time", true},
                                     {"range of the time"},
                                     {"how known"}},
                         .rows = {}};
  std::map<std::pair<std::string, double>, Row> of_few, of_many;
  for (const int n : sizes) {
    std::map<std::pair<std::string, double>, std::vector<Cost>> costs;
    for (std::int64_t sample = 0; sample < subject.inputs.batch; ++sample) {
      const auto game = cell_game(*subject.op, subject.inputs.one(sample), n);
      Bench bench(*game);
      for (const double target : targets) {
        for (const std::string& method : methods) costs[{method, target}].push_back(bench.method(method, target));
        costs[{certified, target}].push_back(bench.certified_reference(target));
      }
    }
    std::vector<std::string> rows = methods;
    rows.emplace_back(certified);
    for (const double target : targets) {
      for (const std::string& method : rows) {
        const Row row = add_row(table, n, method, target, costs[{method, target}]);
        (n == sizes.back() ? of_many : of_few).try_emplace({method, target}, row);
      }
    }
  }
  const auto words = [&](const std::string& method, double target) {
    const Row& row = of_many[{method, target}];
    return fmt::format("{} ({})", rounded(row.equivalents), reporting::show_seconds(row.seconds));
  };
  const auto ratio = [&](double target) {
    return of_many[{methods[1], target}].equivalents / of_many[{methods[0], target}].equivalents;
  };
  reporting::publish(
      {.name = "reference_cost",
       .title = "What a reference costs",
       .finding = fmt::format(
           "{}; {} input{}. At n = {} an error of 1 % costs two_level {} forward equivalents, antithetic permutations "
           "{}, {:.0f} times as many; an error of 0.3 % costs {} and {}, {:.0f} times as many. A certified reference, "
           "which four or more pairs of orderings check, costs {} and {}. At n = {} orderings are the cheaper ones.",
           subject.name, subject.inputs.batch, subject.inputs.batch == 1 ? "" : "s", sizes.back(),
           words(methods[0], targets[0]), words(methods[1], targets[0]), ratio(targets[0]),
           words(methods[0], targets[1]), words(methods[1], targets[1]), ratio(targets[1]),
           words(certified, targets[0]), words(certified, targets[1]), sizes.front()),
       .studies = {},
       .tables = {table}});

  EXPECT_GT(ratio(targets[1]), 4);
  EXPECT_GT((of_many[{methods[1], targets[1]}].equivalents), 2 * (of_many[{certified, targets[1]}].equivalents));
  EXPECT_LT((of_few[{methods[1], targets[1]}].equivalents), (of_few[{methods[0], targets[1]}].equivalents));
}

// The same reference of the same network, with its slopes and without.
TEST(ReferenceCost, CertifiedReferencesTakeSeveralTimesFewerEvaluationsWithSlopes) {
  if (is_run()) GTEST_SKIP() << "the small network only";
  const Subject subject = make_subject();
  const auto game = cell_game(*subject.op, subject.inputs, 256);
  const evaluation::ReferenceSettings settings{.relative_error = 0.0025};
  const evaluation::CertifiedReference with = evaluation::certified_reference(*game, settings, 3),
                                       without = evaluation::certified_reference(ValuesAlone(*game), settings, 3);
  EXPECT_TRUE(with.reached && without.reached);
  EXPECT_LT(3 * with.attribution.evaluations, without.attribution.evaluations);
}

}  // namespace
}  // namespace opshap
