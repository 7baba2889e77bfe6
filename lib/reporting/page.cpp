#include "reporting/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "metrics/registry.hpp"
#include "reporting/differences.hpp"
#include "reporting/embedded.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting {

namespace {

constexpr std::string_view verdict_class(Verdict verdict) {
  return verdict == Verdict::reproduced ? "yes" : verdict == Verdict::not_reproduced ? "no" : "open";
}

/// Words and a sign, so that colour is never needed.
std::string badge(Verdict verdict, const std::string& text) {
  const char* sign = verdict == Verdict::reproduced ? "✓" : verdict == Verdict::not_reproduced ? "✗" : "–";
  return fmt::format("<span class=\"verdict {}\"><span aria-hidden=\"true\">{} </span>{}</span>",
                     verdict_class(verdict), sign, escape_markup(text));
}

std::size_t count(const std::vector<JudgedClaim>& claims, Verdict verdict) {
  return static_cast<std::size_t>(std::count_if(claims.begin(), claims.end(), [verdict](const JudgedClaim& claim) {
    return claim.judgement.verdict == verdict;
  }));
}

std::string fact(const std::string& name, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n", value.size() > 60 ? " class=\"long\"" : "",
                     escape_markup(name), escape_markup(value));
}

std::string environment_value(const Run& run, const std::string& key) {
  const auto found = std::find_if(run.environment.begin(), run.environment.end(),
                                  [&key](const auto& entry) { return entry.first == key; });
  return found == run.environment.end() ? "" : found->second;
}

std::string resolutions_in_words(const Scoreboard& scores) {
  return fmt::format("n = {}", fmt::join(scores.resolutions(), ", "));
}

std::string head(const Run& run) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n"
      "<title>OperatorSHAP on {}, profile {}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
      escape_markup(pde_label(run.pde)), escape_markup(run.profile), embedded::report_style);
}

std::string verdict_header(const ReportContents& contents) {
  const Run& run = contents.scores.run();
  const std::size_t yes = count(contents.claims, Verdict::reproduced),
                    no = count(contents.claims, Verdict::not_reproduced);
  const std::size_t open = count(contents.claims, Verdict::not_testable);
  std::string text = "<header>\n<p class=\"overline\">OperatorSHAP, reproduction report</p>\n";
  text += fmt::format("<h1>{}, profile {}</h1>\n", escape_markup(pde_label(run.pde)), escape_markup(run.profile));
  text += fmt::format(
      "<p class=\"lead\"><strong>{} of {} testable claims reproduced.</strong> {} more cannot be tested in this "
      "profile.{}</p>\n",
      yes, yes + no, open,
      run.comparable_with_paper
          ? ""
          : " The cells of the paper's table are shown for orientation only: this run's sizes are not the paper's.");
  if (const auto missing = run.missing_resolutions(); !missing.empty()) {
    text += fmt::format(
        "<p class=\"lead\"><strong>The evaluation is not finished:</strong> nothing is known yet about n = {}. The "
        "command of this run resumes it.</p>\n",
        fmt::join(missing, ", "));
  }
  text += "<ul class=\"counts\">";
  text += "<li>" + badge(Verdict::reproduced, fmt::format("{} reproduced", yes)) + "</li>";
  text += "<li>" + badge(Verdict::not_reproduced, fmt::format("{} not reproduced", no)) + "</li>";
  text += "<li>" + badge(Verdict::not_testable, fmt::format("{} not testable in this profile", open)) +
          "</li></ul>\n<dl class=\"facts\">\n";
  text += fact("Profile", run.profile) + fact("Players", resolutions_in_words(contents.scores));
  const Cell* cell = contents.scores.cell(contents.scores.resolutions().front(), contents.scores.methods().front());
  text += fact("Test inputs", std::to_string(cell->rows.size())) + fact("Wall time", show_seconds(run.total_seconds()));
  text += fact("Commit",
               run.commit.empty() ? "" : run.commit.substr(0, 12) + (run.dirty ? ", with uncommitted changes" : ""));
  text += fact("BLAS", environment_value(run, "blas")) + fact("Seed", std::to_string(run.seed)) +
          fact("Started", run.started);
  return text +
         "</dl>\n<nav aria-label=\"Sections\"><a href=\"#claims\">Claims</a><a href=\"#paper\">Paper against this "
         "run</a><a href=\"#methods\">All methods</a><a href=\"#operators\">Backbone and "
         "reference</a><a href=\"#figures\">Figures</a><a href=\"#cost\">Cost</a><a "
         "href=\"#environment\">Environment</a><a href=\"#differences\">Differences</a></nav>\n</header>\n";
}

