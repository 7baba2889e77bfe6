#include <fmt/format.h>

#include <map>
#include <optional>

#include "reporting/methods.hpp"
#include "reporting/pages.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

namespace {

template <typename Counts>
Tally tally_where(const std::vector<JudgedClaim>& claims, const Counts& counts) {
  Tally found;
  for (const auto& [claim, judgement] : claims) {
    if (counts(claim)) found.add(judgement);
  }
  return found;
}

std::optional<double> median_error(const Scoreboard& scores, const Discretisation& on, std::string_view method) {
  const Cell* cell = scores.cell(on, method);
  const auto quartiles = cell == nullptr ? std::nullopt : cell->quartiles("nrmse");
  return quartiles ? std::optional(quartiles->median) : std::nullopt;
}

/// "OperatorSHAP 0.070 and 0.158, …": medians on the coarsest and the finest grid, for methods that have one of them. A
/// single grid has one number.
std::string medians_of(const Scoreboard& scores, const std::vector<std::string>& methods) {
  const Discretisation &coarsest = scores.discretisations().front(), &finest = scores.discretisations().back();
  return listing(methods, [&](const std::string& method) {
    const auto at_coarsest = median_error(scores, coarsest, method), at_finest = median_error(scores, finest, method);
    if (!at_coarsest && !at_finest) return std::string();
    if (&coarsest == &finest) return style_of(method).label + " " + show(*at_finest);
    return fmt::format("{} {} and {}", style_of(method).label, at_coarsest ? show(*at_coarsest) : "none",
                       at_finest ? show(*at_finest) : "none");
  });
}

std::string trained(const Scoreboard& scores) {
  const std::string medians = medians_of(scores, scores.methods_with_access("amortised"));
  if (medians.empty()) return {};
  const std::vector<Discretisation>& all = scores.discretisations();
  const std::string finest = all.size() == 1 ? "" : fmt::format(" and n = {}", all.back().label());
  return fmt::format("Median NRMSE at n = {}{}: {}.", all.front().label(), finest, medians);
}

std::string untrained(const Scoreboard& scores) {
  const std::string medians = medians_of(scores, untrained_methods());
  if (medians.empty()) return {};
  std::string words = fmt::format("(they evaluate the operator for each input). {}.", medians);
  const UntrainedLead lead = untrained_lead(scores);
  if (lead.grids > 0) {
    words += fmt::format(" On {} of {} grids one of the methods without training is ahead of every explainer.",
                         lead.ahead, lead.grids);
  }
  return words;
}

/// The factors between our columns and the paper's, from the claims about them.
std::string beside_the_paper(const Scoreboard& scores, const std::vector<JudgedClaim>& claims) {
  if (!scores.run().comparable_with_paper) return {};
  std::string words;
  for (const auto& [id, method] :
       std::map<std::string_view, const char*>{{"regression_msr_column", "regression_msr_shapiq_1_6"},
                                               {"operator_shap_column", "operator_shap"},
                                               {"integrated_gradients_column", "integrated_gradients"}}) {
    for (const JudgedClaim& judged : claims) {
      if (judged.claim.id != id || !judged.judgement.value) continue;
      const auto direction = judged.judgement.direction;
      const std::string than = judged.judgement.verdict == Verdict::reproduced ? "as the paper's"
                               : direction == Direction::better                ? "better than the paper's"
                               : direction == Direction::worse                 ? "worse than the paper's"
                                                                               : "undecided";
      words += fmt::format("{}{} {} (by a factor of {})", words.empty() ? "" : ", ", style_of(method).label, than,
                           show(*judged.judgement.value));
    }
  }
  return words.empty() ? words : fmt::format("NRMSE over all n: {}.", words);
}

std::string verdicts(const std::vector<JudgedClaim>& claims) {
  const Tally paper = tally(claims, "paper"), ours = tally(claims, "opshap");
  std::string text;
  if (paper.judged() == 0) {
    text += "This run can judge no sentence of the paper.";
  } else {
    text += fmt::format(
        "{} of {} sentences of the paper that this run can judge hold, {} {}, {} {} undecided.{}", paper.reproduced,
        paper.judged(), paper.not_reproduced, paper.not_reproduced == 1 ? "does not" : "do not", paper.undecided,
        paper.undecided == 1 ? "is" : "are",
        paper.better > 0
            ? fmt::format(" Of those that do not, {} {} since this run's errors are smaller than the paper's.",
                          paper.better, paper.better == 1 ? "fails" : "fail")
            : "");
  }
  if (const Tally rows = tally_of_table_rows(claims); rows.judged() > 0) {
    text += fmt::format(" The paper's best methods are the best here in {} of {} rows of its table.", rows.reproduced,
                        rows.judged());
  }
  if (ours.judged() > 0)
    text += fmt::format(" Of {} sentences that this suite adds {} hold.", ours.judged(), ours.reproduced);
  return text;
}

/// The operator that is explained, and the reference.
std::string grounds(const Scoreboard& scores) {
  std::string text;
  const Discretisation& finest = scores.discretisations().back();
  if (const auto error = scores.backbone_error(finest)) {
    text +=
        fmt::format("The operator that is explained is off by {} (median at n = {}). ", show(*error), finest.label());
  }
  const ReferenceQuality quality = scores.reference(finest);
  text += fmt::format("The reference there is {}, known to {} in the median and to {} at worst.",
                      listing(quality.kinds, [](const auto& kind) { return reference_label(kind.first); }),
                      show(quality.error.median), show(quality.largest_error));
  const std::string out = listing(scores.discretisations(), [&scores](const Discretisation& on) {
    return scores.unfit(on).empty() ? "" : on.label();
  });
  if (!out.empty()) text += fmt::format(" No verdict rests on n = {}: operator or reference are not good enough.", out);
  return text;
}

}  // namespace

