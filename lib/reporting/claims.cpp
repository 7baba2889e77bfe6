#include "reporting/claims.hpp"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "reporting/claims_measurement.hpp"
#include "reporting/paper.hpp"

namespace opshap::reporting {

std::string_view to_string(Verdict verdict) {
  static constexpr std::array<std::string_view, 5> words = {"reproduced", "not reproduced", "undecided",
                                                            "not comparable", "not testable in this profile"};
  return words.at(static_cast<std::size_t>(verdict));
}

std::string_view to_string(Direction direction) { return direction == Direction::better ? "better" : "worse"; }

namespace claims {

Claim in_the_papers_words(Claim claim) {
  if (claim.source != "paper" || !claim.statement.empty()) return claim;
  const PaperSentence& sentence = paper_sentence(claim.id);
  claim.statement = sentence.sentence;
  claim.where = sentence.where;
  return claim;
}

const std::vector<Claim>& all() {
  static const std::vector<Claim> claims = [] {
    std::vector<Claim> found;
    for (const auto list : {of_quality, of_classical_methods, of_cost, of_limits, of_opshap}) {
      for (Claim& claim : list()) found.push_back(in_the_papers_words(std::move(claim)));
    }
    return found;
  }();
  return claims;
}

Judgement not_testable(std::string why) { return {.evidence = std::move(why)}; }

Judgement not_kept(std::string what) { return {.rebuildable = false, .evidence = std::move(what)}; }

}  // namespace claims

namespace {

/// The grids that take no part in verdicts, with the reason.
std::string left_out(const Scoreboard& scores) {
  return listing(
      scores.discretisations(),
      [&scores](const Discretisation& on) {
        const std::string why = scores.unfit(on);
        return why.empty() ? "" : message("n = ", on.label(), " (", why, ")");
      },
      "; ");
}

/// Of the grids that take part, which `fit` has.
Judgement judge(const Claim& claim, const Scoreboard& scores, const Scoreboard& fit) {
  const runs::Run& run = scores.run();
  if (!claim.applies(run)) return claims::not_testable(claim.excluded(run));
  if (claim.check) return claim.judge(scores);
  if (claim.source == "paper" && !run.imported_from.empty()) {
    return claims::not_testable("The sentence is about the paper's data, and this run's are imported from " +
                                run.imported_from + ".");
  }
  const std::string out = left_out(scores);
  if (fit.discretisations().empty())
    return claims::not_testable("No grid of this run takes part in verdicts: " + out + ".");
  Judgement judgement = claim.judge(fit);
  if (!out.empty() && judgement.value) judgement.evidence += " Without " + out + ".";
  return judgement;
}

using Json = nlohmann::ordered_json;

Json json_or_null(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json entry(const JudgedClaim& judged, const std::string& pde) {
  const auto& [claim, judgement] = judged;
  const auto& interval = judgement.interval;
  const bool bounded = interval && std::isfinite(interval->first) && std::isfinite(interval->second);
  Json tables = Json::array();
  for (const Table& table : judgement.tables) {
    Json columns = Json::array();
    for (const Column& column : table.columns) columns.push_back(column.heading);
    tables.push_back({{"name", table.name}, {"caption", table.caption}, {"columns", columns}, {"rows", table.rows}});
  }
  return {{"id", claim.id},
          {"pde", pde},
          {"source", claim.source},
          {"statement", claim.statement},
          {"where", claim.where},
          {"rule", claim.rule},
          {"by_construction", claim.by_construction},
          {"verdict", to_string(judgement.verdict)},
          {"direction", judgement.direction ? Json(to_string(*judgement.direction)) : Json(nullptr)},
          {"rebuildable", judgement.rebuildable},
          {"value", json_or_null(judgement.value)},
          {"interval", bounded ? Json{interval->first, interval->second} : Json(nullptr)},
          {"threshold", json_or_null(judgement.threshold)},
          {"evidence", judgement.evidence},
          {"tables", tables}};
}

void add_entries(Json& json, const std::vector<JudgedClaim>& claims, const std::string& pde) {
  for (const JudgedClaim& claim : claims) json[claim.claim.check ? "checks" : "claims"].push_back(entry(claim, pde));
}

}  // namespace

Judgement judge(const Claim& claim, const Scoreboard& scores) { return judge(claim, scores, scores.of_fit_grids()); }

std::vector<JudgedClaim> judge(const Scoreboard& scores) {
  const Scoreboard fit = scores.of_fit_grids();
  std::vector<JudgedClaim> judged;
  for (const Claim& claim : claims::all()) judged.push_back({claim, judge(claim, scores, fit)});
  for (const Claim& claim : claims::of_table_rows(scores.run().pde))
    judged.push_back({claim, judge(claim, scores, fit)});
  return judged;
}

std::vector<std::string> broken_checks(const std::vector<JudgedClaim>& claims) {
  std::vector<std::string> broken;
  for (const auto& [claim, judgement] : claims) {
    if (claim.check && judgement.verdict == Verdict::not_reproduced) broken.emplace_back(claim.id);
  }
  return broken;
}

std::string claims_json(const std::vector<JudgedClaim>& claims, const runs::Run& run) {
  Json json = {{"schema", "opshap.claims/1"}, {"profile", run.profile},  {"pde", run.pde},
               {"commit", run.commit},        {"claims", Json::array()}, {"checks", Json::array()}};
  if (const auto missing = run.missing_resolutions(); !missing.empty()) json["missing_resolutions"] = missing;
  add_entries(json, claims, run.pde);
  return json.dump(2) + "\n";
}

std::string claims_json(const std::vector<ClaimsOfRun>& several) {
  Json json = {{"schema", "opshap.claims/1"}, {"profile", nullptr},      {"pde", Json::array()},   {"commit", nullptr},
               {"commits", Json::object()},   {"claims", Json::array()}, {"checks", Json::array()}};
  bool one_commit = true;
  for (const auto& [run, claims] : several) {
    json["profile"] = run->profile;
    json["pde"].push_back(run->pde);
    json["commits"][run->pde] = run->commit;
    one_commit = one_commit && run->commit == several.front().run->commit;
    add_entries(json, *claims, run->pde);
  }
  if (one_commit && !several.empty()) json["commit"] = several.front().run->commit;
  return json.dump(2) + "\n";
}

}  // namespace opshap::reporting
