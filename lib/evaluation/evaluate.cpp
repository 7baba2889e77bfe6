#include "evaluation/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/estimator.hpp"
#include "core/file.hpp"
#include "core/kernel_law.hpp"
#include "core/partition.hpp"
#include "core/progress.hpp"
#include "core/stop.hpp"
#include "estimators/registry.hpp"
#include "evaluation/certified_reference.hpp"
#include "games/cell_mask_game.hpp"
#include "metrics/registry.hpp"
#include "reporting/results.hpp"

namespace opshap::evaluation {

namespace {

enum Purpose : std::uint32_t { estimate_stream, reference_stream, faithfulness_stream };

double relative_error(std::span<const double> prediction, std::span<const double> solution) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < solution.size(); ++i) {
    difference += std::pow(prediction[i] - solution[i], 2);
    size += std::pow(solution[i], 2);
  }
  return std::sqrt(difference / size);
}

/// One test input at one resolution: its game, and everything that its rows share.
class Unit {
 public:
  Unit(const Evaluation& evaluation, int players, std::int64_t sample)
      : evaluation_(evaluation),
        players_(players),
        sample_(sample),
        input_(strided(evaluation.data.inputs.one(sample),
                       std::vector<int>(evaluation.data.inputs.domain.shape().size(), players))),
        partition_(Partition::one_player_per_point(input_.domain)),
        query_{.point = input_.domain.centre()},
        game_(games::cell_mask_game(
            evaluation.backbone, {input_, FieldBatch::zeros(input_.domain, 1, input_.channels), partition_, query_})),
        seed_(Rng(evaluation.seed, "evaluation", estimate_stream, item()).bits64()) {}

  /// All rows, as lines: those of results.jsonl and those of attributions.jsonl.
  std::string rows() {
    reference_ = certified_reference(*game_, reference_settings(),
                                     Rng(evaluation_.seed, "evaluation", reference_stream, item()).bits64());
    add_values("reference", {}, reference_.attribution);
    draw_faithfulness_coalitions();
    score_explainer();
    score_uniform();
    std::set<std::pair<std::string, std::int64_t>> done;
    const std::int64_t table_budget = std::max<std::int64_t>(2 * players_, evaluation_.settings.minimum_budget);
    for (const std::string& method : evaluation_.settings.methods) {
      if (done.emplace(method, table_budget).second) score_estimator(method, table_budget);
    }
    for (const BudgetCurve& curve : evaluation_.settings.curves) {
      if (curve.players != players_ || !in_curve(curve)) continue;
      for (const std::string& method : evaluation_.settings.methods) {
        if (estimators::find(method).guarantees().access != Access::values) continue;
        for (const std::int64_t budget : curve.budgets) {
          if (done.emplace(method, budget).second) score_estimator(method, budget);
        }
      }
    }
    return results_ + attributions_;
  }

 private:
  std::uint64_t item() const {
    return static_cast<std::uint64_t>(players_) << 32 | static_cast<std::uint64_t>(sample_);
  }

  /// A reference without its own error is none, so that much is spent whatever the settings say.
  ReferenceSettings reference_settings() const {
    const EvaluationSettings& settings = evaluation_.settings;
    return {.relative_error = settings.reference_error,
            .max_evaluations = std::max(settings.reference_budget, minimum_reference_evaluations(players_)),
            .exact_players = settings.exact_players};
  }

