#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
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

/// Reads every key of one table of a profile exactly once: a missing, mistyped or unknown key is an InvalidArgument
/// that names it. The table must outlive the section. `kind` starts the messages: what the file is.
class Section {
 public:
  Section(const toml::table& table, std::string name, std::string kind = "profile")
      : table_(table), name_(std::move(name)), kind_(std::move(kind)) {}

  template <typename T>
  T get(const std::string& key) {
    const std::optional<T> value = node(key).value<T>();
    require(value.has_value(), kind_, ": ", name_, key, " (has the wrong type). ", hint(key));
    return *value;
  }

  /// An integer that is at least `least`.
  template <typename T = int>
  T count(const std::string& key, T least = 1) {
    const auto value = get<std::int64_t>(key);
    require(value >= least && value <= (std::int64_t{1} << 40), kind_, ": ", name_, key, "=", value,
            " (needs at least ", least, "). ", hint(key));
    return static_cast<T>(value);
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
      const std::optional<T> value = element.value<T>();
      require(value.has_value(), kind_, ": ", name_, key, " (an entry has the wrong type). ", hint(key));
      values.push_back(*value);
    }
    return values;
  }

  const toml::node& node(const std::string& key) {
    read_.insert(key);
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

  bool has(const std::string& key) const { return table_.contains(key); }

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
    return {*table, name_ + key + ".", kind_};
  }

  /// Throws when the table has a key nobody asked for.
  void finish() const {
    for (const auto& [key, value] : table_) {
      const std::string name(key.str());
      require(read_.contains(name), kind_, ": ", name_, name, " (line ", value.source().begin.line,
              "; no such setting). Did you mean ", nearest_name(name, {read_.begin(), read_.end()}), "?");
    }
  }

 private:
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

  std::string hint(const std::string& key) const {
    return message("Correct ", name_, key, " at line ", table_.get(key)->source().begin.line, ".");
  }

  const toml::table& table_;
  std::string name_, kind_;
  std::set<std::string> read_;
};

}  // namespace opshap::cli
