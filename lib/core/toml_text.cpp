#include "core/toml_text.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace opshap {

namespace {

using Json = nlohmann::ordered_json;
using Lines = std::map<std::string, int, std::less<>>;

Json json_of_node(const toml::node& node, const std::string& path, Lines& lines) {
  if (const toml::table* table = node.as_table()) {
    std::vector<std::pair<std::uint32_t, std::string_view>> keys;
    for (const auto& [key, value] : *table) keys.emplace_back(value.source().begin.line, key.str());
    std::ranges::stable_sort(keys, {}, &std::pair<std::uint32_t, std::string_view>::first);
    Json object = Json::object();
    for (const auto& [line, key] : keys) {
      const std::string name = path.empty() ? std::string(key) : message(path, ".", key);
      lines.emplace(name, static_cast<int>(line));
      object[std::string(key)] = json_of_node(*table->get(key), name, lines);
    }
    return object;
  }
  if (const toml::array* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& element : *array)
      list.push_back(json_of_node(element, message(path, "[", list.size(), "]"), lines));
    return list;
  }
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_floating_point()) return value->get();
  if (const auto* value = node.as_boolean()) return value->get();
  if (const auto* value = node.as_string()) return value->get();
  std::ostringstream date;
  node.visit([&](const auto& concrete) { date << concrete; });
  return date.str();
}

/// Calls `use` with a number, a word or a truth value.
template <typename Use>
void with_scalar(const Json& value, const Use& use) {
  if (value.is_boolean()) use(value.get<bool>());
  if (value.is_number_integer()) use(value.get<std::int64_t>());
  if (value.is_number_float()) use(value.get<double>());
  if (value.is_string()) use(value.get<std::string>());
}

toml::table table_of_object(const Json& object, const std::string& path, const std::set<std::string>& inlined);

toml::array array_of_list(const Json& list) {
  toml::array array;
  for (const Json& element : list) {
    if (element.is_array()) array.push_back(array_of_list(element));
    if (element.is_object()) {
      toml::table table = table_of_object(element, "", {});
      table.is_inline(true);
      array.push_back(std::move(table));
    }
    with_scalar(element, [&](const auto& scalar) { array.push_back(scalar); });
  }
  return array;
}

toml::table table_of_object(const Json& object, const std::string& path, const std::set<std::string>& inlined) {
  toml::table table;
  for (const auto& [key, value] : object.items()) {
    const std::string& name = key;
    const std::string below = path.empty() ? name : path + "." + name;
    if (value.is_array()) table.insert_or_assign(name, array_of_list(value));
    if (value.is_object()) {
      toml::table inner = table_of_object(value, below, inlined);
      inner.is_inline(inlined.contains(below));
      table.insert_or_assign(name, std::move(inner));
    }
    with_scalar(value, [&](const auto& scalar) { table.insert_or_assign(name, scalar); });
  }
  return table;
}

}  // namespace

Json parse_toml(std::string_view text, std::string_view who, const std::string& source, Lines& lines) {
  try {
    return json_of_node(toml::parse(text, source), "", lines);
  } catch (const toml::parse_error& error) {
    throw DataError(message(who, ": ", source, " line ", error.source().begin.line, " (", error.description(),
                            "). Correct the TOML."));
  }
}

std::string toml_text(const Json& object, const std::set<std::string>& inlined) {
  std::ostringstream out;
  out << table_of_object(object, "", inlined) << '\n';
  return out.str();
}

void lay_over(Json& into, const Json& from) {
  for (const auto& [key, value] : from.items()) {
    if (into.contains(key) && into.at(key).is_object() && value.is_object()) {
      lay_over(into[key], value);
    } else {
      into[key] = value;
    }
  }
}

}  // namespace opshap
