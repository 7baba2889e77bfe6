#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "metrics/registry.hpp"
#include "reporting/methods.hpp"
#include "reporting/pages.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting {

namespace {

/// One claim on all problems.
struct ClaimRow {
  const Claim* claim = nullptr;
  std::vector<Verdict> by_chapter = {};
  Tally tally = {};
};

/// The claims of one source but the checks, in the order of claims::all().
std::vector<ClaimRow> claim_rows(const Overview& overview, std::string_view source) {
  std::vector<ClaimRow> rows;
  for (std::size_t i = 0; i < claims::all().size(); ++i) {
    const Claim& claim = claims::all()[i];
    if (claim.source != source || claim.check) continue;
    rows.push_back({.claim = &claim});
    for (const Chapter& chapter : overview.chapters) {
      rows.back().by_chapter.push_back(chapter.claims[i].judgement.verdict);
      rows.back().tally.add(chapter.claims[i].judgement);
    }
  }
  return rows;
}

/// How the sentences fare, each counted once however many problems can judge it.
std::string fates(const std::vector<ClaimRow>& rows, const std::string& what) {
  int judged = 0, everywhere = 0, nowhere = 0;
  for (const auto& [claim, by_chapter, tally] : rows) {
    if (tally.judged() == 0 || !is_counted(*claim)) continue;
    ++judged;
    everywhere += tally.reproduced == tally.judged();
    nowhere += tally.not_reproduced == tally.judged();
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
  const std::string name = style_of(method).label;
  if (medians.size() == 1) return fmt::format("{} {}", name, show(medians.begin()->first));
  return fmt::format("{} {} ({}) to {} ({})", name, show(medians.begin()->first), medians.begin()->second,
                     show(medians.rbegin()->first), medians.rbegin()->second);
}

std::string ranges_of(const Overview& overview, const std::vector<std::string>& methods) {
  return listing(
      methods, [&overview](const std::string& method) { return range_of(overview, method); }, "; ");
}

/// The first screen: explainers, what needs no training, the paper's sentences, what this suite adds, the grounds.
Html sentences(const Overview& overview) {
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
                    untrained = ranges_of(overview, untrained_methods());
  std::string papers = fates(claim_rows(overview, "paper"), "sentences of the paper that these runs can judge");
  if (table_rows > 0)
    papers += fmt::format(" The best methods of its table are the best here in {} of {} rows.", holding, table_rows);
  std::string grounds = comparable ? "The sizes are the paper's." : "The sizes of this profile are not the paper's.";
  grounds += " One training of each network is behind every number.";
  const std::string out = listing(overview.chapters, [](const Chapter& chapter) {
    return chapter.scores->of_fit_grids().discretisations().empty() ? pde_label(chapter.run->pde) : "";
  });
  if (!out.empty())
    grounds += fmt::format(" {} without a verdict, since operator or reference are not good enough.", out);
  return sentence_list(
      {{"Trained.", trained.empty() ? "" : fmt::format("Median NRMSE on the finest grids: {}.", trained)},
       {"Without training.", untrained.empty()
                                 ? ""
                                 : fmt::format("{}. On {} of {} grids one of these is ahead of every explainer.",
                                               untrained, lead.ahead, lead.grids)},
       {"The paper.", papers},
       {"This suite.", fates(claim_rows(overview, "opshap"), "sentences that it adds")},
       {"Grounds.", grounds}});
}

/// Leads to the page of a chapter and, where one is named, to a part of it.
Attribute link_to(const Chapter& chapter, std::string_view part = {}) {
  const std::string& pde = chapter.run->pde;
  return {"href", chapter.page_beside ? fmt::format("{}/report.html{}", pde, part) : pde + "/claims.json"};
}

std::string label_of(const Chapter& chapter) { return pde_label(chapter.run->pde); }

/// What the links lead to where there are no pages, and how to get one.
Html on_missing_pages(const Overview& overview) {
  if (std::ranges::all_of(overview.chapters, &Chapter::page_beside)) return {};
  return element("p.note", "Where a problem has no page here, links lead to its claims.json. ",
                 element("code", "opshap report"), " with the folder of the problem draws its page.");
}

/// Every claim with a row, every problem with a column.
Html matrix(const Overview& overview, std::string_view source, const std::string& whose) {
  std::vector<Column> columns = {{"sentence"}};
  for (const Chapter& chapter : overview.chapters) columns.push_back({label_of(chapter)});
  columns.push_back({"holds"});
  const Html body = each(claim_rows(overview, source), [&](const ClaimRow& row) {
    if (row.tally.judged() == 0) return Html();
    const std::string id = fmt::format("claim-{}", row.claim->id);
    Html cells = element("th", Attribute{"scope", "row"}, row.claim->title);
    for (std::size_t i = 0; i < row.by_chapter.size(); ++i) {
      const Chapter& chapter = overview.chapters[i];
      const Verdict verdict = row.by_chapter[i];
      const std::string words = verdict_in_words(verdict);
      cells += element("td", element("a.verdict." + verdict_class(verdict), link_to(chapter, "#" + id),
                                     Attribute{"title", label_of(chapter) + ": " + words},
                                     element("span", Attribute{"aria-hidden", "true"}, sign(verdict)),
                                     element("span.spoken", words)));
    }
    cells += row.claim->by_construction
                 ? element("td", "by construction")
                 : element("td.number", fmt::format("{} of {}", row.tally.reproduced, row.tally.judged()));
    return element("tr", Attribute{"id", id}, cells);
  });
  return element("h3", whose) +
         table_box(".matrix", whose + " by problem", table_head(columns) + element("tbody", body));
}

/// The table of the first screen.
Html verdict_matrices(const Overview& overview) {
  return element("p.quiet",
                 "✓ the sentence holds on this problem's run, ✗ it does not, ? these inputs cannot decide it, – the "
                 "run cannot judge it. Each sign leads to the evidence on the problem's page, which ",
                 element("code", "opshap report"), " of this folder draws.") +
         matrix(overview, "paper", "What the paper says") + matrix(overview, "opshap", "What this suite adds");
}

/// How often the best methods of the paper's table are the best here.
Html winners_section(const Overview& overview) {
  const Html rows = each(overview.chapters, [](const Chapter& chapter) {
    const Tally found = tally_of_table_rows(chapter.claims);
    if (found.judged() == 0) return Html();
    return element(
        "tr", element("td", element("a", Attribute{"href", link_to(chapter).value + "#claims"}, label_of(chapter))),
        each(std::vector{found.judged(), found.reproduced, found.not_reproduced, found.undecided},
             [](int count) { return element("td.number", std::to_string(count)); }));
  });
  if (rows.empty()) return rows;
  return element("h3", "Rows of the paper's table") +
         element("p",
                 "In each row, which is a problem and an n, the paper's best method by each metric has to be the best "
                 "one here.") +
         table_box("", "",
                   table_head({{"problem"}, {"rows", true}, {"hold", true}, {"do not", true}, {"undecided", true}}) +
                       element("tbody", rows));
}

Html more_verdicts(const Overview& overview) {
  std::vector<ClaimRow> rows = claim_rows(overview, "paper");
  for (ClaimRow& row : claim_rows(overview, "opshap")) rows.push_back(std::move(row));
  const std::string open = listing(
      rows, [](const ClaimRow& row) { return std::string(row.tally.judged() == 0 ? row.claim->title : ""); }, "; ");
  return section(
      "claims", "More verdicts",
      winners_section(overview) + (open.empty() ? Html() : element("p.note", "No run here can judge: ", open, ".")));
}

/// The backbone's median relative error on the finest grid of the run.
std::string backbone_error(const runs::Run& run) {
  const auto finest = std::ranges::max_element(run.results.operators, {}, &runs::OperatorRow::points);
  if (finest == run.results.operators.end() || finest->defined_errors().empty()) return "not stored";
  return fmt::format("{} on {}", show(statistics::quartiles(finest->defined_errors()).median),
                     runs::shape_in_words(finest->shape));
}

std::string of_verdicts(const Chapter& chapter, std::string_view source) {
  const Tally found = tally(chapter.claims, source);
  if (found.judged() == 0) return "none";
  return fmt::format("{} of {} hold", found.reproduced, found.judged());
}

Html problems_section(const Overview& overview) {
  const std::vector<Column> columns = {
      {"problem"},        {"players"}, {"backbone's error"}, {"the paper's sentences"}, {"this suite's sentences"},
      {"wall time", true}};
  const Html rows = each(overview.chapters, [&](const Chapter& chapter) {
    Html cells = element("td", element("a", link_to(chapter), label_of(chapter)));
    std::size_t place = 0;
    for (const std::string& cell :
         {listing(chapter.scores->discretisations(), &Discretisation::label), backbone_error(*chapter.run),
          of_verdicts(chapter, "paper"), of_verdicts(chapter, "opshap"), show_seconds(chapter.run->total_seconds())})
      cells += element("td", Attribute{"data-label", columns[++place].heading}, cell);
    return element("tr", cells);
  });
  return section("problems", "Problems",
                 element("p", "Each name leads to the page of that problem.") +
                     table_box(".stacks", "", table_head(columns) + element("tbody", rows)) +
                     element("p.note",
                             "Sentences are those that the run can judge. The backbone's error is the median over the "
                             "test inputs of its relative error in the 2-norm.") +
                     on_missing_pages(overview));
}

Html papers_cells_section(const Overview& overview) {
  // The cells that both have: what the paper's short table shows of its problems.
  std::vector<std::vector<Comparison>> shown;
  std::vector<ComparedProblem> problems;
  shown.reserve(overview.chapters.size());
  std::string without;
  bool comparable = true;
  for (const Chapter& chapter : overview.chapters) {
    shown.push_back(chapter.comparisons);
    std::erase_if(shown.back(), [](const Comparison& cell) { return !cell.paper || !cell.ours; });
    comparable = comparable && chapter.run->comparable_with_paper;
    if (shown.back().empty()) {
      without += (without.empty() ? "" : ", ") + pde_label(chapter.run->pde);
      continue;
    }
    problems.push_back({.heading = pde_label(chapter.run->pde),
                        .comparisons = shown.back(),
                        .with_verdicts = chapter.run->comparable_with_paper});
  }
  Html html = element("p", "Medians over the test inputs, with quartiles, wherever both have a cell.",
                      comparable ? Html()
                                 : " " + element("strong", "The sizes of this profile are not the paper's:") +
                                       " its numbers stand here for orientation, and no cell is judged.");
  if (!without.empty()) html += element("p.note", "No cell in common: ", without, ".");
  if (!problems.empty()) {
    for (const metrics::Metric& metric : compared_metrics(problems.front().comparisons))
      html += comparison_table(problems, metric);
  }
  return section("paper", "Paper against these runs", html);
}

Html methods_section(const Overview& overview) {
  const Html what =
      element("p",
              "What the paper's table has no column for, too: further explainers, other ways to sample, quadratures of "
              "gradients, and the attribution that knows nothing. Quartiles are on the problems' own pages.");
  return section("methods", "Every method", what + each(overview.medians, &Table::html_with_caption)) +
         section("times", "Times", overview.stages.html_with_caption());
}

Html data_section(const Overview& overview) {
  Pairs findings, differences;
  for (const Chapter& chapter : overview.chapters) {
    for (const DataRemark& remark : data_remarks()) {
      if (remark.pde != chapter.run->pde) continue;
      (remark.finding ? findings : differences).emplace_back(label_of(chapter) + ": " + remark.subject, remark.text);
    }
  }
  Html html;
  if (!findings.empty()) html += element("h3", "Problems of the paper's data") + difference_list(findings);
  if (!differences.empty()) html += element("h3", "Where ours differ from the paper's") + difference_list(differences);
  return section("data", "The data", html);
}

Html overview_header(const Overview& overview) {
  Html html = element("p.overline", "OperatorSHAP, reproduction report") +
              element("h1", fmt::format("{} problems, profile {}", overview.chapters.size(), overview.profile));
  if (!overview.unfinished.empty()) {
    const std::string names = listing(overview.unfinished, pde_label);
    html +=
        element("p.lead", element("strong", "Not finished:"), " ", names, ". The command of these runs resumes them.");
  }
  double seconds = 0;
  std::set<std::string> commits;
  for (const Chapter& chapter : overview.chapters) {
    seconds += chapter.run->total_seconds();
    commits.insert(commits_in_words(*chapter.run));
  }
  return html + sentences(overview) + verdict_matrices(overview) +
         fact_list({{"Profile", overview.profile},
                    {"Problems", std::to_string(overview.chapters.size())},
                    {"Wall time", show_seconds(seconds)},
                    {"Commit", fmt::format("{}", fmt::join(commits, ", "))}}) +
         navigation({{"#problems", "Problems"},
                     {"#claims", "More verdicts"},
                     {"#paper", "Paper against these runs"},
                     {"#methods", "Every method"},
                     {"#times", "Times"},
                     {"#amortisation", "Amortisation"},
                     {"#examples", "Inputs"},
                     {"#data", "Data"}});
}

}  // namespace

std::string overview_page(const Overview& overview) {
  const Html examples = each(overview.chapters, [](const Chapter& chapter) { return figure_html(chapter.example); });
  const Html main = problems_section(overview) + more_verdicts(overview) + papers_cells_section(overview) +
                    methods_section(overview) +
                    section("amortisation", "When training pays off", figure_html(overview.amortisation)) +
                    section("examples", "One input of each problem", examples) + data_section(overview);
  return document("OperatorSHAP, profile " + overview.profile, overview_header(overview), main,
                  "Written by " + element("code", "opshap report") +
                      " from the rows of these runs alone. Commands, settings and environments are on the problems' "
                      "own pages.")
      .markup();
}

}  // namespace opshap::reporting