std::string claims_section(const ReportContents& contents) {
  std::string text =
      "<section id=\"claims\">\n<h2>Claims</h2>\n<p>Each sentence is a predicate over this run's rows. Verdicts of a "
      "trained network carry over between seeds better than single numbers do.";
  if (!contents.scores.run().comparable_with_paper) {
    text +=
        " They are about the networks of this profile: a sentence of the paper that fails here may hold for networks "
        "of the paper's size.";
  }
  text +=
      "</p>\n"
      "<div class=\"wide claims-table\"><table>\n<thead><tr><th scope=\"col\">verdict</th><th "
      "scope=\"col\">statement</th><th scope=\"col\">evidence of this run</th></tr></thead>\n<tbody>\n";
  std::string_view source;
  for (const auto& [claim, judgement] : contents.claims) {
    if (claim.source != source) {
      source = claim.source;
      text += fmt::format("<tr class=\"group\"><th colspan=\"3\" scope=\"rowgroup\">{}</th></tr>\n",
                          source == "paper" ? "What the paper says" : "What this suite adds");
    }
    text += fmt::format(
        "<tr id=\"claim-{}\"><td>{}</td><td><p class=\"statement\">{}</p><p class=\"where\">{}</p><p "
        "class=\"rule\">Counts as reproduced when: {}.</p></td><td><p class=\"evidence\">{}</p></td></tr>\n",
        claim.id,
        badge(judgement.verdict,
              judgement.verdict == Verdict::not_testable ? "not testable" : std::string(to_string(judgement.verdict))),
        escape_markup(claim.statement), escape_markup(claim.where), escape_markup(claim.rule),
        escape_markup(judgement.evidence));
  }
  return text + "</tbody></table></div>\n</section>\n";
}

std::string quartile_cell(const std::optional<statistics::Quartiles>& quartiles, std::string_view otherwise) {
  if (!quartiles) return fmt::format("<td class=\"quiet\">{}</td>", escape_markup(otherwise));
  return fmt::format("<td>{} <span class=\"range\">[{}, {}]</span></td>", show(quartiles->median), show(quartiles->q25),
                     show(quartiles->q75));
}

/// The verdicts of one n side by side, equal neighbours as one cell.
std::string verdict_cells(const std::vector<const Comparison*>& cells) {
  std::string text;
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i + 1;
    while (end < cells.size() && cells[end]->verdict == cells[i]->verdict) ++end;
    text += fmt::format("<td class=\"judged\" colspan=\"{}\">{}</td>", end - i, escape_markup(cells[i]->verdict));
    i = end;
  }
  return text;
}

/// One metric of the paper's table: for every n the paper's cells, ours and the verdicts.
std::string comparison_table(const std::vector<Comparison>& comparisons, const metrics::Metric& metric) {
  std::map<int, std::vector<const Comparison*>> by_players;
  for (const Comparison& cell : comparisons) {
    if (cell.metric == metric.name) by_players[cell.players].push_back(&cell);
  }
  std::string text = fmt::format(
      "<h3>{} <span class=\"quiet\">({} is better)</span></h3>\n<div class=\"wide against\" tabindex=\"0\" "
      "role=\"region\" aria-label=\"{} of the paper and of this run\"><table>\n",
      escape_markup(metric.symbol), metric.better == metrics::Better::lower ? "lower" : "higher",
      escape_markup(metric.symbol));
  text += "<thead><tr><th scope=\"col\" class=\"number\">n</th><th scope=\"col\">median [quartiles]</th>";
  for (const Comparison* cell : by_players.begin()->second)
    text += fmt::format("<th scope=\"col\">{}</th>", escape_markup(style_of(cell->method).label));
  text += "</tr></thead>\n";
  for (const auto& [players, cells] : by_players) {
    const bool run =
        std::any_of(cells.begin(), cells.end(), [](const Comparison* cell) { return cell->ours.has_value(); });
    text += fmt::format("<tbody>\n<tr><th scope=\"rowgroup\" rowspan=\"{}\">{}</th><td class=\"who\">paper</td>",
                        run ? 3 : 2, players);
    for (const Comparison* cell : cells) text += quartile_cell(cell->paper, "no row in the paper");
    text += "</tr>\n<tr class=\"inner ours\"><td class=\"who\">this run</td>";
    if (run) {
      for (const Comparison* cell : cells) text += quartile_cell(cell->ours, "not run");
      text += "</tr>\n<tr class=\"inner\"><td class=\"who\">verdict</td>";
    }
    text += verdict_cells(cells) + "</tr>\n</tbody>\n";
  }
  return text + "</table></div>\n";
}

