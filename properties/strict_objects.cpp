// One reader of keys for settings in TOML and in JSON: what it takes, and what it says of the rest.

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/error.hpp"
#include "core/strict_json.hpp"
#include "core/toml_text.hpp"

namespace opshap {
namespace {

using Json = nlohmann::ordered_json;

/// A TOML text with its reader.
struct Text {
  explicit Text(const std::string& toml) {
    std::map<std::string, int, std::less<>> lines;
    object = parse_toml(toml, "test", "mine.toml", lines);
    for (const auto& [key, line] : lines) voice.places.emplace(key, message("mine.toml, line ", line));
  }
  StrictObject reader() const { return {object, voice}; }

  Json object;
  StrictObject::Voice voice{.who = "test: "};
};

/// What reading says; empty where it says nothing.
std::string complaint(const std::string& toml, const std::function<void(StrictObject&)>& read) {
  const Text text(toml);
  try {
    StrictObject reader = text.reader();
    read(reader);
    reader.finish();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

TEST(StrictObjects, NameKeyValueAndPlace) {
  const auto count = [](StrictObject& object) { object.whole("count", 2, 9); };
  EXPECT_EQ("", complaint("count = 9", count));
  EXPECT_EQ("", complaint("count = 2e0", count));
  EXPECT_EQ("test: count=10 (needs 2 to 9). Correct count at mine.toml, line 2.", complaint("\ncount = 10", count));
  EXPECT_EQ("test: count=2.5 (needs a whole number). Correct count at mine.toml, line 1.",
            complaint("count = 2.5", count));
  EXPECT_EQ("test: count=true (needs a whole number). Correct count at mine.toml, line 1.",
            complaint("count = true", count));
  EXPECT_EQ("test: count (is missing). Add it.", complaint("other = 1", count));
  EXPECT_EQ("test: cuont (mine.toml, line 2; no such setting). Did you mean count?",
            complaint("count = 3\ncuont = 3", count));
}

TEST(StrictObjects, NoNumberIsCast) {
  // The first numbers that do not fit, and the last that do.
  for (const auto& [value, fits] : std::map<std::int64_t, bool>{{std::int64_t{1} << 32, false},
                                                                {std::int64_t{1} << 31, false},
                                                                {std::numeric_limits<int>::max(), true},
                                                                {0, false}}) {
    const std::string said = complaint(message("count = ", value), [](StrictObject& object) { object.whole("count"); });
    EXPECT_EQ(fits, said.empty()) << value << ": " << said;
  }
  const Json huge = {{"count", std::numeric_limits<std::uint64_t>::max()}};
  StrictObject reader(huge, {.who = "test: "});
  EXPECT_THROW(reader.whole<std::int64_t>("count"), InvalidArgument);
  for (const char* number : {"inf", "nan", "-1.0", "0.0"})
    EXPECT_NE("", complaint(message("rate = ", number), [](StrictObject& object) { object.positive("rate"); }))
        << number;
}

TEST(StrictObjects, ReadTablesAndListsOfTables) {
  const std::string toml = "[outer]\nword = \"a\"\n[[outer.list]]\nsize = 1\n[[outer.list]]\nsize = 0\n";
  EXPECT_EQ("test: outer.list[1].size=0 (needs 1 to 2147483647). Correct outer.list[1].size at mine.toml, line 6.",
            complaint(toml, [](StrictObject& object) {
              StrictObject outer = object.object("outer");
              EXPECT_EQ("a", outer.word("word", {"a", "b"}));
              for (StrictObject& entry : outer.objects("list")) entry.whole("size");
            }));
  EXPECT_EQ("test: outer (is not an object). Correct outer at mine.toml, line 1.",
            complaint("outer = 3", [](StrictObject& object) { object.object("outer"); }));
  EXPECT_EQ("test: word=c (not one of a, b). Correct word at mine.toml, line 1.",
            complaint("word = 'c'", [](StrictObject& object) {
              object.word("word", {"a", "b"});
            }));
}

TEST(StrictObjects, OfAFileAreRefusedAsData) {
  const Json object = {{"count", "three"}};
  StrictObject reader(object, {.who = "game: key=", .advice = "Correct it.", .of_a_file = true});
  try {
    reader.whole("count");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_EQ(std::string("game: key=count=three (needs a whole number). Correct it."), error.what());
  }
}

TEST(TomlTexts, AreReadBackAsTheyWereWritten) {
  const Json object = {{"b", 1.0 / 3},
                       {"a", {1, 2, 3}},
                       {"table", {{"word", "x \"y\""}, {"yes", true}}},
                       {"curves", {{{"n", 4}, {"m", {1, 2}}}}},
                       {"inner", {{"p", 2}}}};
  const std::string text = toml_text(object, {"inner"});
  EXPECT_NE(std::string::npos, text.find("inner = { p = 2 }")) << text;
  std::map<std::string, int, std::less<>> lines;
  const Json read = parse_toml(text, "test", "written", lines);
  EXPECT_EQ(nlohmann::json::parse(object.dump()), nlohmann::json::parse(read.dump())) << text;
  EXPECT_EQ(1, lines.at("a"));
}

TEST(TomlTexts, LayOneOverAnother) {
  Json below = {{"kept", 1}, {"table", {{"kept", 2}, {"changed", 3}}}, {"list", {1, 2}}};
  lay_over(below, {{"table", {{"changed", 4}, {"new", 5}}}, {"list", {9}}});
  EXPECT_EQ(Json({{"kept", 1}, {"table", {{"kept", 2}, {"changed", 4}, {"new", 5}}}, {"list", {9}}}), below);
}

}  // namespace
}  // namespace opshap
