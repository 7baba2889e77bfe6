// Programs as games and as operators: the roles reversed. The programs are a few lines of shell each.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/scenario.hpp"
#include "games/cell_mask_game.hpp"
#include "peers/peer_game.hpp"
#include "peers/peer_operator.hpp"
#include "support/puppets.hpp"

namespace opshap {
namespace {

using peers::Ending;
using PeerGames = Puppets;

/// A game of two players that is 0 everywhere, or does `instead` when it is asked.
std::string zero_game(const std::string& instead = "") {
  return R"(echo '{"type":"hello","protocol":1,"name":"puppet","role":"game","players":2,"max_batch":3}' >&4
    while read -r asked <&3; do
      case $asked in *'"bye"'*) exit 0;; esac
      id=${asked#*id\":}; id=${id%%,*}; count=${asked#*count\":}; count=${count%%,*}; bytes=$((8 * count))
      head -c $count <&3 > /dev/null; echo $count >> counts; )" +
         instead + R"(
      { echo "{\"type\":\"values\",\"id\":$id,\"nbytes\":$bytes}"; head -c $bytes /dev/zero; } >&4
    done)";
}

TEST_F(PeerGames, AnswerInTheirOwnBatches) {
  puppet(zero_game(), "role = 'game'\n");
  write_file(folder_ / "plugin.toml", "name = 'puppet'\nrole = 'game'\ncommand = ['sh', 'peer.sh']\n");
  const auto game = peers::peer_game(folder_);
  EXPECT_EQ(2, game->players());
  EXPECT_EQ("peer:puppet", game->path());
  EXPECT_EQ(nullptr, game->differentiable());
  EXPECT_EQ(std::vector<double>(7, 0.0), game->values(Coalitions(2, 7)));
  EXPECT_EQ("3\n3\n1\n", read_file(folder_ / "counts"));
}

TEST_F(PeerGames, ThatFailSayHow) {
  const std::vector<std::tuple<std::string, Ending, std::string>> cases = {
      {"exit 3", Ending::crash, "exit code 3"},
      {R"(echo "{\"type\":\"fail\",\"id\":$id,\"reason\":\"no GPU\"}" >&4; continue)", Ending::fail, "no GPU"},
      {"id=99", Ending::protocol_error, "id=99"},
      {"bytes=8", Ending::protocol_error, "nbytes=8"},
      {"sleep 100", Ending::timeout, "no values"},
  };
  for (const auto& [instead, ending, text] : cases) {
    SCOPED_TRACE(instead);
    puppet(zero_game(instead));
    const char* seconds = ending == Ending::timeout ? "0.5" : "20";
    write_file(folder_ / "plugin.toml", std::string("name = 'puppet'\nrole = 'game'\ncommand = ['sh', 'peer.sh']\n") +
                                            "[limits]\nseconds = " + seconds + "\n");
    const auto game = peers::peer_game(folder_);
    try {
      game->values(Coalitions(2, 2));
      ADD_FAILURE() << "it answered";
    } catch (const peers::Failure& error) {
      EXPECT_EQ(peers::to_string(ending), peers::to_string(error.ending()));
      EXPECT_NE(std::string::npos, std::string(error.what()).find(text)) << error.what();
    }
  }
}

/// An operator on lines that is 0 everywhere, and notes what it is asked. It has 3 coalitions or fields at a time.
std::string zero_operator(const std::string& greeting) {
  return R"(echo '{"type":"hello","protocol":1,"name":"puppet","role":"operator","max_batch":3,)" + greeting +
         R"(}' >&4
    while read -r asked <&3; do
      type=${asked#*type\":\"}; type=${type%%\"*}; echo $type >> asked
      id=${asked#*id\":}; id=${id%%,*}; count=${asked#*count\":}; count=${count%%,*}
      bytes=${asked#*nbytes\":}; bytes=${bytes%\}}
      case $type in
        bye) exit 0;;
        scenario) reply=ready; size=0; head -c $bytes <&3 > scenario; echo "$asked" > header;;
        eval) reply=values; size=$((8 * count));;
        apply) reply=fields; size=$((8 * 4 * count));;
        vjp) reply=gradients; size=$((8 * 5 * count));;
      esac
      test $type = scenario || head -c $bytes <&3 > /dev/null
      { echo "{\"type\":\"$reply\",\"id\":$id,\"nbytes\":$size}"; head -c $size /dev/zero; } >&4
    done)";
}

