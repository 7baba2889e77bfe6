#include "operators/config.hpp"

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap::operators {

namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void reject(const std::string& key, const std::string& why) {
  throw DataError(message("operator config: ", key, " (", why, "). Correct the config."));
}

int whole(const Json& value, const std::string& key, int least, int most) {
  if (!value.is_number_integer()) reject(key + "=" + value.dump().substr(0, 40), "needs a whole number");
  const auto number = value.get<std::int64_t>();
  const bool fits =
      number >= least && number <= most && !(value.is_number_unsigned() && value.get<std::uint64_t>() > 1u << 30);
  if (!fits) reject(key + "=" + value.dump(), message("needs ", least, "..", most));
  return static_cast<int>(number);
}

double fraction(const Json& value) {
  if (value.is_null()) return 0;
  if (!value.is_number())
    reject("domain_padding=" + value.dump().substr(0, 40), "needs a number, the same for all axes");
  const auto number = value.get<double>();
  if (!(number >= 0 && number <= 4)) reject("domain_padding=" + value.dump(), "needs a fraction in 0..4");
  return number;
}

std::string text(const Json& value, const std::string& key) {
  if (!value.is_string()) reject(key, "needs a string");
  return value.get<std::string>();
}

std::vector<int> modes(const Json& value) {
  constexpr int most = 4096;
  if (value.is_number()) return {whole(value, "n_modes", 1, most)};
  if (!value.is_array() || value.empty() || value.size() > 2)
    reject("n_modes", "needs one or two whole numbers, one for each axis");
  std::vector<int> counts;
  for (const Json& count : value) counts.push_back(whole(count, "n_modes", 1, most));
  return counts;
}

}  // namespace

OperatorConfig parse_operator_config(const std::string& json) {
  constexpr int deepest = 3;
  bool too_deep = false;
  const auto limit_depth = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > deepest;
    return !too_deep;
  };
  const Json object = Json::parse(json, limit_depth, false);
  if (object.is_discarded() || too_deep || !object.is_object()) {
    throw DataError(
        "operator config: text (is not a JSON object). Write {\"model\": \"fno\", \"n_modes\": [16], ...}.");
  }
  OperatorConfig config;
  for (const auto& [key, value] : object.items()) {
    if (key == "model") {
      config.model = text(value, key);
    } else if (key == "n_modes") {
      config.n_modes = modes(value);
    } else if (key == "hidden_channels") {
      config.hidden_channels = whole(value, key, 1, 4096);
    } else if (key == "n_layers") {
      config.n_layers = whole(value, key, 1, 256);
    } else if (key == "in_channels") {
      config.in_channels = whole(value, key, 1, 1024);
    } else if (key == "out_channels") {
      config.out_channels = whole(value, key, 1, 1024);
    } else if (key == "domain_padding") {
      config.domain_padding = fraction(value);
    } else if (key == "domain_padding_mode") {
      config.domain_padding_mode = text(value, key);
      if (config.domain_padding_mode != "symmetric" && config.domain_padding_mode != "one-sided") {
        reject(key + "=" + value.dump().substr(0, 40), "is neither \"symmetric\" nor \"one-sided\"");
      }
    } else {
      const std::string nearest = nearest_name(key, {"model", "n_modes", "hidden_channels", "n_layers", "in_channels",
                                                     "out_channels", "domain_padding", "domain_padding_mode"});
      throw DataError(message("operator config: key=", key.substr(0, 60), " (unknown). Did you mean ", nearest, "?"));
    }
  }
  return config;
}

std::string to_json(const OperatorConfig& config) {
  const Json object = {{"model", config.model},
                       {"n_modes", config.n_modes},
                       {"hidden_channels", config.hidden_channels},
                       {"n_layers", config.n_layers},
                       {"in_channels", config.in_channels},
                       {"out_channels", config.out_channels},
                       {"domain_padding", config.domain_padding},
                       {"domain_padding_mode", config.domain_padding_mode}};
  return object.dump();
}

}  // namespace opshap::operators
