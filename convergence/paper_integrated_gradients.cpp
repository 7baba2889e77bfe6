// Whether a mistake in the gradients explains the column of integrated gradients in the paper's table, and to which
// amplitude of the inputs its R² belongs.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/scenario.hpp"
#include "core/threads.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/registry.hpp"
#include "evaluation/certified_reference.hpp"
#include "explainers/operator_shap.hpp"
#include "games/cell_mask_game.hpp"
#include "methods/method.hpp"
#include "metrics/registry.hpp"
#include "operators/weights.hpp"
#include "paper_column.hpp"
#include "pde/registry.hpp"
#include "reporting/evidence.hpp"
#include "small_backbone.hpp"
#include "solution_operator.hpp"
#include "statistics/quantiles.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;

/// The paper's column is bad on the first two and good on the others, which are the controls.
const std::vector<std::string> problems = {"burgers1d", "advection1d", "heat1d", "allen_cahn1d"};

/// How much is measured.
struct Extent {
  std::vector<int> players;
  std::vector<double> amplitudes;
  std::uint64_t inputs = 30;      ///< as many as the paper's
  int nodes = 50;                 ///< as many as the paper's
  std::size_t coalitions = 2000;  ///< of R²
  std::uint64_t certified = 2;    ///< inputs on which the reference is checked
  std::int64_t certified_evaluations = 1 << 13;
};

/// A problem with a backbone that was trained on it.
struct Subject {
  std::string pde;
  std::unique_ptr<Operator> op;
  std::unique_ptr<Operator> precise;           ///< the same in float64, for differences
  std::unique_ptr<methods::Method> explainer;  ///< null where the run has none
};

Subject load(const std::string& pde, const fs::path& run) {
  const fs::path weights = run / "backbone" / "model.safetensors", explainer = run / "explainer" / "model.safetensors";
  Subject subject{.pde = pde,
                  .op = operators::load_operator(weights),
                  .precise = operators::load_operator(weights, "cpu", networks::Precision::float64),
                  .explainer = nullptr};
  if (fs::exists(explainer))
    subject.explainer = methods::of_explainer(explainers::load_explainer(explainer, *subject.op));
  return subject;
}

const char* folder_of_runs() { return std::getenv("OPSHAP_RUNS"); }

/// The backbones of the runs in the folder that OPSHAP_RUNS names, as `opshap reproduce --pde a,b --out FOLDER` makes
/// it, else two small ones trained here in seconds.
std::vector<Subject> make_subjects() {
  std::vector<Subject> subjects;
  if (const char* folder = folder_of_runs()) {
    for (const std::string& pde : problems) {
      const fs::path run = fs::path(folder) / pde;
      if (fs::exists(run / "backbone" / "model.safetensors")) subjects.push_back(load(pde, run));
    }
    require<DataError>(!subjects.empty(), "paper_integrated_gradients: OPSHAP_RUNS=", folder,
                       " (has no run of a problem in it, such as ", problems.front(),
                       "/backbone/model.safetensors). Name the folder of opshap reproduce --pde.");
    return subjects;
  }
  for (const char* pde : {"advection1d", "heat1d"}) {
    const fs::path run = fs::temp_directory_path() / message("opshap_paper_gradients_", getpid(), "_", pde);
    train_small_backbone(pde, run);
    subjects.push_back(load(pde, run));
    fs::remove_all(run);
  }
  return subjects;
}

const std::vector<Subject>& subjects() {
  static const std::vector<Subject> made = make_subjects();
  return made;
}

/// A new input of the problem's own law, times the amplitude, as the game of the problem's own rule on n points.
Scenario scenario_of(const std::string& pde, std::uint64_t sample, double amplitude, int n) {
  const pde::Problem& problem = pde::find(pde);
  FieldBatch field = problem.draw(Rng(11, "paper_integrated_gradients"), sample).input;
  for (double& value : field.values) value *= amplitude;
  return make_scenario(problem.default_rule(), field, {n});
}

