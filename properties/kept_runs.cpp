// What a repository keeps of a run has the report of the run, and every damage to it is named. What the repository says
// of its runs is what today's program says of the rows that are kept with them.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "reporting/claims.hpp"
#include "reporting/comparison.hpp"
#include "reporting/report.hpp"
#include "reporting/report_tables.hpp"
#include "reporting/study_evidence.hpp"
#include "reporting/table.hpp"
#include "runs/manifest.hpp"
#include "runs/merge_parts.hpp"
#include "runs/row_files.hpp"
#include "runs/run.hpp"
#include "support/drawn_report.hpp"
#include "support/run_folder.hpp"
#include "support/synthetic_run.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using nlohmann::json;
using Ordered = nlohmann::ordered_json;

std::string random_text(std::size_t bytes) {
  Rng rng(11, "gzip");
  std::string text;
  while (text.size() < bytes) text += static_cast<char>('a' + rng.below(20));
  return text;
}

TEST(Gzip, ATextComesBack) {
  for (const std::string& text : {std::string(), std::string("a"), random_text(300'000), std::string(1'000'000, 'x')}) {
    EXPECT_EQ(text, runs::gunzip(runs::gzip(text), "test"));
    EXPECT_EQ(text + text, runs::gunzip(runs::gzip(text) + runs::gzip(text), "test")) << "two files in one";
  }
}

TEST(Gzip, EqualTextsGiveEqualBytesWithoutTimeAndName) {
  const std::string packed = runs::gzip("rows\n");
  EXPECT_EQ(packed, runs::gzip("rows\n"));
  ASSERT_GT(packed.size(), 10u);
  EXPECT_EQ(0, packed[3]) << "flags of RFC 1952: no name, no comment, nothing extra";
  EXPECT_EQ(std::string(4, '\0'), packed.substr(4, 4)) << "the time";
  EXPECT_EQ('\xff', packed[9]) << "the system";
}

TEST(Gzip, WhatIsCutShortDamagedOrTooLargeIsNamed) {
  const std::string text = random_text(2000), packed = runs::gzip(text);
  for (std::size_t length = 0; length < packed.size(); ++length) {
    const std::string found = refusal([&] { runs::gunzip(packed.substr(0, length), "test: path=rows.gz"); });
    EXPECT_TRUE(has(found, "test: path=rows.gz (is a gzip file that was cut short)")) << length << found;
  }
  int unseen = 0;
  for (std::size_t bit = 0; bit < 8 * packed.size(); ++bit) {
    std::string changed = packed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    // It is found by the checksum of RFC 1952, or by a code that cannot be.
    unseen += refusal<DataError>([&] { EXPECT_EQ(text, runs::gunzip(changed, "test")) << "bit " << bit; }).empty();
  }
  EXPECT_LE(unseen, 8 * 7) << "flag, time, level and system of the header do not touch the text";
  EXPECT_TRUE(has(refusal([&] { runs::gunzip(packed + "x", "test"); }), "test ("));
  EXPECT_TRUE(has(refusal([&] { runs::gunzip(text, "test"); }), "is no gzip file"));
  const std::string zeros = runs::gzip(std::string(10'000'000, '\0'));
  EXPECT_LT(zeros.size(), 20'000u);
  EXPECT_TRUE(has(refusal([&] { runs::gunzip(zeros, "test", 1'000'000); }), "unpacks to more than 1000000 bytes"));
}

TEST(Float32, IsTheShortestNumberThatGivesTheFloatBack) {
  Rng rng(7, "float32");
  runs::ValuesRow row{.values = {0.1, 1.0 / 3, -2e-5, 16777217, 0, 1e-300, -1e300, FLT_MAX, DBL_MAX}};
  for (int i = 0; i < 20'000; ++i)
    row.values.push_back(rng.normal() * std::ldexp(1.0, static_cast<int>(rng.below(200)) - 100));
  row.standard_errors = row.values;
  const runs::ValuesRow kept = runs::in_float32(row);
  EXPECT_EQ(0.1, kept.values[0]);
  EXPECT_EQ(0.33333334, kept.values[1]);
  EXPECT_EQ(1e-300, kept.values[5]) << "no normal number of float32";
  EXPECT_EQ(-1e300, kept.values[6]);
  EXPECT_EQ(kept.values, kept.standard_errors);
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    const auto narrow = static_cast<float>(row.values[i]);
    if (!std::isnormal(narrow)) continue;
    EXPECT_EQ(narrow, static_cast<float>(kept.values[i])) << row.values[i];
    std::array<char, 32> digits;
    const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), std::abs(kept.values[i]),
                                    std::chars_format::scientific)
                          .ptr;
    EXPECT_LE(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())).find('e'), 10u)
        << "nine digits and a point";
  }
  EXPECT_EQ(kept.values, runs::in_float32(kept).values);
}

