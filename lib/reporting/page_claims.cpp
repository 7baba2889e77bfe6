#include "reporting/page_claims.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

#include "reporting/table.hpp"

namespace opshap::reporting {

namespace {

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

std::string interval_in_words(const Judgement& judgement) {
  if (!judgement.interval || judgement.interval->first == judgement.interval->second) return "exact";
  const auto end = [](double value) { return std::isinf(value) ? std::string("∞") : show(value); };
  return fmt::format("{} to {}", end(judgement.interval->first), end(judgement.interval->second));
}

std::string without_full_stop(const std::string& sentence) {
  return sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence;
}

/// "0.073, 95 % interval 0.061 to 0.088, against 0.071".
std::string measured_html(const Judgement& judgement) {
  if (!judgement.value) return "";
  std::string text = "<dl class=\"measured\"><div><dt>measured</dt><dd>" + show(*judgement.value) + "</dd></div>";
  if (judgement.interval && judgement.interval->first != judgement.interval->second) {
    text += fmt::format("<div><dt>95 % interval</dt><dd>{} to {}</dd></div>", show(judgement.interval->first),
                        show(judgement.interval->second));
  }
  if (judgement.threshold) text += "<div><dt>against</dt><dd>" + show(*judgement.threshold) + "</dd></div>";
  return text + "</dl>\n";
}

std::string claim_html(const JudgedClaim& judged) {
  const auto& [claim, judgement] = judged;
  std::string text = fmt::format(
      "<article id=\"claim-{}\">\n<div>{}<p class=\"statement\">{}</p><p class=\"where\">{}</p><p "
      "class=\"rule\">Counts as reproduced when: {}.</p></div>\n<div class=\"evidence\">{}<p>{}</p>\n",
      claim.id, badge(judgement.verdict, verdict_in_words(judgement)), escape_markup(claim.statement),
      escape_markup(claim.where), escape_markup(claim.rule), measured_html(judgement),
      escape_markup(judgement.evidence));
  for (const Table& table : judgement.tables) text += table.html_with_caption();
  return text + "</div>\n</article>\n";
}

}  // namespace

std::string_view verdict_class(Verdict verdict) {
  return verdict == Verdict::reproduced ? "yes" : verdict == Verdict::not_reproduced ? "no" : "open";
}

std::string_view sign(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "✓";
    case Verdict::not_reproduced:
      return "✗";
    case Verdict::undecided:
      return "?";
    default:
      return "–";
  }
}

std::string badge(Verdict verdict, const std::string& text) {
  return fmt::format("<span class=\"verdict {}\"><span aria-hidden=\"true\">{} </span>{}</span>",
                     verdict_class(verdict), sign(verdict), escape_markup(text));
}

std::string verdict_in_words(Verdict verdict) {
  return verdict == Verdict::not_testable ? "not testable" : std::string(to_string(verdict));
}

std::string verdict_in_words(const Judgement& judgement) {
  const std::string words = verdict_in_words(judgement.verdict);
  return judgement.direction ? fmt::format("{}: {}", words, to_string(*judgement.direction)) : words;
}

bool is_judged(const JudgedClaim& claim) {
  return claim.judgement.verdict != Verdict::not_testable && claim.judgement.verdict != Verdict::not_comparable;
}

std::string verdict_table(const std::vector<JudgedClaim>& claims) {
  std::string text =
      "<div class=\"wide verdicts\" tabindex=\"0\" role=\"region\" aria-label=\"Verdicts\"><table>\n<thead><tr><th "
      "scope=\"col\">sentence</th><th scope=\"col\">verdict</th><th scope=\"col\" class=\"number\">measured</th><th "
      "scope=\"col\" class=\"number\">95 % interval</th><th scope=\"col\" "
      "class=\"number\">threshold</th></tr></thead>\n"
      "<tbody>\n";
  for (const ClaimGroup& group : groups) {
    std::string rows;
    for (const JudgedClaim& judged : claims) {
      const auto& [claim, judgement] = judged;
      if (!group.has(claim) || !is_judged(judged)) continue;
      const std::string verdict = claim.by_construction
                                      ? badge(Verdict::not_testable, verdict_in_words(judgement) + ", by construction")
                                      : badge(judgement.verdict, verdict_in_words(judgement));
      rows += fmt::format(
          "<tr><td><a href=\"#claim-{}\">{}</a></td><td>{}</td><td class=\"number\">{}</td><td "
          "class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
          claim.id, escape_markup(claim.title), verdict, judgement.value ? show(*judgement.value) : "–",
          interval_in_words(judgement), judgement.threshold ? show(*judgement.threshold) : "–");
    }
    if (!rows.empty())
      text += fmt::format("<tr><th scope=\"rowgroup\" colspan=\"5\">{}</th></tr>\n", group.heading) + rows;
  }
  return text + "</tbody></table></div>\n";
}

std::string claims_section(const std::vector<JudgedClaim>& claims, const runs::Run& run) {
  std::string text =
      "<section id=\"claims\">\n<h2>Claims</h2>\n<p>Each sentence is a predicate over this run's rows. Where the test "
      "inputs are a sample, the measured value has a 95 % interval over them, of inputs alone: one backbone and one "
      "training of each explainer are behind it. A sentence about several grids holds when each interval is on its "
      "side. It does not hold when an interval contradicts it even though so many were looked at (Holm, 2.5 % on one "
      "side). Else it is undecided. Grids whose operator is off by more than a tenth, or whose reference misses its "
      "target five times, take no part.";
  if (!run.comparable_with_paper) {
    text +=
        " The verdicts are about the networks of this profile: a sentence of the paper that fails here may hold for "
        "networks of the paper's size.";
  }
  text += "</p>\n";
  for (const ClaimGroup& group : groups) {
    std::string articles;
    for (const JudgedClaim& claim : claims) {
      if (group.has(claim.claim) && is_judged(claim)) articles += claim_html(claim);
    }
    if (!articles.empty()) text += fmt::format("<h3>{}</h3>\n", group.heading) + articles;
  }
  std::string open;
  for (const JudgedClaim& claim : claims) {
    if (is_judged(claim)) continue;
    open +=
        fmt::format("<li id=\"claim-{}\">{} <span class=\"statement\">{}</span> {}.</li>\n", claim.claim.id,
                    badge(claim.judgement.verdict, verdict_in_words(claim.judgement.verdict)),
                    escape_markup(claim.claim.statement), escape_markup(without_full_stop(claim.judgement.evidence)));
  }
  if (!open.empty())
    text += "<h3>What cannot be compared or tested here, and why</h3>\n<ul class=\"open\">\n" + open + "</ul>\n";
  return text + "</section>\n";
}

}  // namespace opshap::reporting
