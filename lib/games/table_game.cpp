#include "games/table_game.hpp"

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/strict_json.hpp"
#include "games/registry.hpp"
#include "games/unanimity.hpp"

namespace opshap::games {

namespace {

class TableGame final : public Game {
 public:
  TableGame(int players, std::vector<double> values) : players_(players), values_(std::move(values)) {}

  int players() const override { return players_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = values_[coalitions.row(i)[0]];
    return values;
  }

 private:
  int players_;
  std::vector<double> values_;
};

}  // namespace

std::unique_ptr<Game> table_game(int players, std::vector<double> values) {
  require(players >= 1 && players <= max_table_game_players, "table_game: players=", players,
          " (a table has 2^n values, 1 <= n <= ", max_table_game_players,
          "). Use a sum of unanimity games for more players.");
  require(values.size() == std::size_t{1} << players, "table_game: values=", values.size(), " (", players,
          " players have 2^", players, " = ", std::size_t{1} << players, " coalitions). Give one value per coalition.");
  return std::make_unique<TableGame>(players, std::move(values));
}

/// Values uniform on the multiples of 1/64 in [-2, 2), so that sums of them are exact.
std::unique_ptr<Game> random_table_game(int players, Rng& rng) {
  require(players >= 1 && players <= max_table_game_players, "table_game: players=", players,
          " (a table has 2^n values, 1 <= n <= ", max_table_game_players, "). Use fewer players.");
  std::vector<double> values(std::size_t{1} << players);
  for (double& value : values) value = (static_cast<double>(rng.below(256)) - 128) / 64;
  return table_game(players, std::move(values));
}

namespace {

using Json = StrictObject::Json;

/// A game is an object of an array of objects of an array: 4 levels.
constexpr JsonLimits limits{.depth = 4};

/// `where` is put before the keys: "terms[2].".
StrictObject reader(const Json& object, std::string_view who, const std::string& where = "") {
  return {object,
          {.who = message(who, ": key="), .advice = "Correct it.", .unknown = "not a key of a game", .of_a_file = true},
          where};
}

/// The parser has refused numbers beyond the range of doubles already. Where it is comes in parts, which only a message
/// joins: tables have millions of numbers.
template <typename... Where>
double number(const Json& value, std::string_view who, const Where&... where) {
  if (!value.is_number())
    throw DataError(message(who, ": ", where..., " (", value.type_name(), " instead of a number). Give a number."));
  return value.get<double>();
}

/// An integer in low..high; the bound keeps what is allocated for it small.
int integer(const Json& value, int low, int high, std::string_view who, const std::string& where) {
  require<DataError>(value.is_number_integer(), who, ": ", where, " (",
                     value.is_number() ? value.dump() : value.type_name(), " instead of an integer). Give an integer.");
  const bool too_large = value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  require<DataError>(!too_large && value.get<std::int64_t>() >= low, who, ": ", where, "=", value.dump(), " (needs ",
                     low, "..", high, "). Give a number in that range.");
  return static_cast<int>(value.get<std::int64_t>());
}

std::unique_ptr<Game> parse_table(const Json& file, std::string_view who) {
  StrictObject game = reader(file, who);
  const int players =
      integer(game.value("players"), 1, max_table_game_players, who, "key=players (of a game with values)");
  const Json& given = game.array("values");
  game.finish();
  require<DataError>(given.size() == std::size_t{1} << players, who, ": key=values (", given.size(), " values, but ",
                     players, " players have 2^", players, " = ", std::size_t{1} << players,
                     " coalitions). Give one value per coalition.");
  std::vector<double> values;
  values.reserve(given.size());
  for (const Json& value : given) values.push_back(number(value, who, "key=values[", values.size(), "]"));
  return table_game(players, std::move(values));
}

std::unique_ptr<Game> parse_terms(const Json& file, std::string_view who) {
  StrictObject game = reader(file, who);
  const int players = integer(game.value("players"), 1, Coalitions::max_players, who, "key=players");
  const double empty = game.has("empty") ? number(game.value("empty"), who, "key=empty") : 0.0;
  std::vector<UnanimityTerm> terms;
  for (const Json& element : game.array("terms")) {
    const std::string where = message("terms[", terms.size(), "].");
    StrictObject given = reader(element, who, where);
    UnanimityTerm term{.coalition = {},
                       .coefficient = number(given.value("coefficient"), who, "key=", where, "coefficient")};
    for (const Json& player : given.array("coalition"))
      term.coalition.push_back(integer(player, 0, players - 1, who, message("key=", where, "coalition player")));
    given.finish();
    terms.push_back(std::move(term));
  }
  game.finish();
  try {
    return unanimity_sum(players, std::move(terms), empty);
  } catch (const InvalidArgument& error) {
    throw DataError(message(who, ": key=terms (", error.what(), ")"));
  }
}

}  // namespace

std::unique_ptr<Game> parse_game(std::string_view text, std::string_view who) {
  const Json file = strict_json<Json>(text, who, limits);
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
