// Figures of a report show what they say: methods can be told apart, examples are ordinary inputs, the truth is the
// reference, costs are counted alike, and letters can be read wherever a panel stands. Logarithmic axes can be read:
// whatever their range, they have a tick in it.

#include "reporting/figures.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "reporting/amortisation.hpp"
#include "reporting/axes.hpp"
#include "reporting/gnuplot.hpp"
#include "reporting/methods.hpp"
#include "reporting/page_parts.hpp"
#include "reporting/paper.hpp"
#include "reporting/scoreboard.hpp"
#include "reporting/trails.hpp"
#include "support/claim_examples.hpp"
#include "support/expressions.hpp"
#include "support/planes_run.hpp"
#include "support/run_folder.hpp"
#include "support/synthetic_run.hpp"
#include "support/text.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

using reporting::Discretisation;
using reporting::Figure;
using reporting::LegendEntry;
using reporting::Scoreboard;

using Look = std::pair<std::string, std::string>;

/// Copies of a method's rows under another name, or as those of a further explainer.
void copy_rows(runs::Results& results, const std::string& method, const std::string& name,
               const std::optional<std::string>& explainer = std::nullopt) {
  const runs::Results before = results;
  const auto copy = [&](const auto& from, auto& to) {
    for (auto row : from) {
      if (row.method != method || row.explainer) continue;
      row.method = name;
      row.explainer = explainer;
      to.push_back(std::move(row));
    }
  };
  copy(before.attributions, results.attributions);
  copy(before.values, results.values);
}

/// A run with every method that has a style of its own, two programs, and three explainers.
runs::Run run_of_all_methods(runs::Results results) {
  runs::Run run = SyntheticRun().run();
  copy_rows(results, "integrated_gradients", "mean_field");
  copy_rows(results, "permutation", "regression_msr_shapiq_1_6");
  copy_rows(results, "permutation", "peer:mine");
  copy_rows(results, "permutation", "peer:yours");
  const runs::TrainingRow first = results.training.back();
  for (const char* explainer : {"labels", "wide"}) {
    copy_rows(results, "operator_shap", "operator_shap", explainer);
    results.training.push_back(first);
    results.training.back().explainer = explainer;
    results.training.back().operator_evaluations = explainer[0] == 'l' ? 560 : 70000;
  }
  run.results = std::move(results);
  return run;
}

TEST(MethodStyles, NoTwoMethodsLookTheSame) {
  std::vector<std::string> methods = reporting::known_methods();
  for (const char* program : {"peer:a", "peer:b", "peer:c", "captum", "shap", "mine", "yours", "ours"})
    methods.emplace_back(program);
  for (int explainer = 0; explainer < 14; ++explainer) methods.push_back("operator_shap:e" + std::to_string(explainer));
  const reporting::MethodStyles styles(methods);
  std::set<Look> lines, prints;
  for (const std::string& method : methods) {
    const reporting::MethodStyle style = styles.of(method);
    EXPECT_TRUE(lines.insert({style.color, style.dash}).second) << method << ": " << style.color << " " << style.dash;
    EXPECT_TRUE(prints.insert({std::to_string(style.marker), style.dash}).second)
        << method << ": " << style.marker << " " << style.dash;
  }
  EXPECT_FALSE(lines.contains({reporting::reference_style().color, reporting::reference_style().dash}));
}

TEST(MethodStyles, TheFirstExplainerLooksAsTheMethod) {
  const reporting::MethodStyles styles({"operator_shap:b", "operator_shap:a", "permutation"});
  EXPECT_EQ(reporting::style_of("operator_shap").color, styles.of("operator_shap:a").color);
  EXPECT_EQ(reporting::style_of("operator_shap").dash, styles.of("operator_shap:a").dash);
  EXPECT_EQ("OperatorSHAP (b)", styles.of("operator_shap:b").label);
  EXPECT_NE(styles.of("operator_shap:a").color, styles.of("operator_shap:b").color);
  EXPECT_NE(styles.of("operator_shap:a").dash, styles.of("operator_shap:b").dash);
  EXPECT_NE(styles.of("operator_shap:a").marker, styles.of("operator_shap:b").marker);
}

