#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "metrics/registry.hpp"
#include "reporting/methods.hpp"
#include "reporting/pages.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting {

namespace {

/// Of the last sitting, which ran the evaluation or its end; and of the first one where it is another.
std::string over_sittings(const runs::Run& run, std::string_view key) {
  if (run.sittings.empty()) return "";
  const std::string first = run.sittings.front().value(key), last = run.sittings.back().value(key);
  if (first == last || first.empty()) return last;
  return fmt::format("{} at the end, {} at the start", last.empty() ? "not stored" : last, first);
}

/// The first departure from the paper, and how many more there are.
std::string why_not_comparable(const runs::Run& run) {
  if (run.departures.empty()) return "the run says so without a reason";
  const std::string more =
      run.departures.size() < 2 ? "" : fmt::format(", and {} more departures", run.departures.size() - 1);
  return run.departures.front() + more;
}

/// The figure of the first screen.
constexpr std::string_view leading_figure = "resolution_error";

/// A paragraph of the header that begins with what a reader has to know.
Html warning(const std::string& what, const Html& more) {
  return element("p.lead", element("strong", what), " ", more);
}

Html link_to_differences(const char* words) { return element("a", Attribute{"href", "#differences"}, words); }

/// What a baseline far from the data means, and which one the problem has at rest. Rows of before do not say it.
std::string meaning_of_baseline(const runs::GamesRow& row, std::size_t channel) {
  if (row.baseline.empty()) return "";
  std::string words = fmt::format(
      " The baseline is {}. A hidden cell shows the operator what no input has, and values and errors here are about "
      "such fields, too.",
      row.baseline);
  const bool has_other_rest =
      !row.rest.empty() && !row.baseline.starts_with("rest") && !(row.baseline == "zero" && row.rest[channel] == 0);
  if (has_other_rest)
    words += fmt::format(" The problem is at rest with {} = {}: baseline = \"rest\" in [scenario] hides cells by it.",
                         row.channels[channel], row.rest[channel]);
  return words;
}

/// What stands before the numbers of a run: that it is not finished, imported, far from the data, or not comparable.
Html warnings(const runs::Run& run) {
  Html html;
  if (const auto missing = run.missing_resolutions(); !missing.empty()) {
    const std::string sizes = listing(missing, [](const Resolution& size) { return message(size); });
    html += warning("The evaluation is not finished:",
                    fmt::format("nothing is known yet about n = {}. The command of this run resumes it.", sizes));
  }
  if (!run.imported_from.empty()) {
    const std::string notes = run.import_notes.empty() ? "They are none of the paper's data sets."
                                                       : fmt::format("{}", fmt::join(run.import_notes, " "));
    html += warning("Imported data:", fmt::format("{}. {} Of the paper's sentences only those are judged that hold for "
                                                  "any data.",
                                                  run.imported_from, notes));
  }
  if (!run.results.games.empty()) {
    const runs::GamesRow& row = run.results.games.front();
    for (std::size_t i = 0; i < row.channels.size(); ++i) {
      if (row.baseline_distances[i] <= runs::GamesRow::far_from_the_data) continue;
      html += warning("Hidden cells are out of distribution:",
                      fmt::format("in channel {} the baseline is {} standard deviations from the data.{}",
                                  row.channels[i], show(row.baseline_distances[i]), meaning_of_baseline(row, i)));
    }
  }
  if (!run.comparable_with_paper && run.imported_from.empty()) {
    html += warning("Not comparable with the paper's numbers:", why_not_comparable(run) + " (" +
                                                                    link_to_differences("all that differs") +
                                                                    "). The verdicts are about these networks.");
  }
  return html;
}

Html verdict_header(const ReportContents& contents) {
  const runs::Run& run = *contents.run.run;
  const Scoreboard& scores = *contents.run.scores;
  Pairs facts = {{"Profile", run.profile},
                 {"Players", "n = " + listing(scores.discretisations(), &Discretisation::label)}};
  for (const auto& [key, words] : run.settings) {
    if (key == "game") facts.emplace_back("Game", words);
  }
  const auto inputs = scores.references(scores.discretisations().front()).size();
  const std::string started = run.sittings.empty() ? "" : run.sittings.front().time;
  facts.insert(facts.end(), {{"Test inputs", std::to_string(inputs)},
                             {"Wall time", show_seconds(run.total_seconds())},
                             {"Seed", std::to_string(run.seed)},
                             {"Started", started},
                             {"Commit", commits_in_words(run)},
                             {"BLAS", over_sittings(run, "blas")}});
  const auto leading = std::ranges::find(contents.figures, leading_figure, &DrawnFigure::name);
  const Links links = {{"#claims", "Claims"},           {"#paper", "Paper against this run"},
                       {"#methods", "All methods"},     {"#operators", "Backbone and reference"},
                       {"#figures", "Figures"},         {"#cost", "Cost"},
                       {"#environment", "Environment"}, {"#differences", "Differences"}};
  return element("p.overline", "OperatorSHAP, reproduction report") +
         element("h1", fmt::format("{}, profile {}", pde_label(run.pde), run.profile)) + warnings(run) +
         element("div.first", element("div", sentence_list(summary(scores, contents.run.claims))),
                 leading == contents.figures.end() ? Html() : figure_html(*leading)) +
         verdict_table(contents.run.claims) + fact_list(facts) + navigation(links);
}

/// The n for which the paper has no cell at all.
std::set<Discretisation> without_paper(const std::vector<Comparison>& comparisons) {
  std::set<Discretisation> without, with;
  for (const Comparison& cell : comparisons) (cell.paper ? with : without).insert(cell.on);
  for (const Discretisation& on : with) without.erase(on);
  return without;
}

Html paper_section(const ReportContents& contents) {
  const runs::Run& run = *contents.run.run;
  const std::vector<metrics::Metric> metrics = compared_metrics(contents.run.comparisons);
  const std::string absent = listing(without_paper(contents.run.comparisons), &Discretisation::label);
  const std::string tolerances = listing(
      metrics, [](const metrics::Metric& metric) { return fmt::format("{} ({})", metric.tolerance, metric.symbol); });
  Html html =
      element("p", "Medians over the test inputs, with quartiles.",
              absent.empty() ? "" : fmt::format(" The paper has no row for n = {}.", absent), " ",
              element("em", "match"), fmt::format(": the medians differ by at most {}. ", tolerances),
              element("em", "within errors"), ": by at most 1.96 standard errors of the difference. Else ours is ",
              element("em", "better"), " or ", element("em", "worse"), ".");
  if (!run.comparable_with_paper) {
    html += element("p", element("strong", "No cell of this run is comparable with the paper's:"), " ",
                    why_not_comparable(run), " (", link_to_differences("all of them"), ").");
  }
  for (const metrics::Metric& metric : metrics)
    html += comparison_table({{.comparisons = contents.run.comparisons}}, metric);
  return section("paper", "Paper against this run", html);
}

Html figures_section(const ReportContents& contents) {
  return section(
      "figures", "Figures",
      element("p", "Numbers of every figure are below it and in ", element("code", "figures/"),
              " as CSV, the drawing beside them as SVG and PDF. The first figure is at the top of the page.") +
          each(contents.figures,
               [](const DrawnFigure& drawn) { return drawn.name == leading_figure ? Html() : figure_html(drawn); }));
}

/// Every sitting in a row, with what differs between them in its environment.
Html sittings_html(const runs::Run& run) {
  if (run.sittings.size() < 2) {
    return element("h3", "Machine and software") +
           (run.sittings.empty() ? Html() : key_value_table(run.sittings.front().environment));
  }
  Pairs common;
  std::vector<std::string> differing;
  std::set<std::string> seen;
  for (const runs::Sitting& sitting : run.sittings) {
    for (const auto& [key, value] : sitting.environment) {
      if (!seen.insert(key).second) continue;
      if (std::ranges::all_of(run.sittings, [&](const auto& other) { return other.value(key) == value; })) {
        common.emplace_back(key, value);
      } else {
        differing.push_back(key);
      }
    }
  }
  const auto stored = [](const std::string& text) { return text.empty() ? "not stored" : text; };
  std::vector<ColumnOf<runs::Sitting>> columns = {
      {"started", [=](auto& sitting) { return stored(sitting.time); }},
      {"commit",
       [=](auto& sitting) { return stored(sitting.commit + (sitting.dirty ? " (with uncommitted changes)" : "")); }}};
  for (const std::string& key : differing)
    columns.push_back({key, [=](auto& sitting) { return stored(sitting.value(key)); }});
  const Table table = table_of("sittings",
                               "The run was stopped and resumed. Each sitting with its commit, and with what differs "
                               "between their environments.",
                               run.sittings, columns);
  return element("h3", "Sittings") + table.html_with_caption() + element("h3", "Machine and software of all sittings") +
         key_value_table(common);
}

Html environment_section(const runs::Run& run) {
  Pairs provenance = {
      {"command", run.command}, {"profile", run.profile}, {"PDE", run.pde}, {"seed", std::to_string(run.seed)}};
  if (run.sittings.size() == 1) {
    const runs::Sitting& only = run.sittings.front();
    provenance.emplace_back("commit", only.commit + (only.dirty ? " (with uncommitted changes)" : ""));
    provenance.emplace_back("started", only.time);
  }
  for (const auto& [stage, seconds] : run.seconds)
    provenance.emplace_back("wall time of stage " + stage, show_seconds(seconds));
  std::erase_if(provenance, [](const auto& entry) { return entry.second.empty(); });
  return section(
      "environment", "Environment and provenance",
      key_value_table(provenance) + sittings_html(run) +
          element("details", element("summary", "Resolved settings of the profile"), key_value_table(run.settings)));
}

Html differences_section(const runs::Run& run) {
  Html html = element("h3", "In this profile");
  if (run.comparable_with_paper) {
    html +=
        element("p",
                "The numbers of samples and the settings of training are those that the paper prints. What the paper "
                "does not print, and what is made in another way here, differs in every profile and stands below.");
  }
  if (!run.departures.empty()) {
    html += element("ul.plain",
                    each(run.departures, [](const std::string& departure) { return element("li", departure); }));
  }
  return section("differences", "What differs from the paper",
                 html + element("h3", "In every profile, and what to know when comparing") +
                     difference_list(standing_differences(run.pde)));
}

/// A table below its heading.
Html headed(const char* heading, const Table& table) { return element("h3", heading) + table.html_with_caption(); }

Html operators_section(const ReportContents& contents) {
  const Table& outliers = contents.outliers;
  return section("operators", "Backbone and reference",
                 headed("The backbone", contents.backbone) +
                     (outliers.rows.empty() ? Html() : headed("Inputs with errors of another size", outliers)) +
                     headed("The reference", contents.reference) + headed("The games", contents.games) +
                     headed("Errors net of the reference's", contents.net) + headed("Drift", contents.drift));
}

/// Claims, comparison and manifest for programs; "<" is written as an escape so that no text can end the element.
Html json_island(const ReportContents& contents) {
  using Json = nlohmann::ordered_json;
  const runs::Run& run = *contents.run.run;
  Json json = {{"schema", "opshap.report/1"},
               {"manifest", Json::parse(run.manifest)},
               {"claims", Json::parse(claims_json(contents.run.claims, run))["claims"]}};
  Json& cells = json["paper_comparison"] = Json::array();
  const auto quartiles = [](const statistics::Quartiles& of) {
    return Json{{"median", of.median}, {"q25", of.q25}, {"q75", of.q75}, {"inputs", of.count}};
  };
  for (const Comparison& cell : contents.run.comparisons) {
    Json entry = {
        {"players", cell.on.players}, {"metric", cell.metric}, {"method", cell.method}, {"verdict", cell.verdict}};
    if (!cell.on.shape.empty() && !cell.on.is_line()) entry["shape"] = cell.on.shape;
    if (cell.paper) entry["paper"] = quartiles(*cell.paper);
    if (cell.ours) entry["ours"] = quartiles(*cell.ours);
    cells.push_back(std::move(entry));
  }
  std::string text = json.dump();
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at))
    text.replace(at, 1, "\\u003c");
  return element("script", Attribute{"type", "application/json"}, Attribute{"id", "opshap-report"},
                 Html::raw(std::move(text)));
}

}  // namespace

std::string page(const ReportContents& contents) {
  const runs::Run& run = *contents.run.run;
  const Html main =
      claims_section(contents.run.claims, run) + paper_section(contents) +
      section("methods", "All methods", contents.methods.html_with_caption()) + operators_section(contents) +
      figures_section(contents) +
      section("cost", "Cost", headed("Training", contents.training) + headed("One attribution", contents.cost)) +
      environment_section(run) + differences_section(run);
  return document(fmt::format("OperatorSHAP on {}, profile {}", pde_label(run.pde), run.profile),
                  verdict_header(contents), main,
                  "Written by " + element("code", "opshap report") +
                      " from the rows of this run alone. The same rows give the same page, byte for byte.",
                  json_island(contents))
      .markup();
}

}  // namespace opshap::reporting