/// A run in folder_/run, and what is kept of it in folder_/kept.
class KeptRun : public RunFolder {
 protected:
  void SetUp() override {
    RunFolder::SetUp();
    Ordered manifest = SyntheticRun().manifest();
    write_run(run_, SyntheticRun().results(), manifest);
    manifest["rows"] = runs::sums_of_rows(run_);
    write_file(run_ / "manifest.json", manifest.dump(2));
    write_file(run_ / "backbone" / "summary.json", std::string_view("{}"));
    write_file(run_ / "backbone" / "metrics.jsonl", std::string_view("{}\n"));
    write_file(run_ / "backbone" / "model.safetensors", std::string_view("weights"));
    write_file(run_ / "explainers" / "labels" / "summary.json", std::string_view("{}"));
  }

  /// Claims and tables.
  static std::map<std::string, std::string> derived(const fs::path& folder) {
    std::map<std::string, std::string> found = files_of(folder);
    std::erase_if(found,
                  [](const auto& file) { return !file.first.starts_with("tables/") && file.first != "claims.json"; });
    return found;
  }

  /// Puts what is kept of the run into kept_, which is not there yet.
  void keep() const {
    static DoneOnce done;
    done(run_, kept_, [&] { EXPECT_EQ("", reporting::keep_report(run_, kept_).page); });
  }

  fs::path run_ = folder_ / "run", kept_ = folder_ / "kept";
};

TEST_F(KeptRun, HasTheClaimsAndTablesOfTheRun) {
  reporting::write_report(run_);
  EXPECT_EQ("", reporting::keep_report(run_, kept_).page);
  const auto of_the_run = derived(run_);
  ASSERT_GT(of_the_run.size(), 10u);
  EXPECT_EQ(of_the_run, derived(kept_));
  for (const char* name : {"claims.json", "tables/outliers.csv"}) fs::remove(kept_ / name);
  reporting::write_report(kept_);
  EXPECT_EQ(of_the_run, derived(kept_)) << "drawn from what is kept alone";
}

TEST_F(KeptRun, HoldsRowsAndReferencesPackedAndNoWeights) {
  keep();
  const auto kept = files_of(kept_);
  for (const char* name :
       {"manifest.json", "training.jsonl", "results.jsonl.gz", "references.jsonl.gz", "backbone/summary.json",
        "backbone/metrics.jsonl", "explainers/labels/summary.json", "figures/example.svg", "claims.json"})
    EXPECT_TRUE(kept.contains(name)) << name;
  for (const auto& [name, bytes] : kept)
    for (const char* ending : {".safetensors", ".html", "attributions.jsonl", "fields.jsonl"})
      EXPECT_FALSE(name.ends_with(ending)) << name;
  EXPECT_EQ(read_file(run_ / "results.jsonl"), runs::read_rows_file(kept_ / "results.jsonl.gz"));
  const auto before = Ordered::parse(read_file(run_ / "manifest.json")), now = Ordered::parse(kept.at("manifest.json"));
  EXPECT_EQ(before["rows"]["results.jsonl"], now["rows"]["results.jsonl"]) << "sums are those of the unpacked rows";
  EXPECT_TRUE(now["rows"].contains("references.jsonl"));
  EXPECT_EQ((std::vector<std::string>{"attributions.jsonl", "fields.jsonl"}), runs::read_run(kept_).left_out);
  for (const runs::ValuesRow& row : runs::read_run(kept_).results.values) EXPECT_EQ(runs::reference_method, row.method);
  reporting::keep_report(run_, kept_);
  EXPECT_EQ(kept, files_of(kept_)) << "equal runs give equal bytes";
  reporting::keep_report(kept_, folder_ / "again");
  EXPECT_EQ(kept.at("manifest.json"), read_file(folder_ / "again" / "manifest.json"));
}