  bool in_curve(const BudgetCurve& curve) const {
    const std::vector<std::int64_t> test = evaluation_.data.indices(data::Split::test);
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

  void score_explainer() {
    const auto start = std::chrono::steady_clock::now();
    const FieldBatch density = evaluation_.explainer.densities(input_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    Attribution attribution;
    CountedGame ends(*game_, {2});
    attribution.empty = ends.empty();
    attribution.grand = ends.grand();
    attribution.values = cell_values(density.field(0), input_.domain, partition_, attribution.empty, attribution.grand);
    attribution.distinct = ends.distinct();
    attribution.evaluations = ends.evaluations();
    attribution.game_seconds = ends.seconds();
    attribution.estimator_seconds = seconds;
    add_row("operator_shap", "amortised", {}, 0, attribution);
  }

  /// The attribution that knows nothing but v(∅) and v(N): what any method has to beat.
  void score_uniform() {
    Attribution attribution;
    attribution.empty = reference_.attribution.empty;
    attribution.grand = reference_.attribution.grand;
    attribution.values = cell_values(std::vector<double>(partition_.player_of.size(), 0.0), input_.domain, partition_,
                                     attribution.empty, attribution.grand);
    attribution.distinct = attribution.evaluations = 2;
    add_row("uniform", "none", {}, 0, attribution);
  }

  void score_estimator(const std::string& method, std::int64_t budget) {
    throw_if_stopped("evaluation");
    const Estimator& estimator = estimators::find(method);
    const bool budgeted = estimator.guarantees().uses_budget();
    const std::string access = estimator.guarantees().access == Access::values ? "values" : "gradient";
    const std::optional<std::int64_t> shown = budgeted ? std::optional(budget) : std::nullopt;
    const std::uint64_t seed = Rng(seed_, method, 0, static_cast<std::uint64_t>(budget)).bits64();
    try {
      add_row(method, access, shown, seed, attribute(estimator, *game_, {budget}, seed));
    } catch (const InvalidArgument& error) {
      reporting::AttributionRow row = row_of(method, access, shown, seed);
      row.pearson = row.nrmse = row.r2 = row.efficiency_gap = {.value = std::nullopt, .why = error.what()};
      results_ += reporting::to_json_line(row) + '\n';
    }
  }

  reporting::AttributionRow row_of(const std::string& method, const std::string& access,
                                   std::optional<std::int64_t> budget, std::uint64_t seed) const {
    reporting::AttributionRow row;
    row.pde = evaluation_.data.pde;
    row.players = players_;
    row.sample = sample_;
    row.method = method;
    row.access = access;
    row.budget = budget;
    row.seed = seed;
    row.reference = reference_.method;
    row.reference_error = reference_.error;
    row.reference_evaluations = reference_.attribution.evaluations;
    return row;
  }

  void add_row(const std::string& method, const std::string& access, std::optional<std::int64_t> budget,
               std::uint64_t seed, const Attribution& attribution) {
    reporting::AttributionRow row = row_of(method, access, budget, seed);
    row.distinct = attribution.distinct;
    row.evaluations = attribution.evaluations;
    row.gradients = attribution.gradients;
    row.game_seconds = attribution.game_seconds;
    row.estimator_seconds = attribution.estimator_seconds;
    row.pearson = metrics::pearson(reference_.attribution.values, attribution.values);
    row.nrmse = metrics::nrmse(reference_.attribution.values, attribution.values);
    row.r2 = metrics::weighted_r2(attribution.values, *coalitions_, gains_);
    row.efficiency_gap = metrics::efficiency_gap(attribution);
    results_ += reporting::to_json_line(row) + '\n';
    add_values(method, budget, attribution);
  }

  void add_values(const std::string& method, std::optional<std::int64_t> budget, const Attribution& attribution) {
    reporting::ValuesRow row{.pde = evaluation_.data.pde,
                             .players = players_,
                             .sample = sample_,
                             .method = method,
                             .budget = budget,
                             .empty = attribution.empty,
                             .grand = attribution.grand,
                             .values = attribution.values,
                             .standard_errors = attribution.standard_errors.value_or(std::vector<double>{})};
    attributions_ += reporting::to_json_line(row) + '\n';
  }

  const Evaluation& evaluation_;
  int players_;
  std::int64_t sample_;
  FieldBatch input_;
  Partition partition_;
  Query query_;
  std::unique_ptr<Game> game_;
  std::uint64_t seed_;
  CertifiedReference reference_;
  std::optional<Coalitions> coalitions_;
  std::vector<double> gains_;  ///< v(S) − v(∅) of the faithfulness coalitions
  std::string results_, attributions_;
};

std::vector<std::int64_t> test_inputs(const Evaluation& evaluation) {
  std::vector<std::int64_t> samples = evaluation.data.indices(data::Split::test);
  require(static_cast<std::int64_t>(samples.size()) >= evaluation.settings.inputs,
          "evaluation: inputs=", evaluation.settings.inputs, " (the data set has ", samples.size(),
          " test samples). Lower it, or generate more.");
  samples.resize(static_cast<std::size_t>(evaluation.settings.inputs));
  return samples;
}

/// Backbone errors at one resolution, and one example field: cheap, so always done anew.
void describe_backbone(const Evaluation& evaluation, const std::vector<std::int64_t>& samples, std::string& operators,
                       std::string& fields) {
  const std::size_t axes = evaluation.data.inputs.domain.shape().size();
  for (const int points : evaluation.settings.resolutions) {
    reporting::OperatorRow row{.pde = evaluation.data.pde, .points = points, .relative_errors = {}};
    for (const std::int64_t sample : samples) {
      const FieldBatch input = strided(evaluation.data.inputs.one(sample), std::vector<int>(axes, points));
      const FieldBatch solution = strided(evaluation.data.targets.one(sample), std::vector<int>(axes, points));
      const FieldBatch prediction = evaluation.backbone.apply(input);
      row.relative_errors.push_back(relative_error(prediction.field(0), solution.field(0)));
      if (axes == 1) {
        reporting::FieldsRow shown{.pde = evaluation.data.pde,
                                   .sample = sample,
                                   .x = {},
                                   .input = input.values,
                                   .solution = solution.values,
                                   .prediction = prediction.values};
        for (int i = 0; i < points; ++i) shown.x.push_back(input.domain.coordinate(0, i));
        fields += reporting::to_json_line(shown) + '\n';
      }
    }
    operators += reporting::to_json_line(row) + '\n';
  }
}

}  // namespace

void evaluate(const Evaluation& evaluation, const std::filesystem::path& run) {
  const std::filesystem::path folder = run / "units", done = temporary_name(folder);
  if (std::filesystem::exists(run / "results.jsonl") && !std::filesystem::exists(folder)) return;
  const std::vector<std::int64_t> samples = test_inputs(evaluation);
  for (const std::string& method : evaluation.settings.methods)
    estimators::find(method);  // an unknown name stops here, not after an hour

  std::string results, attributions, fields;
  describe_backbone(evaluation, samples, results, fields);
  write_file(run / "fields.jsonl", fields);
  Progress progress("evaluation", static_cast<std::int64_t>(samples.size() * evaluation.settings.resolutions.size()),
                    "inputs");
  for (const int players : evaluation.settings.resolutions) {
    for (const std::int64_t sample : samples) {
      throw_if_stopped("evaluation");
      const std::filesystem::path unit = folder / message(players, "-", sample, ".jsonl");
      const bool known = std::filesystem::exists(unit);
      if (!known) write_file(unit, Unit(evaluation, players, sample).rows());
      std::istringstream lines(read_file(unit));
      for (std::string line; std::getline(lines, line);)
        (line.find("\"opshap.values/1\"") != std::string::npos ? attributions : results) += line + '\n';
      known ? progress.skip(1) : progress.advance(1, message("n = ", players));
    }
    write_file(run / "attributions.jsonl", attributions);
    write_file(run / "results.jsonl", results);
  }
  std::filesystem::rename(folder, done);  // in one step: without its units an evaluation is finished
  std::filesystem::remove_all(done);
}

}  // namespace opshap::evaluation
