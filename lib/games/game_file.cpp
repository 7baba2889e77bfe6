#include "games/game_file.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "games/table_game.hpp"
#include "games/unanimity_sum.hpp"

namespace opshap::games {

namespace {

using nlohmann::json;

/// A game is an object of an array of objects of an array: 4 levels.
constexpr JsonLimits limits{.depth = 4};

void require_keys(const json& object, std::initializer_list<const char*> required,
                  std::initializer_list<const char*> optional, std::string_view who, const std::string& where) {
  require<DataError>(object.is_object(), who, ": ", where, " (", object.type_name(),
                     " instead of an object). See `opshap attribute --help` for the format.");
  for (const char* key : required) {
    require<DataError>(object.contains(key), who, ": key=", key, " (missing in ", where, "). Add it.");
  }
  for (const auto& [key, value] : object.items()) {
    bool known = false;
    for (const char* name : required) known = known || key == name;
    for (const char* name : optional) known = known || key == name;
    require<DataError>(known, who, ": key=", key, " (not a key of ", where, "). Remove it, or correct its name.");
  }
}

/// The parser has refused numbers beyond the range of doubles already. Where it is comes in parts, which only a message
/// joins: tables have millions of numbers.
template <typename... Where>
double number(const json& value, std::string_view who, const Where&... where) {
  if (!value.is_number())
    throw DataError(message(who, ": ", where..., " (", value.type_name(), " instead of a number). Give a number."));
  return value.get<double>();
}

/// An integer in low..high; the bound keeps what is allocated for it small.
int integer(const json& value, int low, int high, std::string_view who, const std::string& where) {
  require<DataError>(value.is_number_integer(), who, ": ", where, " (",
                     value.is_number() ? value.dump() : value.type_name(), " instead of an integer). Give an integer.");
  const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  require<DataError>(!too_large && value.get<std::int64_t>() >= low, who, ": ", where, "=", value.dump(), " (needs ",
                     low, "..", high, "). Give a number in that range.");
  return static_cast<int>(value.get<std::int64_t>());
}

const json& array(const json& object, const char* key, std::string_view who) {
  const json& value = object.at(key);
  require<DataError>(value.is_array(), who, ": key=", key, " (", value.type_name(),
                     " instead of an array). Give a list.");
  return value;
}

std::unique_ptr<Game> parse_table(const json& file, std::string_view who) {
  require_keys(file, {"players", "values"}, {}, who, "a game with values");
  const int players =
      integer(file.at("players"), 1, max_table_game_players, who, "key=players (of a game with values)");
  const json& given = array(file, "values", who);
  require<DataError>(given.size() == std::size_t{1} << players, who, ": key=values (", given.size(), " values, but ",
                     players, " players have 2^", players, " = ", std::size_t{1} << players,
                     " coalitions). Give one value per coalition.");
  std::vector<double> values;
  values.reserve(given.size());
  for (const json& value : given) values.push_back(number(value, who, "key=values[", values.size(), "]"));
  return table_game(players, std::move(values));
}

std::unique_ptr<Game> parse_terms(const json& file, std::string_view who) {
  require_keys(file, {"players", "terms"}, {"empty"}, who, "a game with terms");
  const int players = integer(file.at("players"), 1, Coalitions::max_players, who, "key=players");
  const double empty = file.contains("empty") ? number(file.at("empty"), who, "key=empty") : 0.0;
  std::vector<UnanimityTerm> terms;
  for (const json& given : array(file, "terms", who)) {
    const std::string where = message("terms[", terms.size(), "]");
    require_keys(given, {"coalition", "coefficient"}, {}, who, where);
    UnanimityTerm term{.coalition = {}, .coefficient = number(given.at("coefficient"), who, where, ".coefficient")};
    for (const json& player : array(given, "coalition", who)) {
      term.coalition.push_back(integer(player, 0, players - 1, who, where + ".coalition player"));
    }
    terms.push_back(std::move(term));
  }
  try {
    return unanimity_sum(players, std::move(terms), empty);
  } catch (const InvalidArgument& error) {
    throw DataError(message(who, ": key=terms (", error.what(), ")"));
  }
}

}  // namespace

std::unique_ptr<Game> parse_game(std::string_view text, std::string_view who) {
  const json file = strict_json<json>(text, who, limits);
  require<DataError>(
      file.is_object(), who, ": json (", file.type_name(),
      " instead of an object). Give {\"players\": n, \"values\": [...]} or {\"players\": n, \"terms\": [...]}.");
  const bool has_values = file.contains("values"), has_terms = file.contains("terms");
  require<DataError>(has_values != has_terms, who, ": key=", has_values ? "values and terms" : "values or terms", " (",
                     has_values ? "both given" : "neither given", "). Give exactly one of them.");
  return has_values ? parse_table(file, who) : parse_terms(file, who);
}

std::unique_ptr<Game> read_game(const std::filesystem::path& path) {
  return parse_game(read_file(path), path == "-" ? "standard input" : path.string());
}

}  // namespace opshap::games
