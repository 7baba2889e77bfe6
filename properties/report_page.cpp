// The page is whole: escaped, self-contained, the same from the same rows. Its tables and figures say what they show,
// and what is missing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "reporting/axes.hpp"
#include "reporting/field_figures.hpp"
#include "reporting/figures.hpp"
#include "reporting/html.hpp"
#include "reporting/methods.hpp"
#include "reporting/page_parts.hpp"
#include "reporting/report.hpp"
#include "reporting/report_tables.hpp"
#include "reporting/table.hpp"
#include "support/drawn_report.hpp"
#include "support/expressions.hpp"
#include "support/planes_run.hpp"
#include "support/run_folder.hpp"
#include "support/synthetic_run.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

/// The page of a run, and everything else in its folder.
class ReportFolder : public RunFolder {
 protected:
  std::string report(const runs::Results& results, const nlohmann::ordered_json& manifest) const {
    write_run(folder_, results, manifest);
    return drawn_report(folder_);
  }
  std::string report(const runs::Results& results = SyntheticRun().results()) const {
    return report(results, SyntheticRun().manifest());
  }
};

TEST(Html, EscapesTextAndAttributesAndTakesMarkupFromElementsAlone) {
  using namespace reporting;
  EXPECT_EQ("<p id=\"a\" class=\"b c\">1 &lt; 2</p>\n", element("p#a.b.c", "1 < 2").markup());
  EXPECT_EQ("<a href=\"&quot;&gt;&amp;&#39;\"><em>x</em> y</a>",
            element("a", Attribute{"href", "\">&'"}, element("em", "x"), std::string(" y")).markup());
  EXPECT_EQ("<details open><svg><g/></svg></details>\n",
            element("details", Attribute{"open", ""}, Html::raw("<svg><g/></svg>")).markup());
  EXPECT_EQ("<meta charset=\"utf-8\">\n", element("meta", Attribute{"charset", "utf-8"}).markup());
  EXPECT_EQ("<b>\xEF\xBF\xBD</b>", element("b", "\x01").markup());
  EXPECT_EQ("<li>1</li>\n<li>2</li>\n",
            each(std::vector{1, 2}, [](int number) { return element("li", std::to_string(number)); }).markup());
  EXPECT_TRUE(each(std::vector<int>{}, [](int) { return Html("nothing"); }).empty());
  EXPECT_THROW(element("p", "content", Attribute{"id", "late"}), std::logic_error);
}

TEST(Table, IsMadeOfAListOfColumns) {
  const std::vector<int> things = {1, 2};
  const auto table = reporting::table_of("squares", "Squares.", things,
                                         {{"number", [](auto& thing) { return std::to_string(thing); }, true},
                                          {"square of it", [](auto& thing) { return std::to_string(thing * thing); }}});
  EXPECT_EQ("number,square of it\n1,1\n2,4\n", table.csv());
  EXPECT_TRUE(table.columns[0].number && !table.columns[1].number);
  EXPECT_TRUE(
      reporting::table_of("none", "None.", std::vector<int>{}, {{"n", [](auto&) { return "x"; }}}).rows.empty());
  EXPECT_THROW(reporting::table_of("empty", "Empty.", things, {{"n", [](auto&) { return ""; }}}), std::logic_error);
}

TEST(Table, QuotesWhatItsFormatsReserve) {
  reporting::Table table{.name = "t", .caption = "A <caption>.", .columns = {{"a|b"}, {"n", true}}};
  table.add({"x, \"y\" | <z> & 'w'", reporting::show_count(1234)});
  EXPECT_EQ("a|b,n\n\"x, \"\"y\"\" | <z> & 'w'\",1234\n", table.csv());
  EXPECT_EQ("A <caption>.\n\n| a\\|b | n |\n|---|---:|\n| x, \"y\" \\| <z> & 'w' | 1\u202F234 |\n", table.markdown());
  EXPECT_TRUE(has(table.html().markup(), "x, &quot;y&quot; | &lt;z&gt; &amp; &#39;w&#39;"));
  EXPECT_THROW(table.add({"too few"}), std::logic_error);
  EXPECT_THROW(table.add({"", "empty"}), std::logic_error);
}

/// The cells of the rows of a table of LaTeX, as a reader sees them.
std::vector<std::string> cells_of_latex(std::string text) {
  text = text.substr(text.find("\\midrule\n") + 9);
  text = substituted(text.substr(0, text.find("\\bottomrule")), R"(\\endhead\n)", "");
  for (const auto& [command, letter] : {std::pair(R"(\\,)", "\u202F"), std::pair(R"(\\ensuremath\{\\times\})", "×")})
    text = substituted(text, command, letter);
  text = substituted(text, R"(\\([&%$#_{}]))", "$1");
  return found_by(R"( & | \\\\\n)", text, -1);
}

