// `opshap study methods`: what every method gives for its cost on the inputs of a run, and what error bars tell.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/studied_run.hpp"
#include "core/error.hpp"
#include "core/process.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "estimators/registry.hpp"
#include "estimators/second_order.hpp"
#include "evaluation/contest.hpp"
#include "evaluation/held_out.hpp"
#include "methods/method.hpp"
#include "methods/steps.hpp"
#include "metrics/registry.hpp"
#include "reporting/error_bars.hpp"
#include "reporting/evidence.hpp"
#include "reporting/table.hpp"
#include "runs/manifest.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

namespace {

struct MethodsOptions {
  fs::path run;
  std::vector<std::string> methods;
  std::vector<Resolution> resolutions;
  std::string budgets;
  StudiedGames games;
};

/// Something that explains, with what it is told.
struct Contender {
  std::string name;
  bool uses_budget = false;
  std::function<Attribution(const methods::Question&)> attribute;
};

Contender contender(std::shared_ptr<const methods::Method> method, std::string name) {
  return {.name = std::move(name), .uses_budget = method->uses_budget(), .attribute = [method](const auto& question) {
            return method->attribute(question);
          }};
}

constexpr const char* in_steps = "without a method";
constexpr const char* corrected_mean_field = "diagonal_second_order of the mean field";

/// The named ones; without names every estimator, the correction of the mean field, what `opshap attribute` does
/// without a method, and the uniform attribution.
std::vector<Contender> contenders(const std::vector<std::string>& names) {
  std::vector<Contender> all;
  const auto add = [&](const std::string& name) {
    if (name == in_steps) {
      all.push_back({.name = name, .attribute = [](const methods::Question& question) {
                       return methods::in_steps(question.game, methods::default_tolerance, question.seed);
                     }});
    } else if (name == corrected_mean_field) {
      all.push_back(contender(methods::of_estimator(estimators::diagonal_second_order({.mean_field = true})), name));
    } else {
      all.push_back(contender(methods::resolve(name), name));
    }
  };
  for (const std::string& name : names) add(name);
  if (!names.empty()) return all;
  for (const std::string& name : estimators::names()) add(name);
  for (const char* name : {corrected_mean_field, in_steps, "uniform"}) add(name);
  return all;
}

/// What a contender gave for one input. Relative errors are distances to the reference over its norm.
struct Answered {
  double nrmse = 0, seconds = 0, forward_equivalents = 0;
  std::optional<double> bar = {};                                ///< of the values
  std::optional<double> first_order_nrmse = {}, first_bar = {};  ///< of what a correction corrects
};

/// "n = 64, permutation, 1024": a contender at a resolution.
struct Row {
  std::size_t place;
  std::string name;
  std::optional<std::int64_t> budget;
  /// One an input; none where its Shapley values are all 0, or it was refused.
  std::vector<std::optional<Answered>> answers = {};
  std::string refused = {};  ///< why some are missing

