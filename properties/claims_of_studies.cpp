// The theorems are judged by the files of their studies.

#include "reporting/claims.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "reporting/report.hpp"

namespace opshap {
namespace {

using reporting::Verdict;

class StudyClaims : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("opshap_studies_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// A study with an error of effort^slope.
  static std::string study(const std::string& name, const std::string& error_name, double slope) {
    std::string text;
    for (const double effort : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0})
      text += fmt::format("\"{}\",{},\"effort\",{},\"{}\"\n", name, effort, std::pow(effort, slope), error_name);
    return text;
  }

  /// All files, with errors that fall as the theorems want them times `factor`.
  void write(double factor) const {
    const std::string heading = "study,effort,effort_name,error,error_name\n";
    write_file(folder_ / "aumann_shapley.csv", heading + study("a, game", "error of ψ_n(T)", -1 * factor) +
                                                   study("a, game", "error of 2ψ_n(T) − ψ_n/2(T)", -0.1) +
                                                   study("another", "error of ψ_n(T)", -1));
    write_file(folder_ / "frechet_remainder.csv", heading + study("FNO", "remainder / step", 1 * factor) +
                                                      study("ReLU at 0", "remainder / step", 1 - factor));
    write_file(folder_ / "frechet_continuity.csv", heading + study("FNO", "change", 1));
    write_file(folder_ / "operator_limits_slopes.csv",
               fmt::format("game,compared with,sizes,slope,standard error\n"
                           "smooth masks,\"integrated gradients, cells\",\"4, 8 to 64\",{},0.02\n"
                           "cell masks,integrated gradients,\"9, 8 to 1024\",{},0.02\n"
                           "cell masks,mean field,\"8, 8 to 1024\",{},0.03\n",
                           -0.9 * factor, factor - 1.1, -1 * factor));
    write_file(folder_ / "refinement_limits_limits.csv",
               fmt::format("game,refinement,share,limit\nairport,equal cells,{},0.8466\nsign,equal cells,13.69,14.18\n",
                           0.8466 * factor));
  }

  std::map<std::string, Verdict> verdicts() const {
    std::map<std::string, Verdict> found;
    for (const reporting::JudgedClaim& judged : reporting::judge_studies(folder_))
      found[std::string(judged.claim.id)] = judged.judgement.verdict;
    return found;
  }

  std::filesystem::path folder_;
};

TEST_F(StudyClaims, HoldWhereTheErrorsFallAndDoNotWhereTheyStay) {
  write(1);
  for (const auto& [id, verdict] : verdicts()) EXPECT_EQ(Verdict::reproduced, verdict) << id;
  EXPECT_EQ(7u, verdicts().size());
  write(0);
  for (const auto& [id, verdict] : verdicts()) EXPECT_EQ(Verdict::not_reproduced, verdict) << id;
}

TEST_F(StudyClaims, WithoutTheirFilesAreNotTestable) {
  EXPECT_FALSE(reporting::has_studies(folder_));
  write(1);
  EXPECT_TRUE(reporting::has_studies(folder_));
  std::filesystem::remove(folder_ / "frechet_continuity.csv");
  EXPECT_EQ(Verdict::not_testable, verdicts().at("smooth_operators_are_differentiable"));
  EXPECT_EQ(Verdict::reproduced, verdicts().at("relu_is_not_differentiable"));
}

TEST_F(StudyClaims, AreWrittenByTheReportOfTheirFolder) {
  write(1);
  EXPECT_EQ(folder_ / "claims.json", reporting::write_report(folder_).page);
  const auto json = nlohmann::json::parse(read_file(folder_ / "claims.json"));
  EXPECT_EQ("studies", json["profile"]);
  EXPECT_EQ(7u, json["claims"].size());
  for (const auto& claim : json["claims"]) {
    EXPECT_TRUE(claim["pde"].is_null());
    EXPECT_FALSE(claim["statement"].get<std::string>().empty()) << claim["id"];
    if (claim["source"] == "paper") {
      EXPECT_NE(std::string::npos, claim["where"].get<std::string>().find("LaTeX line")) << claim["id"];
    }
  }
}

TEST_F(StudyClaims, AreRefusedForWhatIsNoStudy) {
  write(1);
  const auto refused = [this](const std::string& text, const std::string& why) {
    write_file(folder_ / "aumann_shapley.csv", text);
    try {
      verdicts();
      ADD_FAILURE() << text;
    } catch (const DataError& error) {
      EXPECT_NE(std::string::npos, std::string(error.what()).find(why)) << error.what();
    }
  };
  const std::string heading = "study,effort,effort_name,error,error_name\n";
  refused("study,effort\n", "column=error (is not there)");
  refused(heading + "a,1,n\n", "cells=3 (the heading has 5)");
  refused(heading + "a,1,n,much,error of ψ_n(T)\n",
          "aumann_shapley.csv:2, column=error, value=much (is not a finite number)");
  refused(heading + "a,1,n,nan,error of ψ_n(T)\n", "value=nan (is not a finite number)");
}

}  // namespace
}  // namespace opshap