/// "#D55E00 dt (9,3)" of everything that a panel draws as a line.
std::set<std::string> drawn_lines(const reporting::Panel& panel) {
  std::set<std::string> found;
  for (const char* const order :
       {"lc rgb '(#[0-9A-F]+)' dt (solid|\\([0-9,]+\\))", "dt (solid|\\([0-9,]+\\)) lc rgb '(#[0-9A-F]+)'"}) {
    const bool color_first = order[0] == 'l';
    const std::vector<std::string> first = found_by(order, panel.script, 1), second = found_by(order, panel.script, 2);
    for (std::size_t i = 0; i < first.size(); ++i)
      found.insert(color_first ? first[i] + " " + second[i] : second[i] + " " + first[i]);
  }
  return found;
}

TEST(Figures, HaveALegendWhoseEntriesLookDifferentAndAreDrawnSo) {
  for (const auto& [where, results] :
       {std::pair("a line", SyntheticRun().results()), std::pair("planes", run_on_planes())}) {
    const runs::Run run = run_of_all_methods(results);
    const Scoreboard scores(run);
    ASSERT_EQ(3u, scores.methods_with_access("amortised").size());
    for (const reporting::FigureKind& kind : reporting::figures::all()) {
      const Figure figure = kind.make(scores);
      if (!figure.missing.empty()) continue;
      std::set<std::pair<std::string, Look>> seen;
      for (const LegendEntry& entry : figure.legend) {
        const std::string shape = entry.bar ? "bar" : entry.line ? "line" : "point";
        EXPECT_TRUE(seen.insert({shape, {entry.color, entry.dash}}).second)
            << kind.name << " on " << where << ": " << entry.label << " looks like another entry";
        const std::string line = entry.color + " " + (entry.dash.empty() ? "solid" : "(" + entry.dash + ")");
        const bool drawn =
            std::ranges::any_of(figure.panels, [&](const auto& panel) { return drawn_lines(panel).contains(line); });
        EXPECT_TRUE(drawn || !entry.label.starts_with("OperatorSHAP")) << kind.name << " on " << where << ": " << line;
      }
    }
  }
}

/// The titles of a figure's panels.
std::vector<std::string> titles(const Figure& figure) {
  std::vector<std::string> found;
  for (const reporting::Panel& panel : figure.panels) found.push_back(panel.title);
  return found;
}

TEST(Figures, ShowTheTwoGridsOfThePapersBarsAndLine) {
  const auto few = "n = " + std::to_string(static_cast<int>(reporting::paper_constant("density_few_players"))),
             many = "n = " + std::to_string(static_cast<int>(reporting::paper_constant("density_many_players")));
  auto run = SyntheticRun::full().run();
  const auto shown = [&run] { return titles(reporting::figures::shapley_and_density(Scoreboard(run))); };
  EXPECT_EQ((std::vector<std::string>{few, many}), shown()) << "the run has coarser and finer ones too";
  run.results = SyntheticRun().results();
  EXPECT_EQ((std::vector<std::string>{few, "n = 64"}), shown()) << "the finest there is";
  run.results = SyntheticRun{.resolutions = {16, 32}}.results();
  EXPECT_EQ((std::vector<std::string>{"n = 16", few}), shown());
  run.results = SyntheticRun{.resolutions = {64, 256}}.results();
  EXPECT_EQ((std::vector<std::string>{"n = 64"}), shown()) << "finer bars cannot be told apart";
}

TEST(Figures, ShowAnInputWithAnOrdinaryBackboneError) {
  auto run = SyntheticRun{.resolutions = {64}, .inputs = 9}.run();
  // Errors of the explainer grow with the input, and the backbone fails on the middle ones.
  for (runs::AttributionRow& row : run.results.attributions)
    if (row.method == "operator_shap") row.scores["nrmse"] = Measured::of(0.1 + 0.01 * static_cast<double>(row.sample));
  std::vector<Measured>& backbone = run.results.operators.front().relative_errors;
  backbone = std::vector<Measured>(9, Measured::of(0.02));
  backbone[4] = Measured::of(664);
  backbone[3] = Measured::of(0.0401);
  backbone[5] = Measured::undefined("solution 0");
  backbone[2] = Measured::of(0.0399);
  const Discretisation on = Discretisation::line(64);
  const auto typical = reporting::figures::typical_input(Scoreboard(run), on);
  ASSERT_TRUE(typical);
  EXPECT_EQ(2, typical->sample) << "the median of inputs 0, 1, 2, 6, 7, 8";
  EXPECT_EQ(0.0399, typical->backbone_error);
  EXPECT_EQ(8u, reporting::backbone_errors(Scoreboard(run), on.shape).size()) << "where it is defined";
  for (const auto make : {reporting::figures::example, reporting::figures::shapley_and_density}) {
    const std::string finding = make(Scoreboard(run)).finding;
    EXPECT_TRUE(has(finding, {"input 2 is the one", "The backbone's relative error on it is 0.040."}));
  }
  run.results.operators.clear();
  EXPECT_EQ(4, reporting::figures::typical_input(Scoreboard(run), on)->sample) << "of all inputs";
  EXPECT_TRUE(has(reporting::figures::example(Scoreboard(run)).finding, "The backbone's error on it is not stored."));
}

