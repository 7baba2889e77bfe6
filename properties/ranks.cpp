// Ranks that train together do what one process does.

#include "training/ranks.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/file.hpp"
#include "support/refusal.hpp"
#include "support/staying_program.hpp"

namespace opshap {
namespace {

using nlohmann::json;
using training::Ranks;

TEST(RankShares, CoverEverythingOnceAndAreAboutAsLarge) {
  for (const int size : {1, 2, 3, 7})
    for (const std::int64_t count : {0, 1, 5, 64}) {
      std::int64_t next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Ranks::Share share = Ranks::share(count, rank, size);
        EXPECT_EQ(next, share.first);
        EXPECT_GE(share.count, count / size);
        EXPECT_LE(share.count, (count + size - 1) / size);
        next = share.first + share.count;
      }
      EXPECT_EQ(count, next);
    }
}

TEST(RankShares, OfAProcessAloneAreEverything) {
  const Ranks& ranks = Ranks::all();
  EXPECT_TRUE(ranks.alone() && ranks.first());
  std::vector<float> numbers = {1, 2};
  ranks.add(std::span<float>(numbers));
  EXPECT_EQ((std::vector<float>{1, 2}), numbers);
  EXPECT_EQ((std::vector<std::int64_t>{4, 1, 7}), ranks.share({.group = 2, .members = {4, 1, 7}}).members);
}

struct Epoch {
  double loss = 0, validation = 0;
  std::int64_t evaluations = 0;
};

/// One run for all tests, which one process makes under a launcher.
class TrainingOfRanks : public StayingProgram {
 protected:
  static void SetUpTestSuite() {
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    there_ = OPSHAP_WITH_MPI && std::system("mpirun --version >/dev/null 2>&1") == 0;
    if (!there_) return;
    const std::string log = run_.string() + ".log";
    code_ = std::system(("mpirun -n 1 " OPSHAP_BINARY_DIR "/opshap reproduce --stage explainer -q --out " +
                         run_.string() + " --profile " + profile + " > " + log + " 2>&1")
                            .c_str());
    log_ = read_file(log);
    fs::remove(log);
  }
  static void TearDownTestSuite() { fs::remove_all(run_); }
  void SetUp() override {
    StayingProgram::SetUp();
    if (!there_) GTEST_SKIP() << "needs MPI";
    ASSERT_EQ(0, code_) << log_;
  }

  std::string training(const std::string& what, const std::string& out) const {
    return "train " + what + " --threads 1 -q --profile " + profile + " --data " +
           (run_ / "data" / "burgers1d.h5").string() + " --out " + path(out);
  }

  Outcome train(const std::string& what, const std::string& out, int ranks) const {
    return ranks == 1 ? opshap(training(what, out))
                      : shell(launcher + std::to_string(ranks) + " " + program(training(what, out)));
  }

  std::vector<Epoch> epochs(const std::string& out) const {
    std::vector<Epoch> epochs;
    for (const json& epoch : json_lines(read_file(path(out + "/metrics.jsonl"))))
      epochs.push_back({epoch["loss"], epoch["validation"], epoch["operator_evaluations"]});
    return epochs;
  }

  void expect_same_training(const std::string& what, int ranks) const {
    const Outcome one = train(what, "one", 1), several = train(what, "several", ranks);
    ASSERT_EQ(0, one.code) << one.err;
    ASSERT_EQ(0, several.code) << several.err;
    const std::string weights = path("several/model.safetensors") + "\n";
    EXPECT_TRUE(several.out.starts_with(weights)) << several.out;
    EXPECT_EQ(several.out.find(weights), several.out.rfind(weights)) << "one rank speaks";
    const std::vector<Epoch> alone = epochs("one"), together = epochs("several");
    ASSERT_EQ(alone.size(), together.size());
    ASSERT_FALSE(alone.empty());
    // Sums of float32 (rounding 6e-8) in another order, of values some hundred times as large as the residuals that a
    // loss of 6e-8 has the squares of; a member that is lost or counted twice changes a loss by percents.
    constexpr double tolerance = 1e-4;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      EXPECT_NEAR(1, together[i].loss / alone[i].loss, tolerance) << what << ", epoch " << i;
      EXPECT_NEAR(1, together[i].validation / alone[i].validation, tolerance) << what << ", epoch " << i;
      EXPECT_EQ(alone[i].evaluations, together[i].evaluations);
    }
    fs::remove_all(path("one"));
    fs::remove_all(path("several"));
  }

  inline static const std::string launcher = "mpirun --bind-to none --oversubscribe -n ";
  static inline const std::string profile = OPSHAP_SOURCE_DIR "/properties/support/small_burgers.toml";
  static inline const fs::path run_ = fs::temp_directory_path() / ("opshap_ranks_" + std::to_string(getpid()));
  static inline bool there_ = false;
  static inline int code_ = -1;
  static inline std::string log_;
};

TEST_F(TrainingOfRanks, OfABackboneHasTheLossesOfOne) { expect_same_training("backbone", 2); }

TEST_F(TrainingOfRanks, OfAnExplainerHasTheLossesOfOne) {
  const std::string explainer = "explainer --operator " + (run_ / "backbone" / "model.safetensors").string();
  expect_same_training(explainer, 2);
  // Labels that are asked once are shared out and then known to all. Three ranks are more than a batch has members.
  const std::string once =
      file("once.toml", "[explainer]\nbatch = 2\ntarget = \"mean_field\"\nlabel_evaluations = 12\n");
  expect_same_training(explainer + " --config " + once, 3);
}

TEST_F(TrainingOfRanks, GoesOnAfterARankWasKilled) {
  const std::string what = "backbone --config " + file("longer.toml", "[backbone]\nepochs = 12\npatience = 12\n");
  ASSERT_EQ(0, train(what, "whole", 2).code);
  const std::string rank = program(training(what, "killed"));
  // The second rank is killed as soon as the first has written an epoch.
  const std::string mortal = file("mortal", rank + " & rank=$!\nuntil [ -s " + path("killed/metrics.jsonl") +
                                                " ]; do sleep 0.01; done\nkill -9 $rank; wait $rank\n");
  EXPECT_NE(0, shell(launcher + "1 " + rank + " : -n 1 sh " + mortal).code);
  ASSERT_FALSE(fs::exists(path("killed/summary.json"))) << "it was too fast to be killed";
  ASSERT_EQ(0, train(what, "killed", 2).code);
  const std::vector<Epoch> whole = epochs("whole"), resumed = epochs("killed");
  ASSERT_EQ(whole.size(), resumed.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole[i].loss, resumed[i].loss) << i;
    EXPECT_EQ(whole[i].validation, resumed[i].validation) << i;
  }
}

// A launcher takes a process that says nothing at its end for a failed one.
TEST_F(TrainingOfRanks, OneProcessAloneUnderALauncherEndsWell) {
  EXPECT_EQ(0, code_) << log_;
  EXPECT_TRUE(fs::exists(run_ / "explainer" / "model.safetensors"));
}

TEST_F(TrainingOfRanks, AreNotForWhatOneProcessDoes) {
  const Outcome outcome =
      shell(launcher + "2 " OPSHAP_BINARY_DIR "/opshap reproduce -q --out " + path("other") + " --profile " + profile);
  EXPECT_NE(0, outcome.code);
  EXPECT_TRUE(has(outcome.err, "reproduce: ranks=2"));
  EXPECT_FALSE(fs::exists(path("other")));
}

}  // namespace
}  // namespace opshap
