// What the repository says of its runs is what today's program says of the rows that are kept with them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "reporting/claims.hpp"
#include "reporting/claims_of_studies.hpp"
#include "reporting/comparison.hpp"
#include "reporting/report_tables.hpp"
#include "reporting/table.hpp"
#include "runs/run.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path reports = fs::path(OPSHAP_SOURCE_DIR) / "reports";

/// The folders with the rows of a run, from reports/.
std::vector<std::string> committed_runs() {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(reports)) {
    if (entry.path().filename() != "manifest.json") continue;
    if (Json::parse(read_file(entry.path())).at("schema") == runs::manifest_schema)
      found.push_back(fs::relative(entry.path().parent_path(), reports).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Where two files of claims say different things, in words.
std::vector<std::string> differences(const Json& committed, const Json& rebuilt) {
  std::vector<std::string> found;
  for (const char* list : {"claims", "checks"}) {
    const Json &then = committed.at(list), &now = rebuilt.at(list);
    if (then.size() != now.size()) found.push_back(std::string(list) + ": another number");
    for (std::size_t i = 0; i < std::min(then.size(), now.size()); ++i) {
      for (const auto& [key, value] : now[i].items()) {
        if (!then[i].contains(key) || then[i][key] != value)
          found.push_back(now[i].at("id").get<std::string>() + ": " + key);
      }
    }
  }
  return found;
}

class CommittedRun : public ::testing::TestWithParam<std::string> {
 protected:
  const fs::path folder_ = reports / GetParam();
  const runs::Run run_ = runs::read_run(folder_);
  const reporting::Scoreboard scores_{run_};
};

TEST_P(CommittedRun, HasTheClaimsOfTodaysProgram) {
  const Json committed = Json::parse(read_file(folder_ / "claims.json")),
             rebuilt = Json::parse(reporting::claims_json(reporting::judge(scores_), run_));
  EXPECT_EQ(std::vector<std::string>{}, differences(committed, rebuilt))
      << "opshap report --keep writes them again, see reports/README.md";
  EXPECT_EQ(committed.at("commit"), rebuilt.at("commit"));
}

TEST_P(CommittedRun, HasTheTablesOfTodaysProgram) {
  using namespace reporting::tables;
  for (const reporting::Table& table :
       {methods(scores_), backbone(scores_), outliers(scores_), reporting::tables::reference(scores_),
        net_of_the_reference(scores_), drift(scores_), cost(scores_), training(scores_), quality(scores_),
        paper_comparison(reporting::compare_with_paper(scores_))})
    EXPECT_EQ(read_file(folder_ / "tables" / (table.name + ".csv")), table.csv()) << table.name;
}

INSTANTIATE_TEST_SUITE_P(Reports, CommittedRun, ::testing::ValuesIn(committed_runs()), [](const auto& instance) {
  std::string name = instance.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return name;
});

TEST(CommittedStudies, HaveTheClaimsOfTodaysProgram) {
  const fs::path folder = reports / "convergence";
  EXPECT_EQ(std::vector<std::string>{},
            differences(Json::parse(read_file(folder / "claims.json")),
                        Json::parse(reporting::study_claims_json(reporting::judge_studies(folder)))));
}

TEST(CommittedClaims, ThatWereChangedByHandAreFound) {
  const Json claims = Json::parse(read_file(reports / "paper" / "claims.json"));
  EXPECT_EQ(std::vector<std::string>{}, differences(claims, claims));
  Json changed = claims;
  changed["claims"][0]["verdict"] = "reproduced by hand";
  changed["claims"][1]["value"] = 0.123;
  changed["claims"][2].erase("interval");
  changed["checks"].erase(0);
  const auto id = [&claims](std::size_t i) { return claims["claims"][i]["id"].get<std::string>(); };
  const std::vector<std::string> found = differences(changed, claims);
  for (const std::string& expected : {id(0) + ": verdict", id(1) + ": value", id(2) + ": interval",
                                      std::string("checks: another number")})
    EXPECT_NE(found.end(), std::find(found.begin(), found.end(), expected)) << expected;
}

}  // namespace
}  // namespace opshap
