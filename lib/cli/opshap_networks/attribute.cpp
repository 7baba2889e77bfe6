// `opshap attribute --operator`: attribute an operator's prediction to the cells of its input.

#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/attribute_options.hpp"
#include "cli/attribute_output.hpp"
#include "cli/commands.hpp"
#include "cli/opshap_networks/explainer.hpp"
#include "cli/opshap_networks/operator_game.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/npy.hpp"
#include "games/cell_mask_game.hpp"
#include "methods/method.hpp"
#include "reporting/attribution_figure.hpp"

namespace opshap::cli {

namespace {

/// The attributions of a question: [inputs][queries].
struct Answers {
  std::string method, path;
  std::string remark = {};  ///< on all of them
  std::vector<std::vector<Attribution>> attributions;
};

/// The trained explainer of --explainer as a method; none without the option.
std::unique_ptr<methods::Method> wanted_explainer(const AttributeOptions& options, const OperatorQuestion& asked,
                                                  const Globals& globals) {
  if (options.explainer.empty()) return nullptr;
  require(!options.budget && !options.nodes && !options.rule && !options.minimum_norm,
          "attribute: --explainer (takes no --budget, --nodes, --rule or --minimum-norm). Leave them out.");
  auto explainer = trained_explainer(options.explainer, *asked.op, globals.device);
  require_explains("attribute", *explainer, options.explainer, asked.inputs.domain, asked.queries);
  return explainer;
}

/// v(∅) and v(N) that need no evaluation of their own: v(∅) as long as the baseline stays the same, and both from the
/// whole output where several of its points are asked for.
class KnownEnds {
 public:
  explicit KnownEnds(const OperatorQuestion& asked) : asked_(asked), whole_(asked.queries.size() > 1) {}

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
    const Query query = question.scenario->query;
    const auto number = static_cast<std::size_t>(query.channel * of_input_.domain.points() + query.point);
    question.empty = of_baseline_.values[number];
    question.grand = of_input_.values[number];
  }

  void keep(double empty) { empty_ = empty; }

 private:
  const OperatorQuestion& asked_;
  bool whole_;
  std::vector<double> baseline_;
  FieldBatch of_baseline_, of_input_;
  std::optional<double> empty_;
};

Answers answer(const AttributeOptions& options, const OperatorQuestion& asked, const Globals& globals) {
  const std::unique_ptr<methods::Method> explainer = wanted_explainer(options, asked, globals);
  if (explainer == nullptr) require_method(options);
  const std::unique_ptr<methods::Method> peer = wanted_peer(options);
  Answers answers{.method = explainer ? std::string(explainer->name())
                            : peer    ? std::string(peer->name())
                                      : options.method};
  KnownEnds ends(asked);
  for (std::int64_t index = 0; index < asked.inputs.batch; ++index) {
    Scenario scenario = make_scenario(asked.rule, asked.inputs.one(index));
    answers.attributions.emplace_back();
    if (explainer != nullptr) ends.begin(scenario);
    for (const std::int64_t query : asked.queries) {
      scenario.query.point = query;
      const auto game = games::cell_mask_game(*asked.op, scenario);
      answers.path = game->path();
      methods::Question question{*game, &scenario, {}, globals.seed};
      if (explainer == nullptr) {
        answers.attributions.back().push_back(run_method(options, peer.get(), question));
        continue;
      }
      ends.fill(question);
      answers.attributions.back().push_back(explainer->attribute(question));
      answers.remark = explainer->remark(question);
      ends.keep(answers.attributions.back().back().empty);
    }
  }
  return answers;
}

/// [B, n], or [B, Q, n] with several queries.
void write_values(const std::filesystem::path& path, const Answers& answers) {
  const std::vector<Attribution>& first = answers.attributions.front();
  std::vector<std::int64_t> shape = {static_cast<std::int64_t>(answers.attributions.size())};
  if (first.size() > 1) shape.push_back(static_cast<std::int64_t>(first.size()));
  shape.push_back(static_cast<std::int64_t>(first.front().values.size()));
  std::vector<double> values;
  for (const auto& of_input : answers.attributions) {
    for (const Attribution& attribution : of_input)
      values.insert(values.end(), attribution.values.begin(), attribution.values.end());
  }
  data::write_npy(path, {std::move(shape), data::Dtype::float64, std::move(values)});
}

/// The SVG, and beside it a CSV with its numbers.
void draw_figure(const std::filesystem::path& path, const OperatorQuestion& asked, const Answers& answers) {
  Scenario scenario = make_scenario(asked.rule, asked.inputs);
  scenario.query.point = asked.queries.front();
  const FieldBatch output = asked.op->apply(asked.inputs);
  const std::vector<double>& values = answers.attributions.front().front().values;
  write_file(path, reporting::attribution_figure(scenario, output, answers.method, values));
  if (path == "-") return;
  std::filesystem::path numbers = path;
  write_file(numbers.replace_extension(".csv"), reporting::attribution_numbers(scenario, output, values).csv());
}

void run(const CLI::App& command, const AttributeOptions& options, const Globals& globals) {
  require(!(globals.out == "-" && globals.json),
          "attribute: --out - --json (both want standard output). Write the values to a file.");
  const OperatorQuestion asked =
      wanted_question(command, options, globals, Several::allowed, options.explainer.empty());
  require(options.figure.empty() || (asked.inputs.batch == 1 && asked.queries.size() == 1),
          "attribute: --figure (draws one input and one query; there are ", asked.inputs.batch, " and ",
          asked.queries.size(), "). Ask for one of each.");
  require(options.figure.extension() != ".csv", "attribute: --figure=", options.figure.string(),
          " (is the name of the figure's numbers). Give F.svg.");
  const Answers answers = answer(options, asked, globals);
  if (!globals.out.empty()) write_values(globals.out, answers);
  if (!options.figure.empty()) draw_figure(options.figure, asked, answers);
  if (!answers.remark.empty()) std::cerr << "attribute: note: " << answers.remark << ".\n";
  if (globals.out == "-") return;
  if (!asked.batched && asked.queries.size() == 1) {
    print_attribution(globals, answers.method, answers.attributions.front().front(), answers.path, asked.blocks);
  } else {
    print_attributions(globals, answers.method, answers.attributions, asked.queries, answers.path, asked.blocks);
  }
}

}  // namespace

void add_network_attribute(CLI::App& app, const Globals& globals) {
  const auto options = std::make_shared<AttributeOptions>();
  CLI::App* command = app.add_subcommand("attribute", "Attribute an operator's prediction to the cells of its input");
  add_attribute_options(*command, *options);
  command->callback([command, options, &globals] { run(*command, *options, globals); });
}

}  // namespace opshap::cli