/// What a form sees: the game, and what it was made of.
struct Case {
  const Operator &op, &precise;
  const Scenario& scenario;
  const Game& game;
  int nodes;
};

std::vector<double> gradients(const Game& game, const estimators::Quadrature& quadrature) {
  return quadrature.integral(game.extension()->gradients(on_diagonal(quadrature.nodes, game.players())));
}

std::vector<double> reverse_pass(const Case& of) {
  return gradients(of.game, estimators::quadrature(estimators::Rule::midpoint, of.nodes));
}

/// The sum takes the right end of each step: another reading of "a 50-step Riemann sum".
std::vector<double> right_hand_sum(const Case& of) {
  estimators::Quadrature quadrature = estimators::quadrature(estimators::Rule::midpoint, of.nodes);
  for (double& node : quadrature.nodes) node += 0.5 / of.nodes;
  return gradients(of.game, quadrature);
}

std::vector<double> at_the_input(const Case& of) { return gradients(of.game, {.nodes = {1}, .weights = {1}}); }

std::vector<double> query_off(const Case& of) {
  Scenario moved = of.scenario;
  const std::int64_t points = moved.input.domain.points();
  moved.readout = Query{.point = (moved.readout.query().point + points / 8) % points};
  return reverse_pass({of.op, of.precise, moved, *games::cell_mask_game(of.op, moved), of.nodes});
}

/// Half the width of a central difference of a smooth operator in float64: its error is of the order of this squared,
/// and rounding adds some 1e-12.
constexpr double difference_step = 1e-4;

/// J(field)e for each field of the batch, where e is 1 at the point and 0 elsewhere: how all outputs follow the input
/// there. By central differences. Operators of one input and one output channel.
FieldBatch derivative_by_point(const Operator& op, const FieldBatch& fields, std::int64_t point) {
  const auto moved = [&](double step) {
    FieldBatch inputs = fields;
    for (std::int64_t index = 0; index < inputs.batch; ++index)
      inputs.field(index)[static_cast<std::size_t>(point)] += step;
    return op.apply(inputs);
  };
  FieldBatch derivative = moved(difference_step);
  const FieldBatch below = moved(-difference_step);
  for (std::size_t i = 0; i < derivative.values.size(); ++i)
    derivative.values[i] = (derivative.values[i] - below.values[i]) / (2 * difference_step);
  return derivative;
}

/// Σ_k w_k (J e_{x*}) ⊙ h in place of Σ_k w_k (Jᵀ e_{x*}) ⊙ h, with J at the nodes of the path: how the output at y
/// follows the input at the query, in place of how the output at the query follows the input at y.
std::vector<double> transposed(const Case& of) {
  const auto quadrature = estimators::quadrature(estimators::Rule::midpoint, of.nodes);
  const FieldBatch &input = of.scenario.input, &baseline = of.scenario.baseline;
  FieldBatch path = FieldBatch::zeros(input.domain, of.nodes, 1);
  for (int node = 0; node < of.nodes; ++node) {
    const double t = quadrature.nodes[static_cast<std::size_t>(node)];
    for (std::size_t y = 0; y < input.values.size(); ++y)
      path.field(node)[y] = (1 - t) * baseline.values[y] + t * input.values[y];
  }
  std::vector<double> values =
      quadrature.integral(derivative_by_point(of.precise, path, of.scenario.readout.query().point).values);
  for (std::size_t y = 0; y < values.size(); ++y) values[y] *= input.values[y] - baseline.values[y];
  return values;
}

/// A way to compute the column that somebody may have taken for integrated gradients.
struct Form {
  std::string name;
  std::vector<double> (*values)(const Case&);
};

const std::vector<Form> forms = {{"reverse pass", reverse_pass},
                                 {"right-hand sum", right_hand_sum},
                                 {"transposed", transposed},
                                 {"query off by 1/8", query_off},
                                 {"gradient at the input", at_the_input}};

