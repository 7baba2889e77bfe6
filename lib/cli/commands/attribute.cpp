// `opshap attribute`: a value to the players of a game, or an operator's prediction to the cells of its input.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/attribute_method.hpp"
#include "cli/attribute_output.hpp"
#include "cli/commands.hpp"
#include "cli/game_options.hpp"
#include "cli/operator_game.hpp"
#include "cli/trained_explainer.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/vtu_file.hpp"
#include "games/cell_mask_game.hpp"
#include "methods/method.hpp"
#include "reporting/field_figures.hpp"

namespace opshap::cli {

namespace {

/// The trained explainer of --explainer as a method; none without the option.
std::unique_ptr<methods::Method> wanted_explainer(const AttributeOptions& options, const OperatorQuestion& asked,
                                                  const Globals& globals) {
  if (options.explainer.empty()) return nullptr;
  auto explainer = trained_explainer(options.explainer, *asked.op, globals.device);
  require_trained_for("attribute", *explainer, options.explainer, *asked.op, asked.rule, options.force);
  require_explains("attribute", *explainer, options.explainer, asked.inputs.domain, asked.rule, asked.readouts);
  return explainer;
}

/// v(∅) and v(N) that need no evaluation of their own: v(∅) as long as the baseline stays the same, and both from the
/// whole output where several of its points are asked for.
class KnownEnds {
 public:
  explicit KnownEnds(const OperatorQuestion& asked) : asked_(asked), whole_(asked.readouts.size() > 1) {}

  /// To be called for each input.
  void begin(const Scenario& scenario) {
    if (scenario.baseline.values != baseline_) {
      baseline_ = scenario.baseline.values;
      empty_.reset();
      if (whole_) of_baseline_ = asked_.op->apply(scenario.baseline);
    }
    if (whole_) of_input_ = asked_.op->apply(scenario.input);
  }

  void fill(methods::Question& question) const {
    if (!whole_) {
      question.empty = empty_;
      return;
    }
    const Readout& readout = question.scenario->readout;
    question.empty = readout.of(of_baseline_.values, of_baseline_.domain.points());
    question.grand = readout.of(of_input_.values, of_input_.domain.points());
  }

  void keep(double empty) { empty_ = empty; }

 private:
  const OperatorQuestion& asked_;
  bool whole_;
  std::vector<double> baseline_;
  FieldBatch of_baseline_, of_input_;
  std::optional<double> empty_;
};

/// Where each player is: its point, or the range of its points on each axis.
std::vector<std::string> places_of(const Scenario& scenario) {
  const Domain& domain = scenario.input.domain;
  const auto players = static_cast<std::size_t>(scenario.partition.players);
  const auto axes = domain.position(0).size();
  std::vector<std::vector<double>> low(players, std::vector<double>(axes, HUGE_VAL)),
      high(players, std::vector<double>(axes, -HUGE_VAL));
  for (std::int64_t point = 0; point < domain.points(); ++point) {
    const auto player = static_cast<std::size_t>(scenario.partition.player_of[static_cast<std::size_t>(point)]);
    const std::vector<double> at = domain.position(point);
    for (std::size_t axis = 0; axis < axes; ++axis) {
      low[player][axis] = std::min(low[player][axis], at[axis]);
      high[player][axis] = std::max(high[player][axis], at[axis]);
    }
  }
  std::vector<std::string> places(players);
  for (std::size_t player = 0; player < players; ++player) {
    for (std::size_t axis = 0; axis < axes; ++axis) {
      places[player] += fmt::format("{}{:.4g}", axis == 0 ? "" : ", ", low[player][axis]);
      if (high[player][axis] > low[player][axis]) places[player] += fmt::format("..{:.4g}", high[player][axis]);
    }
  }
  return places;
}

/// "the value at point 27 (0.375, 0.375), channel 0".
std::string in_words(const Readout& readout, const Domain& domain) {
  if (!readout.is_query()) return readout.describe();
  std::string place;
  for (const double coordinate : domain.position(readout.query().point))
    place += fmt::format("{}{:.6g}", place.empty() ? "" : ", ", coordinate);
  return fmt::format("the value at point {} ({}), channel {}", readout.query().point, place, readout.query().channel);
}

/// Whose error bars are measured where opshap chooses the method. Of more questions every so-many-th is measured, and
/// those behind it are answered by its method: neighbouring points are alike, and a bar costs some hundred gradients.
constexpr std::int64_t most_measured = 64;

/// Answers one question after the other.
class Asker {
 public:
  Asker(const AttributeOptions& options, const methods::Method* peer, std::int64_t questions)
      : options_(options), peer_(peer), stride_((questions + most_measured - 1) / most_measured) {}

