// The report over several problems says what their own reports say, summed, and shows every one of them.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "metrics/registry.hpp"
#include "reporting/paper.hpp"
#include "reporting/report.hpp"
#include "reporting/report_tables.hpp"
#include "runs/run.hpp"
#include "support/run_folder.hpp"
#include "support/synthetic_run.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

class Overview : public RunFolder {
 protected:
  /// A run in a folder of its problem's name.
  void add(const std::string& pde, const std::string& profile = "smoke") const {
    const SyntheticRun made{.resolutions = {16, 32}, .curves = {16}};
    runs::Results results = made.results();
    for (auto& row : results.attributions) row.pde = pde;
    for (auto& row : results.values) row.pde = pde;
    for (auto& row : results.operators) row.pde = pde;
    for (auto& row : results.training) row.pde = pde;
    for (auto& row : results.fields) row.pde = pde;
    Json manifest = made.manifest();
    manifest["pde"] = pde;
    manifest["profile"] = profile;
    manifest["commit"] = "commit of " + pde;
    write_run(folder_ / pde, results, manifest);
  }
  Json claims_file(const std::string& of = "") const { return Json::parse(read_file(folder_ / of / "claims.json")); }
  std::vector<Json> claims_of(const std::string& pde) const {
    const Json file = claims_file(pde);
    return {file["claims"].begin(), file["claims"].end()};
  }
  std::string page() const { return read_file(folder_ / "report.html"); }
};

TEST_F(Overview, HasEveryClaimOfEveryProblem) {
  for (const char* pde : {"heat1d", "burgers1d", "darcy2d"}) add(pde);
  reporting::write_report(folder_);
  const Json all = claims_file();
  EXPECT_EQ((std::vector<std::string>{"heat1d", "burgers1d", "darcy2d"}), all["pde"]) << "in the paper's order";
  EXPECT_EQ("smoke", all["profile"]);
  EXPECT_TRUE(all["commit"].is_null()) << "they are of different commits";
  EXPECT_EQ("commit of heat1d", all["commits"]["heat1d"]);
  std::size_t at = 0;
  for (const char* pde : {"heat1d", "burgers1d", "darcy2d"}) {
    for (const Json& claim : claims_of(pde)) EXPECT_TRUE(claim == all["claims"].at(at++)) << pde << ", " << claim["id"];
  }
  EXPECT_EQ(at, all["claims"].size());
}

TEST_F(Overview, SumsTheVerdictsOfTheProblemsPages) {
  for (const char* pde : {"heat1d", "burgers1d"}) add(pde);
  reporting::write_report(folder_);
  const std::string text = page();
  // "holds": of a row of the matrix, among the problems whose rows can judge it.
  std::map<std::string, std::pair<int, int>> holds;
  std::set<std::string> by_construction, of_the_paper;
  for (const char* pde : {"heat1d", "burgers1d"}) {
    for (const Json& claim : claims_of(pde)) {
      const std::string verdict = claim["verdict"], id = claim["id"];
      if (id.starts_with("table_row")) continue;
      if (claim["by_construction"]) by_construction.insert(id);
      if (claim["source"] == "paper") of_the_paper.insert(id);
      auto& [held, judged] = holds[id];
      held += verdict == "reproduced" ? 1 : 0;
      judged += verdict == "reproduced" || verdict == "not reproduced" || verdict == "undecided" ? 1 : 0;
    }
  }
  const auto row_of = [&text](const std::string& id) {
    const std::size_t begin = text.find("<tr id=\"claim-" + id + "\">");
    return begin == std::string::npos ? "" : text.substr(begin, text.find("</tr>", begin) - begin);
  };
  int rows = 0, judged_once = 0, everywhere = 0;
  for (const auto& [id, of] : holds) {
    const std::string row = row_of(id);
    EXPECT_EQ(of.second == 0, row.empty()) << id;
    if (row.empty()) continue;
    ++rows;
    const std::string tally = by_construction.contains(id)
                                  ? "by construction"
                                  : std::to_string(of.first) + " of " + std::to_string(of.second);
    EXPECT_NE(std::string::npos, row.find(">" + tally + "<")) << row;
    EXPECT_EQ(1u, count(row, "href=\"heat1d/report.html#claim-" + id + "\"")) << row;
    if (by_construction.contains(id) || !of_the_paper.contains(id)) continue;
    ++judged_once;
    everywhere += of.first == of.second;
  }
  EXPECT_GT(rows, 8);
  EXPECT_NE(std::string::npos,
            text.find("Of " + std::to_string(judged_once) + " sentences of the paper that these runs can judge " +
                      std::to_string(everywhere) + " hold on every problem"))
      << "each sentence counts once";
}

