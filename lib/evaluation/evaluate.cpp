#include "evaluation/evaluate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/field.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "evaluation/certified_reference.hpp"
#include "games/cell_mask_game.hpp"
#include "metrics/registry.hpp"

namespace opshap::evaluation {

Measured own_share(std::span<const double> values, const Scenario& scenario) {
  if (std::ranges::all_of(values, [](double value) { return value == 0; }))
    return Measured::undefined("zero reference");
  std::vector<double> others(values.begin(), values.end());
  for (const Readout::Term& term : scenario.readout.terms())
    others[static_cast<std::size_t>(scenario.partition.player_of[static_cast<std::size_t>(term.query.point)])] = 0;
  return metrics::nrmse(values, others);
}

int count_active_players(const Scenario& scenario) {
  return static_cast<int>(active_players(scenario.input, scenario.baseline, scenario.partition).size());
}

std::vector<double> baseline_distances(std::span<const Scenario> scenarios) {
  require(!scenarios.empty(), "baseline_distances: scenarios=0 (there are no data to be far from). Give one or more.");
  std::vector<double> distances;
  for (int channel = 0; channel < scenarios.front().input.channels; ++channel) {
    const auto part_of = [channel](const FieldBatch& field) {
      const auto points = static_cast<std::size_t>(field.domain.points());
      return field.field(0).subspan(static_cast<std::size_t>(channel) * points, points);
    };
    double count = 0, mean = 0, square = 0;  // running, as Welford (1962) has them
    for (const Scenario& scenario : scenarios) {
      for (const double value : part_of(scenario.input)) {
        const double before = value - mean;
        mean += before / ++count;
        square += before * (value - mean);
      }
    }
    const double deviation = std::sqrt(square / count);
    double largest = 0;
    for (const Scenario& scenario : scenarios) {
      const std::span<const double> input = part_of(scenario.input), baseline = part_of(scenario.baseline);
      for (std::size_t i = 0; i < input.size(); ++i) {
        if (baseline[i] != input[i]) largest = std::max(largest, std::abs(baseline[i] - mean));
      }
    }
    distances.push_back(deviation > 0 ? largest / deviation : 0);
  }
  return distances;
}

Measured drift(std::span<const double> density, const Domain& domain, std::span<const double> finer,
               const Domain& finer_domain, const Readout& readout) {
  require(static_cast<std::int64_t>(density.size()) == domain.points() &&
              static_cast<std::int64_t>(finer.size()) == finer_domain.points(),
          "drift: densities=", density.size(), " and ", finer.size(), " values (the grids have ", domain.points(),
          " and ", finer_domain.points(), " points). Give one for each point.");
  FieldBatch fine = FieldBatch::zeros(finer_domain, 1, 1);
  std::ranges::copy(finer, fine.field(0).begin());
  const FieldBatch common = strided(fine, domain.shape());
  const std::int64_t left_out = readout.is_query() ? readout.query().point : -1;
  double mean = 0, shift = 0, scale = 0, squares = 0;
  const auto each = [&](const auto& use) {
    for (std::int64_t point = 0; point < domain.points(); ++point) {
      const auto i = static_cast<std::size_t>(point);
      if (point != left_out) use(density[i], common.values[i]);
    }
  };
  const auto others = static_cast<double>(domain.points() - (left_out < 0 ? 0 : 1));
  each([&](double a, double b) {
    mean += b / others;
    shift += (a - b) / others;
  });
  each([&](double a, double b) {
    squares += std::pow(a - b - shift, 2);
    scale += std::pow(b - mean, 2);
  });
  return relative(std::sqrt(squares), std::sqrt(scale));
}

namespace {

/// A grid of a run and what is explained on it.
struct ExplainedGrid {
  Domain domain;
  Readout readout;
};

std::vector<double> density_of(const runs::ValuesRow& row, const Domain& domain) {
  std::vector<double> density = row.values;
  for (std::size_t point = 0; point < density.size(); ++point)
    density[point] /= domain.volume(static_cast<std::int64_t>(point));
  return density;
}

/// The drift of every trained explainer of a run from each grid to the last one, over the inputs, from its stored
/// attributions. A player's value over its volume is its density, so each point must be a player: other runs have no
/// such rows. `grids` ascend, and the last one has the points of all.
std::vector<runs::DriftRow> drift_rows(const std::vector<runs::ValuesRow>& values,
                                       const std::vector<ExplainedGrid>& grids) {
  const ExplainedGrid& finest = grids.back();
  const auto of_explainer_on = [&](const runs::ValuesRow& row, const Domain& domain) {
    return row.method == "operator_shap" && row.shape == domain.shape() && row.players == domain.points();
  };
  std::vector<runs::DriftRow> rows;
  for (const runs::ValuesRow& fine : values) {
    if (!of_explainer_on(fine, finest.domain)) continue;
    for (std::size_t grid = 0; grid + 1 < grids.size(); ++grid) {
      const Domain& domain = grids[grid].domain;
      const auto coarse = std::ranges::find_if(values, [&](const runs::ValuesRow& row) {
        return of_explainer_on(row, domain) && row.explainer == fine.explainer && row.sample == fine.sample;
      });
      if (coarse == values.end()) continue;
      auto row = std::ranges::find_if(rows, [&](const runs::DriftRow& known) {
        return known.explainer == fine.explainer && known.shape == domain.shape();
      });
      if (row == rows.end()) {
        rows.push_back({.pde = fine.pde,
                        .method = fine.method,
                        .explainer = fine.explainer,
                        .shape = domain.shape(),
                        .finest = finest.domain.shape(),
                        .drifts = {}});
        row = rows.end() - 1;
      }
      const Measured found = drift(density_of(*coarse, domain), domain, density_of(fine, finest.domain), finest.domain,
                                   grids[grid].readout);
      if (found.value) row->drifts.push_back(*found.value);
    }
  }
  return rows;
}

enum EvaluationStream : std::uint32_t { estimate_stream, reference_stream, faithfulness_stream };

bool unseen(const Evaluation& evaluation, const Resolution& resolution) {
  const std::vector<Resolution>& all = evaluation.settings.unseen;
  return std::find(all.begin(), all.end(), resolution) != all.end();
}

/// The fields of a sample at a resolution, interpolated to a grid that the data were not made for.
FieldBatch served(const Evaluation& evaluation, const FieldBatch& native, const Resolution& resolution) {
  if (!unseen(evaluation, resolution)) return at_resolution(native, resolution);
  return interpolated(native, resolution.shape(native.domain.dimension()));
}

Scenario scenario_of(const Evaluation& evaluation, const Resolution& resolution, std::int64_t sample) {
  return make_scenario(data::rule_for(evaluation.settings.scenario, evaluation.data),
                       served(evaluation, evaluation.data.inputs.one(sample), resolution));
}

std::vector<Resolution> all_resolutions(const EvaluationSettings& settings) {
  std::vector<Resolution> all = settings.resolutions;
  all.insert(all.end(), settings.unseen.begin(), settings.unseen.end());
  return all;
}

/// What is scored: the run's explainers, the uniform attribution, and the methods of the settings.
Contestants contestants_of(const Evaluation& evaluation) {
  Contestants contestants;
  const auto add = [&](std::shared_ptr<const methods::Method> method, const std::string& name) {
    add_contestant("evaluation: methods", contestants, std::move(method), name);
  };
  for (const auto& explainer : evaluation.explainers) add(explainer, std::string(explainer->name()));
  add(methods::uniform(), "uniform");
  for (const std::string& name : evaluation.settings.methods) add(methods::resolve(name), name);
  return contestants;
}

/// One test input at one resolution: its game, and everything that its rows share.
class Unit {
 public:
  Unit(const Evaluation& evaluation, const Contestants& contestants, const Resolution& resolution, std::int64_t sample)
      : evaluation_(evaluation),
        contestants_(contestants),
        resolution_(resolution),
        sample_(sample),
        scenario_(scenario_of(evaluation, resolution, sample)),
        players_(scenario_.partition.players),
        game_(games::cell_mask_game(evaluation.backbone, scenario_)) {}