TEST_F(KeptRun, EveryChangedByteOfItsRowsIsFound) {
  keep();
  for (const char* name : {"results.jsonl.gz", "references.jsonl.gz"}) {
    const fs::path file = kept_ / name;
    const std::string packed = read_file(file);
    Rng rng(3, name);
    for (int trial = 0; trial < 50; ++trial) {
      std::string changed = packed;
      const std::size_t place = 10 + rng.below(changed.size() - 10);  // behind the header
      changed[place] = static_cast<char>(changed[place] ^ (1 << rng.below(8)));
      write_file(file, changed);
      EXPECT_TRUE(has(refusal([&] { runs::read_run(kept_); }), name)) << place;
    }
    std::string text = runs::gunzip(packed, "test");
    text.erase(0, text.find('\n') + 1);  // a row is missing, and the rest is whole
    write_file(file, runs::gzip(text));
    EXPECT_TRUE(has(refusal([&] { runs::read_run(kept_); }), std::string(name) + " (has ")) << name;
    write_file(file, packed);
  }
  EXPECT_EQ("", refusal([&] { runs::read_run(kept_); }));
  fs::remove(kept_ / "references.jsonl.gz");
  EXPECT_TRUE(has(refusal([&] { runs::read_run(kept_); }), "references.jsonl (is missing"));
}

TEST_F(KeptRun, RowsThatAreThereTwiceAreRefused) {
  keep();
  write_file(kept_ / "results.jsonl", read_file(run_ / "results.jsonl"));
  const std::string found = refusal([&] { reporting::write_report(kept_); });
  EXPECT_TRUE(has(found, "results.jsonl.gz (results.jsonl is there too"));
  EXPECT_TRUE(has(refusal([&] { reporting::keep_report(run_, kept_); }), "Remove it.")) << found;
}

TEST_F(KeptRun, AFolderOfSomethingElseIsLeftAlone) {
  EXPECT_TRUE(has(refusal([&] { reporting::keep_report(run_, run_); }), "is that of the run itself"));
  write_file(folder_ / "mine" / "notes.txt", std::string_view("notes"));
  EXPECT_TRUE(has(refusal([&] { reporting::keep_report(run_, folder_ / "mine"); }), "holds files"));
  keep();
  const auto before = files_of(kept_);
  Ordered other = Ordered::parse(read_file(run_ / "manifest.json"));
  other["seed"] = 43;
  write_file(run_ / "manifest.json", other.dump());
  EXPECT_TRUE(has(refusal([&] { reporting::keep_report(run_, kept_); }), "holds another run: its seed"));
  EXPECT_EQ(before, files_of(kept_));
}

TEST_F(KeptRun, NoCommandGoesOnWithIt) {
  keep();
  const auto before = files_of(kept_);
  const runs::Beginning beginning{.who = "test", .schema = "opshap.manifest/1", .seed = 42, .dirty = false};
  const auto any_settings = [](const Ordered&) { return std::string(); };
  const std::string resumed = refusal([&] { runs::Manifest(kept_, beginning, any_settings); });
  EXPECT_TRUE(has(resumed, {"results.jsonl.gz (is packed", "Unpack it with gunzip"}));
  EXPECT_TRUE(has(refusal([&] { runs::merge_parts(kept_); }), "gunzip"));
  const std::string part = refusal([&] { runs::Manifest(kept_, {.index = 0, .of = 2}, beginning, any_settings); });
  EXPECT_TRUE(has(part, "results.jsonl ("));
  EXPECT_EQ(before, files_of(kept_));
}