  Attribution answer(const methods::Question& question) {
    const bool measured = asked_++ % stride_ == 0;
    Attribution found = run_method(options_, peer_, question, measured ? nullptr : &measured_);
    if (measured && stride_ > 1) measured_ = found;
    return found;
  }

 private:
  const AttributeOptions& options_;
  const methods::Method* peer_;
  std::int64_t stride_, asked_ = 0;
  Attribution measured_;
};

/// A game that gives two values for one coalition has no exact answer, and no error bar.
void mark_noisy(Attribution& found) {
  found.exact = false;
  if (!found.steps.empty())
    found.steps.back().error_bar = Measured::undefined("the game gave two values for one coalition");
}

Answers answer(const AttributeOptions& options, const OperatorQuestion& asked, const Globals& globals) {
  const std::unique_ptr<methods::Method> explainer = wanted_explainer(options, asked, globals);
  const std::unique_ptr<methods::Method> peer = wanted_peer(options);
  Answers answers{.method = explainer ? std::string(explainer->name())
                            : peer    ? std::string(peer->name())
                                      : options.method,
                  .chosen = options.chooses(),
                  .tolerance = options.tolerance_in_use()};
  Asker asker(options, peer.get(), asked.inputs.batch * static_cast<std::int64_t>(asked.readouts.size()));
  const bool foreign = options.op.string().starts_with(peer_prefix);
  bool noisy = false;
  KnownEnds ends(asked);
  for (std::int64_t index = 0; index < asked.inputs.batch; ++index) {
    Scenario scenario = make_scenario(asked.rule, asked.inputs.one(index));
    answers.attributions.emplace_back();
    if (explainer != nullptr) ends.begin(scenario);
    for (const Readout& readout : asked.readouts) {
      scenario.readout = readout;
      const auto game = games::cell_mask_game(*asked.op, scenario);
      answers.path = game->path();
      AskedGame once(*game, foreign && answers.attributions.size() == 1 && answers.attributions.back().empty());
      methods::Question question{once.game(), &scenario, {}, globals.seed};
      if (explainer == nullptr) {
        answers.attributions.back().push_back(asker.answer(question));
        once.ask_again("attribute");
        once.describe(answers.more);
        noisy = noisy || once.noisy();
        if (noisy) mark_noisy(answers.attributions.back().back());
        continue;
      }
      ends.fill(question);
      answers.attributions.back().push_back(explainer->attribute(question));
      answers.remark = explainer->remark(question);
      ends.keep(answers.attributions.back().back().empty);
    }
  }
  answers.sorted = options.sorted;
  answers.several = asked.batched || asked.readouts.size() > 1;
  answers.explained = asked.explained;
  answers.blocks = asked.blocks;
  answers.places = places_of(make_scenario(asked.rule, asked.inputs.one(0)));
  if (asked.readouts.size() == 1) answers.more["explained"] = in_words(asked.readouts.front(), asked.inputs.domain);
  if (answers.chosen) answers.method = answering_methods(answers);
  return answers;
}

/// The figure, and beside it a CSV with its numbers. "-" is an SVG on standard output.
void draw_figure(const std::filesystem::path& path, const OperatorQuestion& asked, const Answers& answers) {
  Scenario scenario = make_scenario(asked.rule, asked.inputs);
  scenario.readout = asked.readouts.front();
  const FieldBatch output = asked.op->apply(asked.inputs);
  const Attribution& attribution = answers.attributions.front().front();
  const auto format = path == "-" ? reporting::Picture::svg : *reporting::picture_format(path.extension().string());
  write_file(path, reporting::attribution_figure(scenario, output, answers.method, attribution.values,
                                                 attribution.standard_errors, format));
  if (path == "-") return;
  std::filesystem::path numbers = path;
  write_file(numbers.replace_extension(".csv"),
             reporting::attribution_numbers(scenario, output, attribution.values, attribution.standard_errors).csv());
}

constexpr const char* vtu = ".vtu";

/// The mesh of one input with what is on it: the input's channels, the explained output, players, and the attribution
/// of each node's player, as it is and over the player's area.
void write_vtu(const std::filesystem::path& path, const OperatorQuestion& asked, const Answers& answers) {
  Scenario scenario = make_scenario(asked.rule, asked.inputs);
  scenario.readout = asked.readouts.front();
  const auto nodes = static_cast<std::size_t>(asked.inputs.domain.points());
  const auto channel_of = [nodes](const FieldBatch& field, int channel) {
    const std::span<const double> values = field.field(0).subspan(static_cast<std::size_t>(channel) * nodes, nodes);
    return std::vector<double>(values.begin(), values.end());
  };
  std::vector<std::pair<std::string, std::vector<double>>> at_nodes;
  for (int channel = 0; channel < asked.inputs.channels; ++channel)
    at_nodes.emplace_back(message("input ", channel), channel_of(asked.inputs, channel));
  const int explained = scenario.readout.terms().front().query.channel;
  at_nodes.emplace_back(message("output ", explained), channel_of(asked.op->apply(asked.inputs), explained));
  const std::vector<double>& found = answers.attributions.front().front().values;
  std::vector<double> players, values, densities;
  for (const int player : scenario.partition.player_of) {
    const auto at = static_cast<std::size_t>(player);
    players.push_back(player);
    values.push_back(found[at]);
    densities.push_back(found[at] / scenario.partition.volumes[at]);
  }
  at_nodes.emplace_back("player", std::move(players));
  at_nodes.emplace_back("attribution", std::move(values));
  at_nodes.emplace_back("attribution density", std::move(densities));
  write_file(path, data::format_vtu(asked.inputs.domain.as_mesh(), at_nodes));
}

/// Refuses before the work what no such file can hold.
void require_triangles(const std::filesystem::path& out, const OperatorQuestion& asked) {
  const Domain& domain = asked.inputs.domain;
  require(!domain.is_grid() && domain.dimension() == 2 && !domain.as_mesh().cells.empty(),
          "attribute: --out=", out.string(), " (the input is on a ", domain.describe(),
          ", and the format is for triangles). Give .npy, .npz, .csv or .json.");
  require(asked.inputs.batch == 1 && asked.readouts.size() == 1, "attribute: --out=", out.string(),
          " (has one input and one query or target; there are ", asked.inputs.batch, " and ", asked.readouts.size(),
          "). Ask for one of each.");
}

void attribute_game(const AttributeOptions& options, const Globals& globals) {
  for (const char* option : {"--explainer", "--figure"})
    require(options.command->count(option) == 0, "attribute: ", option, " (only with --operator). Leave it out.");
  require(globals.out.extension() != vtu, "attribute: --out=", globals.out.string(),
          " (a game has no mesh). Give .npy, .npz, .csv or .json.");
  const auto peer = wanted_peer(options);
  const NamedGame named = wanted_game(options);
  AskedGame asked(*named.game, named.foreign);
  Answers answers{.method = peer ? std::string(peer->name()) : options.method,
                  .attributions = {{run_method(options, peer.get(), {.game = asked.game(), .seed = globals.seed})}},
                  .one_game = true,
                  .path = named.game->path(),
                  .sorted = options.sorted,
                  .chosen = options.chooses(),
                  .tolerance = options.tolerance_in_use()};
  asked.ask_again("attribute");
  if (asked.noisy()) mark_noisy(answers.attributions.front().front());
  if (answers.chosen) answers.method = answering_methods(answers);
  say_steps(answers);
  asked.describe(answers.more);
  write_values(globals, answers);
  if (globals.out != "-") print_answers(globals, answers);
}

void attribute_operator(const AttributeOptions& options, const Globals& globals) {
  const bool draws_file = !options.figure.empty() && options.figure != "-";
  require(!draws_file || reporting::picture_format(options.figure.extension().string()).has_value(),
          "attribute: --figure=", options.figure.string(),
          " (its ending says no format that figures have). Give .svg, .pdf or .png.");
  require(!draws_file || std::filesystem::path(options.figure).replace_extension(".csv") != globals.out,
          "attribute: --out=", globals.out.string(), ", --figure=", options.figure.string(),
          " (the figure's numbers have that name, too). Name one of them otherwise.");
  const OperatorQuestion asked = wanted_question(options, globals, Several::allowed, options.explainer.empty());
  require(options.figure.empty() || (asked.inputs.batch == 1 && asked.readouts.size() == 1),
          "attribute: --figure (draws one input and one query or target; there are ", asked.inputs.batch, " and ",
          asked.readouts.size(), "). Ask for one of each.");
  const bool for_paraview = globals.out.extension() == vtu;
  if (for_paraview) require_triangles(globals.out, asked);
  const Answers answers = answer(options, asked, globals);
  say_steps(answers);
  for_paraview ? write_vtu(globals.out, asked, answers) : write_values(globals, answers);
  if (!options.figure.empty()) draw_figure(options.figure, asked, answers);
  if (!answers.remark.empty()) std::cerr << "attribute: note: " << answers.remark << ".\n";
  if (globals.out != "-") print_answers(globals, answers);
}

void run_attribute(const AttributeOptions& options, const Globals& globals) {
  require_values_file(globals.out);
  require_options_of_method(options);
  require(!(globals.out == "-" && globals.json),
          "attribute: --out - --json (both want standard output). Write the values to a file.");
  (options.command->count("--operator") > 0 ? attribute_operator : attribute_game)(options, globals);
}

}  // namespace

void add_attribute(CLI::App& app, const Globals& globals) {
  const auto [command, options] = add_command<AttributeOptions>(
      app, "attribute",
      "Attribute a value to the players of a game, or an operator's prediction to the cells of its input",
      run_attribute, globals);
  add_game_options(*command, options);
  CLI::Option* method = command->add_option("--method", options.method,
                                            "One of `opshap list estimators`, or peer:FOLDER, a program in any "
                                            "language; without it opshap tries some, one after "
                                            "the other, until one is within --tolerance");
  command
      ->add_option("--explainer", options.explainer,
                   "With --operator: a trained explainer (safetensors) that explains in place of --method")
      ->excludes(method);
  add_force(*command, options.force);
  command->add_option("--figure", options.figure,
                      "With --operator: draw input, output, attribution and query point (.svg, .pdf or .png), with the "
                      "numbers in a CSV file beside it; one input, one query");
  command->add_option("--budget", options.budget,
                      "The most distinct coalitions to evaluate, the empty and the grand one among them: 1000, 1e3, "
                      "2^10, or 8n for eight times the players");
  command->add_flag("--sort", options.sorted, "The largest value first in the table");
  command->add_option("--nodes", options.nodes,
                      "Quadrature nodes of integrated_gradients (default 50), mean_field (default 16) and "
                      "diagonal_second_order (default 4, and more where they do not add up)");
  command->add_option("--directions", options.directions,
                      "Directions of diagonal_second_order at each node: a power of two, or all (default: from n/4 on, "
                      "4 to 32)");
  command->add_option("--base", options.base,
                      "What diagonal_second_order corrects: integrated_gradients (default) or mean_field");
  command->add_flag_function(
      "--error-bar,!--no-error-bar", [&given = options.error_bar](std::int64_t count) { given = count > 0; },
      "How far off integrated_gradients or mean_field is, by a correction's gradients (default: with "
      "integrated_gradients where that costs less than they do)");
  command->add_option("--tolerance", options.tolerance,
                      "The relative error that an answer of diagonal_second_order, or of a method that opshap chooses, "
                      "may have: above 0, at most 1 (default 0.05)");
  command->add_option("--fallback", options.fallback,
                      "The method that samples, with --budget, where diagonal_second_order is beyond the tolerance");
  command->add_option("--rule", options.rule, "Quadrature rule of integrated_gradients: midpoint or gauss_legendre");
  command->add_flag(
      "--minimum-norm", options.minimum_norm,
      "Where the sample does not determine a regression, give its minimum-norm solution instead of refusing it");
}

}  // namespace opshap::cli
