// Frames between host and peer as bytes: what is written is read, wherever the stream is split and whatever is in it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "core/coalitions.hpp"
#include "core/rng.hpp"
#include "peers/frame.hpp"
#include "support/spoiled_frames.hpp"
#include "support/test_seed.hpp"

namespace opshap {
namespace {

TEST(PeerFrames, CoalitionsAreReadAsTheyWereWritten) {
  Rng rng(test_seed(), "peer frames");
  for (const int players : {1, 7, 8, 9, 63, 64, 65, 1000}) {
    Coalitions coalitions(players, 20);
    for (std::size_t row = 0; row < coalitions.size(); ++row) {
      for (int player = 0; player < players; ++player) {
        if (rng.below(2) == 1) coalitions.insert(row, player);
      }
    }
    const std::string payload = peers::payload_of(coalitions);
    EXPECT_EQ(20u * static_cast<std::size_t>((players + 7) / 8), payload.size());
    const Coalitions read = peers::coalitions_of(payload, players, 20);
    for (std::size_t row = 0; row < coalitions.size(); ++row)
      EXPECT_TRUE(std::ranges::equal(coalitions.row(row), read.row(row))) << players;
  }
  Coalitions one(10, 1);
  one.insert(0, 0);
  one.insert(0, 9);
  EXPECT_EQ((std::string{1, 2}), peers::payload_of(one));
}

TEST(PeerFrames, AStreamIsCutIntoTheSameFramesWhereverItIsSplit) {
  const std::string stream = peers::bytes_of({{"type", "a"}}) + peers::bytes_of({{"type", "b"}}, "12\n4") +
                             peers::bytes_of({{"type", "c"}}, std::string(100, '\n'));
  for (std::size_t split = 0; split <= stream.size(); ++split) {
    peers::FrameReader reader;
    std::string types, payloads;
    for (const std::string& part : {stream.substr(0, split), stream.substr(split)}) {
      reader.feed(part);
      while (const auto frame = reader.next()) {
        types += frame->type();
        payloads += frame->payload;
      }
    }
    EXPECT_EQ("abc", types);
    EXPECT_EQ("12\n4" + std::string(100, '\n'), payloads);
    EXPECT_EQ(0u, reader.waiting());
  }
}

TEST(PeerFrames, NoSequenceOfBytesIsMisreadOrCrashes) {
  for (std::uint64_t item = 0; item < 20000; ++item) {
    Rng rng(test_seed(), "peer frames", 1, item);
    peers::FrameReader reader;
    const std::string bytes = spoiled_frames(rng);
    std::size_t read = 0;
    try {
      reader.feed(bytes);
      while (const auto frame = reader.next()) {
        ASSERT_TRUE(frame->header.is_object()) << replay();
        read += frame->payload.size();
      }
    } catch (const peers::Malformed& error) {
      ASSERT_NE("", error.code());
    }
    ASSERT_LE(read, bytes.size()) << replay();
  }
}

TEST(PeerFrames, ADeepHeaderIsRefusedAndNotRepeated) {
  for (const auto& [opening, closing] : {std::pair("[", "]"), std::pair("{\"a\":[", "]}")}) {
    std::string header = R"({"type":"eval","id":)";
    for (int depth = 0; depth < 100000; ++depth) header += opening;
    for (int depth = 0; depth < 100000; ++depth) header += closing;
    header += '}';
    peers::FrameReader reader;
    reader.feed(header + "\n");
    try {
      reader.next();
      ADD_FAILURE() << "was read";
    } catch (const peers::Malformed& error) {
      EXPECT_NE(std::string::npos, std::string(error.what()).find("depth=17")) << error.what();
      EXPECT_LT(std::string(error.what()).size(), 400u);
    }
  }
  peers::FrameReader reader;
  reader.feed("{\"id\":[1,[2]]}\n");
  try {
    reader.next()->integer("id");
    ADD_FAILURE() << "a list is no number";
  } catch (const peers::Malformed& error) {
    EXPECT_NE(std::string::npos, std::string(error.what()).find("id=array")) << error.what();
  }
}

TEST(PeerFrames, NoNumbersAreCopiedFromNowhere) { EXPECT_TRUE(peers::Frame{}.reals(0).empty()); }

}  // namespace
}  // namespace opshap
