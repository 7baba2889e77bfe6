#include "reporting/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "metrics/registry.hpp"
#include "reporting/methods.hpp"
#include "reporting/page_claims.hpp"
#include "reporting/page_comparison.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting {

namespace {

constexpr std::array<Verdict, 5> verdicts = {Verdict::reproduced, Verdict::not_reproduced, Verdict::undecided,
                                             Verdict::not_comparable, Verdict::not_testable};

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

/// The claims of one source, in the order of claims.def.
std::vector<ClaimRow> rows_of(const Overview& overview, std::string_view source) {
  std::vector<ClaimRow> rows;
  for (std::size_t i = 0; i < claims::all().size(); ++i) {
    if (claims::all()[i].source != source) continue;
    rows.push_back({.claim = &claims::all()[i], .by_chapter = {}});
    for (const Chapter& chapter : overview.chapters)
      rows.back().by_chapter.push_back(chapter.claims[i].judgement.verdict);
  }
  return rows;
}

/// How the sentences of one source fare: everywhere, nowhere, here and there.
struct Fates {
  std::vector<const Claim*> judged, everywhere, nowhere, mixed;
};

Fates fates_of(const std::vector<ClaimRow>& rows) {
  Fates fates;
  for (const ClaimRow& row : rows) {
    if (row.judged() == 0) continue;
    fates.judged.push_back(row.claim);
    const std::size_t holds = row.count(Verdict::reproduced), fails = row.count(Verdict::not_reproduced);
    (holds == row.judged()   ? fates.everywhere
     : fails == row.judged() ? fates.nowhere
                             : fates.mixed)
        .push_back(row.claim);
  }
  return fates;
}

/// The first screen: what of the paper holds on every problem, what does not, what this suite adds.
std::string sentences(const Overview& overview) {
  const Fates paper = fates_of(rows_of(overview, "paper")), own = fates_of(rows_of(overview, "opshap"));
  std::string text = "<ol class=\"three\">\n<li>";
  text += counted_claims(fmt::format("{} of {} sentences of the paper that these runs can judge",
                                     paper.everywhere.size(), paper.judged.size()),
                         "hold on every problem that can judge them", paper.everywhere);
  text += ".</li>\n<li>";
  text += counted_claims(fmt::format("{} of them", paper.nowhere.size()), "hold on none", paper.nowhere);
  text += ". " + counted_claims(fmt::format("{} of them", paper.mixed.size()),
                                "hold on some problems and do not hold or are undecided on others", paper.mixed);
  text += ".</li>\n<li>";
  text += counted_claims(fmt::format("{} of {} checks that this suite adds", own.everywhere.size(), own.judged.size()),
                         "hold on every problem that can judge them", own.everywhere);
  return text + ".</li>\n</ol>\n";
}

/// How many verdicts of each kind there are over all problems.
std::string counts(const std::vector<ClaimRow>& rows, const std::string& whose) {
  std::string text = fmt::format("<li><span class=\"whose\">{}</span>", whose);
  for (const Verdict verdict : verdicts) {
    std::size_t sum = 0;
    for (const ClaimRow& row : rows) sum += row.count(verdict);
    if (sum > 0) text += badge(verdict, fmt::format("{} {}", sum, verdict_in_words(verdict)));
  }
  return text + "</li>";
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
         "report</code> "
         "with the folder of the problem draws its page.</p>\n";
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
    text += fmt::format("<td class=\"number\">{} of {}</td></tr>\n", row.count(Verdict::reproduced), row.judged());
  }
  return text + "</tbody></table></div>\n";
}

std::string claims_section(const Overview& overview) {
  std::string open;
  for (const char* source : {"paper", "opshap"}) {
    for (const ClaimRow& row : rows_of(overview, source)) {
      if (row.judged() == 0) open += (open.empty() ? "" : "; ") + escape_markup(row.claim->title);
    }
  }
  std::string text =
      "<section id=\"claims\">\n<h2>Verdicts by problem</h2>\n<p>✓ the sentence holds on this problem's run, ✗ it does "
      "not, ? its threshold lies inside the 95 % interval, – the run cannot judge it. Each sign leads to the evidence "
      "on the problem's own page.</p>\n";
  text += matrix(overview, rows_of(overview, "paper"), "What the paper says");
  text += matrix(overview, rows_of(overview, "opshap"), "What this suite adds");
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
  std::map<Verdict, int> found;
  for (const JudgedClaim& claim : chapter.claims) {
    if (claim.claim.source == source) ++found[claim.judgement.verdict];
  }
  return fmt::format("{} ✓  {} ✗  {} ?", found[Verdict::reproduced], found[Verdict::not_reproduced],
                     found[Verdict::undecided]);
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
      "sentences</th><th "
      "scope=\"col\">our checks</th><th scope=\"col\" class=\"number\">wall time</th></tr></thead>\n<tbody>\n";
  for (const Chapter& chapter : overview.chapters) {
    const auto cell = [](const char* label, const std::string& value) {
      return fmt::format("<td data-label=\"{}\">{}</td>", label, escape_markup(value));
    };
    text +=
        fmt::format("<tr><td><a href=\"{}\">{}</a></td>", link_to(chapter), escape_markup(pde_label(chapter.run->pde)));
    text += cell("players", players_in_words(*chapter.scores)) + cell("backbone's error", backbone_error(*chapter.run));
    text += cell("the paper's sentences", of_verdicts(chapter, "paper")) +
            cell("our checks", of_verdicts(chapter, "opshap"));
    text += cell("wall time", show_seconds(chapter.run->total_seconds())) + "</tr>\n";
  }
  return text +
         "</tbody></table></div>\n<p class=\"note\">✓ holds, ✗ does not, ? undecided. The backbone's error is the "
         "median over the test inputs of its relative error in the 2-norm.</p>\n" +
         on_missing_pages(overview) + "</section>\n";
}

/// The cells that both have: what the paper's short table shows of its problems.
std::vector<Comparison> in_both(const std::vector<Comparison>& comparisons) {
  std::vector<Comparison> both;
  std::copy_if(comparisons.begin(), comparisons.end(), std::back_inserter(both),
               [](const Comparison& cell) { return cell.paper && cell.ours; });
  return both;
}

std::string paper_section(const Overview& overview) {
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

std::string header(const Overview& overview) {
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
  text += "<p class=\"quiet\">All verdicts, over the problems:</p>\n<ul class=\"counts\">" +
          counts(rows_of(overview, "paper"), "The paper's sentences") +
          counts(rows_of(overview, "opshap"), "Our own checks") + "</ul>\n<dl class=\"facts\">\n";
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
         "</dl>\n<nav aria-label=\"Sections\"><a href=\"#problems\">Problems</a><a href=\"#claims\">Verdicts</a><a "
         "href=\"#paper\">Paper against these runs</a><a href=\"#methods\">Every method</a><a "
         "href=\"#times\">Times</a><a href=\"#examples\">Inputs</a><a href=\"#data\">Data</a></nav>\n</header>\n";
}

}  // namespace

std::string overview_page(const Overview& overview) {
  return page_head("OperatorSHAP, profile " + overview.profile) + header(overview) + "<main>\n" +
         problems_section(overview) + claims_section(overview) + paper_section(overview) + methods_section(overview) +
         examples_section(overview) + data_section(overview) +
         "</main>\n<footer><p>Written by <code>opshap report</code> from the rows of these runs alone. Commands, "
         "settings and environments are on the problems' own pages.</p></footer>\n</body>\n</html>\n";
}

}  // namespace opshap::reporting