/// What is measured: rows of all forms and methods, and how well the reference is known.
struct Findings {
  std::vector<Row> rows;
  reporting::Table references{
      .name = "references",
      .caption =
          "NRMSE of the mean field, which is the reference, against certified references, and the relative "
          "standard error of these. Medians over the first inputs.",
      .columns = {{"PDE"}, {"n", true}, {"amplitude", true}, {"mean field", true}, {"standard error", true}},
      .rows = {}};
};

/// Adds what is found for a problem at one resolution and amplitude.
void measure(const Subject& subject, int n, double amplitude, const Extent& extent, Progress& progress,
             Findings& findings) {
  const auto regression = methods::resolve("regression_msr_shapiq_1_6");
  std::vector<const methods::Method*> methods = {regression.get()};
  if (subject.explainer) methods.push_back(subject.explainer.get());
  std::vector<Row> rows;
  const auto add_row = [&](std::string name, std::string column) {
    rows.push_back({.pde = subject.pde,
                    .players = n,
                    .amplitude = amplitude,
                    .name = std::move(name),
                    .column = std::move(column)});
  };
  for (const Form& form : forms) add_row(form.name, "integrated_gradients");
  for (const methods::Method* method : methods) add_row(std::string(method->name()), std::string(method->name()));

  std::vector<double> apart, known_to;
  for (std::uint64_t sample = 0; sample < extent.inputs; ++sample) {
    const Scenario scenario = scenario_of(subject.pde, sample, amplitude, n);
    const auto game = games::cell_mask_game(*subject.op, scenario);
    const std::uint64_t item = static_cast<std::uint64_t>(n) << 32 | sample;
    const Attribution reference = attribute(*estimators::mean_field(16), *game, {}, 0);
    if (sample < extent.certified) {
      const auto certified = evaluation::certified_reference(
          *game, {.relative_error = 0.01, .max_evaluations = extent.certified_evaluations}, item);
      apart.push_back(metrics::nrmse(certified.attribution.values, reference.values).value.value());
      known_to.push_back(certified.error.value.value());
    }

    std::vector<std::vector<double>> answers;  // one a row
    for (const Form& form : forms)
      answers.push_back(form.values({*subject.op, *subject.precise, scenario, *game, extent.nodes}));
    for (const methods::Method* method : methods)
      answers.push_back(method->attribute({*game, &scenario, {std::max(2 * n, 1024)}, item}).values);

    Coalitions coalitions(n, extent.coalitions);
    Rng rng(12, "paper_integrated_gradients", 0, item);
    const KernelLaw law(n);
    for (std::size_t i = 0; i < coalitions.size(); ++i) law.draw_subset(rng, law.draw_size(rng), coalitions.row(i));
    std::vector<double> gains = game->values(coalitions);
    for (double& gain : gains) gain -= reference.empty;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      Attribution found = reference;
      found.values = answers[i];
      const auto add = [&](const char* metric, const Measured& score) {
        rows[i].scores[metric].push_back(score.value.value());
      };
      add("pearson", metrics::pearson(reference.values, found.values));
      add("nrmse", metrics::nrmse(reference.values, found.values));
      add("r2", metrics::weighted_r2(found.values, coalitions, gains));
      add("efficiency_gap", metrics::efficiency_gap(found));
    }
    progress.advance();
  }
  findings.rows.insert(findings.rows.end(), rows.begin(), rows.end());
  findings.references.add({subject.pde, std::to_string(n), fmt::format("{:g}", amplitude),
                           reporting::show(statistics::quartiles(apart).median),
                           reporting::show(statistics::quartiles(known_to).median)});
}

Findings measure(const Extent& extent) {
  Findings findings;
  Progress progress(
      "paper_integrated_gradients",
      static_cast<std::int64_t>(subjects().size() * extent.players.size() * extent.amplitudes.size() * extent.inputs),
      "games");
  for (const Subject& subject : subjects()) {
    for (const int n : extent.players) {
      for (const double amplitude : extent.amplitudes) measure(subject, n, amplitude, extent, progress, findings);
    }
  }
  return findings;
}

