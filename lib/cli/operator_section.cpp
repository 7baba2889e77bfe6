#include "cli/operator_section.hpp"

#include <nlohmann/json.hpp>

namespace opshap::cli {

namespace {

/// A number, a word or a truth value of an architecture's settings.
template <typename Use>
void visit_scalar(const nlohmann::ordered_json& value, const Use& use) {
  if (value.is_boolean()) {
    use(value.get<bool>());
  } else if (value.is_number_integer()) {
    use(value.get<std::int64_t>());
  } else if (value.is_number()) {
    use(value.get<double>());
  } else {
    use(value.get<std::string>());
  }
}

toml::array toml_array(const nlohmann::ordered_json& values) {
  toml::array list;
  for (const nlohmann::ordered_json& value : values) {
    if (value.is_array()) {
      list.push_back(toml_array(value));
    } else {
      visit_scalar(value, [&](const auto& held) { list.push_back(held); });
    }
  }
  return list;
}

}  // namespace

operators::NetworkSettings read_operator(Section section) {
  operators::NetworkSettings settings;
  settings.model = section.get<std::string>("model");
  settings.json = section.rest().dump();
  return settings;
}

toml::table operator_table(const operators::NetworkSettings& settings) {
  toml::table table{{"model", settings.model}};
  const auto values = nlohmann::ordered_json::parse(settings.json);
  for (const auto& [name, value] : values.items()) {
    if (value.is_array()) {
      table.insert_or_assign(name, toml_array(value));
    } else {
      visit_scalar(value, [&, &key = name](const auto& held) { table.insert_or_assign(key, held); });
    }
  }
  return table;
}

}  // namespace opshap::cli
