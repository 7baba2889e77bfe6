#include "reporting/claims.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace opshap::reporting {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::reproduced:
      return "reproduced";
    case Verdict::not_reproduced:
      return "not reproduced";
    case Verdict::not_testable:
      break;
  }
  return "not testable in this profile";
}

namespace claims {

const std::vector<Claim>& all() {
  static const std::vector<Claim> claims = {
#define CLAIM(id) id(),
#include "reporting/claims.def"
#undef CLAIM
  };
  return claims;
}

Judgement not_testable(std::string why) { return {.verdict = Verdict::not_testable, .evidence = std::move(why)}; }

Judgement verdict(bool holds, std::string evidence) {
  return {.verdict = holds ? Verdict::reproduced : Verdict::not_reproduced, .evidence = std::move(evidence)};
}

}  // namespace claims

std::vector<JudgedClaim> judge(const Scoreboard& scores) {
  std::vector<JudgedClaim> judged;
  for (const Claim& claim : claims::all()) judged.push_back({claim, claim.judge(scores)});
  return judged;
}

std::vector<std::string> broken_checks(const std::vector<JudgedClaim>& claims) {
  std::vector<std::string> broken;
  for (const auto& [claim, judgement] : claims) {
    if (claim.always && judgement.verdict != Verdict::reproduced) broken.emplace_back(claim.id);
  }
  return broken;
}

std::string claims_json(const std::vector<JudgedClaim>& claims, const Run& run) {
  nlohmann::ordered_json json = {
      {"schema", "opshap.claims/1"}, {"profile", run.profile}, {"claims", nlohmann::ordered_json::array()}};
  if (const auto missing = run.missing_resolutions(); !missing.empty()) json["missing_resolutions"] = missing;
  for (const auto& [claim, judgement] : claims) {
    json["claims"].push_back({{"id", claim.id},
                              {"source", claim.source},
                              {"statement", claim.statement},
                              {"where", claim.where},
                              {"rule", claim.rule},
                              {"always", claim.always},
                              {"verdict", to_string(judgement.verdict)},
                              {"evidence", judgement.evidence}});
  }
  return json.dump(2) + "\n";
}

}  // namespace opshap::reporting
