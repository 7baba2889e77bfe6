#include "reporting/page_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>

#include "core/file.hpp"
#include "reporting/gnuplot.hpp"
#include "reporting/methods.hpp"
#include "runs/run.hpp"

namespace opshap::reporting {

namespace fs = std::filesystem;

namespace {

/// A page has tables that somebody may read; longer ones are what the CSV beside it is for.
constexpr std::size_t most_rows = 300;

/// Names and what is said of them.
Html described(std::string_view opening, const Pairs& pairs) {
  return element(opening, each(pairs, [](const auto& pair) {
                   return element("div", element("dt", pair.first), element("dd", pair.second));
                 }));
}

/// Claims of a page stand in these groups.
struct ClaimGroup {
  const char* heading;
  bool (*has)(const Claim& claim);
};

constexpr std::array<ClaimGroup, 4> groups = {
    {{"What the paper says",
      [](const Claim& claim) { return claim.source == "paper" && !claim.table_row && !claim.check; }},
     {"Rows of the paper's table", [](const Claim& claim) { return claim.table_row; }},
     {"What this suite adds", [](const Claim& claim) { return claim.source == "opshap" && !claim.check; }},
     {"Checks of this program", [](const Claim& claim) { return claim.check; }}}};

/// The rows say something about it: it holds, it does not, or they cannot tell.
bool is_judged(const JudgedClaim& claim) {
  return claim.judgement.verdict != Verdict::not_testable && claim.judgement.verdict != Verdict::not_comparable;
}

/// Words and the verdict's sign in its colour.
Html badge(Verdict verdict, const std::string& text) {
  return element("span.verdict." + verdict_class(verdict),
                 element("span", Attribute{"aria-hidden", "true"}, fmt::format("{} ", sign(verdict))), text);
}

/// The verdict, and where it is the opposite of the sentence or its confirmation: whether better or worse.
std::string judgement_in_words(const Judgement& judgement) {
  const std::string words = verdict_in_words(judgement.verdict);
  return judgement.direction ? fmt::format("{}: {}", words, to_string(*judgement.direction)) : words;
}

bool is_random(const Judgement& judgement) {
  return judgement.interval && judgement.interval->first != judgement.interval->second;
}

std::string interval_in_words(const Judgement& judgement) {
  if (!is_random(judgement)) return "exact";
  const auto end = [](double value) { return std::isinf(value) ? std::string("∞") : show(value); };
  return fmt::format("{} to {}", end(judgement.interval->first), end(judgement.interval->second));
}

std::string without_full_stop(const std::string& sentence) {
  return sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence;
}

/// "0.073, 95 % interval 0.061 to 0.088, against 0.071".
Html measured_html(const Judgement& judgement) {
  if (!judgement.value) return {};
  Pairs found = {{"measured", show(*judgement.value)}};
  if (is_random(judgement)) {
    found.emplace_back("95 % interval",
                       fmt::format("{} to {}", show(judgement.interval->first), show(judgement.interval->second)));
  }
  if (judgement.threshold) found.emplace_back("against", show(*judgement.threshold));
  return described("dl.measured", found);
}

Attribute id_of(const Claim& claim) { return {"id", fmt::format("claim-{}", claim.id)}; }

Html claim_html(const JudgedClaim& judged) {
  const auto& [claim, judgement] = judged;
  return element("article", id_of(claim),
                 element("div", badge(judgement.verdict, judgement_in_words(judgement)),
                         element("p.statement", claim.statement), element("p.where", claim.where),
                         element("p.rule", fmt::format("Counts as reproduced when: {}.", claim.rule))),
                 element("div.evidence", measured_html(judgement), element("p", judgement.evidence),
                         each(judgement.tables, &Table::html_with_caption)));
}

Html quartile_cell(const std::optional<statistics::Quartiles>& quartiles, std::string_view otherwise,
                   const Attribute& label) {
  if (!quartiles) return element("td.quiet", label, otherwise);
  return element("td", label, show(quartiles->median), " ",
                 element("span.range", fmt::format("[{}, {}]", show(quartiles->q25), show(quartiles->q75))));
}

/// The verdicts of one n side by side, equal neighbours as one cell.
Html verdict_cells(const std::vector<const Comparison*>& cells) {
  Html html;
  for (std::size_t i = 0; i < cells.size();) {
    std::size_t end = i + 1;
    while (end < cells.size() && cells[end]->verdict == cells[i]->verdict) ++end;
    html += element("td.judged", Attribute{"colspan", std::to_string(end - i)}, cells[i]->verdict);
    i = end;
  }
  return html;
}

/// The rows of one problem; empty when it has no cell of this metric.
Html metric_rows(const ComparedProblem& problem, const metrics::Metric& metric) {
  std::map<Discretisation, std::map<std::string, const Comparison*>> by_grid;
  for (const Comparison& cell : problem.comparisons) {
    if (cell.metric == metric.name) by_grid[cell.on][cell.method] = &cell;
  }
  if (by_grid.empty()) return {};
  Html html;
  if (!problem.heading.empty()) {
    html += element("tbody", element("tr", element("th.problem", Attribute{"scope", "rowgroup"},
                                                   Attribute{"colspan", std::to_string(paper_methods().size() + 2)},
                                                   problem.heading)));
  }
  for (const auto& [on, cells] : by_grid) {
    const bool run = std::any_of(cells.begin(), cells.end(), [](const auto& cell) { return cell.second->ours; });
    const bool judged = run && problem.with_verdicts;
    Html papers, ours;
    std::vector<const Comparison*> verdicts;
    for (const std::string& method : paper_methods()) {
      const Comparison* cell = cells.contains(method) ? cells.at(method) : nullptr;
      const Attribute label{"data-label", style_of(method).label};
      papers += quartile_cell(cell == nullptr ? std::nullopt : cell->paper, "no row in the paper", label);
      ours += quartile_cell(cell == nullptr ? std::nullopt : cell->ours, "not run", label);
      if (cell != nullptr) verdicts.push_back(cell);
    }
    const Html n = element("th", Attribute{"scope", "rowgroup"}, Attribute{"rowspan", judged ? "3" : "2"}, on.label());
    html += element("tbody", element("tr", n, element("td.who", "paper"), papers),
                    element("tr.inner.ours", element("td.who", "this run"),
                            run ? ours : verdict_cells(verdicts)),  // "not run", in one cell
                    judged ? element("tr.inner", element("td.who", "verdict"), verdict_cells(verdicts)) : Html());
  }
  return html;
}

/// A line that LaTeX does not read.
std::string latex_comment(std::string words) {
  if (words.empty()) return words;
  std::ranges::replace_if(
      words, [](unsigned char letter) { return std::iscntrl(letter) != 0; }, ' ');
  return "% " + words + "\n";
}

}  // namespace

std::vector<DrawnFigure> drawn(std::vector<NamedFigure> figures) {
  std::vector<Panel> panels;
  for (const auto& [name, figure] : figures) panels.insert(panels.end(), figure.panels.begin(), figure.panels.end());
  std::vector<std::string> drawings = draw(panels);
  auto drawing = std::make_move_iterator(drawings.begin());
  std::vector<DrawnFigure> all;
  for (auto& [name, figure] : figures) {
    const auto next = drawing + static_cast<std::ptrdiff_t>(figure.panels.size());
    all.push_back({.name = std::move(name), .figure = std::move(figure), .panels = {drawing, next}});
    drawing = next;
  }
  return all;
}

void write_figures(const fs::path& folder, const std::vector<DrawnFigure>& figures) {
  const auto file = [&folder](const DrawnFigure& drawn, const char* ending) { return folder / (drawn.name + ending); };
  std::vector<const DrawnFigure*> written;
  std::vector<Plate> plates;
  for (const DrawnFigure& drawn : figures) {
    if (!drawn.figure.rows_kept) continue;
    if (drawn.panels.size() < 2) fs::remove(file(drawn, "_narrow.svg"));
    if (drawn.panels.empty()) {  // those of an earlier report of this folder would be stale
      for (const char* stale : {".svg", ".pdf", ".csv"}) fs::remove(file(drawn, stale));
      continue;
    }
    written.push_back(&drawn);
    plates.push_back({drawn.figure.title, drawn.figure.panels, drawn.figure.legend});
  }
  const std::vector<std::string> printed = print(plates, Picture::pdf);
  for (std::size_t i = 0; i < written.size(); ++i) {
    const DrawnFigure& drawn = *written[i];
    const Figure& figure = drawn.figure;
    write_file(file(drawn, ".svg"), compose(figure.title, figure.finding, drawn.panels, figure.legend));
    if (drawn.panels.size() > 1)
      write_file(file(drawn, "_narrow.svg"),
                 compose(figure.title, figure.finding, drawn.panels, figure.legend, Form::narrow));
    write_file(file(drawn, ".pdf"), printed[i]);
    write_file(file(drawn, ".csv"), figure.numbers.csv());
  }
}

void write_table(const fs::path& folder, const Table& table) {
  write_file(folder / (table.name + ".csv"), table.csv());
  write_file(folder / (table.name + ".md"), table.markdown());
  write_file(folder / (table.name + ".tex"), latex_comment(runs::origin(folder.parent_path())) + table.latex());
}

Html sentence_list(const Pairs& sentences) {
  return element("ol.sentences", each(sentences, [](const auto& sentence) {
                   const auto& [heading, words] = sentence;
                   return words.empty() ? Html() : element("li", element("strong", heading), " ", words);
                 }));
}

Html fact_list(const Pairs& facts) {
  return element("dl.facts", each(facts, [](const auto& fact) {
                   const auto& [name, value] = fact;
                   if (value.empty()) return Html();
                   return element(value.size() > 60 ? "div.long" : "div", element("dt", name), element("dd", value));
                 }));
}

Html section(std::string_view id, std::string_view heading, const Html& content) {
  return element(fmt::format("section#{}", id), element("h2", heading), content);
}

std::string commits_in_words(const runs::Run& run) {
  std::vector<std::string> commits;
  for (const runs::Sitting& sitting : run.sittings) {
    if (sitting.commit.empty()) continue;
    const std::string commit = sitting.commit.substr(0, 12) + (sitting.dirty ? ", with uncommitted changes" : "");
    if (commits.empty() || commits.back() != commit) commits.push_back(commit);
  }
  if (commits.size() < 2) return commits.empty() ? "" : commits.front();
  return fmt::format("{} at the end, {} at the start ({} sittings)", commits.back(), commits.front(),
                     run.sittings.size());
}

Html figure_html(const DrawnFigure& drawn) {
  const Figure& figure = drawn.figure;
  const Attribute id{"id", "figure-" + drawn.name};
  const Html title = element("h3", figure.title);
  if (figure.rows_kept && figure.missing.empty()) {
    const Table& numbers = figure.numbers;
    const std::size_t rows = numbers.rows.size();
    // On a wide page the legend of one or two panels stands beside them.
    const char* drawing = columns_of(drawn.panels.size()) < 3 ? "div.drawing.beside" : "div.drawing";
    return element(
        "figure", id, title, element("figcaption", figure.finding),
        element(drawing, panels_html(drawn.panels), legend_html(figure.legend)),
        element("details", element("summary", "Numbers of this figure"), element("p.quiet", numbers.caption),
                rows <= most_rows ? numbers.html()
                                  : element("p.quiet", fmt::format("{} rows, in {}.", rows, drawn.numbers_in))));
  }
  Html why = "Not in this profile: " + figure.missing + ".";
  if (!figure.rows_kept) {
    why = "Not drawn: " + figure.missing + ". ";
    why += drawn.earlier_drawing.empty()
               ? Html("There is no earlier drawing either.")
               : "The drawing of an earlier report is in " + element("code", drawn.earlier_drawing) + ".";
  }
  return element("figure.absent", id, title, element("figcaption", why));
}

Html panels_html(const std::vector<std::string>& panels) {
  return element(fmt::format("div.panels.in-{}", columns_of(panels.size())),
                 each(panels, [](const std::string& panel) { return element("div", Html::raw(panel)); }));
}

Html key_value_table(const Pairs& pairs) {
  return table_box("", "", element("tbody", each(pairs, [](const auto& pair) {
                                     const auto& [key, value] = pair;
                                     const bool lines = value.find('\n') != std::string::npos;
                                     return element("tr", element("th", Attribute{"scope", "row"}, key),
                                                    element("td", lines ? element("pre", value) : Html(value)));
                                   })));
}

Html difference_list(const Pairs& differences) { return described("dl.differences", differences); }

std::string verdict_class(Verdict verdict) {
  return verdict == Verdict::reproduced ? "yes" : verdict == Verdict::not_reproduced ? "no" : "open";
}

std::string_view sign(Verdict verdict) {
  return verdict == Verdict::reproduced       ? "✓"
         : verdict == Verdict::not_reproduced ? "✗"
         : verdict == Verdict::undecided      ? "?"
                                              : "–";
}

std::string verdict_in_words(Verdict verdict) {
  return verdict == Verdict::not_testable ? "not testable" : std::string(to_string(verdict));
}

Html verdict_table(const std::vector<JudgedClaim>& claims) {
  const std::vector<Column> columns = {
      {"sentence"}, {"verdict"}, {"measured", true}, {"95 % interval", true}, {"threshold", true}};
  const Html body = each(groups, [&](const ClaimGroup& group) {
    const Html rows = each(claims, [&](const JudgedClaim& judged) {
      const auto& [claim, judgement] = judged;
      if (!group.has(claim) || !is_judged(judged)) return Html();
      const std::string words = judgement_in_words(judgement);
      return element("tr",
                     element("td", element("a", Attribute{"href", fmt::format("#claim-{}", claim.id)}, claim.title)),
                     element("td", claim.by_construction ? badge(Verdict::not_testable, words + ", by construction")
                                                         : badge(judgement.verdict, words)),
                     element("td.number", judgement.value ? show(*judgement.value) : "–"),
                     element("td.number", interval_in_words(judgement)),
                     element("td.number", judgement.threshold ? show(*judgement.threshold) : "–"));
    });
    if (rows.empty()) return rows;
    return element("tr", element("th", Attribute{"scope", "rowgroup"}, Attribute{"colspan", "5"}, group.heading)) +
           rows;
  });
  return table_box(".verdicts", "Verdicts", table_head(columns) + element("tbody", body));
}

Html claims_section(const std::vector<JudgedClaim>& claims, const runs::Run& run) {
  std::string how =
      "Each sentence is a predicate over this run's rows. Where the test inputs are a sample, the measured value has a "
      "95 % interval over them, of inputs alone: one backbone and one training of each explainer are behind it. A "
      "sentence about several grids holds when each interval is on its side. It does not hold when an interval "
      "contradicts it even though so many were looked at (Holm, 2.5 % on one side). Else it is undecided. Grids whose "
      "operator is off by more than a tenth, or whose reference misses its target five times, take no part.";
  if (!run.comparable_with_paper) {
    how +=
        " The verdicts are about the networks of this profile: a sentence of the paper that fails here may hold for "
        "networks of the paper's size.";
  }
  const Html judged = each(groups, [&](const ClaimGroup& group) {
    const Html articles = each(claims, [&](const JudgedClaim& claim) {
      return group.has(claim.claim) && is_judged(claim) ? claim_html(claim) : Html();
    });
    return articles.empty() ? articles : element("h3", group.heading) + articles;
  });
  const Html open = each(claims, [](const JudgedClaim& judged) {
    const auto& [claim, judgement] = judged;
    if (is_judged(judged)) return Html();
    return element("li", id_of(claim), badge(judgement.verdict, verdict_in_words(judgement.verdict)), " ",
                   element("span.statement", claim.statement), " ", without_full_stop(judgement.evidence), ".");
  });
  return section(
      "claims", "Claims",
      element("p", how) + judged +
          (open.empty() ? open
                        : element("h3", "What cannot be compared or tested here, and why") + element("ul.open", open)));
}

Html comparison_table(const std::vector<ComparedProblem>& problems, const metrics::Metric& metric) {
  std::vector<Column> columns = {{"n", true}, {"median [quartiles]"}};
  for (const std::string& method : paper_methods()) columns.push_back({style_of(method).label});
  const char* better = metric.better == metrics::Better::lower ? "(lower is better)" : "(higher is better)";
  return element("h3", metric.symbol, " ", element("span.quiet", better)) +
         table_box(".against", fmt::format("{} of the paper and of this run", metric.symbol),
                   table_head(columns) +
                       each(problems, [&](const ComparedProblem& problem) { return metric_rows(problem, metric); }));
}

std::vector<metrics::Metric> compared_metrics(const std::vector<Comparison>& comparisons) {
  std::vector<metrics::Metric> found;
  for (const Comparison& cell : comparisons) {
    if (std::ranges::find(found, cell.metric, &metrics::Metric::name) == found.end())
      found.push_back(metrics::find(cell.metric));
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const metrics::Metric& metric) { return metric.better == metrics::Better::lower; });
  return found;
}

}  // namespace opshap::reporting