  std::vector<double> numbers(double Answered::*what) const {
    std::vector<double> found;
    for (const auto& answer : answers)
      if (answer) found.push_back((*answer).*what);
    return found;
  }
  double median(double Answered::*what) const { return statistics::quartiles(numbers(what)).median; }
  bool scored() const {
    return std::ranges::any_of(answers, [](const auto& answer) { return answer.has_value(); });
  }
};

nlohmann::json json_of(const Answered& answer) {
  const auto number = [](const std::optional<double>& of) { return of ? nlohmann::json(*of) : nlohmann::json(); };
  return {{"nrmse", answer.nrmse},
          {"seconds", answer.seconds},
          {"forward_equivalents", answer.forward_equivalents},
          {"bar", number(answer.bar)},
          {"first_order_nrmse", number(answer.first_order_nrmse)},
          {"first_bar", number(answer.first_bar)}};
}

Answered answer_of(const nlohmann::json& json) {
  const auto number = [&](const char* key) {
    return json.at(key).is_null() ? std::optional<double>() : json.at(key).get<double>();
  };
  return {.nrmse = json.at("nrmse"),
          .seconds = json.at("seconds"),
          .forward_equivalents = json.at("forward_equivalents"),
          .bar = number("bar"),
          .first_order_nrmse = number("first_order_nrmse"),
          .first_bar = number("first_bar")};
}

/// Empty where the Shapley values are all 0.
std::optional<Answered> answered(const Contender& by, const evaluation::HeldOut::Case& one, Budget budget,
                                 std::uint64_t seed) {
  const Attribution found = by.attribute({*one.game, &one.scenario, budget, seed});
  const Measured nrmse = metrics::nrmse(one.values, found.values);
  if (!nrmse.value || !one.error.value) return std::nullopt;
  Answered answer{.nrmse = *nrmse.value,
                  .seconds = found.game_seconds + found.estimator_seconds,
                  .forward_equivalents = static_cast<double>(found.forward_equivalents),
                  .bar = methods::error_bar(found).value};
  if (found.second_order && found.steps.empty()) {
    answer.first_order_nrmse = metrics::nrmse(one.values, found.second_order->first_order).value;
    answer.first_bar = methods::first_order_error_bar(*found.second_order).value;
  }
  return answer;
}

class Contests {
 public:
  Contests(const MethodsOptions& options, const std::vector<Contender>& contenders, const evaluation::HeldOut& held_out,
           const Profile& profile, std::uint64_t seed, runs::Units& units)
      : options_(options),
        contenders_(contenders),
        held_out_(held_out),
        profile_(profile),
        seed_(seed),
        units_(units) {}

  std::vector<Row> rows() {
    std::vector<Row> rows;
    Progress progress("methods", static_cast<std::int64_t>(contenders_.size() * options_.resolutions.size()),
                      "methods");
    for (std::size_t place = 0; place < options_.resolutions.size(); ++place)
      for (const Contender& by : contenders_) {
        for (const std::optional<std::int64_t>& budget : budgets(by, held_out_.players(place)))
          rows.push_back(answers(by, place, budget));
        progress.advance(1, message("n = ", options_.resolutions[place]));
      }
    return rows;
  }

 private:
  std::vector<std::optional<std::int64_t>> budgets(const Contender& by, int players) const {
    if (!by.uses_budget) return {std::nullopt};
    if (options_.budgets.empty()) return {std::max<std::int64_t>(2 * players, profile_.evaluation.minimum_budget)};
    std::vector<std::optional<std::int64_t>> all;
    for (const std::int64_t budget : evaluation::parse_budgets(options_.budgets, players)) all.emplace_back(budget);
    return all;
  }

  Row answers(const Contender& by, std::size_t place, std::optional<std::int64_t> budget) {
    Row row{.place = place, .name = by.name, .budget = budget};
    for (std::size_t sample = 0; sample < held_out_.inputs(); ++sample) {
      throw_if_stopped("study");
      const evaluation::HeldOut::Case& one = held_out_.explained(place, sample);
      const std::string unit =
          message(options_.resolutions[place], "-", by.name, "-", budget.value_or(0), "-", sample, ".json");
      const std::uint64_t seed =
          Rng(seed_, "study methods/" + by.name, static_cast<std::uint32_t>(place), sample).bits64();
      const auto json = nlohmann::json::parse(units_.once(unit, [&] {
        try {
          const auto answer = answered(by, one, budget ? Budget{*budget} : Budget{}, seed);
          return (answer ? json_of(*answer) : nlohmann::json()).dump();
        } catch (const InvalidArgument& error) {
          return nlohmann::json(error.what()).dump();
        }
      }));
      if (json.is_string()) {
        row.refused = json.get<std::string>();
        if (sample == 0) return row;  // and so it is of the others
      }
      row.answers.push_back(json.is_object() ? std::optional(answer_of(json)) : std::nullopt);
    }
    return row;
  }

