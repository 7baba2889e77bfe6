#include "cli/attribution_file.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/game.hpp"
#include "core/strict_json.hpp"

namespace opshap::cli {

namespace {

/// Operators in float32 give values that differ in the last digits between batches; another game differs in the first
/// ones.
constexpr double same_value = 1e-3;

void require_same(const nlohmann::json& file, const char* key, double value, double scale, const std::string& who) {
  if (!file.contains(key)) return;
  require<DataError>(file[key].is_number(), who, ": key=", key, " (", file[key].type_name(),
                     " instead of a number). Give a number.");
  const double found = file[key].get<double>();
  require<DataError>(std::abs(found - value) <= same_value * scale, who, ": ", key, "=", found, " (this game has ",
                     value, "). Give an attribution of this game.");
}

}  // namespace

StoredAttribution read_attribution(const std::filesystem::path& path, const Game& game) {
  const std::string who = path == "-" ? "standard input" : path.string();
  nlohmann::json file;
  try {
    file = strict_json<nlohmann::json>(read_file(path), "text");
  } catch (const DataError& error) {
    throw DataError(message(who, ": key=values (missing: this is no attribution; ", error.what(),
                            "). Give what `opshap attribute --json` printed."));
  }
  require<DataError>(file.is_object() && file.contains("values") && file["values"].is_array(), who,
                     ": key=values (missing: this is no attribution). Give what `opshap attribute --json` printed.");
  StoredAttribution found{.method = "unknown", .values = {}};
  if (file.contains("method") && file["method"].is_string()) found.method = file["method"].get<std::string>();
  for (const nlohmann::json& value : file["values"]) {
    require<DataError>(value.is_number(), who, ": key=values[", found.values.size(), "] (", value.type_name(),
                       " instead of a number). Give a number.");
    found.values.push_back(value.get<double>());
  }
  require<DataError>(found.values.size() == static_cast<std::size_t>(game.players()), who, ": key=values (",
                     found.values.size(), " values, but the game has ", game.players(),
                     " players). Give an attribution of this game.");
  CountedGame ends(game, {2});
  const double scale =
      std::max({std::abs(ends.empty()), std::abs(ends.grand()), std::abs(ends.grand() - ends.empty())});
  require_same(file, "empty", ends.empty(), scale, who);
  require_same(file, "grand", ends.grand(), scale, who);
  return found;
}

}  // namespace opshap::cli