TEST(Table, OfLatexHasTheNumbersOfTheMarkdown) {
  for (const std::size_t rows : {2, 41}) {
    reporting::Table table{.name = "t",
                           .caption = "50 % of A_1 & B.",
                           .columns = {{"|x|", true}, {"a_b"}, {"words"}},
                           .notes = {"100 % #1."}};
    std::vector<std::string> cells;
    for (std::size_t row = 0; row < rows; ++row) {
      table.add({reporting::show_count(1234567 + static_cast<double>(row)), "4 × 4 _{$} 5 %",
                 "A sentence that is longer than a line of a column."});
      cells.insert(cells.end(), table.rows.back().begin(), table.rows.back().end());
    }
    const std::string latex = table.latex();
    EXPECT_EQ(cells, cells_of_latex(latex));
    EXPECT_EQ(rows, count(latex, " & 4 \\ensuremath{\\times} 4 \\_\\{\\$\\} 5 \\% & ")) << latex;
    EXPECT_EQ(1u, count(latex, "\\caption{50 \\% of A\\_1 \\& B.}\\label{tab:t}")) << latex;
    EXPECT_EQ(1u, count(latex, "{rlp{0.3\\linewidth}}\n")) << latex;
    EXPECT_EQ(1u, count(latex, "\\toprule\n\\textbar{}x\\textbar{} & a\\_b & words \\\\\n\\midrule\n")) << latex;
    EXPECT_EQ(1u, count(latex, "100 \\% \\#1."));
    EXPECT_EQ(rows > 40 ? 2u : 0u, count(latex, "{longtable}")) << "a table that fills more than a page";
    EXPECT_EQ(rows > 40 ? 0u : 2u, count(latex, "{tabular}"));
  }
}

TEST(Numbers, AreShownWithThePapersThreeDecimalsWhereTheySayEnough) {
  EXPECT_EQ("0.138", reporting::show(0.138));
  EXPECT_EQ("-4.362", reporting::show(-4.362));
  EXPECT_EQ("0", reporting::show(0));
  EXPECT_EQ("3.1e-05", reporting::show(3.1e-5));
  EXPECT_EQ("29.0", reporting::show(28.983));
  EXPECT_EQ("123", reporting::show(123.4));
  EXPECT_EQ("0.138 [0.110, 0.192]",
            reporting::show(statistics::Quartiles{.q25 = 0.11, .median = 0.138, .q75 = 0.192, .count = 30}));
  EXPECT_EQ("1\u202F234\u202F567", reporting::show_count(1234567));
  EXPECT_EQ("123", reporting::show_count(123));
  EXPECT_EQ("0.42 ms", reporting::show_seconds(0.00042));
  EXPECT_EQ("3.1 s", reporting::show_seconds(3.14));
  EXPECT_EQ("2 min 05 s", reporting::show_seconds(125));
  EXPECT_EQ("2 h 05 min", reporting::show_seconds(7500));
}

TEST(Axes, TickAtReadableValuesInsideTheRange) {
  reporting::LogRange range;
  for (const double value : {0.03, 0.9, 0.0, -1.0}) range.include(value);
  EXPECT_EQ(0.03, range.low());
  const std::string axis = reporting::log_axis('y', range);
  for (const char* tick : {"'0.05' 0.05", "'0.1' 0.1", "'0.2' 0.2", "'0.5' 0.5", "'1' 1"}) EXPECT_TRUE(has(axis, tick));
  reporting::LogRange wide;
  for (const double value : {1.0, 3e8}) wide.include(value);
  EXPECT_TRUE(has(reporting::log_axis('x', wide), "'10⁶' 1e+06"));
  EXPECT_EQ(6u, count(reporting::log_axis_at('x', {1, 2, 4, 8, 16, 32}), "' "));
  EXPECT_EQ(5u, count(reporting::log_axis_at('x', {1, 2, 4, 8, 16, 32, 64, 128, 256}), "' "));
  EXPECT_THROW(reporting::log_axis('x', reporting::LogRange()), InvalidArgument);
}

