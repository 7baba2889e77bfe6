#include "reporting/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "metrics/registry.hpp"
#include "reporting/methods.hpp"
#include "reporting/page_claims.hpp"
#include "reporting/page_comparison.hpp"
#include "reporting/paper.hpp"
#include "reporting/summary.hpp"

namespace opshap::reporting {

namespace {

/// One claim on all problems.
struct ClaimRow {
  const Claim* claim = nullptr;
  std::vector<Verdict> by_chapter;

  std::size_t count(Verdict verdict) const {
    return static_cast<std::size_t>(std::count(by_chapter.begin(), by_chapter.end(), verdict));
  }
  std::size_t judged() const {
    return count(Verdict::reproduced) + count(Verdict::not_reproduced) + count(Verdict::undecided);
  }
};

/// The claims of one source but the checks, in the order of claims.def.
std::vector<ClaimRow> claim_rows(const Overview& overview, std::string_view source) {
  std::vector<ClaimRow> rows;
  for (std::size_t i = 0; i < claims::all().size(); ++i) {
    const Claim& claim = claims::all()[i];
    if (claim.source != source || claim.check) continue;
    rows.push_back({.claim = &claim, .by_chapter = {}});
    for (const Chapter& chapter : overview.chapters)
      rows.back().by_chapter.push_back(chapter.claims[i].judgement.verdict);
  }
  return rows;
}

/// How the sentences fare, each counted once however many problems can judge it.
std::string fates(const std::vector<ClaimRow>& rows, const std::string& what) {
  int judged = 0, everywhere = 0, nowhere = 0;
  for (const ClaimRow& row : rows) {
    if (row.judged() == 0 || !is_counted(*row.claim)) continue;
    ++judged;
    everywhere += row.count(Verdict::reproduced) == row.judged();
    nowhere += row.count(Verdict::not_reproduced) == row.judged();
  }
  return fmt::format("Of {} {} {} hold on every problem that can judge them, {} on none, {} on some.", judged, what,
                     everywhere, nowhere, judged - everywhere - nowhere);
}

/// "Burgers 1D 0.023 to …": the least and the largest median NRMSE of a method on the finest grids of all problems.
std::string range_of(const Overview& overview, const std::string& method) {
  std::map<double, std::string> medians;
  for (const Chapter& chapter : overview.chapters) {
    const Cell* cell = chapter.scores->cell(chapter.scores->discretisations().back(), method);
    if (cell != nullptr && cell->quartiles("nrmse"))
      medians[cell->quartiles("nrmse")->median] = pde_label(chapter.run->pde);
  }
  if (medians.empty()) return "";
  const std::string name = escape_markup(style_of(method).label);
  if (medians.size() == 1) return fmt::format("{} {}", name, show(medians.begin()->first));
  return fmt::format("{} {} ({}) to {} ({})", name, show(medians.begin()->first),
                     escape_markup(medians.begin()->second), show(medians.rbegin()->first),
                     escape_markup(medians.rbegin()->second));
}

std::string ranges_of(const Overview& overview, const std::vector<std::string>& methods) {
  std::string words;
  for (const std::string& method : methods) {
    if (const std::string range = range_of(overview, method); !range.empty())
      words += (words.empty() ? "" : "; ") + range;
  }
  return words;
}

/// The problems without a grid that takes part in verdicts.
std::string without_verdict(const Overview& overview) {
  std::string names;
  for (const Chapter& chapter : overview.chapters) {
    if (chapter.scores->of_fit_grids().discretisations().empty())
      names += (names.empty() ? "" : ", ") + escape_markup(pde_label(chapter.run->pde));
  }
  return names;
}

/// The first screen: explainers, what needs no training, the paper's sentences, what this suite adds, the grounds.
std::string sentences(const Overview& overview) {
  std::set<std::string> explainers;
  UntrainedLead lead;
  int table_rows = 0, holding = 0;
  bool comparable = true;
  for (const Chapter& chapter : overview.chapters) {
    for (const std::string& method : chapter.scores->methods_with_access("amortised")) explainers.insert(method);
    const UntrainedLead here = untrained_lead(*chapter.scores);
    lead.ahead += here.ahead;
    lead.grids += here.grids;
    comparable = comparable && chapter.run->comparable_with_paper;
    const Tally rows = tally_of_table_rows(chapter.claims);
    table_rows += rows.judged();
    holding += rows.reproduced;
  }
  const std::string trained = ranges_of(overview, {explainers.begin(), explainers.end()}),
                    untrained = ranges_of(overview, untrained_methods()), out = without_verdict(overview);
  std::string text = "<ol class=\"sentences\">\n";
  if (!trained.empty())
    text += "<li><strong>Trained.</strong> Median NRMSE on the finest grids: " + trained + ".</li>\n";
  if (!untrained.empty()) {
    text += fmt::format(
        "<li><strong>Without training.</strong> {}. On {} of {} grids one of these is ahead of every explainer.</li>\n",
        untrained, lead.ahead, lead.grids);
  }
  text += "<li><strong>The paper.</strong> " +
          fates(claim_rows(overview, "paper"), "sentences of the paper that these runs can judge");
  if (table_rows > 0)
    text += fmt::format(" The best methods of its table are the best here in {} of {} rows.", holding, table_rows);
  text += "</li>\n<li><strong>This suite.</strong> " + fates(claim_rows(overview, "opshap"), "sentences that it adds") +
          "</li>\n<li><strong>Grounds.</strong> ";
  text += comparable ? "The sizes are the paper's." : "The sizes of this profile are not the paper's.";
  text += " One training of each network is behind every number.";
  if (!out.empty()) text += fmt::format(" {} without a verdict, since operator or reference are not good enough.", out);
  return text + "</li>\n</ol>\n";
}

std::string link_to(const Chapter& chapter, const std::string& claim = {}) {
  const std::string pde = escape_markup(chapter.run->pde);
  if (!chapter.page_beside) return pde + "/claims.json";
  return fmt::format("{}/report.html{}", pde, claim.empty() ? "" : "#claim-" + claim);
}

/// What the links lead to where there are no pages, and how to get one.
std::string on_missing_pages(const Overview& overview) {
  if (std::ranges::all_of(overview.chapters, &Chapter::page_beside)) return "";
  return "<p class=\"note\">Where a problem has no page here, links lead to its claims.json. <code>opshap "
         "report</code> with the folder of the problem draws its page.</p>\n";
}

/// Every claim with a row, every problem with a column.
std::string matrix(const Overview& overview, const std::vector<ClaimRow>& rows, const std::string& whose) {
  std::string text = fmt::format(
      "<h3>{}</h3>\n<div class=\"wide matrix\" tabindex=\"0\" role=\"region\" aria-label=\"{} by problem\"><table>\n"
      "<thead><tr><th scope=\"col\">sentence</th>",
      whose, whose);
  for (const Chapter& chapter : overview.chapters)
    text += fmt::format("<th scope=\"col\">{}</th>", escape_markup(pde_label(chapter.run->pde)));
  text += "<th scope=\"col\">holds</th></tr></thead>\n<tbody>\n";
  for (const ClaimRow& row : rows) {
    if (row.judged() == 0) continue;
    text +=
        fmt::format("<tr id=\"claim-{}\"><th scope=\"row\">{}</th>", row.claim->id, escape_markup(row.claim->title));
    for (std::size_t i = 0; i < row.by_chapter.size(); ++i) {
      const Verdict verdict = row.by_chapter[i];
      text += fmt::format(
          "<td><a class=\"verdict {}\" href=\"{}\" title=\"{}: {}\"><span aria-hidden=\"true\">{}</span><span "
          "class=\"spoken\">{}</span></a></td>",
          verdict_class(verdict), link_to(overview.chapters[i], std::string(row.claim->id)),
          escape_markup(pde_label(overview.chapters[i].run->pde)), verdict_in_words(verdict), sign(verdict),
          verdict_in_words(verdict));
    }
    text += row.claim->by_construction ? std::string("<td>by construction</td></tr>\n")
                                       : fmt::format("<td class=\"number\">{} of {}</td></tr>\n",
                                                     row.count(Verdict::reproduced), row.judged());
  }
  return text + "</tbody></table></div>\n";
}

/// The table of the first screen.
std::string verdict_matrices(const Overview& overview) {
  return "<p class=\"quiet\">✓ the sentence holds on this problem's run, ✗ it does not, ? these inputs cannot "
         "decide it, – the run cannot judge it. Each sign leads to the evidence on the problem's page, which "
         "<code>opshap report</code> of this folder draws.</p>\n" +
         matrix(overview, claim_rows(overview, "paper"), "What the paper says") +
         matrix(overview, claim_rows(overview, "opshap"), "What this suite adds");
}

/// How often the best methods of the paper's table are the best here.
std::string winners_section(const Overview& overview) {
  std::string rows;
  for (const Chapter& chapter : overview.chapters) {
    const Tally found = tally_of_table_rows(chapter.claims);
    if (found.judged() == 0) continue;
    rows += fmt::format(
        "<tr><td><a href=\"{}#claims\">{}</a></td><td class=\"number\">{}</td><td class=\"number\">{}</td><td "
        "class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
        link_to(chapter), escape_markup(pde_label(chapter.run->pde)), found.judged(), found.reproduced,
        found.not_reproduced, found.undecided);
  }
  if (rows.empty()) return "";
  return "<h3>Rows of the paper's table</h3>\n<p>In each row, which is a problem and an n, the paper's best "
         "method by each metric has to be the best one here.</p>\n<div class=\"wide\" "
         "tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">problem</th><th scope=\"col\" "
         "class=\"number\">rows</th><th scope=\"col\" class=\"number\">hold</th><th scope=\"col\" "
         "class=\"number\">do not</th><th scope=\"col\" class=\"number\">undecided</th></tr></thead>\n<tbody>\n" +
         rows + "</tbody></table></div>\n";
}

std::string claims_section(const Overview& overview) {
  std::string open;
  for (const char* source : {"paper", "opshap"}) {
    for (const ClaimRow& row : claim_rows(overview, source)) {
      if (row.judged() == 0) open += (open.empty() ? "" : "; ") + escape_markup(row.claim->title);
    }
  }
  std::string text = "<section id=\"claims\">\n<h2>More verdicts</h2>\n" + winners_section(overview);
  if (!open.empty()) text += "<p class=\"note\">No run here can judge: " + open + ".</p>\n";
  return text + "</section>\n";
}

/// The backbone's median relative error on the finest grid of the run.
std::string backbone_error(const runs::Run& run) {
  const runs::OperatorRow* finest = nullptr;
  for (const runs::OperatorRow& row : run.results.operators) {
    if (finest == nullptr || row.points > finest->points) finest = &row;
  }
  if (finest == nullptr || finest->defined_errors().empty()) return "not stored";
  return fmt::format("{} on {}", show(statistics::quartiles(finest->defined_errors()).median),
                     runs::shape_in_words(finest->shape));
}

std::string of_verdicts(const Chapter& chapter, std::string_view source) {
  const Tally found = tally(chapter.claims, source);
  if (found.judged() == 0) return "none";
  return fmt::format("{} of {} hold", found.reproduced, found.judged());
}

std::string players_in_words(const Scoreboard& scores) {
  std::string words;
  for (const Discretisation& on : scores.discretisations()) words += (words.empty() ? "" : ", ") + on.label();
  return words;
}

std::string problems_section(const Overview& overview) {
  std::string text =
      "<section id=\"problems\">\n<h2>Problems</h2>\n<p>Each name leads to the page of that problem.</p>\n<div "
      "class=\"wide stacks\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">problem</th><th "
      "scope=\"col\">players</th><th scope=\"col\">backbone's error</th><th scope=\"col\">the paper's "
      "sentences</th><th scope=\"col\">this suite's sentences</th><th scope=\"col\" class=\"number\">wall "
      "time</th></tr></thead>\n<tbody>\n";
  for (const Chapter& chapter : overview.chapters) {
    const auto cell = [](const char* label, const std::string& value) {
      return fmt::format("<td data-label=\"{}\">{}</td>", label, escape_markup(value));
    };
    text +=
        fmt::format("<tr><td><a href=\"{}\">{}</a></td>", link_to(chapter), escape_markup(pde_label(chapter.run->pde)));
    text += cell("players", players_in_words(*chapter.scores)) + cell("backbone's error", backbone_error(*chapter.run));
    text += cell("the paper's sentences", of_verdicts(chapter, "paper")) +
            cell("this suite's sentences", of_verdicts(chapter, "opshap"));
    text += cell("wall time", show_seconds(chapter.run->total_seconds())) + "</tr>\n";
  }
  return text +
         "</tbody></table></div>\n<p class=\"note\">Sentences are those that the run can judge. The backbone's "
         "error is the median over the test inputs of its relative error in the 2-norm.</p>\n" +
         on_missing_pages(overview) + "</section>\n";
}

/// The cells that both have: what the paper's short table shows of its problems.
std::vector<Comparison> in_both(const std::vector<Comparison>& comparisons) {
  std::vector<Comparison> both;
  std::copy_if(comparisons.begin(), comparisons.end(), std::back_inserter(both),
               [](const Comparison& cell) { return cell.paper && cell.ours; });
  return both;
}

std::string papers_cells_section(const Overview& overview) {
  std::vector<std::vector<Comparison>> shown;
  std::vector<ComparedProblem> problems;
  shown.reserve(overview.chapters.size());
  std::string without;
  bool comparable = true;
  for (const Chapter& chapter : overview.chapters) {
    shown.push_back(in_both(chapter.comparisons));
    comparable = comparable && chapter.run->comparable_with_paper;
    if (shown.back().empty()) {
      without += (without.empty() ? "" : ", ") + pde_label(chapter.run->pde);
      continue;
    }
    problems.push_back({.heading = pde_label(chapter.run->pde),
                        .comparisons = shown.back(),
                        .with_verdicts = chapter.run->comparable_with_paper});
  }
  std::string text =
      "<section id=\"paper\">\n<h2>Paper against these runs</h2>\n<p>Medians over the test inputs, with quartiles, "
      "wherever both have a cell.";
  if (!comparable)
    text +=
        " <strong>The sizes of this profile are not the paper's:</strong> its numbers stand here for orientation, and "
        "no cell is judged.";
  text += "</p>\n";
  if (!without.empty()) text += "<p class=\"note\">No cell in common: " + escape_markup(without) + ".</p>\n";
  if (problems.empty()) return text + "</section>\n";
  for (const metrics::Metric& metric : compared_metrics(problems.front().comparisons))
    text += comparison_table(problems, metric);
  return text + "</section>\n";
}

std::string methods_section(const Overview& overview) {
  std::string text =
      "<section id=\"methods\">\n<h2>Every method</h2>\n<p>What the paper's table has no column for, too: further "
      "explainers, other ways to sample, quadratures of gradients, and the attribution that knows nothing. Quartiles "
      "are on the problems' own pages.</p>\n";
  for (const Table& table : overview.medians) text += table.html_with_caption();
  return text + "</section>\n<section id=\"times\">\n<h2>Times</h2>\n" + overview.stages.html_with_caption() +
         "</section>\n";
}

std::string amortisation_section(const Overview& overview) {
  return "<section id=\"amortisation\">\n<h2>When training pays off</h2>\n" + figure_html(overview.amortisation) +
         "</section>\n";
}

std::string examples_section(const Overview& overview) {
  std::string text = "<section id=\"examples\">\n<h2>One input of each problem</h2>\n";
  for (const Chapter& chapter : overview.chapters) text += figure_html(chapter.example);
  return text + "</section>\n";
}

std::string data_section(const Overview& overview) {
  std::string findings, differences;
  for (const Chapter& chapter : overview.chapters) {
    for (const DataRemark& remark : data_remarks()) {
      if (remark.pde != chapter.run->pde) continue;
      (remark.finding ? findings : differences) +=
          fmt::format("<div><dt>{}: {}</dt><dd>{}</dd></div>\n", escape_markup(pde_label(remark.pde)),
                      escape_markup(remark.subject), escape_markup(remark.text));
    }
  }
  std::string text = "<section id=\"data\">\n<h2>The data</h2>\n";
  if (!findings.empty())
    text += "<h3>Problems of the paper's data</h3>\n<dl class=\"differences\">\n" + findings + "</dl>\n";
  if (!differences.empty())
    text += "<h3>Where ours differ from the paper's</h3>\n<dl class=\"differences\">\n" + differences + "</dl>\n";
  return text + "</section>\n";
}

std::string overview_header(const Overview& overview) {
  std::string text = "<header>\n<p class=\"overline\">OperatorSHAP, reproduction report</p>\n";
  text += fmt::format("<h1>{} problems, profile {}</h1>\n", overview.chapters.size(), escape_markup(overview.profile));
  if (!overview.unfinished.empty()) {
    std::string names;
    for (const std::string& name : overview.unfinished)
      names += (names.empty() ? "" : ", ") + escape_markup(pde_label(name));
    text +=
        "<p class=\"lead\"><strong>Not finished:</strong> " + names + ". The command of these runs resumes them.</p>\n";
  }
  text += sentences(overview);
  text += verdict_matrices(overview) + "<dl class=\"facts\">\n";
  double seconds = 0;
  std::set<std::string> commits;
  for (const Chapter& chapter : overview.chapters) {
    seconds += chapter.run->total_seconds();
    commits.insert(commits_in_words(*chapter.run));
  }
  std::string commit;
  for (const std::string& one : commits) commit += (commit.empty() ? "" : ", ") + one;
  text += fact("Profile", overview.profile) + fact("Problems", std::to_string(overview.chapters.size())) +
          fact("Wall time", show_seconds(seconds)) + fact("Commit", commit);
  return text +
         "</dl>\n<nav aria-label=\"Sections\"><a href=\"#problems\">Problems</a><a href=\"#claims\">More "
         "verdicts</a><a href=\"#paper\">Paper against these runs</a><a href=\"#methods\">Every method</a><a "
         "href=\"#times\">Times</a><a href=\"#amortisation\">Amortisation</a><a href=\"#examples\">Inputs</a><a "
         "href=\"#data\">Data</a></nav>\n</header>\n";
}

}  // namespace

std::string overview_page(const Overview& overview) {
  return page_head("OperatorSHAP, profile " + overview.profile) + overview_header(overview) + "<main>\n" +
         problems_section(overview) + claims_section(overview) + papers_cells_section(overview) +
         methods_section(overview) + amortisation_section(overview) + examples_section(overview) +
         data_section(overview) +
         "</main>\n<footer><p>Written by <code>opshap report</code> from the rows of these runs alone. Commands, "
         "settings and environments are on the problems' own pages.</p></footer>\n</body>\n</html>\n";
}

}  // namespace opshap::reporting