/// The form for the exact solution operator of a linear problem.
std::vector<double> of_solution(const pde::Problem& problem, const Scenario& scenario,
                                std::vector<double> (*values)(const Case&)) {
  const SolutionOperator op(problem);
  return values({op, op, scenario, *games::cell_mask_game(op, scenario), 4});
}

// The heat equation is symmetric: its solution at x follows the input at y as its solution at y follows the input at x.
// Advection is not: its transpose is advection backwards.
TEST(PaperIntegratedGradients, TransposingChangesNothingForHeatAndTurnsAdvectionBack) {
  const auto backwards = pde::find("advection1d").with({{"beta", -1.0}});
  for (std::uint64_t sample = 0; sample < 5; ++sample) {
    const Scenario scenario = scenario_of("heat1d", sample, 1, 32);
    // A difference of numbers of size 1 loses what the step is short of 1.
    const Tolerance tolerance = rounding(1e3 / difference_step, largest(scenario.input.values));
    EXPECT_EQ("", mismatch(of_solution(pde::find("heat1d"), scenario, reverse_pass),
                           of_solution(pde::find("heat1d"), scenario, transposed), tolerance));
    EXPECT_EQ("", mismatch(of_solution(*backwards, scenario, reverse_pass),
                           of_solution(pde::find("advection1d"), scenario, transposed), tolerance));
    EXPECT_NE("", mismatch(of_solution(pde::find("advection1d"), scenario, reverse_pass),
                           of_solution(pde::find("advection1d"), scenario, transposed), tolerance));
  }
}

// On a backbone the column J e_{x*}, by differences, is what reverse passes for all queries say of the input at x*.
TEST(PaperIntegratedGradients, TheTransposedFormIsMadeOfTheReversePassesOfAllQueries) {
  for (const Subject& subject : subjects()) {
    const Scenario scenario = scenario_of(subject.pde, 0, 1, 32);
    std::vector<double> expected;
    for (std::int64_t y = 0; y < 32; ++y)
      expected.push_back(subject.precise->gradient_at(scenario.input, Query{.point = y})
                             .gradient.values[static_cast<std::size_t>(scenario.readout.query().point)]);
    const FieldBatch found = derivative_by_point(*subject.precise, scenario.input, scenario.readout.query().point);
    EXPECT_EQ("", mismatch(expected, found.values, discretisation(10, difference_step, 2))) << subject.pde;
  }
}

// Amplitude 1 is the input itself, and another amplitude only scales it.
TEST(PaperIntegratedGradients, AnAmplitudeScalesTheInputOfTheProblemsLaw) {
  const FieldBatch drawn = strided(pde::find("heat1d").draw(Rng(11, "paper_integrated_gradients"), 3).input, {32});
  std::vector<double> doubled;
  for (const double value : drawn.values) doubled.push_back(2 * value);
  EXPECT_EQ(drawn.values, scenario_of("heat1d", 3, 1, 32).input.values);
  EXPECT_EQ(doubled, scenario_of("heat1d", 3, 2, 32).input.values);
}

/// Scores that have the paper's quartiles, or, shifted, have not.
Row like_the_paper(const std::string& pde, const std::string& name, double shift) {
  Row row{.pde = pde, .players = 32, .amplitude = 1, .name = name, .column = "integrated_gradients"};
  for (const std::string& metric : reporting::paper_metrics()) {
    const statistics::Quartiles paper = row.paper(metric).quartiles;
    row.scores[metric] = {paper.q25 + shift, paper.q25 + shift, paper.median + shift, paper.q75 + shift,
                          paper.q75 + shift};
  }
  return row;
}