std::string paper_section(const ReportContents& contents) {
  const Run& run = contents.scores.run();
  std::string text = "<section id=\"paper\">\n<h2>Paper against this run</h2>\n";
  text += fmt::format(
      "<p>The paper's rows for {} are medians over 30 test inputs with quartiles; it has no row for n = 16. "
      "RegressionMSR, here as in shapiq 1.5 and 1.6, has the budget max(2n, 1024). "
      "<em>match</em>: the medians differ by at most {} (R²), {} (Pearson), {} (NRMSE). <em>overlap</em>: the "
      "interquartile ranges meet. <em>differs</em>: neither.</p>\n",
      escape_markup(pde_label(run.pde)), metrics::find("r2").tolerance, metrics::find("pearson").tolerance,
      metrics::find("nrmse").tolerance);
  if (!run.comparable_with_paper) {
    const std::string first = run.departures.empty() ? "the run says so without a reason" : run.departures.front();
    const std::string more =
        run.departures.size() < 2 ? "" : fmt::format(", and {} more departures", run.departures.size() - 1);
    text += fmt::format(
        "<p><strong>No cell of this run is comparable with the paper's:</strong> {}{} (<a href=\"#differences\">all of "
        "them</a>).</p>\n",
        escape_markup(first), more);
  }
  for (const char* metric : {"nrmse", "pearson", "r2"})
    text += comparison_table(contents.comparisons, metrics::find(metric));
  return text + "</section>\n";
}

std::string table_with_caption(const Table& table) {
  if (table.rows.empty()) return "<p class=\"quiet\">" + escape_markup(table.caption) + " Not in this run.</p>\n";
  return "<p class=\"quiet\">" + escape_markup(table.caption) + "</p>\n" + table.html();
}

std::string figures_section(const ReportContents& contents) {
  std::string text =
      "<section id=\"figures\">\n<h2>Figures</h2>\n<p>Numbers of every figure are below it and in "
      "<code>figures/</code> as CSV, the drawing beside them as SVG.</p>\n";
  for (const DrawnFigure& drawn : contents.figures) {
    const Figure& figure = drawn.figure;
    if (!figure.missing.empty()) {
      text += fmt::format(
          "<figure class=\"absent\" id=\"figure-{}\"><h3>{}</h3><figcaption>Not in this profile: "
          "{}.</figcaption></figure>\n",
          drawn.name, escape_markup(figure.title), escape_markup(figure.missing));
      continue;
    }
    text += fmt::format(
        "<figure id=\"figure-{}\">\n<h3>{}</h3>\n<figcaption>{}</figcaption>\n<div class=\"panels{}\">\n", drawn.name,
        escape_markup(figure.title), escape_markup(figure.finding), drawn.panels.size() == 1 ? " single" : "");
    for (const std::string& panel : drawn.panels) text += "<div>" + panel + "</div>\n";
    text += "</div>\n" + legend_html(figure.legend) + "<details><summary>Numbers of this figure</summary>\n" +
            table_with_caption(figure.numbers) + "</details>\n</figure>\n";
  }
  return text + "</section>\n";
}

