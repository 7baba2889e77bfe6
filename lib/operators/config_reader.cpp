#include "operators/config_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap::operators {

using Json = nlohmann::ordered_json;

namespace {

/// As much of a value as a message can carry.
std::string shown(const std::string& key, const std::string& value) { return key + "=" + value.substr(0, 40); }

bool is_in(const Json& number, ConfigReader::Range range) {
  if (!number.is_number_integer()) return false;
  if (number.is_number_unsigned() && number.get<std::uint64_t>() > 1u << 30) return false;
  return number.get<std::int64_t>() >= range.least && number.get<std::int64_t>() <= range.most;
}

}  // namespace

ConfigReader::ConfigReader(const NetworkConfig& config) { parse(config.json); }

ConfigReader::ConfigReader(const NetworkSettings& settings) : in_profile_(true) { parse(settings.json); }

void ConfigReader::parse(const std::string& json) {
  constexpr int deepest = 3;
  bool too_deep = false;
  const auto limit_depth = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > deepest;
    return !too_deep;
  };
  const Json object = Json::parse(json, limit_depth, false);
  if (object.is_discarded() || too_deep || !object.is_object())
    throw DataError(
        "operator config: text (is not a JSON object). Write {\"model\": \"fno\", \"n_modes\": [16], ...}.");
  for (const auto& [key, value] : object.items()) values_[key] = value.dump();
}

const std::string* ConfigReader::value(const std::string& key) {
  asked_.push_back(key);
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

int ConfigReader::whole(const std::string& key, int absent, Range range) {
  const std::string* text = value(key);
  if (text == nullptr) return absent;
  const Json number = Json::parse(*text);
  if (!number.is_number_integer()) reject(shown(key, *text), "needs a whole number");
  if (!is_in(number, range)) reject(shown(key, *text), message("needs ", range.least, "..", range.most));
  return number.get<int>();
}

double ConfigReader::fraction(const std::string& key, double absent, double most) {
  const std::string* text = value(key);
  if (text == nullptr) return absent;
  const Json number = Json::parse(*text);
  if (number.is_null()) return 0;
  if (!number.is_number()) reject(shown(key, *text), "needs a number");
  const auto fraction = number.get<double>();
  if (!(fraction >= 0 && fraction <= most)) reject(shown(key, *text), message("needs a fraction in 0..", most));
  return fraction;
}

std::vector<double> ConfigReader::fractions(const std::string& key, const std::vector<double>& absent, double most) {
  const std::string* text = value(key);
  if (text == nullptr) return absent;
  const Json found = Json::parse(*text);
  if (!found.is_array()) return {fraction(key, 0, most)};
  const bool fits = !found.empty() && found.size() <= 2 && std::ranges::all_of(found, [&](const Json& one) {
    return one.is_number() && one.get<double>() >= 0 && one.get<double>() <= most;
  });
  if (!fits) reject(shown(key, *text), message("needs a fraction in 0..", most, ", or a list of one for each axis"));
  return found.get<std::vector<double>>();
}

std::string ConfigReader::text(const std::string& key, const std::string& absent) {
  const std::string* text = value(key);
  if (text == nullptr) return absent;
  const Json found = Json::parse(*text);
  if (!found.is_string()) reject(shown(key, *text), "needs a string");
  return found.get<std::string>();
}

std::string ConfigReader::choice(const std::string& key, const std::string& absent,
                                 const std::vector<std::string>& choices) {
  const std::string found = text(key, absent);
  if (std::ranges::find(choices, found) != choices.end()) return found;
  std::string all;
  for (const std::string& choice : choices) all += message(all.empty() ? "" : ", ", choice);
  reject(shown(key, found), message("is none of ", all));
}

std::string ConfigReader::choice_or_none(const std::string& key, const std::string& absent,
                                         const std::vector<std::string>& choices) {
  const std::string* text = value(key);
  return text != nullptr && *text == "null" ? "none" : choice(key, absent, choices);
}

bool ConfigReader::truth(const std::string& key, bool absent) {
  const std::string* text = value(key);
  if (text == nullptr) return absent;
  if (*text != "true" && *text != "false") reject(shown(key, *text), "needs true or false");
  return *text == "true";
}

std::vector<bool> ConfigReader::truth_per_layer(const std::string& key, bool absent, int layers) {
  const auto count = static_cast<std::size_t>(layers);
  const std::string* text = value(key);
  const Json found = text == nullptr ? Json() : Json::parse(*text);
  if (!found.is_array()) return std::vector<bool>(count, truth(key, absent));
  const bool fits =
      found.size() == count && std::ranges::all_of(found, [](const Json& one) { return one.is_boolean(); });
  if (!fits)
    reject(shown(key, *text), message("needs true or false, or a list of ", layers, " of them, one for each layer"));
  return found.get<std::vector<bool>>();
}

std::string ConfigReader::json(const std::string& key, const std::string& absent) {
  const std::string* text = value(key);
  return text == nullptr ? absent : *text;
}

std::vector<int> ConfigReader::per_axis(const std::string& key, const std::vector<int>& absent, Range range) {
  const std::string* text = value(key);
  if (text == nullptr) return absent;
  const Json found = Json::parse(*text);
  if (!found.is_array()) return {whole(key, 0, range)};
  if (found.empty() || found.size() > 2) reject(key, "needs one or two whole numbers, one for each axis");
  std::vector<int> counts;
  for (const Json& count : found) {
    if (!is_in(count, range))
      reject(shown(key, *text), message("needs whole numbers in ", range.least, "..", range.most));
    counts.push_back(count.get<int>());
  }
  return counts;
}

void ConfigReader::finish() const {
  for (const auto& [key, value] : values_) {
    if (std::ranges::find(asked_, key) != asked_.end()) continue;
    const std::string what = message(in_profile_ ? "operator." : "operator config: key=", key.substr(0, 60),
                                     " (unknown).", suggestion(key, asked_));
    if (in_profile_) throw InvalidArgument("profile: " + what);
    throw DataError(what);
  }
}

void ConfigReader::reject(const std::string& what, const std::string& why) const {
  if (in_profile_) throw InvalidArgument(message("profile: operator.", what, " (", why, "). Correct the profile."));
  throw DataError(message("operator config: ", what, " (", why, "). Correct the config."));
}

}  // namespace opshap::operators
