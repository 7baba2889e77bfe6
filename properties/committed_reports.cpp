// What the repository says of its runs is what today's program says of the rows that are kept with them.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "reporting/claims.hpp"
#include "reporting/comparison.hpp"
#include "reporting/report_tables.hpp"
#include "reporting/table.hpp"
#include "runs/run.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path reports = fs::path(OPSHAP_SOURCE_DIR) / "reports";

/// The folders with the claims of a run, from reports/. Others have a manifest of a training alone.
std::vector<std::string> committed_runs() {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(reports)) {
    if (entry.path().filename() != "manifest.json" || !is_there(entry.path().parent_path() / "claims.json")) continue;
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
  for (const std::string& expected :
       {id(0) + ": verdict", id(1) + ": value", id(2) + ": interval", std::string("checks: another number")})
    EXPECT_NE(found.end(), std::find(found.begin(), found.end(), expected)) << expected;
}

// A copy of the texts with the tables that they are filled from.
class FilledResults : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("opshap_filled_" + std::to_string(getpid()));
    fs::create_directories(folder_ / "tools");
    fs::copy_file(fs::path(OPSHAP_SOURCE_DIR) / "tools" / "fill_results", folder_ / "tools" / "fill_results");
    fs::copy_file(fs::path(OPSHAP_SOURCE_DIR) / "README.md", folder_ / "README.md");
    for (const auto& entry : fs::recursive_directory_iterator(reports)) {
      const std::string ending = entry.path().extension();
      if (ending != ".md" && ending != ".csv" && entry.path().filename() != "claims.json") continue;
      const fs::path to = folder_ / "reports" / fs::relative(entry.path(), reports);
      fs::create_directories(to.parent_path());
      fs::copy_file(entry.path(), to);
    }
  }
  void TearDown() override { fs::remove_all(folder_); }

  int check() const {
    return std::system(
        ("PATH=/usr/bin:$PATH python3 " + (folder_ / "tools" / "fill_results").string() + " --check 2> /dev/null")
            .c_str());
  }

  fs::path folder_;
};

TEST_F(FilledResults, AreThoseOfTheTablesAndADigitByHandIsFound) {
  EXPECT_EQ(0, check()) << "run tools/fill_results";
  for (const char* name : {"README.md", "reports/paper/README.md"}) {
    const std::string text = read_file(folder_ / name);
    const std::size_t mark = text.find("<!--result "), end = text.find("<!--end-->", mark);
    ASSERT_NE(std::string::npos, end) << name;
    const std::size_t digit = text.find_first_of("0123456789", text.find("-->", mark));
    ASSERT_LT(digit, end) << name;
    std::string changed = text;
    changed[digit] = changed[digit] == '9' ? '8' : static_cast<char>(changed[digit] + 1);
    write_file(folder_ / name, changed);
    EXPECT_EQ(1, WEXITSTATUS(check())) << name;
    write_file(folder_ / name, text);
  }
  write_file(folder_ / "README.md", "<!--result nothing--><!--end-->");
  EXPECT_EQ(3, WEXITSTATUS(check()));
}

}  // namespace
}  // namespace opshap