TEST_F(KeptRun, OfSeveralProblemsHasOnePageOverAll) {
  const fs::path all = folder_ / "all";
  const SyntheticRun made{.resolutions = {16, 32}, .curves = {16}};
  for (const char* pde : {"burgers1d", "heat1d"}) {
    runs::Results results = made.results();
    set_pde(results, pde);
    Ordered manifest = made.manifest();
    manifest["pde"] = pde;
    write_run(all / pde, results, manifest);
  }
  reporting::write_report(all);
  const fs::path page = reporting::keep_report(all, kept_).page;
  EXPECT_EQ(kept_ / "report.html", page);
  EXPECT_EQ(read_file(all / "claims.json"), read_file(kept_ / "claims.json"));
  EXPECT_EQ(read_file(all / "tables/medians_nrmse.csv"), read_file(kept_ / "tables/medians_nrmse.csv"));
  EXPECT_FALSE(is_there(kept_ / "heat1d" / "report.html"));
  EXPECT_EQ(0u, count(read_file(page), "heat1d/report.html"));
  EXPECT_LT(0u, count(read_file(page), "href=\"heat1d/claims.json\""));
  EXPECT_EQ(0u, count(read_file(all / "report.html"), "heat1d/claims.json"));
  const std::string claims = read_file(kept_ / "claims.json");
  EXPECT_EQ(page, reporting::write_report(kept_).page);
  EXPECT_EQ(claims, read_file(kept_ / "claims.json"));
  EXPECT_FALSE(is_there(kept_ / "heat1d" / "report.html")) << "the pages of a kept run are drawn one by one";
}

TEST(ReferenceAgreement, NamesTheInputsThatDifferAndByHowMuch) {
  const runs::Results then = SyntheticRun().results();
  runs::Results now = then;
  const auto same = reporting::agreement_of_references(then, now);
  ASSERT_EQ(24u, same.size()) << "three grids, eight inputs";
  for (const reporting::ReferenceAgreement& input : same) EXPECT_TRUE(input.agrees());
  const auto row_of = [&now](std::int64_t sample) {
    return std::ranges::find_if(now.attributions, [sample](const runs::AttributionRow& row) {
      return row.method == "uniform" && row.players == 32 && row.sample == sample;
    });
  };
  row_of(1)->reference_evaluations += 1;
  row_of(2)->reference_error = Measured::of(*row_of(2)->reference_error.value * 1.25);
  row_of(3)->scores["nrmse"] = Measured::of(*row_of(3)->scores["nrmse"].value * 1.25);
  row_of(4)->scores["nrmse"] =
      Measured::of(*row_of(4)->scores["nrmse"].value * (1 + 1e-5));  // no digit that a report shows
  row_of(5)->reference_error = Measured::undefined("zero");
  std::vector<std::int64_t> differing;
  for (const reporting::ReferenceAgreement& input : reporting::agreement_of_references(then, now))
    if (!input.agrees()) differing.push_back(input.sample);
  EXPECT_EQ((std::vector<std::int64_t>{1, 2, 3, 5}), differing);
  const reporting::Evidence evidence =
      reporting::evidence_of_references(reporting::agreement_of_references(then, now), 0.001, "a run");
  EXPECT_TRUE(has(evidence.finding, "20 of 24 references agree"));
  ASSERT_EQ(2u, evidence.tables.size());
  ASSERT_EQ(4u, evidence.tables[1].rows.size());
  EXPECT_EQ("0.25", evidence.tables[1].rows[1][6]);
  EXPECT_EQ("0.25", evidence.tables[1].rows[2][7]);
  EXPECT_EQ("defined in one of the two", evidence.tables[1].rows[3][6]);

  now.attributions.erase(row_of(7));
  EXPECT_TRUE(has(refusal([&] { reporting::agreement_of_references(then, now); }), "n = 32, input 7"));
  EXPECT_TRUE(has(refusal([&] { reporting::agreement_of_references(now, then); }), "n = 32, input 7"));
}