TEST(Figures, CompareTheExplainerWithTheReferenceAndNameIt) {
  runs::Results results = run_on_planes();
  for (auto& row : results.attributions) row.reference = row.shape == points.shape ? "exact" : "certified";
  runs::Run run = run_of_all_methods(results);
  for (runs::ValuesRow& row : run.results.values)
    if (row.method == "regression_msr_shapiq_1_6") row.values.assign(row.values.size(), 7);
  const Figure figure = reporting::figures::grids(Scoreboard(run));
  ASSERT_EQ((std::vector<std::string>{"OperatorSHAP, 4 × 4", "exact Shapley values, 4 × 4", "difference, 4 × 4",
                                      "OperatorSHAP, 8 × 8", "certified reference, 8 × 8", "difference, 8 × 8"}),
            titles(figure));
  const std::int64_t sample = reporting::figures::typical_input(Scoreboard(run), blocks)->sample;
  const Scoreboard scores(run);
  const std::vector<double>& reference = scores.values(blocks, sample, "reference")->values;
  // A player of four points has four times its value over the volume of the 16 players.
  EXPECT_TRUE(has(figure.panels[4].script, " " + reporting::figures::digits(16 * reference.back()) + "\n"));
}

TEST(Figures, CountWhatMethodsWithoutTrainingCost) {
  const runs::Run run = run_of_all_methods(SyntheticRun::full().results());
  const Scoreboard scores(run);
  const auto pays = reporting::amortisation(scores);
  ASSERT_TRUE(pays);
  ASSERT_EQ(2u, pays->of_gradients.size());
  EXPECT_EQ(2 + 3 * 50, pays->of_gradients[0].evaluations) << "integrated gradients with 50 nodes";
  EXPECT_EQ(2 + 6 * 50, pays->of_gradients[1].evaluations) << "both branches of the mean field";
  EXPECT_FALSE(pays->of_gradients[0].reached) << "its error is 0.81";
  EXPECT_EQ(3u, pays->explainers.size());
  const Figure figure = reporting::figures::amortisation(scores);
  const std::string& script = figure.panels.front().script;
  EXPECT_TRUE(has(script, {", 152 * x with lines lw 0.7", ", 302 * x with lines lw 0.7"}));
  for (const char* training : {"215040", "560", "70000"})
    EXPECT_EQ(1u, count(script, training + std::string(" + 2 * x with lines"))) << script;
  const std::string numbers = figure.numbers.csv();
  EXPECT_EQ(1u, count(numbers, "Integrated gradients,0,152,")) << numbers;
  EXPECT_EQ(1u, count(numbers, "Mean field,0,302,")) << numbers;
}

TEST(Figures, AnAsGoodMethodOfGradientsPaysUntilTheExplainersTraining) {
  runs::Run run = SyntheticRun::full().run();
  set_nrmse(run.results, "integrated_gradients", [](int) { return 0.001; });
  const auto pays = reporting::amortisation(Scoreboard(run));
  ASSERT_TRUE(pays && pays->of_gradients.front().break_even);
  EXPECT_DOUBLE_EQ(215040.0 / (152 - 2), *pays->of_gradients.front().break_even);
  const std::string finding = reporting::figures::amortisation(Scoreboard(run)).finding;
  EXPECT_TRUE(has(finding, "As good without training and without a budget: Integrated gradients (0.0010)."));
}

