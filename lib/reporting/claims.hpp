#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reporting/scoreboard.hpp"

namespace opshap::reporting {

enum class Verdict { reproduced, not_reproduced, not_testable };

/// "reproduced", "not reproduced", "not testable in this profile".
std::string_view to_string(Verdict verdict);

/// What the rows of one run say about a claim.
struct Judgement {
  Verdict verdict = Verdict::not_testable;
  std::string evidence;  ///< the measured figures in words, or what is missing
};

/// A sentence that a run can support or contradict.
struct Claim {
  std::string_view id;
  std::string_view source;  ///< "paper": its own words, quoted. "opshap": what this suite adds
  std::string_view statement;
  std::string_view where;  ///< section or caption of the paper; for "opshap" where it comes from
  std::string_view rule;   ///< the predicate in words: when it counts as reproduced
  Judgement (*judge)(const Scoreboard& scores) = nullptr;
  bool always = false;  ///< holds in every correct run, whatever its size: `opshap report --check` fails without it
};

namespace claims {

#define CLAIM(id) Claim id();
#include "reporting/claims.def"
#undef CLAIM

/// In the order of claims.def.
const std::vector<Claim>& all();

Judgement not_testable(std::string why);
Judgement verdict(bool holds, std::string evidence);

}  // namespace claims

struct JudgedClaim {
  Claim claim;
  Judgement judgement;
};

/// The ids of those that hold in every correct run and were not reproduced here. None: the run is sound.
std::vector<std::string> broken_checks(const std::vector<JudgedClaim>& claims);

/// All claims on one run.
std::vector<JudgedClaim> judge(const Scoreboard& scores);

/// claims.json:
/// {"schema":"opshap.claims/1","profile":..,"claims":[{"id","source","statement","where","rule","verdict","evidence"}..]}.
std::string claims_json(const std::vector<JudgedClaim>& claims, const Run& run);

}  // namespace opshap::reporting