TEST_F(Overview, HasEveryMethodAndStageOfEveryProblem) {
  for (const char* pde : {"heat1d", "burgers1d"}) add(pde);
  reporting::write_report(folder_);
  const runs::Run run = runs::read_run(folder_ / "heat1d");
  const reporting::Scoreboard scores(run);
  const reporting::Table medians = reporting::tables::medians({&scores, &scores}, metrics::find("nrmse"));
  ASSERT_EQ(2 * scores.discretisations().size(), medians.rows.size());
  ASSERT_EQ(2 + scores.methods().size(), medians.columns.size());
  for (std::size_t method = 0; method < scores.methods().size(); ++method) {
    const auto cell = scores.cell(scores.discretisations().front(), scores.methods()[method])->quartiles("nrmse");
    EXPECT_TRUE(medians.rows.front()[2 + method].starts_with(reporting::show(cell->median)))
        << scores.methods()[method] << ": " << medians.rows.front()[2 + method];
  }
  for (const char* name : {"medians_nrmse", "medians_r2", "medians_pearson", "stages"})
    EXPECT_TRUE(fs::exists(folder_ / "tables" / (std::string(name) + ".csv"))) << name;

  const reporting::Table stages = reporting::tables::stages({&scores});
  ASSERT_EQ(1u, stages.rows.size());
  EXPECT_EQ(reporting::show_seconds(run.total_seconds()), stages.rows.front().back());
  for (const char* ending : {".svg", "_narrow.svg", ".pdf", ".csv"})
    EXPECT_TRUE(fs::exists(folder_ / "figures" / ("amortisation" + std::string(ending)))) << ending;
  EXPECT_EQ(1u, count(page(), ">Heat 1D, n = 32</title>")) << "a panel of the figure over all";
  for (const char* section : {"methods", "times", "amortisation"}) {
    EXPECT_EQ(1u, count(page(), std::string("<section id=\"") + section + "\">"));
    EXPECT_EQ(1u, count(page(), std::string("href=\"#") + section + "\""));
  }
}

TEST_F(Overview, TheSameRowsGiveTheSameBytesAndThePageStandsAlone) {
  for (const char* pde : {"heat1d", "allen_cahn1d"}) add(pde);
  reporting::write_report(folder_);
  const std::string text = page(), all = read_file(folder_ / "claims.json");
  reporting::write_report(folder_);
  EXPECT_EQ(text, page());
  EXPECT_EQ(all, read_file(folder_ / "claims.json"));
  EXPECT_EQ(0u, count(text, "http://") - count(text, "http://www.w3.org/2000/svg"));
  EXPECT_EQ(0u, count(text, "https://") + count(text, "<link") + count(text, "<img") + count(text, "<script"));
  EXPECT_TRUE(fs::exists(folder_ / "heat1d" / "report.html"));
  const std::regex id("\\sid=\"([^\"]+)\"");
  std::set<std::string> seen;
  for (std::sregex_iterator at(text.begin(), text.end(), id), end; at != end; ++at)
    EXPECT_TRUE(seen.insert((*at)[1]).second) << (*at)[1];
  EXPECT_NE(std::string::npos, text.find("Allen–Cahn 1D: Three kinks do not close on a circle"));
}

TEST_F(Overview, NamesRunsThatAreNotFinished) {
  add("heat1d");
  add("burgers1d");
  fs::remove(folder_ / "burgers1d" / "results.jsonl");
  reporting::write_report(folder_);
  EXPECT_NE(std::string::npos, page().find("<strong>Not finished:</strong> Burgers 1D."));
  fs::remove(folder_ / "heat1d" / "results.jsonl");
  try {
    reporting::write_report(folder_);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ("report: folder=" + folder_.string() +
                  " (no run in it has attributions yet). Let `opshap reproduce` finish; the same command resumes it.",
              error.what());
  }
}

TEST_F(Overview, DoesNotMixProfiles) {
  add("heat1d");
  add("burgers1d", "desk");
  try {
    reporting::write_report(folder_);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ("report: folder=" + folder_.string() +
                  " (has runs of profile smoke and of profile desk, which one page cannot show side by side). Keep "
                  "the runs of a profile in a folder of its own.",
              error.what());
  }
  EXPECT_FALSE(fs::exists(folder_ / "report.html"));
}

TEST(Paper, EveryRemarkIsAboutOneOfItsProblemsOrAllOfThem) {
  std::vector<std::string> problems = reporting::paper_problems();
  problems.push_back("");
  ASSERT_FALSE(reporting::data_remarks().empty());
  for (const reporting::DataRemark& remark : reporting::data_remarks()) {
    EXPECT_NE(problems.end(), std::find(problems.begin(), problems.end(), remark.pde)) << remark.pde;
    EXPECT_FALSE(remark.subject.empty()) << remark.pde;
    EXPECT_TRUE(remark.text.ends_with('.')) << remark.text;
  }
  const auto standing = reporting::standing_differences("nobodys_pde"),
             with_its_data = reporting::standing_differences("heat1d");
  EXPECT_GT(standing.size(), 10u);
  ASSERT_GT(with_its_data.size(), standing.size());
  EXPECT_EQ(standing.back(), with_its_data.back());
  EXPECT_EQ("Allen–Cahn 1D", reporting::paper_label("allen_cahn1d"));
  EXPECT_EQ("", reporting::paper_label("synthetic2d"));
}

}  // namespace
}  // namespace opshap