TEST(Figures, OfAllProblemsHaveAPanelForEach) {
  runs::Run burgers = SyntheticRun::full().run(), heat = SyntheticRun{.resolutions = {16, 32}, .curves = {16}}.run(),
            plane = run_of_all_methods(run_on_planes());
  const auto call = [](runs::Run& run, const std::string& pde) {
    run.pde = pde;
    set_pde(run.results, pde);
  };
  call(heat, "heat1d");
  call(plane, "heat2d");
  const Scoreboard first(burgers), second(heat), third(plane);
  const Figure figure = reporting::figures::amortisation_of_all({&first, &second, &third});
  EXPECT_EQ((std::vector<std::string>{"Burgers 1D, n = 512", "Heat 1D, n = 32", "Heat 2D, n = 16 (of 8 × 8 points)"}),
            titles(figure));
  // Without a curve at n = 32 the methods stand at the budget of the tables.
  EXPECT_EQ(1u, count(figure.numbers.csv(), "Heat 1D,32,KernelSHAP (paired),0,1024,")) << figure.numbers.csv();
  std::set<std::string> labels;
  for (const LegendEntry& entry : figure.legend) EXPECT_TRUE(labels.insert(entry.label).second) << entry.label;
  EXPECT_TRUE(labels.contains("OperatorSHAP (labels)"));
  burgers.results.training.clear();
  EXPECT_EQ(2u, reporting::figures::amortisation_of_all({&first, &second, &third}).panels.size());
  EXPECT_FALSE(reporting::figures::amortisation_of_all({&first}).missing.empty());
}

// What stands one panel wide on a telephone, or three in a row of a page, is drawn 340 pixels wide at least.
TEST(Figures, HaveNoLettersBelowTwelvePixels) {
  constexpr double drawn_width = 340, least_letters = 12;
  for (const runs::Results& results : {SyntheticRun().results(), run_on_planes()}) {
    const runs::Run run = run_of_all_methods(results);
    std::vector<reporting::NamedFigure> figures;
    for (const reporting::FigureKind& kind : reporting::figures::all())
      figures.emplace_back(kind.name, kind.make(Scoreboard(run)));
    for (const reporting::DrawnFigure& drawn : reporting::drawn(figures)) {
      for (const std::string& panel : drawn.panels) {
        const std::vector<std::string> sizes = found_by("font-size=\"([0-9.]+)\"", panel);
        ASSERT_FALSE(sizes.empty()) << drawn.name;
        for (const std::string& size : sizes)
          EXPECT_GE(std::stod(size) * drawn_width / reporting::panel_width, least_letters) << drawn.name;
      }
    }
  }
}

class WrittenFigure : public RunFolder {
 protected:
  /// The value of an attribute of a file's outermost element; empty without one.
  std::string attribute(const std::string& file, const std::string& name) const {
    const std::string svg = read_file(folder_ / file), head = svg.substr(0, svg.find('>'));
    const std::vector<std::string> found = found_by(" " + name + "=\"([^\"]*)\"", head);
    return found.empty() ? "" : found[0];
  }
};

TEST_F(WrittenFigure, ATriptychStandsInRowsOfThreeOrBelowEachOther) {
  const runs::Run run = run_of_all_methods(run_on_planes());
  const auto drawn = reporting::drawn({{"grids", reporting::figures::grids(Scoreboard(run))}});
  ASSERT_EQ(6u, drawn[0].panels.size());
  reporting::write_figures(folder_, drawn);
  const std::string wide = attribute("grids.svg", "viewBox"), narrow = attribute("grids_narrow.svg", "viewBox");
  EXPECT_TRUE(wide.starts_with("0 0 " + std::to_string(3 * reporting::panel_width) + " ")) << wide;
  EXPECT_TRUE(narrow.starts_with("0 0 " + std::to_string(reporting::panel_width) + " ")) << narrow;
  EXPECT_EQ(std::to_string(reporting::panel_width), attribute("grids_narrow.svg", "width")) << "its own size";
  for (const char* file : {"grids.svg", "grids_narrow.svg"}) {
    const std::string svg = read_file(folder_ / file);
    EXPECT_EQ(6u, count(svg, "<svg x=\"")) << file;
    EXPECT_EQ(file == std::string("grids.svg") ? 2u : 6u, count(svg, "<svg x=\"0\" ")) << file;
  }
  EXPECT_EQ(1u, count(reporting::figure_html(drawn[0]).markup(), "<div class=\"panels in-3\">"));
}

