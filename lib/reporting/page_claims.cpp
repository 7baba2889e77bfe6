#include "reporting/page_claims.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "reporting/table.hpp"

namespace opshap::reporting {

namespace {

std::vector<const Claim*> select(const std::vector<JudgedClaim>& claims, std::string_view source, Verdict verdict) {
  std::vector<const Claim*> found;
  for (const JudgedClaim& claim : claims) {
    if (claim.claim.source == source && claim.judgement.verdict == verdict) found.push_back(&claim.claim);
  }
  return found;
}

/// "3 of 10 sentences that this run can judge hold: a; b; c".
std::string counted(std::size_t all, const std::string& of, const std::string& predicate,
                    const std::vector<const Claim*>& claims) {
  return counted_claims(fmt::format("{} of {} {}", claims.size(), all, of), predicate, claims);
}

/// One row of the counts: whose sentences, and how many of each verdict.
std::string counts_row(const std::vector<JudgedClaim>& claims, std::string_view source, const std::string& whose) {
  std::string text = fmt::format("<li><span class=\"whose\">{}</span>", whose);
  for (const Verdict verdict : {Verdict::reproduced, Verdict::not_reproduced, Verdict::undecided,
                                Verdict::not_comparable, Verdict::not_testable}) {
    const std::size_t count = select(claims, source, verdict).size();
    if (count > 0) text += badge(verdict, fmt::format("{} {}", count, verdict_in_words(verdict)));
  }
  return text + "</li>";
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
      claim.id, badge(judgement.verdict, verdict_in_words(judgement.verdict)), escape_markup(claim.statement),
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

std::string claim_links(const std::vector<const Claim*>& claims) {
  std::string text;
  for (const Claim* claim : claims) {
    text +=
        fmt::format("{}<a href=\"#claim-{}\">{}</a>", text.empty() ? "" : "; ", claim->id, escape_markup(claim->title));
  }
  return text;
}

std::string counted_claims(const std::string& what, const std::string& predicate,
                           const std::vector<const Claim*>& claims) {
  return fmt::format("<strong>{}</strong> {}{}{}", what, predicate, claims.empty() ? "" : ": ", claim_links(claims));
}

bool is_judged(const JudgedClaim& claim) {
  return claim.judgement.verdict != Verdict::not_testable && claim.judgement.verdict != Verdict::not_comparable;
}

std::string three_sentences(const std::vector<JudgedClaim>& claims) {
  const auto of = [&](std::string_view source, Verdict verdict) { return select(claims, source, verdict); };
  const auto judged = [&](std::string_view source) {
    return static_cast<std::size_t>(std::count_if(claims.begin(), claims.end(), [source](const JudgedClaim& claim) {
      return claim.claim.source == source && is_judged(claim);
    }));
  };
  const auto holds = of("paper", Verdict::reproduced), fails = of("paper", Verdict::not_reproduced),
             open = of("paper", Verdict::undecided);
  const auto ours = of("opshap", Verdict::reproduced), ours_fail = of("opshap", Verdict::not_reproduced),
             ours_open = of("opshap", Verdict::undecided);
  const std::size_t paper = judged("paper"), own = judged("opshap");
  std::string text = "<ol class=\"three\">\n<li>";
  text += paper == 0 ? "This run can judge none of the paper's sentences"
                     : counted(paper, "sentences of the paper that this run can judge", "hold", holds);
  text += ".</li>\n<li>";
  text += paper == 0 ? "So none of them is contradicted either" : counted(paper, "of them", "do not hold here", fails);
  if (!open.empty())
    text += fmt::format("; {} cannot be decided with these inputs: {}", open.size(), claim_links(open));
  text += ".</li>\n<li>";
  text += own == 0 ? "This run can judge none of the checks that this suite adds"
                   : counted(own, "checks that this suite adds", "hold", ours);
  if (!ours_fail.empty())
    text += fmt::format("; {} {}: {}", ours_fail.size(), ours_fail.size() == 1 ? "does not" : "do not",
                        claim_links(ours_fail));
  if (!ours_open.empty()) text += fmt::format("; {} cannot be decided: {}", ours_open.size(), claim_links(ours_open));
  return text + ".</li>\n</ol>\n";
}

std::string claim_counts(const std::vector<JudgedClaim>& claims) {
  return "<ul class=\"counts\">" + counts_row(claims, "paper", "The paper's sentences") +
         counts_row(claims, "opshap", "Our own checks") + "</ul>\n";
}

std::string claims_section(const std::vector<JudgedClaim>& claims, const runs::Run& run) {
  std::string text =
      "<section id=\"claims\">\n<h2>Claims</h2>\n<p>Each sentence is a predicate over this run's rows. Where the test "
      "inputs are a sample, the measured value has a 95 % interval over them. A sentence is undecided when its "
      "threshold lies inside the interval.";
  if (!run.comparable_with_paper) {
    text +=
        " The verdicts are about the networks of this profile: a sentence of the paper that fails here may hold for "
        "networks of the paper's size.";
  }
  text += "</p>\n";
  for (const std::string_view source : {"paper", "opshap"}) {
    text += fmt::format("<h3>{}</h3>\n", source == "paper" ? "What the paper says" : "What this suite adds");
    for (const JudgedClaim& claim : claims) {
      if (claim.claim.source == source && is_judged(claim)) text += claim_html(claim);
    }
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
