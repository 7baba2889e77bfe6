#include "cli/suite_entries.hpp"

#include <cmath>
#include <filesystem>
#include <string>
#include <utility>

#include "cli/trained_explainer.hpp"
#include "core/error.hpp"
#include "games/cell_mask_game.hpp"
#include "networks/networks.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

/// The grid of a problem with so many points.
std::vector<int> grid_of(const SuiteGame& game, int dimension) {
  if (dimension == 1) return {game.players};
  const int side = static_cast<int>(std::lround(std::sqrt(game.players)));
  require(side * side == game.players, "suite: ", game.name, ", players=", game.players,
          " (the points of a square grid play). Give a square number.");
  return {side, side};
}

SuiteEntry entry_of(const SuiteGame& game, bool force, const Globals& globals) {
  SuiteEntry entry;
  entry.op =
      networks::library().load_operator(game.op->file, globals.device, networks::Precision::float32, globals.engine);
  const pde::Problem& problem = pde::find(game.op->problem);
  const int dimension = problem.input().domain.dimension();
  require(entry.op->dimension() == dimension && entry.op->input_channels() == problem.input().channel_count(),
          "suite: ", game.name, ", operator=", game.op->file.string(), " (", entry.op->describe(),
          ", does not take the inputs of ", game.op->problem, "). Give an operator that was trained for them.");
  const std::vector<int> shape = grid_of(game, dimension);
  FieldBatch field = problem.draw(Rng(0, message("suite/", game.op->problem)), game.op->sample).input;
  field = strided(field, shape);
  field.domain = entry.op->domain(shape);
  const ScenarioRule rule = problem.default_rule();
  Scenario scenario = make_scenario(rule, field);
  entry.named = {.name = game.name,
                 .game = games::cell_mask_game(*entry.op, scenario),
                 .rule = rule.describe(),
                 .scenario = std::make_unique<Scenario>(std::move(scenario))};
  entry.kinds = explainer_kinds(*entry.op, *entry.named.scenario, rule, force, globals);
  return entry;
}

}  // namespace

methods::Kinds explainer_kinds(const Operator& op, const Scenario& scenario, const ScenarioRule& rule, bool force,
                               const Globals& globals) {
  return {{"explainer", [&, rule, force](const std::string& file) {
             auto explainer = trained_explainer(file, op, globals.device, std::filesystem::path(file).stem());
             require_trained_for("compare", *explainer, file, op, rule, force);
             require_explains("compare", *explainer, file, scenario.input.domain, rule, {scenario.readout});
             return explainer;
           }}};
}

OperatorEntries operator_entries(bool force, const Globals& globals) {
  return [&globals, force](const SuiteGame& game) { return entry_of(game, force, globals); };
}

}  // namespace opshap::cli