constexpr const char* on_lines = R"("dimension":1,"input_channels":1,"output_channels":1)";

class PeerOperators : public Puppets {
 protected:
  std::unique_ptr<Operator> zero(const std::string& greeting) const {
    puppet(zero_operator(greeting));
    write_file(folder_ / "plugin.toml", "name = 'puppet'\nrole = 'operator'\ncommand = ['sh', 'peer.sh']\n");
    return peers::peer_operator(folder_);
  }
  static Scenario scenario(double shown) {
    FieldBatch input = FieldBatch::zeros(Domain::unit({4}), 1, 1);
    std::ranges::fill(input.values, shown);
    ScenarioRule rule;
    rule.players = ScenarioRule::Players::blocks;
    rule.blocks = 2;
    return make_scenario(rule, input);
  }
};

TEST_F(PeerOperators, GetTheFieldOfAGameOnceAndThenCoalitions) {
  const auto op = zero(on_lines);
  const auto first = games::cell_mask_game(*op, scenario(1)), second = games::cell_mask_game(*op, scenario(2));
  EXPECT_EQ("peer:puppet", first->path());
  EXPECT_EQ(std::vector<double>(7, 0.0), first->values(Coalitions(2, 7)));
  first->values(Coalitions(2, 1));
  second->values(Coalitions(2, 1));
  first->values(Coalitions(2, 1));
  EXPECT_EQ("scenario\neval\neval\neval\neval\nscenario\neval\nscenario\neval\n", read_file(folder_ / "asked"));
  // Input, baseline, and the player of each point, as float64.
  std::vector<double> sent(12);
  const std::string bytes = read_file(folder_ / "scenario");
  ASSERT_EQ(sent.size() * sizeof(double), bytes.size());
  std::memcpy(sent.data(), bytes.data(), bytes.size());
  EXPECT_EQ((std::vector<double>{1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}), sent);
  const auto header = nlohmann::json::parse(read_file(folder_ / "header"));
  EXPECT_EQ(2, header["players"]);
  EXPECT_EQ(2, header["point"]);  // the centre of four
  EXPECT_EQ(std::vector<int>{4}, header["shape"].get<std::vector<int>>());
}

TEST_F(PeerOperators, HaveGradientsWhereTheySaySo) {
  const auto op = zero(std::string(on_lines) + ",\"gradients\":true");
  const FieldBatch fields = FieldBatch::zeros(Domain::unit({4}), 5, 1);
  const Operator::Gradient found = op->gradient_at(fields, Query{.point = 1});
  EXPECT_EQ(std::vector<double>(5, 0.0), found.values);
  EXPECT_EQ(std::vector<double>(20, 0.0), found.gradient.values);
  EXPECT_EQ(std::vector<double>(20, 0.0), op->apply(fields).values);
  EXPECT_EQ("vjp\nvjp\napply\napply\n", read_file(folder_ / "asked"));
  EXPECT_THROW(zero(on_lines)->gradient_at(fields, Query{.point = 1}), InvalidArgument);
}

TEST_F(PeerOperators, RefuseFieldsThatTheyDoNotTakeAndAreRefusedWithoutASize) {
  const auto op = zero(on_lines);
  EXPECT_THROW(op->apply(FieldBatch::zeros(Domain::unit({4, 4}), 1, 1)), InvalidArgument);
  EXPECT_THROW(op->apply(FieldBatch::zeros(Domain::unit({4}), 1, 2)), InvalidArgument);
  EXPECT_THROW(op->apply(FieldBatch::zeros(Domain::unit({1 << 24}), 1, 1)), InvalidArgument);  // longer than a frame
  for (const char* greeting : {R"("dimension":3)", R"("dimension":1,"input_channels":0)", R"("dimension":"x")"}) {
    try {
      zero(greeting);
      ADD_FAILURE() << greeting;
    } catch (const peers::Failure& error) {
      EXPECT_EQ(Ending::protocol_error, error.ending()) << error.what();
    }
  }
}

}  // namespace
}  // namespace opshap