  /// All rows, as lines: those of results.jsonl and those of attributions.jsonl.
  std::string rows() {
    reference_ = certified_reference(*game_, reference_settings(),
                                     Rng(evaluation_.seed, "evaluation", reference_stream, item()).bits64());
    add_values("reference", {}, {}, reference_.attribution);
    draw_faithfulness_coalitions();
    const Contest contest{.who = "evaluation",
                          .game = *game_,
                          .scenario = &scenario_,
                          .seed = Rng(evaluation_.seed, "evaluation", estimate_stream, item()).bits64(),
                          .truth = reference_.attribution.values,
                          .coalitions = &*coalitions_,
                          .gains = gains_};
    play(contest, schedule(), [this](const Turn&, const Reply& reply) { add_rows(reply); });
    return results_ + attributions_;
  }

 private:
  std::uint64_t item() const { return resolution_.key() << 32 | static_cast<std::uint64_t>(sample_); }

  /// A reference without its own error is none, so that much is spent whatever the settings say.
  ReferenceSettings reference_settings() const {
    const EvaluationSettings& settings = evaluation_.settings;
    return {.relative_error = settings.reference_error,
            .max_evaluations = std::max(settings.reference_budget, minimum_reference_evaluations(*game_)),
            .exact_players = settings.exact_players};
  }