Pairs summary(const Scoreboard& scores, const std::vector<JudgedClaim>& claims) {
  return {{"Trained.", trained(scores)},
          {"Without training", untrained(scores)},
          {"Beside the paper's table.", beside_the_paper(scores, claims)},
          {"Verdicts.", verdicts(claims)},
          {"Grounds.", grounds(scores)}};
}

void Tally::add(const Judgement& judgement) {
  reproduced += judgement.verdict == Verdict::reproduced;
  not_reproduced += judgement.verdict == Verdict::not_reproduced;
  undecided += judgement.verdict == Verdict::undecided;
  better += judgement.verdict == Verdict::not_reproduced && judgement.direction == Direction::better;
}

bool is_counted(const Claim& claim) { return !claim.check && !claim.by_construction && !claim.table_row; }

Tally tally(const std::vector<JudgedClaim>& claims, std::string_view source) {
  return tally_where(claims, [source](const Claim& claim) { return claim.source == source && is_counted(claim); });
}

Tally tally_of_table_rows(const std::vector<JudgedClaim>& claims) {
  return tally_where(claims, [](const Claim& claim) { return claim.table_row; });
}

const std::vector<std::string>& untrained_methods() {
  static const std::vector<std::string> methods = {"mean_field", "integrated_gradients", "permutation_antithetic",
                                                   std::string(constant_method)};
  return methods;
}

UntrainedLead untrained_lead(const Scoreboard& scores) {
  UntrainedLead lead;
  const std::vector<std::string> explainers = scores.methods_with_access("amortised");
  for (const Discretisation& on : scores.discretisations()) {
    std::optional<double> best_trained, best_untrained;
    const auto take = [&](std::optional<double>& best, const std::string& method) {
      const auto found = median_error(scores, on, method);
      if (found && (!best || *found < *best)) best = found;
    };
    for (const std::string& method : explainers) take(best_trained, method);
    for (const std::string& method : untrained_methods()) {
      if (method != constant_method) take(best_untrained, method);
    }
    if (!best_trained || !best_untrained) continue;  // a grid where the explainers alone were scored
    take(best_untrained, std::string(constant_method));
    ++lead.grids;
    lead.ahead += *best_untrained < *best_trained;
  }
  return lead;
}

}  // namespace opshap::reporting
