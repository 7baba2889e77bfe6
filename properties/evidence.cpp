// What convergence studies leave behind: tables, numbers and a figure.

#include "reporting/evidence.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "core/file.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

reporting::Evidence two_laws() {
  statistics::Study first("first, \"quoted\"", "n", "error"), second("second", "n", "error"),
      third("third", "budget", "mse");
  for (double n = 4; n <= 64; n *= 2) {
    first.add(n, 1 / n);
    second.add(n, 3 / (n * n));
    third.add(10 * n, 5 / n);
  }
  return {.name = "two_laws", .title = "Two laws", .finding = "One falls faster.", .studies = {first, second, third}};
}

class EvidenceFiles : public ::testing::Test {
 protected:
  EvidenceFiles() : folder_(std::filesystem::temp_directory_path() / ("opshap_evidence_" + std::to_string(getpid()))) {}
  ~EvidenceFiles() override {
    std::filesystem::remove_all(folder_);
    unsetenv("OPSHAP_REPORTS");
  }
  std::filesystem::path folder_;
};

TEST_F(EvidenceFiles, AreWrittenWhereTheEnvironmentSays) {
  setenv("OPSHAP_REPORTS", folder_.c_str(), 1);
  reporting::publish(two_laws());
  EXPECT_EQ(two_laws().markdown(), read_file(folder_ / "two_laws.md"));
  EXPECT_EQ(two_laws().csv(), read_file(folder_ / "two_laws.csv"));
  EXPECT_EQ(two_laws().svg(), read_file(folder_ / "two_laws.svg"));
  EXPECT_EQ(3, std::distance(std::filesystem::directory_iterator(folder_), {}));
}

TEST_F(EvidenceFiles, HaveNoFigureWhereNothingWasFitted) {
  const reporting::Evidence evidence{
      .name = "one_table",
      .title = "One table",
      .finding = "No curve.",
      .studies = {},
      .tables = {{.name = "norms", .caption = "Norms.", .columns = {{"layer"}, {"norm", true}}, .rows = {{"0", "1"}}}}};
  reporting::write(evidence, folder_);
  EXPECT_EQ(0u, count(read_file(folder_ / "one_table.md"), ".svg"));
  EXPECT_EQ("layer,norm\n0,1\n", read_file(folder_ / "one_table_norms.csv"));
  EXPECT_EQ(2, std::distance(std::filesystem::directory_iterator(folder_), {}));
}

TEST_F(EvidenceFiles, AreNotWrittenWhereTheEnvironmentSaysNothing) {
  for (const char* value : {"", static_cast<const char*>(nullptr)}) {
    value == nullptr ? unsetenv("OPSHAP_REPORTS") : setenv("OPSHAP_REPORTS", value, 1);
    reporting::publish(two_laws());
    EXPECT_FALSE(std::filesystem::exists("two_laws.md"));
  }
}

TEST_F(EvidenceFiles, InAPlaceThatCannotBeWrittenAreAnError) {
  write_file(folder_ / "file", "not a folder");
  EXPECT_THROW(reporting::write(two_laws(), folder_ / "file"), InvalidArgument);
}

TEST(Evidence, HasEveryPointInItsNumbers) {
  const std::string csv = two_laws().csv();
  EXPECT_EQ(1u + 15, count(csv, "\n"));
  EXPECT_EQ(1u, count(csv, "\"first, \"\"quoted\"\"\",8,\"n\",0.125,\"error\"\n")) << csv;
  EXPECT_EQ(1u, count(csv, "\"third\",640,\"budget\",0.07812,\"mse\"\n")) << csv;
}

TEST(Evidence, HasATableForEveryStudyAndAPanelForEveryPairOfAxes) {
  EXPECT_EQ(3u, count(two_laws().markdown(), "\n## "));
  const std::string svg = two_laws().svg();
  EXPECT_EQ(1u, count(svg, "error against n</title>"));
  EXPECT_EQ(1u, count(svg, "mse against budget</title>"));
  EXPECT_EQ(1u, count(svg, ">second</text>"));
}

TEST(Evidence, ShowsStudiesOfOneTitleAlikeInAllPanels) {
  reporting::Evidence evidence = two_laws();
  statistics::Study again("second", "budget", "mse");
  again.add(2, 3);
  evidence.studies.push_back(again);
  EXPECT_EQ(1u, count(evidence.svg(), ">second</text>"));
}

TEST(Evidence, DrawsBandsAndListsThem) {
  reporting::Evidence evidence = two_laws();
  const std::string plain = evidence.csv();
  evidence.studies.front().add(100, 0.2, 0.1, 0.4);
  EXPECT_EQ(1u, count(evidence.csv(), ",0.2,\"error\",0.1,0.4\n")) << evidence.csv();
  EXPECT_EQ(0u, count(plain, "low"));
  EXPECT_EQ(1u, count(evidence.csv(), "low,high\n"));
  EXPECT_EQ(0u, count(two_laws().svg(), "fill-opacity = '0.200000'"));
  EXPECT_EQ(2u, count(evidence.svg(), "fill-opacity = '0.200000'")) << "a polygon above the curve and one below";
  evidence.study_tables = false;
  EXPECT_EQ(0u, count(evidence.markdown(), "\n## "));
}

}  // namespace
}  // namespace opshap