TEST(ReferenceAgreement, TellsAnotherBackbone) {
  const std::vector<runs::OperatorRow> then = SyntheticRun().results().operators;
  std::vector<runs::OperatorRow> now = then;
  EXPECT_EQ(0, reporting::largest_difference_of_backbones(then, now));
  now[1].relative_errors[3] = Measured::of(*then[1].relative_errors[3].value * 1.5);
  EXPECT_NEAR(0.5, reporting::largest_difference_of_backbones(then, now), 4 * DBL_EPSILON);  // two roundings
  now[1].relative_errors.pop_back();
  EXPECT_TRUE(has(refusal([&] { reporting::largest_difference_of_backbones(then, now); }), "n = 32"));
}

const fs::path reports = fs::path(OPSHAP_SOURCE_DIR) / "reports";

/// The folders with the claims of a run, from reports/. Others have a manifest of a training alone.
std::vector<std::string> committed_runs() {
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(reports)) {
    if (entry.path().filename() != "manifest.json" || !is_there(entry.path().parent_path() / "claims.json")) continue;
    if (json::parse(read_file(entry.path())).at("schema") == runs::manifest_schema)
      found.push_back(fs::relative(entry.path().parent_path(), reports).string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Where two files of claims say different things, in words.
std::vector<std::string> differences(const json& committed, const json& rebuilt) {
  std::vector<std::string> found;
  for (const char* list : {"claims", "checks"}) {
    const json &then = committed.at(list), &now = rebuilt.at(list);
    if (then.size() != now.size()) found.push_back(std::string(list) + ": another number");
    for (std::size_t i = 0; i < std::min(then.size(), now.size()); ++i) {
      for (const auto& [key, value] : now[i].items())
        if (!then[i].contains(key) || then[i][key] != value)
          found.push_back(now[i].at("id").get<std::string>() + ": " + key);
    }
  }
  return found;
}

/// A committed run, read once for all its tests.
class CommittedRun : public ::testing::TestWithParam<std::string> {
 protected:
  struct Read {
    explicit Read(const fs::path& folder) : run(runs::read_run(folder)) {}
    runs::Run run;
    reporting::Scoreboard scores{run};
  };
  const Read& read() const {
    static std::map<std::string, std::unique_ptr<const Read>> all;
    std::unique_ptr<const Read>& here = all[GetParam()];
    if (here == nullptr) here = std::make_unique<const Read>(folder_);
    return *here;
  }

  const fs::path folder_ = reports / GetParam();
  const runs::Run& run_ = read().run;
  const reporting::Scoreboard& scores_ = read().scores;
};

TEST_P(CommittedRun, HasTheClaimsOfTodaysProgram) {
  const json committed = json::parse(read_file(folder_ / "claims.json")),
             rebuilt = json::parse(reporting::claims_json(reporting::judge(scores_), run_));
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
            differences(json::parse(read_file(folder / "claims.json")),
                        json::parse(reporting::study_claims_json(reporting::judge_studies(folder)))));
}

TEST(CommittedClaims, ThatWereChangedByHandAreFound) {
  const json claims = json::parse(read_file(reports / "paper" / "claims.json"));
  EXPECT_EQ(std::vector<std::string>{}, differences(claims, claims));
  json changed = claims;
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
class FilledResults : public RunFolder {
 protected:
  void SetUp() override {
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

  int check() const {
    return std::system(
        ("PATH=/usr/bin:$PATH python3 " + (folder_ / "tools" / "fill_results").string() + " --check 2> /dev/null")
            .c_str());
  }
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
