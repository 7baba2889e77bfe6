#include "reporting/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "metrics/registry.hpp"
#include "reporting/differences.hpp"
#include "reporting/methods.hpp"
#include "reporting/page_claims.hpp"
#include "reporting/page_comparison.hpp"
#include "reporting/page_parts.hpp"
#include "reporting/summary.hpp"

namespace opshap::reporting {

namespace {

std::string discretisations_in_words(const Scoreboard& scores) {
  std::string words;
  for (const Discretisation& on : scores.discretisations()) words += (words.empty() ? "n = " : ", ") + on.label();
  return words;
}

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

std::string verdict_header(const ReportContents& contents) {
  const runs::Run& run = contents.scores.run();
  std::string text = "<header>\n<p class=\"overline\">OperatorSHAP, reproduction report</p>\n";
  text += fmt::format("<h1>{}, profile {}</h1>\n", escape_markup(pde_label(run.pde)), escape_markup(run.profile));
  if (const auto missing = run.missing_resolutions(); !missing.empty()) {
    std::string sizes;
    for (const Resolution& size : missing) sizes += message(sizes.empty() ? "" : ", ", size);
    text += fmt::format(
        "<p class=\"lead\"><strong>The evaluation is not finished:</strong> nothing is known yet about n = {}. The "
        "command of this run resumes it.</p>\n",
        sizes);
  }
  if (!run.imported_from.empty()) {
    text += fmt::format(
        "<p class=\"lead\"><strong>Imported data:</strong> {}. They are none of the paper's data sets. Of its "
        "sentences "
        "only those are judged that hold for any data.</p>\n",
        escape_markup(run.imported_from));
  }
  if (!run.results.games.empty()) {
    const runs::GamesRow& row = run.results.games.front();
    for (std::size_t i = 0; i < row.channels.size(); ++i) {
      if (row.baseline_distances[i] <= runs::GamesRow::far_from_the_data) continue;
      text += fmt::format(
          "<p class=\"lead\"><strong>Hidden cells are out of distribution:</strong> in channel {} the baseline is {} "
          "standard deviations from the data.</p>\n",
          escape_markup(row.channels[i]), show(row.baseline_distances[i]));
    }
  }
  if (!run.comparable_with_paper && run.imported_from.empty()) {
    text += fmt::format(
        "<p class=\"lead\"><strong>Not comparable with the paper's numbers:</strong> {} (<a href=\"#differences\">all "
        "that differs</a>). The verdicts are about these networks.</p>\n",
        escape_markup(why_not_comparable(run)));
  }
  text += "<div class=\"first\">\n<div>\n<ol class=\"sentences\">\n";
  for (const std::string& sentence : summary(contents.scores, contents.claims)) text += "<li>" + sentence + "</li>\n";
  text += "</ol>\n";
  text += "</div>\n";
  for (const DrawnFigure& drawn : contents.figures) {
    if (drawn.name == leading_figure) text += figure_html(drawn);
  }
  text += "</div>\n" + verdict_table(contents.claims) + "<dl class=\"facts\">\n";
  text += fact("Profile", run.profile) + fact("Players", discretisations_in_words(contents.scores));
  for (const auto& [key, words] : run.settings) {
    if (key == "game") text += fact("Game", words);
  }
  text +=
      fact("Test inputs", std::to_string(contents.scores.references(contents.scores.discretisations().front()).size()));
  text += fact("Wall time", show_seconds(run.total_seconds())) + fact("Seed", std::to_string(run.seed));
  text += fact("Started", run.sittings.empty() ? "" : run.sittings.front().time);
  text += fact("Commit", commits_in_words(run)) + fact("BLAS", over_sittings(run, "blas"));
  return text +
         "</dl>\n<nav aria-label=\"Sections\"><a href=\"#claims\">Claims</a><a href=\"#paper\">Paper against this "
         "run</a><a href=\"#methods\">All methods</a><a href=\"#operators\">Backbone and "
         "reference</a><a href=\"#figures\">Figures</a><a href=\"#cost\">Cost</a><a "
         "href=\"#environment\">Environment</a><a href=\"#differences\">Differences</a></nav>\n</header>\n";
}

/// The n for which the paper has no cell at all.
std::set<Discretisation> without_paper(const std::vector<Comparison>& comparisons) {
  std::set<Discretisation> without, with;
  for (const Comparison& cell : comparisons) (cell.paper ? with : without).insert(cell.on);
  for (const Discretisation& on : with) without.erase(on);
  return without;
}

std::string paper_section(const ReportContents& contents) {
  const runs::Run& run = contents.scores.run();
  std::string text = "<section id=\"paper\">\n<h2>Paper against this run</h2>\n";
  std::string tolerances, absent;
  for (const metrics::Metric& metric : compared_metrics(contents.comparisons))
    tolerances +=
        fmt::format("{}{} ({})", tolerances.empty() ? "" : ", ", metric.tolerance, escape_markup(metric.symbol));
  for (const Discretisation& on : without_paper(contents.comparisons))
    absent += (absent.empty() ? "" : ", ") + on.label();
  text += fmt::format(
      "<p>Medians over the test inputs, with quartiles.{} <em>match</em>: the medians differ by at most {}. <em>within "
      "errors</em>: by at most 1.96 standard errors of the difference. Else ours is <em>better</em> or "
      "<em>worse</em>.</p>\n",
      absent.empty() ? "" : fmt::format(" The paper has no row for n = {}.", absent), tolerances);
  if (!run.comparable_with_paper) {
    text += fmt::format(
        "<p><strong>No cell of this run is comparable with the paper's:</strong> {} (<a href=\"#differences\">all of "
        "them</a>).</p>\n",
        escape_markup(why_not_comparable(run)));
  }
  for (const metrics::Metric& metric : compared_metrics(contents.comparisons))
    text += comparison_table({{.comparisons = contents.comparisons}}, metric);
  return text + "</section>\n";
}

std::string figures_section(const ReportContents& contents) {
  std::string text =
      "<section id=\"figures\">\n<h2>Figures</h2>\n<p>Numbers of every figure are below it and in "
      "<code>figures/</code> as CSV, the drawing beside them as SVG and PDF. The first figure is at the top of the "
      "page.</p>\n";
  for (const DrawnFigure& drawn : contents.figures) {
    if (drawn.name != leading_figure) text += figure_html(drawn);
  }
  return text + "</section>\n";
}

/// Every sitting in a row, with what differs between them in its environment.
std::string sittings_html(const runs::Run& run) {
  if (run.sittings.size() < 2) {
    return "<h3>Machine and software</h3>\n" +
           (run.sittings.empty() ? std::string() : key_value_table(run.sittings.front().environment));
  }
  std::vector<std::pair<std::string, std::string>> common;
  std::vector<std::string> differing;
  for (const runs::Sitting& sitting : run.sittings) {
    for (const auto& [key, value] : sitting.environment) {
      if (std::find(differing.begin(), differing.end(), key) != differing.end()) continue;
      if (std::any_of(common.begin(), common.end(), [&](const auto& entry) { return entry.first == key; })) continue;
      const bool same = std::all_of(run.sittings.begin(), run.sittings.end(),
                                    [&](const runs::Sitting& other) { return other.value(key) == value; });
      if (same) {
        common.emplace_back(key, value);
      } else {
        differing.push_back(key);
      }
    }
  }
  Table table{.name = "sittings",
              .caption =
                  "The run was stopped and resumed. Each sitting with its commit, and with what differs between "
                  "their environments.",
              .columns = {{"started"}, {"commit"}}};
  for (const std::string& key : differing) table.columns.push_back({key});
  for (const runs::Sitting& sitting : run.sittings) {
    std::vector<std::string> row = {sitting.time,
                                    sitting.commit + (sitting.dirty ? " (with uncommitted changes)" : "")};
    for (const std::string& key : differing) row.push_back(sitting.value(key));
    for (std::string& cell : row) {
      if (cell.empty()) cell = "not stored";
    }
    table.add(std::move(row));
  }
  return "<h3>Sittings</h3>\n" + table.html_with_caption() + "<h3>Machine and software of all sittings</h3>\n" +
         key_value_table(common);
}

std::string environment_section(const runs::Run& run) {
  std::vector<std::pair<std::string, std::string>> provenance = {
      {"command", run.command}, {"profile", run.profile}, {"PDE", run.pde}, {"seed", std::to_string(run.seed)}};
  if (run.sittings.size() == 1) {
    const runs::Sitting& only = run.sittings.front();
    provenance.emplace_back("commit", only.commit + (only.dirty ? " (with uncommitted changes)" : ""));
    provenance.emplace_back("started", only.time);
  }
  for (const auto& [stage, seconds] : run.seconds)
    provenance.emplace_back("wall time of stage " + stage, show_seconds(seconds));
  std::erase_if(provenance, [](const auto& entry) { return entry.second.empty(); });
  return "<section id=\"environment\">\n<h2>Environment and provenance</h2>\n" + key_value_table(provenance) +
         sittings_html(run) + "<details><summary>Resolved settings of the profile</summary>\n" +
         key_value_table(run.settings) + "</details>\n</section>\n";
}

std::string differences_section(const runs::Run& run) {
  std::string text = "<section id=\"differences\">\n<h2>What differs from the paper</h2>\n<h3>In this profile</h3>\n";
  if (run.comparable_with_paper) {
    text +=
        "<p>The numbers of samples and the settings of training are those that the paper prints. What the paper does "
        "not print, and what is made in another way here, differs in every profile and stands below.</p>\n";
  }
  if (!run.departures.empty()) {
    text += "<ul class=\"plain\">\n";
    for (const std::string& departure : run.departures) text += "<li>" + escape_markup(departure) + "</li>\n";
    text += "</ul>\n";
  }
  text += "<h3>In every profile, and what to know when comparing</h3>\n<dl class=\"differences\">\n";
  for (const Difference& difference : standing_differences(run.pde)) {
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(difference.subject),
                        escape_markup(difference.text));
  }
  return text + "</dl>\n</section>\n";
}

std::string outliers_html(const Table& outliers) {
  return outliers.rows.empty() ? "" : "<h3>Inputs with errors of another size</h3>\n" + outliers.html_with_caption();
}

/// Claims, comparison and manifest for programs; "<" is written as an escape so that no text can end the element.
std::string json_island(const ReportContents& contents) {
  using Json = nlohmann::ordered_json;
  const runs::Run& run = contents.scores.run();
  Json json = {{"schema", "opshap.report/1"},
               {"manifest", Json::parse(run.manifest)},
               {"claims", Json::parse(claims_json(contents.claims, run))["claims"]}};
  Json& cells = json["paper_comparison"] = Json::array();
  const auto quartiles = [](const statistics::Quartiles& of) {
    return Json{{"median", of.median}, {"q25", of.q25}, {"q75", of.q75}, {"inputs", of.count}};
  };
  for (const Comparison& cell : contents.comparisons) {
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
  return "<script type=\"application/json\" id=\"opshap-report\">" + text + "</script>\n";
}

}  // namespace

std::string page(const ReportContents& contents) {
  const runs::Run& run = contents.scores.run();
  return page_head(fmt::format("OperatorSHAP on {}, profile {}", pde_label(run.pde), run.profile)) +
         verdict_header(contents) + "<main>\n" + claims_section(contents.claims, contents.scores.run()) +
         paper_section(contents) + "<section id=\"methods\">\n<h2>All methods</h2>\n" +
         contents.methods.html_with_caption() +
         "</section>\n<section id=\"operators\">\n<h2>Backbone and reference</h2>\n<h3>The backbone</h3>\n" +
         contents.backbone.html_with_caption() + outliers_html(contents.outliers) + "<h3>The reference</h3>\n" +
         contents.reference.html_with_caption() + "<h3>The games</h3>\n" + contents.games.html_with_caption() +
         "<h3>Errors net of the reference's</h3>\n" + contents.net.html_with_caption() + "<h3>Drift</h3>\n" +
         contents.drift.html_with_caption() + "</section>\n" + figures_section(contents) +
         "<section id=\"cost\">\n<h2>Cost</h2>\n<h3>Training</h3>\n" + contents.training.html_with_caption() +
         "<h3>One attribution</h3>\n" + contents.cost.html_with_caption() + "</section>\n" + environment_section(run) +
         differences_section(run) +
         "</main>\n<footer><p>Written by <code>opshap report</code> from the rows of this run alone. The same rows "
         "give the same page, byte for byte.</p></footer>\n" +
         json_island(contents) + "</body>\n</html>\n";
}

}  // namespace opshap::reporting