  bool in_curve(const BudgetCurve& curve) const {
    const std::vector<std::int64_t> test = evaluation_.data.explained(data::Split::test, evaluation_.settings.scenario);
    return std::find(test.begin(), test.end(), sample_) - test.begin() < curve.inputs;
  }

  void draw_faithfulness_coalitions() {
    const auto count = static_cast<std::size_t>(evaluation_.settings.faithfulness_coalitions);
    Rng rng(evaluation_.seed, "evaluation", faithfulness_stream, item());
    const KernelLaw law(players_);
    coalitions_.emplace(players_, count);
    for (std::size_t i = 0; i < count; ++i) law.draw_subset(rng, law.draw_size(rng), coalitions_->row(i));
    gains_ = CountedGame(*game_, {evaluation_.settings.faithfulness_coalitions}).values(*coalitions_);
    for (double& gain : gains_) gain -= reference_.attribution.empty;
  }

  /// At a resolution that no training input had, those that know nothing of the budget: explainers, and the uniform
  /// attribution.
  Schedule schedule() const {
    const std::array<std::int64_t, 1> table_budget = {
        std::max<std::int64_t>(2 * players_, evaluation_.settings.minimum_budget)};
    const bool all = !unseen(evaluation_, resolution_);
    Schedule schedule;
    for (const auto& method : contestants_) {
      if (all || !method->guarantees()) schedule.add(*method, table_budget);
    }
    if (!all) return schedule;
    for (const BudgetCurve& curve : evaluation_.settings.curves) {
      if (curve.players != players_ || !in_curve(curve)) continue;
      for (const auto& method : contestants_) schedule.add(*method, curve.budgets);
    }
    return schedule;
  }

  void add_rows(const Reply& reply) {
    runs::AttributionRow row{reply.answer};
    if (reply.failure) row.scores = metrics::no_scores(message("DNF (", *reply.failure, "): ", reply.why), true);
    if (reply.attribution) add_values(row.method, row.explainer, row.budget, *reply.attribution);
    row.pde = evaluation_.data.pde;
    row.shape = shape_at(scenario_.input.domain, resolution_);
    row.players = players_;
    row.sample = sample_;
    row.reference = reference_.method;
    row.reference_error = reference_.error;
    row.reference_evaluations = reference_.attribution.evaluations;
    row.own_share = own_share(reference_.attribution.values, scenario_).value;
    for (const ReferenceEstimate& part : reference_.estimates) {
      const double size = norm(part.attribution.values);
      if (!part.attribution.standard_errors || size == 0) continue;
      row.reference_parts.push_back(part.method);
      row.reference_part_errors.push_back(norm(*part.attribution.standard_errors) / size);
    }
    if (reference_.cross_check) row.reference_check = reference_.cross_check->p_value;
    results_ += runs::to_json_line(row) + '\n';
  }

  void add_values(const std::string& method, const std::optional<std::string>& explainer,
                  std::optional<std::int64_t> budget, const Attribution& attribution) {
    runs::ValuesRow row{.pde = evaluation_.data.pde,
                        .players = players_,
                        .sample = sample_,
                        .method = method,
                        .budget = budget,
                        .empty = attribution.empty,
                        .grand = attribution.grand,
                        .values = attribution.values,
                        .standard_errors = attribution.standard_errors.value_or(std::vector<double>{}),
                        .shape = shape_at(scenario_.input.domain, resolution_),
                        .explainer = explainer};
    attributions_ += runs::to_json_line(row) + '\n';
  }

