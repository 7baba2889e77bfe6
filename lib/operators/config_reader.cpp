#include "operators/config_reader.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "operators/registry.hpp"

namespace opshap::operators {

namespace {

using Json = StrictObject::Json;

Json parsed_config(const std::string& json) {
  constexpr int deepest = 3;
  bool too_deep = false;
  const auto limit_depth = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > deepest;
    return !too_deep;
  };
  Json object = Json::parse(json, limit_depth, false);
  if (object.is_discarded() || too_deep || !object.is_object())
    throw DataError(
        "operator config: text (is not a JSON object). Write {\"model\": \"fno\", \"n_modes\": [16], ...}.");
  return object;
}

/// As much of a value as a message can carry.
std::string shown(const std::string& key, const Json& value) { return key + "=" + value.dump().substr(0, 40); }

bool is_fraction(const Json& number, double most) {
  return number.is_number() && number.get<double>() >= 0 && number.get<double>() <= most;
}

}  // namespace

ConfigReader::ConfigReader(const std::string& json, StrictObject::Voice voice)
    : object_(std::make_shared<const Json>(parsed_config(json))), reader_(*object_, std::move(voice)) {}

ConfigReader::ConfigReader(const networks::NetworkConfig& config)
    : ConfigReader(config.json, {.who = "operator config: ", .advice = "Correct the config.", .of_a_file = true}) {}

ConfigReader::ConfigReader(const networks::NetworkSettings& settings)
    : ConfigReader(settings.json, {.who = "profile: operator.", .advice = "Correct the profile."}) {}

int ConfigReader::whole(const std::string& key, int absent, Range range) {
  return reader_.has(key) ? reader_.whole(key, range.least, range.most) : absent;
}

double ConfigReader::fraction(const std::string& key, double absent, double most) {
  const Json* found = reader_.find(key);
  if (found == nullptr) return absent;
  if (found->is_null()) return 0;
  if (!is_fraction(*found, most)) reject(shown(key, *found), message("needs a fraction in 0..", most));
  return found->get<double>();
}

std::vector<double> ConfigReader::fractions(const std::string& key, const std::vector<double>& absent, double most) {
  const Json* found = reader_.find(key);
  if (found == nullptr) return absent;
  if (!found->is_array()) return {fraction(key, 0, most)};
  const bool fits = !found->empty() && found->size() <= 2 &&
                    std::ranges::all_of(*found, [&](const Json& one) { return is_fraction(one, most); });
  if (!fits) reject(shown(key, *found), message("needs a fraction in 0..", most, ", or a list of one for each axis"));
  return found->get<std::vector<double>>();
}

std::string ConfigReader::text(const std::string& key, const std::string& absent) { return reader_.get(key, absent); }

std::string ConfigReader::choice(const std::string& key, const std::string& absent,
                                 const std::vector<std::string>& choices) {
  return reader_.has(key) || std::ranges::find(choices, absent) == choices.end() ? reader_.word(key, choices) : absent;
}

std::string ConfigReader::choice_or_none(const std::string& key, const std::string& absent,
                                         const std::vector<std::string>& choices) {
  const Json* found = reader_.find(key);
  return found != nullptr && found->is_null() ? "none" : choice(key, absent, choices);
}

bool ConfigReader::truth(const std::string& key, bool absent) { return reader_.get(key, absent); }

std::vector<bool> ConfigReader::truth_per_layer(const std::string& key, bool absent, int layers) {
  const auto count = static_cast<std::size_t>(layers);
  const Json* found = reader_.find(key);
  if (found == nullptr || !found->is_array()) return std::vector<bool>(count, truth(key, absent));
  const bool fits =
      found->size() == count && std::ranges::all_of(*found, [](const Json& one) { return one.is_boolean(); });
  if (!fits)
    reject(shown(key, *found), message("needs true or false, or a list of ", layers, " of them, one for each layer"));
  return found->get<std::vector<bool>>();
}

std::string ConfigReader::json(const std::string& key, const std::string& absent) {
  const Json* found = reader_.find(key);
  return found == nullptr ? absent : found->dump();
}

std::vector<int> ConfigReader::per_axis(const std::string& key, const std::vector<int>& absent, Range range) {
  const Json* found = reader_.find(key);
  if (found == nullptr) return absent;
  if (!found->is_array()) return {whole(key, 0, range)};
  if (found->empty() || found->size() > 2)
    reject(shown(key, *found), "needs one or two whole numbers, one for each axis");
  return reader_.wholes(key, range.least, range.most);
}

const char* to_string(InverseShift shift) { return shift == InverseShift::fftshift ? "fftshift" : "ifftshift"; }

InverseShift read_inverse_shift(ConfigReader& reader, InverseShift absent) {
  const std::string found = reader.choice(inverse_shift_key, to_string(absent),
                                          {to_string(InverseShift::fftshift), to_string(InverseShift::ifftshift)});
  return found == to_string(InverseShift::fftshift) ? InverseShift::fftshift : InverseShift::ifftshift;
}

networks::NetworkConfig of_own_training(const networks::NetworkConfig& config) {
  if (ConfigReader(config).has(inverse_shift_key) || !architecture_of(config)->shifts_spectra()) return config;
  auto object = nlohmann::ordered_json::parse(config.json);
  object[inverse_shift_key] = to_string(InverseShift::ifftshift);
  return {object.dump()};
}

}  // namespace opshap::operators
