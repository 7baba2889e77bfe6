#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::golden {

using Json = nlohmann::json;

/// The cases of reference_data/shapiq/<subject>.json, or those of them that have a key. Throws DataError for another
/// version of the format.
inline std::vector<Json> cases(const std::string& subject, const char* key = nullptr) {
  const Json file = Json::parse(read_file(OPSHAP_SOURCE_DIR "/reference_data/shapiq/" + subject + ".json"));
  require<DataError>(file.at("version") == 1, subject, ".json: version=", file.at("version").get<int>(),
                     " (reads 1). Make the file again.");
  auto found = file.at("cases").get<std::vector<Json>>();
  if (key != nullptr) std::erase_if(found, [key](const Json& entry) { return !entry.contains(key); });
  return found;
}

inline std::vector<double> numbers(const Json& values) { return values.get<std::vector<double>>(); }

/// Appends a coalition written as a hexadecimal number, bit i = player i.
inline void append(Coalitions& coalitions, std::string_view hexadecimal) {
  coalitions.append_empty();
  int first = 0;
  for (auto digit = hexadecimal.rbegin(); digit != hexadecimal.rend(); ++digit, first += 4) {
    const int value = *digit <= '9' ? *digit - '0' : *digit - 'a' + 10;
    for (int bit = 0; bit < 4; ++bit)
      if ((value >> bit & 1) != 0) coalitions.insert(coalitions.size() - 1, first + bit);
  }
}

inline Coalitions coalitions(int players, const Json& hexadecimals) {
  Coalitions result(players);
  for (const Json& entry : hexadecimals) append(result, entry.get<std::string>());
  return result;
}

/// "8 players, budget 64, paired": for messages.
inline std::string title(const Json& entry) {
  std::string text;
  for (const char* key : {"method", "proxy_model", "name", "players", "budget", "paired", "seed"})
    if (entry.contains(key)) text += (text.empty() ? "" : ", ") + std::string(key) + " " + entry.at(key).dump();
  return text;
}

}  // namespace opshap::golden
