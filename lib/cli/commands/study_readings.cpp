// `opshap study readings`: what the explanations of a run become when its game is another one.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/profile_settings.hpp"
#include "cli/studied_run.hpp"
#include "core/error.hpp"
#include "core/strict_json.hpp"
#include "core/toml_text.hpp"
#include "evaluation/held_out.hpp"
#include "metrics/registry.hpp"
#include "reporting/evidence.hpp"
#include "reporting/table.hpp"
#include "runs/manifest.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

namespace {

struct ReadingsOptions {
  fs::path run;
  std::vector<std::string> readings, others;
  std::string resolution;
  StudiedGames games = {.inputs = 10, .reference_error = 0.02};
};

/// A game that somebody else may have meant.
struct Reading {
  std::string name;
  evaluation::HeldOutPlan plan;
  std::string identity;  ///< all that decides its explanations
};

std::pair<std::string, std::string> named(const std::string& option, const std::string& text, const char* what) {
  const std::size_t sign = text.find('=');
  require(sign != std::string::npos && sign > 0 && sign + 1 < text.size(), "study: --", option, "=", text, " (is not ",
          what, "). Write it so.");
  return {text.substr(0, sign), text.substr(sign + 1)};
}

/// The rule with the keys of [scenario] that `table` has, as in {query_channel = 1}.
ScenarioRule changed(ScenarioRule rule, const std::string& name, const std::string& table) {
  std::map<std::string, int, std::less<>> lines;
  const auto object = parse_toml("scenario = " + table, "study", "--reading " + name, lines);
  StrictObject root(object, {.who = "study: --reading " + name + ": "});
  read_settings(scenario_settings(), root.object("scenario"), rule);
  root.finish();
  return rule;
}

/// Where meshes are the same the inputs are those of the run, which `ours` has.
data::SampleFields inputs_on(const data::SampleFields& ours, const data::SampleFields& theirs,
                             const std::string& name) {
  require(ours.count() == theirs.count(), "study: --other=", name, ", inputs=", theirs.count(), " (the run has ",
          ours.count(), " that it explains). Give a run of the same flows.");
  if (ours.has_domains_of(theirs)) return ours;
  for (std::int64_t sample = 0; sample < ours.count(); ++sample) {
    const FieldBatch here = ours.one(sample), there = theirs.one(sample);
    for (std::int64_t point = 0; point < here.domain.points(); ++point) {
      const std::vector<double> place = here.domain.position(point);
      const std::int64_t other = there.domain.nearest(place);
      if (there.domain.position(other) != place) continue;
      require(here.values[static_cast<std::size_t>(point)] == there.values[static_cast<std::size_t>(other)],
              "study: --other=", name, ", input=", sample,
              " (is not that of the run, where their meshes have the same nodes). Give a run of the same flows.");
    }
  }
  return theirs;
}

/// Of one reading, over the inputs.
struct Change {
  std::string name, rule;
  int inputs = 0;
  statistics::Quartiles pearson, nrmse;
  double largest_reference_error = 0;
};

Change change_of(const Reading& reading, const evaluation::HeldOut& ours, const evaluation::HeldOut& theirs) {
  Change found{.name = reading.name, .rule = reading.plan.rule.describe()};
  std::vector<double> pearsons, nrmses;
  for (std::size_t sample = 0; sample < ours.inputs(); ++sample) {
    const evaluation::HeldOut::Case &here = ours.explained(0, sample), &there = theirs.explained(0, sample);
    const std::vector<double> values = evaluation::values_for(here.scenario, there.scenario, there.values);
    const Measured pearson = metrics::pearson(here.values, values), nrmse = metrics::nrmse(here.values, values);
    if (!pearson.value || !nrmse.value) continue;
    pearsons.push_back(*pearson.value);
    nrmses.push_back(*nrmse.value);
    for (const Measured& error : {here.error, there.error})
      found.largest_reference_error = std::max(found.largest_reference_error, error.value.value_or(0));
  }
  require<DataError>(!nrmses.empty(), "study: --reading ", reading.name,
                     " (the explanations of all inputs are constant). Give inputs that change the operator's answer.");
  found.inputs = static_cast<int>(nrmses.size());
  found.pearson = statistics::quartiles(pearsons);
  found.nrmse = statistics::quartiles(nrmses);
  return found;
}

reporting::Evidence evidence_of(const StudiedRun& run, const evaluation::HeldOutPlan& plan, int players,
                                const std::vector<Change>& changes) {
  reporting::Table table{
      .name = "changes",
      .caption =
          "How far the explanation of an input under another reading is from that under the reading of the run: "
          "median and quartiles over the inputs of the correlation and of the distance over the norm. Players "
          "of another partition give each of ours what lies in it. The reference's error is the largest of "
          "both, and a distance below it says nothing.",
      .columns = {{"reading"},
                  {"inputs", true},
                  {"Pearson", true},
                  {"NRMSE", true},
                  {"reference's error", true},
                  {"its game"}},
      .rows = {}};
  for (const Change& change : changes)
    table.add({change.name, std::to_string(change.inputs), reporting::show(change.pearson),
               reporting::show(change.nrmse), reporting::show(change.largest_reference_error), change.rule});
  const auto in_words = [](const Change& change) {
    return fmt::format("\"{}\" (median NRMSE {})", change.name, reporting::show(change.nrmse.median));
  };
  const auto [least, most] = std::ranges::minmax(changes, {}, [](const Change& change) { return change.nrmse.median; });
  return {.name = "readings",
          .title = "What a choice of the game changes",
          .finding = fmt::format(
              "{}, {} players, {} inputs. The reading of the run is \"{}\". Of the others {} changes "
              "the explanation most, and {} least.",
              run.subject(), players, plan.inputs.count(), plan.rule.describe(), in_words(most), in_words(least)),
          .studies = {},
          .tables = {std::move(table)}};
}

void run(const ReadingsOptions& options, const Globals& globals) {
  require_study(globals);
  require(!options.readings.empty() || !options.others.empty(),
          "study: --reading (is missing: the game of the run is compared with others). Give one, as in "
          "--reading 'zeros={baseline = \"zero\"}'.");
  const StudiedRun studied = read_studied_run(options.run, globals.config, globals);
  evaluation::HeldOutPlan usual = studied.plan(options.games, globals.seed);
  usual.resolutions = {options.resolution.empty() ? usual.resolutions.front()
                                                  : Resolution::parse("study: --resolution", options.resolution)};

  const auto identity = [&](const StudiedRun& of, const ScenarioRule& rule) {
    return message(of.identity(options.games, globals.seed), rule.describe(), " at ", usual.resolutions.front());
  };
  std::deque<StudiedRun> others;
  std::vector<Reading> all = {{"the run's", usual, identity(studied, usual.rule)}};
  for (const std::string& text : options.readings) {
    const auto [name, table] = named("reading", text, "NAME={KEY = VALUE, …} with keys of [scenario]");
    evaluation::HeldOutPlan plan = usual;
    plan.rule = data::rule_for(changed(studied.profile.explainer.scenario, name, table), studied.data);
    all.push_back({name, plan, identity(studied, plan.rule)});
  }
  for (const std::string& text : options.others) {
    const auto [name, folder] = named("other", text, "NAME=RUN with the folder of a run");
    const StudiedRun& other = others.emplace_back(read_studied_run(folder, {}, globals));
    evaluation::HeldOutPlan plan = other.plan(options.games, globals.seed);
    plan.resolutions = usual.resolutions;
    plan.inputs = inputs_on(usual.inputs, plan.inputs, name);
    all.push_back({name, plan, message(identity(other, plan.rule), studied.data.content_hash)});
  }

  nlohmann::ordered_json settings = {{"inputs", options.games.inputs},
                                     {"reference_error", options.games.reference_error}};
  for (const Reading& reading : all) settings["readings"][reading.name] = reading.identity;
  runs::Manifest manifest(globals.out, study_beginning(globals, studied.profile.data.pde, settings));
  const reporting::Evidence evidence = manifest.stage("study", [&] {
    std::vector<evaluation::HeldOut> explained;
    for (std::size_t number = 0; number < all.size(); ++number) {
      runs::Units units(globals.out / "units" / std::to_string(number), "study", all[number].identity);
      explained.emplace_back(all[number].plan, &units);
    }
    std::vector<Change> changes;
    for (std::size_t number = 1; number < all.size(); ++number)
      changes.push_back(change_of(all[number], explained.front(), explained[number]));
    return evidence_of(studied, usual, explained.front().players(0), changes);
  });
  reporting::write(evidence, globals.out);
  if (!globals.json) std::cout << evidence.markdown() << '\n';
  print_path(globals, "study", globals.out / (evidence.name + ".md"));
}

}  // namespace

void add_readings_study(CLI::App& study, const Globals& globals) {
  const auto [command, options] = add_command<ReadingsOptions>(
      study, "readings", "How far explanations move when the game is another one than that of the run", run, globals);
  command->add_option("--run", options.run, "Folder of a run: config.resolved.toml, data/, backbone/")->required();
  command->add_option("--reading", options.readings,
                      "NAME={KEY = VALUE, …}: keys of [scenario] that are other ones; several times");
  command->add_option("--other", options.others,
                      "NAME=RUN: the game and the backbone of another run; its inputs where its meshes are others, and "
                      "else those of the run");
  command->add_option("--resolution", options.resolution, "Points per axis; default: the first resolution of the run");
  add_studied_games(*command, options.games);
}

}  // namespace opshap::cli
