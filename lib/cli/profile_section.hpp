#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap::cli {

/// Numbers or words as a list of TOML.
inline toml::array list_of(const auto& values) {
  toml::array list;
  for (const auto& value : values) list.push_back(value);
  return list;
}

/// Where each setting was written, by its dotted name: "scenario.query_at" -> "mine.toml, line 4".
using Places = std::map<std::string, std::string, std::less<>>;

/// Reads every key of one table of a profile exactly once: a missing, mistyped or unknown key is an InvalidArgument
/// that names it. The table must outlive the section. `kind` starts the messages: what the file is. `places` says where
/// settings were written when the table was put together from several files.
class Section {
 public:
  Section(const toml::table& table, std::string name, std::string kind = "profile", Places places = {})
      : table_(table), name_(std::move(name)), kind_(std::move(kind)), places_(std::move(places)) {}

  template <typename T>
  T get(const std::string& key) {
    const std::optional<T> value = value_of<T>(node(key));
    require(value.has_value(), kind_, ": ", name_, key, " (has the wrong type). ", hint(key));
    return *value;
  }

  /// An integer from `least` to `most`, which is by default the largest int, or 2^40 for a wider type.
  template <typename T = int>
  T count(const std::string& key, T least = 1, T most = largest<T>()) {
    return fitting<T>(key, get<std::int64_t>(key), least, most);
  }

  /// A list of such integers.
  std::vector<int> counts(const std::string& key, int least, int most = largest<int>()) {
    std::vector<int> values;
    for (const std::int64_t value : list<std::int64_t>(key)) values.push_back(fitting<int>(key, value, least, most));
    return values;
  }

  double positive(const std::string& key) {
    const double value = get<double>(key);
    require(value > 0, kind_, ": ", name_, key, "=", value, " (needs a positive number). ", hint(key));
    return value;
  }

  double not_negative(const std::string& key) {
    const double value = get<double>(key);
    require(value >= 0, kind_, ": ", name_, key, "=", value, " (needs a number that is not negative). ", hint(key));
    return value;
  }

  template <typename T>
  std::vector<T> list(const std::string& key) {
    const toml::array* array = node(key).as_array();
    require(array != nullptr, kind_, ": ", name_, key, " (is not a list). ", hint(key));
    std::vector<T> values;
    for (const toml::node& element : *array) {
      const std::optional<T> value = value_of<T>(element);
      require(value.has_value(), kind_, ": ", name_, key, " (an entry has the wrong type). ", hint(key));
      values.push_back(*value);
    }
    return values;
  }

  const toml::node& node(const std::string& key) {
    read_.insert(key);
    known_.insert(key);
    const toml::node* found = table_.get(key);
    require(found != nullptr, kind_, ": ", name_, key, " (is missing). Add it; `opshap list ", kind_,
            "s` names complete examples.");
    return *found;
  }

  /// All keys, ascending.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [key, value] : table_) names.emplace_back(key.str());
    return names;
  }

  /// Whether the table has a key that may be left out.
  bool has(const std::string& key) {
    known_.insert(key);
    return table_.contains(key);
  }

  /// Every key that nobody has read yet, in the order of the file: for settings that somebody else understands.
  nlohmann::ordered_json rest() {
    std::vector<std::pair<std::uint32_t, std::string>> keys;
    for (const auto& [key, value] : table_)
      if (!read_.contains(std::string(key.str()))) keys.emplace_back(value.source().begin.line, key.str());
    std::ranges::sort(keys);
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (const auto& [line, key] : keys) values[key] = json_of(key, node(key));
    return values;
  }

  Section section(const std::string& key) {
    const toml::table* table = node(key).as_table();
    require(table != nullptr, kind_, ": ", name_, key, " (is not a table). Write [", key, "].");
    return {*table, name_ + key + ".", kind_, places_};
  }

  /// Throws when the table has a key nobody asked for.
  void finish() const {
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      if (read_.contains(name)) continue;
      const std::string where = place(name);
      throw InvalidArgument(message(kind_, ": ", name_, name, " (", where, where.empty() ? "" : "; ",
                                    "no such setting).", suggestion(name, {known_.begin(), known_.end()})));
    }
  }

 private:
  /// No number is made of true, and none of a word.
  template <typename T>
  static std::optional<T> value_of(const toml::node& node) {
    if (std::is_same_v<T, bool> != node.is_boolean() || std::is_same_v<T, std::string> != node.is_string())
      return std::nullopt;
    return node.value<T>();
  }

  nlohmann::ordered_json json_of(const std::string& key, const toml::node& node) const {
    if (const auto* value = node.as_integer()) return value->get();
    if (const auto* value = node.as_floating_point()) return value->get();
    if (const auto* value = node.as_boolean()) return value->get();
    if (const auto* value = node.as_string()) return value->get();
    const toml::array* list = node.as_array();
    require(list != nullptr, kind_, ": ", name_, key, " (is neither a number, a word, nor a list of them). ",
            hint(key));
    auto values = nlohmann::ordered_json::array();
    for (const toml::node& element : *list) values.push_back(json_of(key, element));
    return values;
  }

  template <typename T>
  static constexpr T largest() {
    return static_cast<T>(std::min(std::int64_t{1} << 40, static_cast<std::int64_t>(std::numeric_limits<T>::max())));
  }

  template <typename T>
  T fitting(const std::string& key, std::int64_t value, T least, T most) const {
    require(value >= least && value <= most, kind_, ": ", name_, key, "=", value, " (needs ", least, " to ", most,
            "). ", hint(key));
    return static_cast<T>(value);
  }

  /// "mine.toml, line 4", "line 4", or nothing where nobody wrote it.
  std::string place(const std::string& key) const {
    const auto known = places_.find(name_ + key);
    if (known != places_.end()) return known->second;
    const auto line = table_.get(key)->source().begin.line;
    return line > 0 ? message("line ", line) : "";
  }

  std::string hint(const std::string& key) const {
    const std::string where = place(key);
    return message("Correct ", name_, key, where.empty() ? "" : " at ", where, ".");
  }

  const toml::table& table_;
  std::string name_, kind_;
  Places places_;
  std::set<std::string> read_, known_;  ///< keys that were read, and those that could be
};

}  // namespace opshap::cli