TEST_F(WrittenFigure, ThePrintHasTheLegendAndNoDate) {
  const runs::Run run = SyntheticRun().run();
  auto drawn = reporting::drawn({{"resolution_error", reporting::figures::resolution_error(Scoreboard(run))}});
  reporting::write_figures(folder_, drawn);
  EXPECT_FALSE(is_there(folder_ / "resolution_error_narrow.svg")) << "a single panel is narrow";
  const std::string pdf = read_file(folder_ / "resolution_error.pdf");
  EXPECT_TRUE(pdf.starts_with("%PDF"));
  EXPECT_EQ(0u, count(pdf, "/CreationDate"));
  const auto height = [](const std::string& bytes) {
    return std::stod(found_by("/MediaBox \\[ 0 0 [0-9.]+ ([0-9.]+) \\]", bytes).at(0));
  };
  drawn[0].figure.legend.clear();
  reporting::write_figures(folder_, drawn);
  // A row of 20 pixels for each entry and half of one for the border, 96 of them to an inch of 72 points. Cairo's sizes
  // are whole points.
  const std::size_t entries = reporting::figures::resolution_error(Scoreboard(run)).legend.size();
  EXPECT_NEAR((20 * static_cast<double>(entries) + 10) * 72 / 96,
              height(pdf) - height(read_file(folder_ / "resolution_error.pdf")), 1);
}

// One process draws them all, so what a script sets must not last until the next one.
TEST(Figures, APanelIsTheSameWhateverIsDrawnWithIt) {
  const auto panel = [](const std::string& id, const std::string& script) {
    return reporting::Panel{.id = id, .title = id, .description = "a line", .script = script};
  };
  const std::vector<reporting::Panel> panels = {
      panel("steps",
            "set logscale x 2\nset xlabel 'x' tc 'red'\nset label 1 'A' at 2,2\nplot '-' with lp lc 2\n1 1\n2 4\ne\n"),
      panel("line", "plot [0:1] x with lines lc 3\n"), panel("arrow", "set arrow from 0,0 to 1,1\nplot [0:1] x*x\n"),
      panel("last", "plot [0:1] x with lines lc 3\n")};
  const std::vector<std::string> together = reporting::draw(panels);
  ASSERT_EQ(panels.size(), together.size());
  std::vector<reporting::Plate> plates;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    EXPECT_EQ(reporting::draw({panels[i]}).front(), together[i]) << panels[i].id;
    plates.push_back({panels[i].id, {panels[i]}, {{.label = panels[i].id, .color = "#000000", .dash = ""}}});
  }
  const std::vector<std::string> printed = reporting::print(plates, reporting::Picture::png);
  for (std::size_t i = 0; i < plates.size(); ++i)
    EXPECT_EQ(reporting::print({plates[i]}, reporting::Picture::png).front(), printed.at(i)) << panels[i].id;
  EXPECT_TRUE(reporting::draw({}).empty());
  EXPECT_THROW(reporting::draw({panels[1], panel("wrong", "plot nothing that is known\n"), panels[2]}),
               std::logic_error);
}

RC_GTEST_PROP(Trails, TakeEachEdgeOnceAndComeBackWhereTheyCan, ()) {
  using Edge = std::pair<int, int>;
  const auto point = rc::gen::inRange(0, 8);
  const std::vector<Edge> edges = *rc::gen::container<std::vector<Edge>>(rc::gen::pair(point, point));
  std::multiset<Edge> taken;
  int open = 0, surplus = 0;
  for (const std::vector<int>& trail : reporting::trails(edges)) {
    RC_ASSERT(trail.size() > 1);
    for (std::size_t k = 0; k + 1 < trail.size(); ++k) taken.emplace(trail[k], trail[k + 1]);
    open += trail.front() != trail.back();
  }
  RC_ASSERT(taken == (std::multiset<Edge>(edges.begin(), edges.end())));
  for (int at = 0; at < 8; ++at)
    surplus += static_cast<int>(std::max<std::ptrdiff_t>(
        0, std::ranges::count(edges, at, &Edge::first) - std::ranges::count(edges, at, &Edge::second)));
  RC_ASSERT(open == surplus);
}

