// `opshap serve`, the process that the Python package keeps, from the side of its pipes.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "peers/frame.hpp"
#include "support/program.hpp"

namespace opshap {
namespace {

class KeptProgram : public Program {
 protected:
  /// What it does with these bytes, and the frames that it answers with.
  Outcome served(const std::string& bytes, std::vector<peers::Frame>& answers) const {
    file("requests", bytes);
    const Outcome outcome = shell("OPSHAP_FD_IN=3 OPSHAP_FD_OUT=4 " + std::string(OPSHAP_BINARY_DIR) +
                                  "/opshap serve 3<" + path("requests") + " 4>" + path("answers"));
    peers::FrameReader reader;
    reader.feed(read_file(path("answers")));
    while (auto frame = reader.next()) answers.push_back(std::move(*frame));
    return outcome;
  }
  static std::string request(int id, const std::string& words, const std::string& more = "") {
    return R"({"type":"run","id":)" + std::to_string(id) + R"(,"words":[)" + words + "]" + more + "}\n";
  }
};

std::vector<std::int64_t> codes(const std::vector<peers::Frame>& answers) {
  std::vector<std::int64_t> found;
  for (const peers::Frame& answer : answers)
    if (answer.type() == "done") found.push_back(answer.integer("code"));
  return found;
}

TEST_F(KeptProgram, RunsOneCommandLineAfterTheOtherWithDefaultsOfItsOwn) {
  const std::string game = R"("attribute","--game=unanimity_sum","--players=6","--method=permutation","--budget=20")";
  std::vector<peers::Frame> answers;
  const Outcome outcome = served(request(1, R"("--json","--seed=7",)" + game) + request(2, R"("--json",)" + game) +
                                     request(3, R"("attribute","--nonsense")") + request(4, R"("nonsense")") +
                                     request(5, R"("--json",)" + game) + "{\"type\":\"bye\"}\n",
                                 answers);
  EXPECT_EQ(0, outcome.code) << outcome.err;
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ("server", answers.front().text("role"));
  EXPECT_EQ((std::vector<std::int64_t>{0, 0, 2, 2, 0}), codes(answers));
  std::istringstream lines(outcome.out);
  std::vector<nlohmann::json> found;
  for (std::string line; std::getline(lines, line);) found.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(3u, found.size());
  EXPECT_EQ(7, found[0]["seed"]);
  EXPECT_EQ(42, found[1]["seed"]) << "the seed of the call before";
  EXPECT_EQ(found[1]["values"], found[2]["values"]);
}

TEST_F(KeptProgram, AsksTheCallerForItsGame) {
  std::vector<peers::Frame> answers;
  const std::string ask = request(1, R"("--json","attribute","--game=caller","--method=exact")",
                                  R"(,"players":2,"gradients":false,"max_batch":100)");
  served(ask + R"({"type":"fail","id":1,"reason":"mine"})" + "\n" + request(2, R"("list","games","--json")"), answers);
  ASSERT_EQ(4u, answers.size()) << "hello, a question, and two ends";
  EXPECT_EQ("eval", answers[1].type());
  EXPECT_EQ((std::vector<std::int64_t>{5, 0}), codes(answers));
}

TEST_F(KeptProgram, RefusesWhatCannotWork) {
  std::vector<peers::Frame> answers;
  served(request(1, R"("attribute","--game=caller","--method=exact")") +
             request(2, R"("attribute","--operator=a.safetensors","--input=u.npy","--query=1","--method=exact")"),
         answers);
  EXPECT_EQ((std::vector<std::int64_t>{2, 3}), codes(answers)) << "no caller's game, and no file of a field";
  for (const char* bytes : {"nonsense\n", "{\"type\":\"run\",\"id\":1}\n", "{\"type\":\"run\",\"words\":[1]}\n"}) {
    const Outcome outcome = served(bytes, answers);
    EXPECT_EQ(3, outcome.code) << bytes << outcome.err;
  }
  expect_refusal("serve", 2, "OPSHAP_FD_IN");
  expect_refusal("attribute --game caller --method exact", 2, "caller");
}

}  // namespace
}  // namespace opshap