TEST_F(ReportFolder, TheSameRowsGiveTheSameBytes) {
  report();
  const auto first = files_of(folder_);
  for (const char* file : {"report.html", "claims.json", "figures/budget_error.svg", "figures/budget_error.csv",
                           "tables/paper_comparison.csv", "tables/methods.md", "tables/methods.tex",
                           "figures/budget_error.pdf", "figures/budget_error_narrow.svg"})
    EXPECT_TRUE(first.contains(file)) << file;
  reporting::write_report(folder_);
  EXPECT_EQ(first, files_of(folder_));
  const std::string table = read_file(folder_ / "tables" / "methods.tex");
  EXPECT_TRUE(table.starts_with("% " + runs::origin(folder_) + "\n% needs")) << table;
  EXPECT_TRUE(runs::origin(folder_).starts_with("opshap reproduce --profile smoke (seed 42, commit 0123456789"));
}

TEST_F(ReportFolder, ThePageStandsAlone) {
  const std::string page = report();
  EXPECT_EQ(0u, count(page, "http://") - count(page, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(0u, count(page, "https://"));
  EXPECT_EQ(0u, count(page, "<link") + count(page, "<img") + count(page, "src=") + count(page, "@import"));
  EXPECT_EQ(1u, count(page, "<script")) << "the data island only";
  EXPECT_EQ(1u, count(page, "<script type=\"application/json\""));
  EXPECT_TRUE(has(page, {"sentences of the paper that this run can judge hold",
                         "not comparable: training samples: 192 instead of the paper&#39;s 4220"}));
  for (const char* section :
       {"claims", "paper", "methods", "operators", "figures", "cost", "environment", "differences"})
    EXPECT_EQ(1u, count(page, std::string("id=\"") + section + "\"")) << section;
}

// A method that diverges, or a program that answers anything.
TEST_F(ReportFolder, NumbersOfAnySizeHaveAPage) {
  const SyntheticRun made{.resolutions = {16, 64}, .curves = {16}};
  for (const double size : {1e300, 1.7e308, 5e-324})
    for (const std::size_t every : {1, 7}) {
      runs::Results results = made.results();
      for (std::size_t i = 0; i < results.attributions.size(); i += every) {
        runs::AttributionRow& row = results.attributions[i];
        if (row.method == "permutation") row.scores["nrmse"] = Measured::of(size);
        if (row.method == "kernel_shap_paired") row.game_seconds = row.estimator_seconds = size;
        if (row.method == "operator_shap") row.scores["r2"] = row.scores["pearson"] = Measured::of(-size);
        if (row.method == "integrated_gradients") row.reference_error = Measured::of(size);
      }
      const std::string page = report(results, made.manifest());
      EXPECT_TRUE(has(page, "</html>")) << size;
      EXPECT_EQ(0u, count(page, "Not in this profile: ")) << "a figure that would not be tried";
    }
}

TEST_F(ReportFolder, EveryTextOfTheRunIsEscaped) {
  const std::string attack = "</script><script>alert('x')</script>&\"";
  auto manifest = SyntheticRun().manifest();
  for (const char* key : {"profile", "commit", "started"}) manifest[key] = attack;
  manifest["departures"] = {attack};
  manifest["environment"]["blas"] = attack;
  manifest["environment"][attack] = "key";
  manifest["settings"]["toml"] = "line\n" + attack;
  manifest["seconds"][attack] = 1.0;
  manifest["resumed"] = {{{"time", attack}, {"commit", attack}, {"environment", {{"processor", attack}}}}};
  runs::Results results = SyntheticRun().results();
  for (runs::AttributionRow& row : results.attributions) {
    if (row.method == "permutation") row.method = attack;
    if (row.method == "uniform") row.scores["r2"] = Measured::undefined(attack);
  }
  const std::string page = report(results, manifest);
  EXPECT_EQ(0u, count(page, "<script>"));
  EXPECT_EQ(1u, count(page, "</script>"));
  EXPECT_EQ(0u, count(page.substr(0, page.find("<script type=")), "alert('x')"));
  EXPECT_GT(count(page, "&lt;/script&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;"), 5u);
}

/// The elements of a page are closed, and its ids are unique and lead somewhere.
void expect_sound_markup(const std::string& page) {
  for (const char* tag : {"table",   "tbody", "tr",      "td",     "th",   "section", "figure", "figcaption", "details",
                          "summary", "svg",   "article", "ol",     "dt",   "dd",      "g",      "div",        "p",
                          "ul",      "li",    "dl",      "header", "main", "title",   "desc"}) {
    const std::size_t opened = found_by(std::string("<") + tag + "(\\s[^>]*[^/]>|\\s[^>/]>|>)", page).size();
    EXPECT_EQ(opened, count(page, std::string("</") + tag + ">")) << tag;
  }
  std::set<std::string> ids;
  for (const std::string& id : found_by(" id=['\"]([^'\"]*)['\"]", page)) EXPECT_TRUE(ids.insert(id).second) << id;
  for (const std::string& link : found_by("href=['\"]#([^'\"]*)['\"]", page)) EXPECT_TRUE(ids.contains(link)) << link;
}

TEST_F(ReportFolder, TheMarkupIsBalancedAndItsIdsAreUnique) {
  expect_sound_markup(report());
  expect_sound_markup(report(run_on_planes(), SyntheticRun{.resolutions = {4, 8}}.manifest()));
}

TEST_F(ReportFolder, CellsSayWhatIsMissingInWords) {
  runs::Results results = SyntheticRun().results();
  for (runs::AttributionRow& row : results.attributions) {
    if (row.method == "kernel_shap") set_undefined(row, "kernel_shap: budget=3 (too small)");
  }
  const std::string page = report(results);
  EXPECT_FALSE(has_match(page, "<td[^>]*>(nan|NaN|null|inf|-inf)?</td>|\\[-?(nan|inf)"));
  EXPECT_TRUE(has(page, "on 8 of 8 inputs (kernel_shap: budget=3 (too small))"));
}

TEST_F(ReportFolder, ARefusalIsSaidOnce) {
  runs::Results results = SyntheticRun().results();
  for (runs::AttributionRow& row : results.attributions) {
    if (row.method != "kernel_shap_paired" || row.players == 16 || row.sample < 2) continue;
    row.distinct = row.evaluations = 0;
    row.game_seconds = row.estimator_seconds = 0;
    set_undefined(row, "rank=62 (needs 63)");
  }
  const std::string page = report(results);
  EXPECT_EQ(1u, count(page, "rank=62 (needs 63)"));
  EXPECT_EQ(1u, count(page, "KernelSHAP (paired) at n = 32, 64: refused 6 of 8 inputs: rank=62 (needs 63)"));
  EXPECT_EQ(2u, count(page, "data-label=\"inputs\">2 of 8</td>"));
}

TEST_F(ReportFolder, FiguresTellWhatTheyShowToThoseWhoCannotSeeThem) {
  report();
  for (const reporting::FigureKind& kind : reporting::figures::all()) {
    const std::string svg = read_file(folder_ / "figures" / (std::string(kind.name) + ".svg"));
    EXPECT_TRUE(svg.starts_with("<svg xmlns=")) << kind.name;
    EXPECT_GE(count(svg, "role=\"img\""), 2u) << kind.name << ": the figure and its panels";
    EXPECT_EQ(count(svg, "<desc"), count(svg, "role=\"img\"")) << kind.name;
    EXPECT_EQ(count(svg, "<title"), count(svg, "role=\"img\"")) << kind.name;
    EXPECT_EQ(0u, count(svg, "'black'") + count(svg, "\"black\"") + count(svg, "NaN") + count(svg, "nan,"))
        << kind.name;
    EXPECT_GT(count(read_file(folder_ / "figures" / (std::string(kind.name) + ".csv")), "\n"), 2u) << kind.name;
  }
}

// A domain of length 5 that begins at 2, asked for at another point than its centre.
TEST(Figures, DrawTheDomainAndTheQueryOfTheRows) {
  auto run = SyntheticRun{.resolutions = {16}}.run();
  for (runs::FieldsRow& row : run.results.fields) {
    for (double& x : row.x) x = 2 + 5 * x;
    row.query = {2.9375};
  }
  const reporting::Figure figure = reporting::figures::example(reporting::Scoreboard(run));
  ASSERT_EQ(3u, figure.panels.size());
  for (const reporting::Panel& panel : figure.panels)
    EXPECT_TRUE(has(panel.script, {"set arrow from 2.9375, graph 0", "set xrange [1.84375:6.84375]"}));
  EXPECT_TRUE(has(figure.finding, "x = 2.9375"));
}

TEST_F(ReportFolder, ImportedDataAreNamedOnTheFirstScreen) {
  auto manifest = SyntheticRun{.resolutions = {16}}.manifest();
  EXPECT_EQ(0u, count(report(SyntheticRun{.resolutions = {16}}.results(), manifest), "Imported data"));
  manifest["data"] = {{"file", "set.h5"}, {"imported_from", "npy, layout a pair of arrays: u<1>.npy, v.npy"}};
  const std::string page = report(SyntheticRun{.resolutions = {16}}.results(), manifest);
  EXPECT_EQ(1u, count(page, "<strong>Imported data:</strong> npy, layout a pair of arrays: u&lt;1&gt;.npy, v.npy."));
  EXPECT_LT(page.find("Imported data"), page.find("<main>"));
  EXPECT_EQ(1u, count(page, "They are none of the paper&#39;s data sets."));
  manifest["data"]["import_notes"] = {"The set is imported.", "Of 64 blocks, 28 hold nodes and play."};
  EXPECT_EQ(1u, count(report(SyntheticRun{.resolutions = {16}}.results(), manifest),
                      "v.npy. The set is imported. Of 64 blocks, 28 hold nodes and play. Of the paper"));
  EXPECT_EQ("Advection 1D (imported, PDEBench)", reporting::pde_label("pdebench_advection1d"));
  EXPECT_EQ("Waves (imported, .npy)", reporting::pde_label("npy_waves"));
  EXPECT_TRUE(reporting::pde_label("meshgraphnets_airfoil").ends_with(" (imported, MeshGraphNets)"));
}

TEST_F(ReportFolder, PlanesAreDrawnAsHeatMaps) {
  const std::string page = report(run_on_planes(), SyntheticRun{.resolutions = {4, 8}}.manifest());
  EXPECT_EQ(0u, count(page, "not finished")) << "resolutions are points per axis";
  EXPECT_TRUE(has(page, {"16 (4 × 4)", "16 (of 8 × 8 points)"}));
  const std::string svg = read_file(folder_ / "figures/example.svg");
  for (const char* title : {">input a</title>", ">input b</title>", ">solution</title>", ">prediction</title>",
                            ">reference</title>", ">OperatorSHAP</title>"})
    EXPECT_EQ(1u, count(svg, title)) << title;
  EXPECT_EQ(1u + 64, count(read_file(folder_ / "figures/example.csv"), "\n")) << "the finer grid";
  EXPECT_EQ(0u, count(svg, "fill-opacity")) << "the colours of the scale are those of the map";
  const std::size_t panels = count(svg, "aria-labelledby=");
  EXPECT_EQ(panels, count(svg, "<image style='image-rendering:pixelated' ")) << "a map is a picture, a dot a point";
  EXPECT_EQ(panels, count(svg, "href='data:image/png;base64,")) << "inside, since a page has no files beside it";
  EXPECT_TRUE(fs::exists(folder_ / "figures/resolution_error.svg")) << "two grids, told apart by their points";
}

TEST(Figures, NameTheFileThatHasTheirNumbersWhereAPageWouldBeTooLong) {
  reporting::DrawnFigure drawn{.name = "long"};
  drawn.figure.numbers.columns = {{"x", true}};
  for (int row = 0; row < 300; ++row) drawn.figure.numbers.add({"1"});
  EXPECT_EQ(1u, count(reporting::figure_html(drawn).markup(), "<table"));
  drawn.figure.numbers.add({"1"});
  const std::string html = reporting::figure_html(drawn).markup();
  EXPECT_EQ(0u, count(html, "<table"));
  EXPECT_EQ(1u, count(html, "301 rows, in figures/long.csv."));
}

TEST(Figures, SpreadAPlayersValueOverItsShareOfTheVolume) {
  const runs::FieldsRow grid{.pde = "p", .x = {0, 1, 2, 3}, .shape = {4}, .player_of = {0, 0, 0, 1}};
  EXPECT_EQ((std::vector<double>{4, 4, 4, 8}), reporting::figures::density(grid, {3, 2}));
  EXPECT_THROW(reporting::figures::density(grid, {1, 2, 3}), DataError);
}

TEST(Tables, OfTheReferenceHaveTheMedianCostAndWhatMissedTheTarget) {
  auto run = SyntheticRun{.resolutions = {32}}.run();
  run.settings = {{"toml", "[evaluation]\nreference_error = 0.02\n"}};
  for (runs::AttributionRow& row : run.results.attributions) {
    row.reference = "certified";
    row.reference_evaluations = row.sample == 0 ? 300000 : 11000 + row.sample;
    row.reference_error = Measured::of(row.sample < 3 ? 0.03 : 0.01);
  }
  const std::string csv = reporting::tables::reference(reporting::Scoreboard(run)).csv();
  EXPECT_TRUE(has(csv, "32,certified,11004,0.010,0.030,3 of 8,"));
  EXPECT_EQ(2u, reporting::tables::reference(reporting::Scoreboard(run)).notes.size()) << "certified, and the target";
}

TEST(Tables, OfTheReferenceSayWhatTheOwnCellIsWorthWhereRowsDo) {
  auto run = SyntheticRun{.resolutions = {32, 64}}.run();
  const auto csv = [&run] { return reporting::tables::reference(reporting::Scoreboard(run)).csv(); };
  EXPECT_EQ(0u, count(csv(), "share of the own cell"));
  for (runs::AttributionRow& row : run.results.attributions)
    if (row.players == 64) row.own_share = 0.25 + 0.01 * static_cast<double>(row.sample);
  EXPECT_EQ(1u, count(csv(), "share of the own cell"));
  EXPECT_EQ(1u, count(csv(), ",not stored,")) << csv();
  EXPECT_EQ(1u, count(csv(), ",\"0.285 [0.268, 0.302]\",")) << csv();
}

TEST(Tables, MarkWhatTheReferenceCannotTell) {
  auto run = SyntheticRun{.resolutions = {32}}.run();
  for (runs::AttributionRow& row : run.results.attributions) {
    row.reference_error = Measured::of(0.01);
    if (row.method == "integrated_gradients") row.scores["nrmse"] = Measured::of(0.0199);
    if (row.method == "operator_shap") row.scores["nrmse"] = Measured::of(0.0201);
  }
  const reporting::Table table = reporting::tables::methods(reporting::Scoreboard(run));
  EXPECT_EQ(1u, count(table.csv(), "] *"));
  EXPECT_TRUE(has(table.csv(), "0.020 [0.020, 0.020] *"));
  const std::string net = reporting::tables::net_of_the_reference(reporting::Scoreboard(run)).csv();
  EXPECT_TRUE(has(net, {"Integrated gradients,0.020,0.017,", "0.010,no: it says more about the reference"}));
  ASSERT_FALSE(table.notes.empty());
  EXPECT_TRUE(table.notes.front().starts_with("* This median"));
}

TEST(Tables, OutliersStandWithTheirCause) {
  auto run = SyntheticRun{.resolutions = {16, 32}}.run();
  for (runs::OperatorRow& row : run.results.operators)
    row.relative_errors[2] = Measured::of(row.points == 16 ? 30 : 25);
  EXPECT_EQ(1u, reporting::tables::outliers(reporting::Scoreboard(run)).rows.size()) << "once, where it is worst";
  for (runs::OperatorRow& row : run.results.operators) row.solution_norms[2] *= 1e-3;
  const std::vector<std::string> row = reporting::tables::outliers(reporting::Scoreboard(run)).rows.at(0);
  EXPECT_EQ("16", row[1]);
  EXPECT_EQ("2", row[2]);
  EXPECT_TRUE(has(row[5], "The target is near zero."));
  for (runs::OperatorRow& operators : run.results.operators) operators.solution_norms.clear();
  EXPECT_TRUE(has(reporting::tables::outliers(reporting::Scoreboard(run)).rows.at(0)[5],
                  "do not hold the size of this solution"));
}

TEST_F(ReportFolder, TheHeaderNamesTheFirstAndTheLastSitting) {
  auto manifest = SyntheticRun().manifest();
  manifest["resumed"] = {
      {{"time", "2026-01-03T00:00:00Z"}, {"commit", "ffffffffffff"}, {"environment", {{"blas", "another BLAS"}}}}};
  const std::string page = report(SyntheticRun().results(), manifest), header = page.substr(0, page.find("</header>"));
  EXPECT_EQ(1u, count(header, "ffffffffffff at the end, 0123456789ab at the start (2 sittings)"));
  EXPECT_EQ(1u, count(header, "another BLAS at the end, OpenBLAS 0.3.21 openmp, 60 GFLOP/s a thread at the start"));
}

TEST_F(ReportFolder, TheFirstScreenHasFiveSentencesAndOneTable) {
  const std::string page = report(SyntheticRun::full().results(), SyntheticRun::full().manifest()),
                    header = page.substr(0, page.find("</header>"));
  EXPECT_EQ(5u, count(header.substr(0, header.find("</ol>")), "<li><strong>"));
  std::map<std::string, std::map<std::string, int>> verdicts;
  int better = 0, judged_rows = 0;
  const auto claims = nlohmann::json::parse(read_file(folder_ / "claims.json"));
  const auto is_judged = [](const nlohmann::json& claim) {
    return std::set<std::string>{"reproduced", "not reproduced", "undecided"}.contains(claim.at("verdict"));
  };
  for (const auto& claim : claims.at("claims")) {
    const std::string id = claim.at("id");
    judged_rows += is_judged(claim);
    if (is_judged(claim)) {
      EXPECT_EQ(1u, count(header, "href=\"#claim-" + id + "\"")) << id;
    }
    if (claim.at("by_construction") || id.starts_with("table_row")) continue;
    ++verdicts[claim.at("source")][claim.at("verdict")];
    better +=
        claim.at("source") == "paper" && claim.at("verdict") == "not reproduced" && claim.at("direction") == "better";
  }
  EXPECT_GT(judged_rows, 20);
  auto& paper = verdicts["paper"];
  const int holds = paper["reproduced"], fails = paper["not reproduced"], open = paper["undecided"];
  EXPECT_EQ(1u, count(header, std::to_string(holds) + " of " + std::to_string(holds + fails + open) +
                                  " sentences of the paper that this run can judge hold, " + std::to_string(fails)));
  EXPECT_EQ(better > 0 ? 1u : 0u, count(header, "Of those that do not, " + std::to_string(better) + " fail"));
  auto& ours = verdicts["opshap"];
  EXPECT_EQ(1u, count(header, "Of " + std::to_string(ours["reproduced"] + ours["not reproduced"] + ours["undecided"]) +
                                  " sentences that this suite adds " + std::to_string(ours["reproduced"]) + " hold"));
  EXPECT_EQ(1u, count(page, "id=\"figure-resolution_error\""));
  EXPECT_LT(page.find("id=\"figure-resolution_error\""), page.find("</header>"));
}

// Hidden cells may be fields that the operator has never seen.
TEST_F(ReportFolder, ABaselineFarFromTheDataIsNamedFirst) {
  runs::Results results = SyntheticRun().results();
  EXPECT_EQ(0u, count(report(results), "out of distribution"));
  auto manifest = SyntheticRun().manifest();
  const runs::GamesRow row{.pde = "burgers1d",
                           .players = 16,
                           .shape = {16},
                           .active = {16, 4, 5},
                           .channels = {"u", "v"},
                           .baseline_distances = {9.7, 2.9},
                           .baseline = "zero",
                           .rest = {1, 0}};
  results.games = {row};
  for (runs::AttributionRow& attribution : results.attributions) {
    if (attribution.players != 32) continue;
    attribution.reference_parts = {"permutation_antithetic", "two_level"};
    attribution.reference_part_errors = {0.126, 0.0043};
    attribution.reference_check = 0.03 + 0.1 * static_cast<double>(attribution.sample);
  }
  const std::string page = report(results, manifest), header = page.substr(0, page.find("</header>"));
  EXPECT_EQ(1u, count(header, "in channel u the baseline is 9.700 standard deviations from the data"));
  EXPECT_EQ(0u, count(header, "in channel v"));
  EXPECT_EQ(1u, count(header, "standard deviations from the data. The baseline is zero."));
  EXPECT_EQ(1u, count(header, "at rest with u = 1: baseline ="));
  EXPECT_EQ(1u, count(read_file(folder_ / "tables" / "games.csv"), "16,5 of 16,\"u 9.700, v 2.900\""));
  EXPECT_EQ(1u, count(read_file(folder_ / "tables" / "reference.csv"),
                      "\"Permutation (antithetic) 0.126, Two level 0.0043\",0.030"));
}

TEST_F(ReportFolder, FiguresWithoutRowsAreNamedAsMissingAndNeverEmpty) {
  SyntheticRun made;
  report(made.results(), made.manifest());
  made.curves = {};
  runs::Results results = made.results();
  std::erase_if(results.values, [](const auto& row) { return row.method == "operator_shap"; });
  const std::string page = report(results, made.manifest());
  EXPECT_EQ(5u, count(page, "Not in this profile: ")) << "density, budget, amortisation, grids and example";
  for (const char* ending : {".svg", "_narrow.svg", ".pdf", ".csv"})
    for (const char* figure : {"budget_error", "example"})
      EXPECT_FALSE(fs::exists(folder_ / "figures" / (figure + std::string(ending)))) << "would be stale: " << figure;
  EXPECT_TRUE(fs::exists(folder_ / "figures/resolution_error.svg"));
}

// A repository keeps the rows of a run without its values, and with the values of its references at most.
TEST_F(ReportFolder, FiguresWhoseRowsAreNotKeptStayAsTheyWereDrawn) {
  report();
  const auto before = files_of(folder_);
  for (const bool references : {false, true}) {
    runs::Results results = SyntheticRun().results();
    results.fields.clear();
    std::erase_if(results.values, [=](const auto& row) { return !references || row.method != "reference"; });
    const std::string page = report(results);
    const auto after = files_of(folder_);
    for (const char* figure : {"shapley_and_density", "grids", "example"}) {
      for (const char* ending : {".svg", "_narrow.svg", ".pdf", ".csv"}) {
        const std::string file = "figures/" + (figure + std::string(ending));
        EXPECT_EQ(before.at(file), after.contains(file) ? after.at(file) : "nothing") << file;
      }
      EXPECT_EQ(1u, count(page, "The drawing of an earlier report is in <code>figures/" + std::string(figure) +
                                    ".svg</code>"));
    }
    EXPECT_EQ(0u, count(page, "Not in this profile: "));
  }
  fs::remove_all(folder_ / "figures");
  runs::Results results = SyntheticRun().results();
  results.fields.clear();
  results.values.clear();
  EXPECT_EQ(3u, count(report(results), "There is no earlier drawing either."));
}

TEST_F(ReportFolder, AnUnfinishedEvaluationSaysWhatIsMissingAndWhoWentOn) {
  const SyntheticRun made;
  EXPECT_EQ(0u, count(report(made.results(), made.manifest()), "not finished"));
  SyntheticRun planned = made;
  planned.resolutions.push_back(128);
  planned.resolutions.push_back(256);
  auto manifest = planned.manifest();
  manifest["resumed"] = {{{"time", "2026-01-02T03:04:05Z"}, {"commit", "abcdef"}, {"dirty", true}}};
  const std::string page = report(made.results(), manifest);
  EXPECT_EQ(1u, count(page, "nothing is known yet about n = 128, 256."));
  EXPECT_EQ(1u, count(page, ">abcdef (with uncommitted changes)</td>"));
  EXPECT_EQ((std::vector<Resolution>{128, 256}), runs::read_run(folder_).missing_resolutions());
  const auto claims = nlohmann::json::parse(read_file(folder_ / "claims.json"));
  EXPECT_EQ((std::vector<int>{128, 256}), claims.at("missing_resolutions").get<std::vector<int>>());
}

TEST_F(ReportFolder, TheFirstSentencesHaveTheCoarsestAndTheFinestGridOrTheOnlyOne) {
  const auto sentences = [this](const std::vector<int>& grids) {
    const SyntheticRun made{.resolutions = grids};
    const std::string page = report(made.results(), made.manifest());
    return page.substr(0, page.find("<strong>Verdicts."));
  };
  const std::string two = sentences({16, 32}), single = sentences({16});
  EXPECT_TRUE(has(two, "Median NRMSE at n = 16 and n = 32: OperatorSHAP "));
  EXPECT_TRUE(has_match(two, "[0-9] and [0-9]"));
  EXPECT_TRUE(has(single, {"Median NRMSE at n = 16: OperatorSHAP ", "for each input). "}));
  EXPECT_FALSE(has_match(single, "[0-9] and [0-9]"));
}

TEST_F(ReportFolder, OneRowIsEnoughForAPage) {
  const runs::Results results = SyntheticRun().results();
  runs::Results one;
  one.attributions.push_back(*std::ranges::find(results.attributions, "kernel_shap", &runs::AttributionRow::method));
  EXPECT_TRUE(has(report(one), "KernelSHAP"));
}

TEST_F(ReportFolder, WhatIsNoRunIsRefusedAndTheOldPageStays) {
  const std::string page = report();
  write_file(folder_ / "results.jsonl", "{\"schema\":\n");
  EXPECT_THROW(reporting::write_report(folder_), DataError);
  EXPECT_EQ(page, read_file(folder_ / "report.html"));
  write_file(folder_ / "results.jsonl", "");
  EXPECT_THROW(reporting::write_report(folder_), DataError);
  write_file(folder_ / "manifest.json", "{\"schema\":\"opshap.manifest/2\"}");
  EXPECT_THROW(reporting::write_report(folder_), DataError);
  fs::remove(folder_ / "manifest.json");
  EXPECT_THROW(reporting::write_report(folder_), DataError);
  EXPECT_THROW(reporting::write_report(folder_ / "nothing"), DataError);
}

TEST_F(ReportFolder, WithoutGnuplotTheMessageNamesThePackage) {
  write_run(folder_, SyntheticRun().results(), SyntheticRun().manifest());
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.c_str(), 1);
  EXPECT_TRUE(has(refusal<EnvironmentError>([&] { reporting::write_report(folder_); }), "apt-get install gnuplot-nox"));
  setenv("PATH", path.c_str(), 1);
  EXPECT_FALSE(fs::exists(folder_ / "report.html"));
}

}  // namespace
}  // namespace opshap