using reporting::LogRange;
using reporting::TickLabels;

LogRange range_of(double low, double high) {
  LogRange range;
  range.include(low);
  range.include(high);
  return range;
}

/// The values at which the commands set ticks: "'2 ms' 0.002".
std::vector<double> ticks_of(const std::string& commands) {
  std::vector<double> ticks;
  for (const std::string& value : found_by("'[^']+' ([^,)]+)", commands)) ticks.push_back(std::stod(value));
  return ticks;
}

constexpr const char* raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹", "⁻"};

/// "2·10⁻³", and not "10".
bool has_power(const std::string& label) {
  return std::ranges::any_of(raised, [&](const char* digit) { return label.find(digit) != std::string::npos; });
}

/// The number that a label says.
double value_of(std::string label) {
  if (!has_power(label)) return std::stod(label);
  for (int digit = 0; digit < 10; ++digit) label = substituted(label, raised[digit], std::to_string(digit));
  label = substituted(label, "⁻", "-");
  const std::string power = "^(?:([-0-9.]+)·)?10(-?[0-9]+)$";
  EXPECT_TRUE(has_match(label, power)) << label;
  const std::string factor = found_by(power, label, 1).at(0);
  return std::stod((factor.empty() ? "1" : factor) + "e" + found_by(power, label, 2).at(0));
}

/// Plain decimals from 0.001 to 1000, powers of ten for the whole axis where a tick is outside.
void expect_one_notation(const std::string& commands) {
  const std::vector<double> ticks = ticks_of(commands);
  const std::vector<std::string> labels = found_by("'([^']+)' [^,)]+", commands);
  const bool outside = std::ranges::any_of(ticks, [](double tick) {
    return tick != 0 && (std::abs(tick) < 0.001 * (1 - 1e-9) || std::abs(tick) > 1000 * (1 + 1e-9));
  });
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    ASSERT_EQ(outside && ticks[i] != 0, has_power(labels[i])) << commands;
    // Labels and commands have six digits.
    ASSERT_EQ("", mismatch(ticks[i], value_of(labels[i]), rounding(1e-6 * 0x1p52, std::abs(ticks[i])))) << commands;
  }
}

// Steps of a five hundredth of a decade are finer than what the margins of a point leave beyond the finest ticks.
TEST(LogAxis, HasATickWhateverItsRange) {
  constexpr int steps = 500;
  for (const int decade : {-6, 0, 5}) {
    for (int step = 0; step < steps; ++step) {
      const double low = std::pow(10.0, decade + step / double{steps});
      for (const double width : {0.0, 0.05, 0.3, 1.0, 2.4, 6.0, 9.0}) {  // in decades
        const double high = low * std::pow(10.0, width);
        for (const TickLabels labels : {TickLabels::numbers, TickLabels::seconds}) {
          const std::vector<double> ticks = ticks_of(log_axis('x', range_of(low, high), labels));
          ASSERT_FALSE(ticks.empty()) << low << " to " << high;
          ASSERT_LE(ticks.size(), 9u) << "2.5 decades with three of each, or seven with one: " << low << " to " << high;
          // An axis is wider than its range by 6 % of its logarithm, at least by 15 %. Values have six digits.
          const double margin = std::max(1.15, std::pow(high / low, 0.06)) * (1 + 1e-5);
          for (const double tick : ticks) ASSERT_TRUE(tick >= low / margin && tick <= high * margin) << tick;
        }
      }
    }
  }
}

TEST(LogAxis, TakesRoundValuesWhereItCan) {
  EXPECT_EQ((std::vector<double>{1, 2, 5, 10}), ticks_of(log_axis('x', range_of(1, 10))));
  EXPECT_EQ((std::vector<double>{1, 10, 100, 1000}), ticks_of(log_axis('x', range_of(1, 1000))));
  // Between 2 and 5, with 15 % beside it.
  EXPECT_EQ((std::vector<double>{300'000, 350'000}), ticks_of(log_axis('x', range_of(310'000, 320'000))));
  EXPECT_EQ(1u, count(log_axis('x', range_of(310'000, 320'000)), "'3·10⁵' 300000"));
  EXPECT_EQ(1u, count(log_axis('y', range_of(0.00303, 0.00304), TickLabels::seconds), "'3 ms' 0.003"));
}