// A form explains the column only when it is as bad as the paper's where that is bad, and good where that is good.
TEST(PaperIntegratedGradients, AFormExplainsTheColumnOnlyWithItsControlsIntact) {
  const auto explains = [](double shift_of_bad, double shift_of_control) {
    return verdicts(
               {like_the_paper("burgers1d", "form", shift_of_bad), like_the_paper("heat1d", "form", shift_of_control)})
        .front()
        .explains();
  };
  EXPECT_TRUE(explains(0, 0));
  EXPECT_FALSE(explains(10, 0)) << "the paper's numbers are not within the intervals";
  EXPECT_FALSE(explains(0, 0.5)) << "the control's NRMSE is not good";
  EXPECT_FALSE(explains(0, -0.5)) << "the control's correlation is not good";
  EXPECT_FALSE(verdicts({like_the_paper("burgers1d", "form", 0)}).front().explains()) << "there is no control";
  EXPECT_FALSE(verdicts({like_the_paper("heat1d", "form", 0)}).front().explains()) << "there is nothing to explain";
}

TEST(PaperIntegratedGradients, FormsAndAmplitudesAreComparedWithThePapersColumn) {
  const Extent extent = folder_of_runs() ? Extent{.players = {32, 64, 128}, .amplitudes = {1, 1.13, 1.25, 1.5, 2.5}}
                                         : Extent{.players = {32},
                                                  .amplitudes = {1, 1.5},
                                                  .inputs = 8,
                                                  .nodes = 16,
                                                  .coalitions = 500,
                                                  .certified = 1,
                                                  .certified_evaluations = 1 << 12};
  const Findings findings = measure(extent);
  const std::vector<Verdict> all = verdicts(findings.rows);
  reporting::Table operators{.name = "operators",
                             .caption = "The operators, and their relative errors on the inputs at 1024 points.",
                             .columns = {{"PDE"}, {"operator"}, {"error", true}, {"explainer"}},
                             .rows = {}};
  for (const Subject& subject : subjects()) {
    std::vector<double> errors;
    for (std::uint64_t sample = 0; sample < extent.inputs; ++sample) {
      const FieldBatch input = scenario_of(subject.pde, sample, 1, 1024).input;
      errors.push_back(
          metrics::nrmse(pde::find(subject.pde).solve(input).output.values, subject.op->apply(input).values)
              .value.value());
    }
    operators.add({subject.pde, subject.op->describe(), reporting::show(statistics::quartiles(errors)),
                   subject.explainer ? "operator_shap" : "none"});
  }
  const std::string regression = "regression_msr_shapiq_1_6";
  std::vector<reporting::Table> tables = {table_of(all), operators, findings.references,
                                          table_of(findings.rows, "integrated_gradients", "forms"),
                                          table_of(findings.rows, regression, "regression_msr")};
  if (std::any_of(subjects().begin(), subjects().end(),
                  [](const Subject& subject) { return subject.explainer != nullptr; }))
    tables.push_back(table_of(findings.rows, "operator_shap", "operator_shap"));
  reporting::publish(
      {.name = "paper_integrated_gradients",
       .title = "The paper's column of integrated gradients",
       .finding = fmt::format(
           "{}{} RegressionMSR meets most of the paper's medians and quartiles of R² with these amplitudes: {}. "
           "The same for its NRMSE: {}. The reference is the mean field; {} new inputs, {} nodes, {} coalitions.",
           folder_of_runs() ? "" : "Small backbones, few inputs. ", conclusion(all),
           best_amplitudes(findings.rows, regression, "r2"), best_amplitudes(findings.rows, regression, "nrmse"),
           extent.inputs, extent.nodes, extent.coalitions),
       .studies = {},
       .tables = std::move(tables)});

  for (const Row& row : findings.rows) {
    if (row.amplitude != 1) continue;
    const double pearson = row.quartiles("pearson").median;
    if (row.name == "reverse pass") {
      EXPECT_GE(pearson, good_pearson) << row.pde << ", n = " << row.players;
      EXPECT_LE(row.quartiles("nrmse").median, good_nrmse) << row.pde << ", n = " << row.players;
      EXPECT_LE(row.quartiles("efficiency_gap").median, discretisation(1, 1.0 / extent.nodes, 2).bound) << row.pde;
    }
    if (row.name == "transposed") {
      EXPECT_EQ(paper_is_good(row), pearson >= good_pearson) << row.pde;
    }
  }
}

}  // namespace
}  // namespace opshap
