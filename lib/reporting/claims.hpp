#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reporting/scoreboard.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// undecided: the interval of the measured value contains the threshold, so another draw of inputs might say the
/// opposite. not_comparable: the sentence is about something that no run of ours has, such as the authors' hardware, or
/// the run's sizes are not the paper's. not_testable: the rows that it needs are not there.
enum class Verdict { reproduced, not_reproduced, undecided, not_comparable, not_testable };

/// "reproduced", "not reproduced", "undecided", "not comparable", "not testable in this profile".
std::string_view to_string(Verdict verdict);

/// Which of two things that a claim compares is the better one: the one that its sentence speaks of is better, or
/// worse, than the other one, beyond the 95 % interval.
enum class Direction { better, worse };

/// "better", "worse".
std::string_view to_string(Direction direction);

/// What the rows of one run say about a claim.
struct Judgement {
  Verdict verdict = Verdict::not_testable;
  std::optional<Direction> direction;  ///< none where nothing of that kind is compared, or where it is not decided
  bool rebuildable = true;             ///< false: the run had the rows that the sentence needs, and they were not kept
  std::optional<double> value;         ///< the number that decided; none where nothing was measured
  std::optional<std::pair<double, double>> interval;  ///< 95 %; both ends equal the value where nothing is random
  std::optional<double> threshold;                    ///< what the value is compared with
  std::string evidence;                               ///< one sentence: the finding in words, or what is missing
  std::vector<Table> tables;                          ///< the measured figures
};

/// A sentence that a run can support or contradict. The views of it live as long as the program.
struct Claim {
  std::string id;
  std::string title;                  ///< the sentence in a few words. "It" is OperatorSHAP
  std::string_view source = "paper";  ///< "paper": its own words, quoted. "opshap": what this suite adds
  /// The sentence, and the section or caption that it is from; for "opshap" where it comes from. Those of the paper are
  /// in reference_data/paper_sentences.csv under the claim's id.
  std::string statement = {}, where = {};
  std::string_view rule;  ///< the predicate in words: when it counts as reproduced
  std::function<Judgement(const Scoreboard& scores)> judge = {};
  /// Why the sentence is not about such a run, for instance another PDE; empty when it is. nullptr: it is about all
  /// runs.
  std::string (*excluded)(const runs::Run& run) = nullptr;
  bool check = false;      ///< a test of this program: it holds in every correct run, whatever its size and its grids
  bool table_row = false;  ///< one of of_table_rows()
  bool by_construction = false;  ///< decided by what the methods are, before any run: no tally counts it

  bool applies(const runs::Run& run) const { return excluded == nullptr || excluded(run).empty(); }
};

namespace claims {

/// In the order of the report: the lists of lib/reporting/claims_of_*.cpp, one after the other.
const std::vector<Claim>& all();

/// The claim with the paper's words and their place, where it has no others.
Claim in_the_papers_words(Claim claim);

/// One for each number of players that the paper's table has for a problem: who is best there, by each of its metrics.
std::vector<Claim> of_table_rows(std::string_view pde);

Judgement not_testable(std::string why);
/// Not testable, since the rows that it needs were not kept.
Judgement not_kept(std::string what);

}  // namespace claims

struct JudgedClaim {
  Claim claim;
  Judgement judgement;
};

/// The verdict on one claim. A claim that does not apply to the run is not testable, and the evidence says why. So is a
/// sentence of the paper on imported data. Grids of which Scoreboard::unfit() says something take no part; the evidence
/// names them. A check is judged on everything.
Judgement judge(const Claim& claim, const Scoreboard& scores);

/// All claims on one run: those of claims::all(), then one for each row that the paper's table has for its problem.
std::vector<JudgedClaim> judge(const Scoreboard& scores);

/// The checks that fail. None: what could be checked is sound.
std::vector<std::string> broken_checks(const std::vector<JudgedClaim>& claims);

/// claims.json:
/// {"schema":"opshap.claims/1","profile","pde","commit","claims":[{"id","pde","source","statement","where",
/// "rule","by_construction","verdict","direction","rebuildable","value","interval":[low,
/// high],"threshold","evidence","tables":[{"name","caption","columns","rows"}..]}..],"checks":[..]}. A value, interval,
/// threshold or direction that does not exist is null. So is an interval with an end that nothing bounds. A check is an
/// entry like a claim.
std::string claims_json(const std::vector<JudgedClaim>& claims, const runs::Run& run);

/// The claims of one of several runs.
struct ClaimsOfRun {
  const runs::Run* run = nullptr;
  const std::vector<JudgedClaim>* claims = nullptr;
};

/// claims.json over the runs of one profile on several problems: the same, with a list of names as "pde", their commits
/// in "commits", and "commit" null where these differ.
std::string claims_json(const std::vector<ClaimsOfRun>& several);

/// What the convergence studies say of the theorems. The claims are of operators and games, not of a run, so they stand
/// beside the studies and not on the page of every run.
///
/// `folder` holds the CSV files that `tools/studies` writes. A claim whose file is not there is not testable. Throws
/// DataError for a file that is no study.
std::vector<JudgedClaim> judge_studies(const std::filesystem::path& folder);

/// The folder has the files of some study that judge_studies() reads.
bool has_studies(const std::filesystem::path& folder);

/// claims.json of the studies: as that of a run, with "profile" "studies", and "pde" and "commit" null.
std::string study_claims_json(const std::vector<JudgedClaim>& claims);

}  // namespace opshap::reporting