TEST(LogAxis, HasOneNotation) {
  for (int decade = -9; decade <= 9; ++decade) {
    for (const double start : {1.0, 1.3, 3.2, 7.7}) {
      for (const double width : {0.0, 0.3, 1.0, 2.4, 6.0, 9.0}) {  // in decades
        const double low = start * std::pow(10.0, decade);
        expect_one_notation(log_axis('y', range_of(low, low * std::pow(10.0, width))));
      }
    }
  }
  EXPECT_EQ(1u, count(log_axis('y', range_of(0.0004, 0.02)), "'5·10⁻⁴' 0.0005, '10⁻³' 0.001,"));
  EXPECT_EQ(1u, count(log_axis('y', range_of(0.001, 1)), "'0.001' 0.001, '0.01' 0.01,"));
}

TEST(LinearAxis, HasRoundTicksInOneNotation) {
  for (int decade = -12; decade <= 12; ++decade) {
    for (const double start : {-3.0, -1.0, -0.3, 0.0, 0.2, 1.0, 7.7}) {
      for (const double length : {1e-4, 0.03, 0.7, 1.0, 2.2, 40.0}) {
        const double unit = std::pow(10.0, decade), low = start * unit, high = (start + length) * unit;
        const std::string commands = reporting::linear_axis("y", low, high);
        const std::vector<double> ticks = ticks_of(commands);
        ASSERT_TRUE(ticks.size() >= 2 && ticks.size() <= 7) << commands;
        for (const double tick : ticks)
          ASSERT_TRUE(tick >= low - 1e-8 * unit && tick <= high + 1e-8 * unit) << commands;
        if (length > 1e-3) expect_one_notation(commands);  // else its labels need more than six digits
      }
    }
  }
  EXPECT_EQ("set xrange [0:1]\nset xtics ('0' 0, '0.2' 0.2, '0.4' 0.4, '0.6' 0.6, '0.8' 0.8, '1' 1)\n",
            reporting::linear_axis("x", 0, 1));
  EXPECT_EQ("set cbrange [-3e-05:3e-05]\nset cbtics ('-2·10⁻⁵' -2e-05, '0' 0, '2·10⁻⁵' 2e-05)\n",
            reporting::linear_axis("cb", -3e-5, 3e-5));
}

TEST(LinearAxis, TakesAnyNumbers) {
  const double infinity = std::numeric_limits<double>::infinity(), largest = std::numeric_limits<double>::max();
  const std::vector<std::vector<double>> all = {
      {}, {0, 0}, {5}, {-infinity, 1, 2}, {infinity}, {-largest, largest}, {5e-324}, {1, 1 + 1e-15}};
  for (const std::vector<double>& values : all) {
    const std::string commands = reporting::linear_axis("y", values);
    EXPECT_GE(ticks_of(commands).size(), 2u) << commands;
    EXPECT_EQ(0u, count(commands, "inf") + count(commands, "nan")) << commands;
  }
  EXPECT_EQ(1u, count(reporting::linear_axis("y", std::vector<double>{1, 2, 3}), "set yrange [0.92:3.08]"));
  EXPECT_THROW(reporting::linear_axis("y", 2, 1), InvalidArgument);
  EXPECT_THROW(reporting::linear_axis("y", 0, infinity), InvalidArgument);
}

TEST(LogAxis, HasFewTicksInTheRangeOfAllDoubles) {
  const double largest = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  for (const auto& [low, high] : {std::pair(1.0, 1e300), std::pair(1e-300, 1e300), std::pair(least, largest),
                                  std::pair(largest, largest), std::pair(least, least), std::pair(1e291, 1e308)}) {
    const std::string commands = log_axis('y', range_of(low, high), TickLabels::numbers);
    EXPECT_FALSE(ticks_of(commands).empty()) << low << " " << high << "\n" << commands;
    EXPECT_LE(ticks_of(commands).size(), 20u) << commands;
    EXPECT_FALSE(has(commands, "inf"));
    EXPECT_FALSE(has(reporting::log_axis_at('x', {low, high}), "inf"));
  }
  LogRange range = range_of(1, 2);
  range.include(std::numeric_limits<double>::infinity());
  EXPECT_EQ(2, range.high());
}

}  // namespace
}  // namespace opshap