  const MethodsOptions& options_;
  const std::vector<Contender>& contenders_;
  const evaluation::HeldOut& held_out_;
  const Profile& profile_;
  std::uint64_t seed_;
  runs::Units& units_;
};

/// Whether no other row of its resolution has less of both.
bool on_the_front(const Row& row, const std::vector<Row>& all, double Answered::*cost) {
  return std::ranges::none_of(all, [&](const Row& other) {
    return &other != &row && other.place == row.place && other.scored() &&
           other.median(&Answered::nrmse) < row.median(&Answered::nrmse) && other.median(cost) < row.median(cost);
  });
}

reporting::Table table_of_methods(const std::vector<Row>& rows, std::size_t place, int players, double reference) {
  reporting::Table table{
      .name = fmt::format("n{}", players),
      .caption = fmt::format("{} players. Medians over the inputs, of the NRMSE with quartiles. Where no other method "
                             "has both a smaller error and a smaller cost there is a mark. The references are known to "
                             "{}: the median of their own errors.",
                             players, reporting::show(reference)),
      .columns = {{"method"},
                  {"budget", true},
                  {"inputs", true},
                  {"NRMSE", true},
                  {"forward equivalents", true},
                  {"on the front"},
                  {"time", true},
                  {"on its front"}},
      .rows = {}};
  for (const Row& row : rows) {
    if (row.place != place) continue;
    if (!row.refused.empty()) table.notes.push_back(row.refused);
    if (!row.scored()) continue;
    const statistics::Quartiles nrmse = statistics::quartiles(row.numbers(&Answered::nrmse));
    const auto mark = [&](double Answered::*cost) { return on_the_front(row, rows, cost) ? "yes" : "no"; };
    table.add({row.name, row.budget ? std::to_string(*row.budget) : "its own", std::to_string(nrmse.count),
               reporting::show(nrmse), fmt::format("{:.0f}", row.median(&Answered::forward_equivalents)),
               mark(&Answered::forward_equivalents), reporting::show_seconds(row.median(&Answered::seconds)),
               mark(&Answered::seconds)});
  }
  return table;
}

/// Error bars that a method has, over all sizes.
reporting::Table table_of_bars(const std::vector<Row>& rows, const evaluation::HeldOut& held_out) {
  reporting::Table table{
      .name = "bars",
      .caption = fmt::format("What error bars tell, over all sizes. A failure is an error above {:.0f} %, a warning a "
                             "bar above {:.0f} %; other warnings are those for errors up to {:.0f} %. What the "
                             "reference's own error explains of a distance is taken off it.",
                             100 * reporting::failed_from, 100 * reporting::warns_above, 100 * reporting::failed_from),
      .columns = {{"method"}, {"bar of"}},
      .rows = {}};
  table.columns.insert(table.columns.end(), reporting::columns_of_bars().begin(), reporting::columns_of_bars().end());
  struct Judged {
    std::vector<double> errors, bars;
  };
  std::vector<std::pair<std::pair<std::string, std::string>, Judged>> all;
  const auto add = [&](const Row& row, const char* what, std::size_t sample, double error, double bar) {
    const std::string name = row.budget ? fmt::format("{}, {} coalitions", row.name, *row.budget) : row.name;
    const std::pair key(name, std::string(what));
    auto found = std::ranges::find(all, key, [](const auto& entry) { return entry.first; });
    if (found == all.end()) found = all.insert(all.end(), {key, {}});
    found->second.errors.push_back(
        reporting::without_reference(error, held_out.explained(row.place, sample).error.value.value_or(0)));
    found->second.bars.push_back(bar);
  };
  for (const Row& row : rows)
    for (std::size_t sample = 0; sample < row.answers.size(); ++sample) {
      const std::optional<Answered>& answer = row.answers[sample];
      if (!answer) continue;
      if (answer->first_order_nrmse && answer->first_bar)
        add(row, "what it corrects", sample, *answer->first_order_nrmse, *answer->first_bar);
      if (answer->bar && *answer->bar > 0) add(row, "its values", sample, answer->nrmse, *answer->bar);
    }
  for (const auto& [key, judged] : all) {
    std::vector<std::string> cells = {key.first, key.second};
    for (std::string& cell : reporting::bars_judged(judged.errors, judged.bars)) cells.push_back(std::move(cell));
    table.add(std::move(cells));
  }
  return table;
}

reporting::Evidence evidence_of(const MethodsOptions& options, const StudiedRun& run,
                                const evaluation::HeldOut& held_out, const std::vector<Row>& rows) {
  reporting::Evidence evidence{
      .name = "methods",
      .title = "What methods give for their cost",
      .finding = fmt::format("{}, {} inputs, explained {}.", run.subject(), held_out.inputs(),
                             options.games.any_query ? "at a random point each" : "at the query of the run"),
      .studies = {}};
  for (std::size_t place = 0; place < options.resolutions.size(); ++place) {
    std::vector<double> errors;
    for (std::size_t sample = 0; sample < held_out.inputs(); ++sample)
      if (const auto& error = held_out.explained(place, sample).error.value) errors.push_back(*error);
    evidence.tables.push_back(table_of_methods(rows, place, held_out.players(place),
                                               errors.empty() ? 0 : statistics::quartiles(errors).median));
  }
  evidence.tables.push_back(table_of_bars(rows, held_out));
  return evidence;
}

void run(const MethodsOptions& asked, const Globals& globals) {
  require_study(globals);
  MethodsOptions options = asked;
  const StudiedRun studied = read_studied_run(options.run, globals.config, globals);
  evaluation::HeldOutPlan plan = studied.plan(options.games, globals.seed);
  if (options.resolutions.empty()) options.resolutions = plan.resolutions;
  plan.resolutions = options.resolutions;
  if (!options.budgets.empty()) evaluation::parse_budgets(options.budgets, 16);  // a wrong one is refused before work
  std::vector<std::string> names;
  const std::vector<Contender> all = contenders(options.methods);
  for (const Contender& by : all) names.push_back(by.name);

  const nlohmann::ordered_json settings = {
      {"references",
       message(studied.identity(options.games, globals.seed), " at ", nlohmann::json(options.resolutions).dump())},
      {"methods", names},
      {"budgets", options.budgets.empty() ? message("2n, at least ", studied.profile.evaluation.minimum_budget)
                                          : options.budgets}};
  runs::Manifest manifest(globals.out, study_beginning(globals, studied.profile.data.pde, settings));
  const reporting::Evidence evidence = manifest.stage("study", [&] {
    runs::Units references(globals.out / "references", "study", settings["references"].get<std::string>());
    const evaluation::HeldOut held_out(plan, &references);
    runs::Units answers(globals.out / "answers", "study", settings.dump());
    return evidence_of(options, studied, held_out,
                       Contests(options, all, held_out, studied.profile, globals.seed, answers).rows());
  });
  reporting::write(evidence, globals.out);
  print_path(globals, "study", globals.out / (evidence.name + ".md"));
}

}  // namespace

void add_methods_study(CLI::App& study, const Globals& globals) {
  const auto [command, options] = add_command<MethodsOptions>(
      study, "methods", "The error of every method against its evaluations and its time, and what its error bar tells",
      run, globals);
  command->add_option("--run", options.run, "Folder of a run: config.resolved.toml, data/, backbone/")->required();
  command
      ->add_option("--methods", options.methods,
                   "Methods (default: every estimator, the correction of the mean field, what `opshap attribute` does "
                   "without a method, uniform)")
      ->delimiter(',');
  add_resolutions(*command, options.resolutions, "Points per axis, ascending; default: those of the run");
  command->add_option("--budgets", options.budgets,
                      "Of methods that have one, as in 4n,16n; default: 2n, and at least what the run's profile says");
  add_studied_games(*command, options.games);
  add_any_query(*command, options.games);
}

}  // namespace opshap::cli