  const Evaluation& evaluation_;
  const Contestants& contestants_;
  Resolution resolution_;
  std::int64_t sample_;
  Scenario scenario_;
  int players_;
  std::unique_ptr<Game> game_;
  CertifiedReference reference_;
  std::optional<Coalitions> coalitions_;
  std::vector<double> gains_;  ///< v(S) − v(∅) of the faithfulness coalitions
  std::string results_, attributions_;
};

std::vector<std::int64_t> test_inputs(const Evaluation& evaluation) {
  std::vector<std::int64_t> samples = evaluation.data.explained(data::Split::test, evaluation.settings.scenario);
  require(static_cast<std::int64_t>(samples.size()) >= evaluation.settings.inputs,
          "evaluation: inputs=", evaluation.settings.inputs, " (the data set has ", samples.size(),
          evaluation.data.node_types.empty() ? " test samples). Lower it, or generate more."
                                             : " test flows that can be explained). Lower it, or generate more.");
  samples.resize(static_cast<std::size_t>(evaluation.settings.inputs));
  return samples;
}

std::vector<std::string> names_of(const std::vector<pde::Channel>& channels) {
  std::vector<std::string> names;
  for (const pde::Channel& channel : channels) names.push_back(channel.name);
  return names;
}

/// The backbone's errors at one resolution, and the fields behind them as lines.
struct Described {
  runs::OperatorRow errors;
  std::string fields;
};

/// |prediction − solution| and |input − solution| in the explained channel at the explained point.
std::pair<double, double> at_query(const Scenario& scenario, const FieldBatch& prediction, const FieldBatch& solution) {
  const auto value = [&](const FieldBatch& field) { return scenario.readout.of(field.values, field.domain.points()); };
  if (scenario.input.channels != solution.channels) return {0, 0};
  return {std::abs(value(prediction) - value(solution)), std::abs(value(scenario.input) - value(solution))};
}

Described describe_backbone(const Evaluation& evaluation, const Resolution& resolution,
                            const std::vector<std::int64_t>& samples) {
  Described described{.errors = {.pde = evaluation.data.pde}, .fields = {}};
  runs::OperatorRow& row = described.errors;
  for (const std::int64_t sample : samples) {
    const Scenario scenario = scenario_of(evaluation, resolution, sample);
    const FieldBatch solution = served(evaluation, evaluation.data.targets.one(sample), resolution);
    const FieldBatch prediction = evaluation.backbone.apply(scenario.input);
    row.points = static_cast<int>(solution.domain.points());
    row.shape = shape_at(solution.domain, resolution);
    row.solution_norms.push_back(norm(solution.field(0)));
    row.relative_errors.push_back(
        relative(distance(prediction.field(0), solution.field(0)), row.solution_norms.back()));
    if (!evaluation.data.node_types.empty()) {
      const auto [error, change] = at_query(scenario, prediction, solution);
      row.query_errors.push_back(error);
      row.query_changes.push_back(change);
    }
    // The report draws fields on grids and triangles.
    if (!solution.domain.is_grid() && !(resolution.is_own() && !solution.domain.as_mesh().cells.empty())) continue;
    runs::FieldsRow shown = runs::fields_row(scenario, solution, prediction);
    shown.pde = evaluation.data.pde;
    shown.sample = sample;
    shown.input_channels = names_of(evaluation.data.input_channels);
    shown.output_channels = names_of(evaluation.data.target_channels);
    described.fields += runs::to_json_line(shown) + '\n';
  }
  return described;
}

/// What the games are about, at every resolution; and a note where a baseline is far from the data.
std::string games_lines(const Evaluation& evaluation, const std::vector<std::int64_t>& samples) {
  std::string lines;
  bool noted = false;
  const ScenarioRule rule = data::rule_for(evaluation.settings.scenario, evaluation.data);
  for (const Resolution& resolution : all_resolutions(evaluation.settings)) {
    std::vector<Scenario> scenarios;
    runs::GamesRow row{.pde = evaluation.data.pde,
                       .channels = names_of(evaluation.data.input_channels),
                       .baseline = rule.baseline_in_words(),
                       .rest = data::rest_of(evaluation.data).state};
    for (const std::int64_t sample : samples) {
      scenarios.push_back(scenario_of(evaluation, resolution, sample));
      row.active.push_back(count_active_players(scenarios.back()));
    }
    row.players = scenarios.front().partition.players;
    row.shape = shape_at(scenarios.front().input.domain, resolution);
    row.baseline_distances = baseline_distances(scenarios);
    for (std::size_t channel = 0; channel < row.baseline_distances.size() && !noted; ++channel) {
      if (row.baseline_distances[channel] <= runs::GamesRow::far_from_the_data || verbosity() == Verbosity::quiet)
        continue;
      std::cerr << message(
          "evaluation: note: baseline (in channel ", channel, " it is ", row.baseline_distances[channel],
          " standard deviations from the data, so hidden cells show what the operator has never seen). "
          "A baseline of the data's mean, or of a state at rest, asks about the input.\n");
      noted = true;
    }
    lines += runs::to_json_line(row) + '\n';
  }
  return lines;
}

/// How far the explainers' answers depend on the grid, from what is stored. A mesh has no other grid beside it.
std::string drift_lines(const Evaluation& evaluation, std::int64_t any_sample, const std::filesystem::path& run) {
  if (!evaluation.data.inputs.domain(0).is_grid()) return {};
  std::vector<ExplainedGrid> grids;
  for (const Resolution& resolution : evaluation.settings.resolutions) {
    const Scenario scenario = scenario_of(evaluation, resolution, any_sample);
    grids.push_back({scenario.input.domain, scenario.readout});
  }
  std::string lines;
  for (const runs::DriftRow& row : drift_rows(runs::read_results(run).values, grids))
    lines += runs::to_json_line(row) + '\n';
  return lines;
}

}  // namespace

std::map<std::string, std::string> programs(const EvaluationSettings& settings) {
  std::map<std::string, std::string> found;
  for (const std::string& name : settings.methods) {
    const auto method = methods::resolve(name);
    if (!method->checksum().empty()) found.emplace(method->name(), method->checksum());
  }
  return found;
}

std::vector<runs::OperatorRow> backbone_errors(const Evaluation& evaluation) {
  std::vector<runs::OperatorRow> rows;
  for (const Resolution& resolution : all_resolutions(evaluation.settings))
    rows.push_back(describe_backbone(evaluation, resolution, test_inputs(evaluation)).errors);
  return rows;
}

void evaluate(const Evaluation& evaluation, const std::filesystem::path& run, const runs::Part& part) {
  const std::filesystem::path folder = run / "units";
  if (is_there(run / "results.jsonl") && !is_there(folder)) return;
  const std::vector<std::int64_t> samples = test_inputs(evaluation);
  const Contestants contestants = contestants_of(evaluation);  // an unknown name stops here, not after an hour

  std::string identity = message(evaluation.identity, " references=", reference_recipe);
  for (const auto& [name, checksum] : programs(evaluation.settings)) identity += message(" ", name, "=", checksum);
  runs::Units units(folder, "evaluation", identity);
  std::string results, attributions, fields;
  const std::vector<Resolution> resolutions = all_resolutions(evaluation.settings);
  if (part.whole()) {  // it is cheap, so it is done anew by each sitting
    for (const Resolution& resolution : resolutions) {
      const Described described = describe_backbone(evaluation, resolution, samples);
      results += runs::to_json_line(described.errors) + '\n';
      fields += described.fields;
    }
    results += games_lines(evaluation, samples);
    write_file(run / "fields.jsonl", fields);
  }
  const auto inputs = static_cast<std::int64_t>(samples.size() * resolutions.size());
  Progress progress("evaluation", (inputs - part.index + part.of - 1) / part.of, "inputs");
  std::int64_t unit = 0;
  for (const Resolution& resolution : resolutions) {
    for (const std::int64_t sample : samples) {
      if (!part.has(unit++)) continue;
      throw_if_stopped("evaluation");
      bool known = true;
      std::istringstream lines(units.once(message(resolution, "-", sample, ".jsonl"), [&] {
        known = false;
        return Unit(evaluation, contestants, resolution, sample).rows();
      }));
      for (std::string line; std::getline(lines, line);)
        (runs::schema_of(line) == runs::ValuesRow::schema ? attributions : results) += line + '\n';
      known ? progress.skip(1) : progress.advance(1, message("n = ", resolution));
      if (!known) throw_if_over_after_piece("evaluation");
    }
    if (!part.whole()) continue;
    units.require_there();
    write_file(run / "attributions.jsonl", attributions);
    write_file(run / "results.jsonl", results);
  }
  if (!part.whole()) return;
  units.require_there();
  write_file(run / "results.jsonl", results + drift_lines(evaluation, samples.front(), run));
  units.finish();  // without its units an evaluation is finished
}

}  // namespace opshap::evaluation
