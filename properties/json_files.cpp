// Game files: what they mean, what is refused and how it is said, and that no text can crash the reader or make it take
// much memory.

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "games/table_game.hpp"
#include "support/generators.hpp"
#include "support/mutations.hpp"
#include "support/text.hpp"

namespace {

std::size_t live_bytes = 0, most_bytes = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += malloc_usable_size(memory);
  most_bytes = std::max(most_bytes, live_bytes);
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

// All memory of this program is counted; the tests are single-threaded.
void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* memory = std::malloc(size);
  return memory == nullptr ? nullptr : counted(memory);
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }

namespace opshap {
namespace {

Table read_table(std::string_view text) { return as_table(*games::parse_game(text, "test")); }

std::string complaint(std::string_view text) {
  return refusal<DataError>([&] { games::parse_game(text, "test"); });
}

TEST(GameFiles, ListTheValuesOfAllCoalitions) {
  EXPECT_EQ((std::vector<double>{0, 1, -2.5, 1e3}),
            read_table(R"({"players": 2, "values": [0, 1, -2.5, 1e3]})").values);
}

TEST(GameFiles, ListTheTermsOfASumOfUnanimityGames) {
  const char* text =
      R"({"terms": [{"coalition": [1, 0], "coefficient": 4}, {"coefficient": -1, "coalition": [1]}], "players": 2, "empty": 0.5})";
  EXPECT_EQ((std::vector<double>{0.5, 0.5, -0.5, 3.5}), read_table(text).values);
  EXPECT_EQ((std::vector<double>{0, 0}), read_table(R"({"players": 1, "terms": []})").values);
  EXPECT_EQ(65536,
            games::parse_game(R"({"players": 65536, "terms": [{"coalition": [65535], "coefficient": 1}]})", "test")
                ->players());
}

TEST(GameFiles, AreReadFromDisk) {
  const auto path = std::filesystem::temp_directory_path() / ("opshap_game_" + std::to_string(getpid()) + ".json");
  write_file(path, R"({"players": 1, "values": [3, 4]})");
  EXPECT_EQ((std::vector<double>{3, 4}), as_table(*games::read_game(path)).values);
  write_file(path, R"({"players": 1, "values": [3]})");
  EXPECT_TRUE(has(refusal<DataError>([&] { games::read_game(path); }), path.string()));
  std::filesystem::remove(path);
  EXPECT_THROW(games::read_game(path), DataError);
}

TEST(GameFiles, AreRefusedWithTheKeyThatIsWrong) {
  for (const auto& [text, named] : {
           std::pair{"", "json"},
           {"[1, 2]", "object"},
           {R"({"players": 2, "values": [0, 1, 2, 3])", "json"},
           {R"({"players": 2})", "values or terms"},
           {R"({"players": 1, "values": [0, 1], "terms": []})", "values and terms"},
           {R"({"values": [0, 1]})", "key=players"},
           {R"({"players": 2, "values": [0, 1, 2]})", "key=values"},
           {R"({"players": 2, "values": [0, 1, 2, 3, 4]})", "key=values"},
           {R"({"players": 2, "values": {"0": 1}})", "key=values"},
           {R"({"players": 2, "values": [0, 1, "2", 3]})", "key=values[2]"},
           {R"({"players": 2, "values": [0, 1, null, 3]})", "key=values[2]"},
           {R"({"players": 2, "values": [0, 1, NaN, 3]})", "json"},
           {R"({"players": 2, "values": [0, 1, 1e999, 3]})", "json"},
           {R"({"players": 0, "values": [0]})", "key=players"},
           {R"({"players": -1, "values": [0]})", "key=players"},
           {R"({"players": 1.0, "values": [0, 1]})", "key=players"},
           {R"({"players": "1", "values": [0, 1]})", "key=players"},
           {R"({"players": 60, "values": [0]})", "key=players"},
           {R"({"players": 18446744073709551615, "values": [0]})", "key=players"},
           {R"({"players": 65537, "terms": []})", "key=players"},
           {R"({"players": 1, "values": [0, 1], "emtpy": 3})", "key=emtpy"},
           {R"({"players": 1, "players": 1, "values": [0, 1]})", "key=players"},
           {R"({"players": 2, "terms": [{"coalition": [0]}]})", "key=terms[0].coefficient"},
           {R"({"players": 2, "terms": [{"coefficient": 1}]})", "key=terms[0].coalition"},
           {R"({"players": 2, "terms": [3]})", "terms[0]"},
           {R"({"players": 2, "terms": {}})", "key=terms"},
           {R"({"players": 2, "terms": [{"coalition": [2], "coefficient": 1}]})", "terms[0].coalition"},
           {R"({"players": 2, "terms": [{"coalition": [-1], "coefficient": 1}]})", "terms[0].coalition"},
           {R"({"players": 2, "terms": [{"coalition": [0.5], "coefficient": 1}]})", "terms[0].coalition"},
           {R"({"players": 2, "terms": [{"coalition": 0, "coefficient": 1}]})", "key=terms[0].coalition"},
           {R"({"players": 2, "terms": [{"coalition": [0, 0], "coefficient": 1}]})", "twice"},
           {R"({"players": 2, "terms": [{"coalition": [0], "coefficient": true}]})", "terms[0].coefficient"},
           {R"({"players": 2, "terms": [{"coalition": [0], "coefficient": 1, "x": 1}]})", "key=terms[0].x"},
           {R"({"players": 2, "terms": [], "empty": "0"})", "key=empty"},
           {R"({"players": 2, "terms": [{"coalition": [[[[0]]]], "coefficient": 1}]})", "depth"},
       }) {
    const std::string said = complaint(text);
    EXPECT_TRUE(has(said, named)) << text;
    EXPECT_EQ(0u, said.find("test: ")) << said;
  }
}

// Any text is either a game or a DataError, and the reader never takes more than a constant times the text's length.
TEST(GameFiles, SurviveOneHundredThousandMutations) {
  const std::vector<std::string> seeds = {
      R"({"players": 3, "values": [0, 1.5, -2, 3e2, 4, 5, 6, 7]})",
      R"({"players": 65536, "terms": [{"coalition": [0, 9, 3], "coefficient": 1.25}, {"coalition": [], "coefficient": -3}], "empty": 0.5})",
  };
  const Survived all = survive(
      "json_files", seeds,
      [](const std::string& text) {
        const std::size_t before = most_bytes = live_bytes;
        const std::string said = complaint(text);
        EXPECT_LT(most_bytes - before, 16384 + 256 * text.size()) << text;
        if (!said.empty()) throw DataError(said);
      },
      std::max<std::uint64_t>(mutants(), 100000));
  EXPECT_GT(all.taken, 1000u);
  EXPECT_GT(all.refused, 10000u);
}

TEST(GameFiles, DeepNestingIsRefusedEarly) {
  for (const char* opening : {"[", "{\"a\":"}) {
    std::string text;
    for (int depth = 0; depth < 100000; ++depth) text += opening;
    most_bytes = live_bytes;
    const std::size_t before = live_bytes;
    EXPECT_TRUE(has(complaint(text), "depth"));
    EXPECT_LT(most_bytes - before, std::size_t{65536});
  }
}

}  // namespace
}  // namespace opshap