std::string key_value_table(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text = "<div class=\"wide\" tabindex=\"0\"><table><tbody>\n";
  for (const auto& [key, value] : pairs) {
    const bool lines = value.find('\n') != std::string::npos;
    text += fmt::format("<tr><th scope=\"row\">{}</th><td>{}{}{}</td></tr>\n", escape_markup(key), lines ? "<pre>" : "",
                        escape_markup(value), lines ? "</pre>" : "");
  }
  return text + "</tbody></table></div>\n";
}

std::string environment_section(const Run& run) {
  std::vector<std::pair<std::string, std::string>> provenance = {
      {"command", run.command},           {"commit", run.commit + (run.dirty ? " (with uncommitted changes)" : "")},
      {"profile", run.profile},           {"PDE", run.pde},
      {"seed", std::to_string(run.seed)}, {"started", run.started}};
  for (const std::string& sitting : run.resumed) provenance.emplace_back("resumed", sitting);
  for (const auto& [stage, seconds] : run.seconds)
    provenance.emplace_back("wall time of stage " + stage, show_seconds(seconds));
  std::erase_if(provenance, [](const auto& entry) { return entry.second.empty(); });
  return "<section id=\"environment\">\n<h2>Environment and provenance</h2>\n" + key_value_table(provenance) +
         "<h3>Machine and software</h3>\n" + key_value_table(run.environment) +
         "<details><summary>Resolved settings of the profile</summary>\n" + key_value_table(run.settings) +
         "</details>\n</section>\n";
}

std::string differences_section(const Run& run) {
  std::string text = "<section id=\"differences\">\n<h2>What differs from the paper</h2>\n<h3>In this profile</h3>\n";
  if (run.departures.empty()) text += "<p>Nothing: sizes and recipe are the paper's.</p>\n";
  if (!run.departures.empty()) {
    text += "<ul class=\"plain\">\n";
    for (const std::string& departure : run.departures) text += "<li>" + escape_markup(departure) + "</li>\n";
    text += "</ul>\n";
  }
  text += "<h3>In every profile, and what to know when comparing</h3>\n<dl class=\"differences\">\n";
  for (const Difference& difference : standing_differences()) {
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(difference.subject),
                        escape_markup(difference.text));
  }
  return text + "</dl>\n</section>\n";
}

/// Claims, comparison and manifest for programs; "<" is written as an escape so that no text can end the element.
std::string json_island(const ReportContents& contents) {
  using Json = nlohmann::ordered_json;
  const Run& run = contents.scores.run();
  Json json = {{"schema", "opshap.report/1"},
               {"manifest", Json::parse(run.manifest)},
               {"claims", Json::parse(claims_json(contents.claims, run))["claims"]}};
  Json& cells = json["paper_comparison"] = Json::array();
  const auto quartiles = [](const statistics::Quartiles& of) {
    return Json{{"median", of.median}, {"q25", of.q25}, {"q75", of.q75}, {"inputs", of.count}};
  };
  for (const Comparison& cell : contents.comparisons) {
    Json entry = {
        {"players", cell.players}, {"metric", cell.metric}, {"method", cell.method}, {"verdict", cell.verdict}};
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
  const Run& run = contents.scores.run();
  return head(run) + verdict_header(contents) + "<main>\n" + claims_section(contents) + paper_section(contents) +
         "<section id=\"methods\">\n<h2>All methods</h2>\n" + table_with_caption(contents.methods) +
         "</section>\n<section id=\"operators\">\n<h2>Backbone and reference</h2>\n<h3>The backbone</h3>\n" +
         table_with_caption(contents.backbone) + "<h3>The reference</h3>\n" + table_with_caption(contents.reference) +
         "</section>\n" + figures_section(contents) + "<section id=\"cost\">\n<h2>Cost</h2>\n<h3>Training</h3>\n" +
         table_with_caption(contents.training) + "<h3>One attribution</h3>\n" + table_with_caption(contents.cost) +
         "</section>\n" + environment_section(run) + differences_section(run) +
         "</main>\n<footer><p>Written by <code>opshap report</code> from the rows of this run alone. The same rows "
         "give the same page, byte for byte.</p></footer>\n" +
         json_island(contents) + "</body>\n</html>\n";
}

}  // namespace opshap::reporting
