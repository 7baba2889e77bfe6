#include "runs/json_row.hpp"

#include <cmath>
#include <limits>

namespace opshap::runs::json_row {

namespace {

void require_type(bool right, const char* key, const char* type) {
  require<DataError>(right, key, " (is not ", type, ")");
}

}  // namespace

double finite(const char* key, double value) {
  require<NumericalError>(std::isfinite(value), "results: ", key, "=", value,
                          " (is not finite). Store why there is no number instead.");
  return value;
}

Json Writer::json_of(const char* key, const std::vector<double>& values) {
  for (const double value : values) finite(key, value);
  return values;
}

Json Writer::json_of(const char* key, const std::vector<Measured>& values) {
  Json list = Json::array();
  for (const Measured& value : values) list.push_back(json_of(key, value));
  return list;
}

Json Writer::json_of(const char* key, const Measured& measured) {
  if (measured.value) return finite(key, *measured.value);
  return {{"value", nullptr}, {"why", measured.why}};
}

void Reader::read(const char* key, const Json& json, std::string& value) {
  require_type(json.is_string(), key, "a string");
  value = json.get<std::string>();
}

void Reader::read(const char* key, const Json& json, int& value) {
  std::int64_t wide = 0;
  read(key, json, wide);
  require<DataError>(wide >= std::numeric_limits<int>::min() && wide <= std::numeric_limits<int>::max(), key, "=", wide,
                     " (is too large)");
  value = static_cast<int>(wide);
}

void Reader::read(const char* key, const Json& json, std::int64_t& value) {
  require_type(json.is_number_integer(), key, "an integer");
  value = json.get<std::int64_t>();
}

void Reader::read(const char* key, const Json& json, std::uint64_t& value) {
  require_type(json.is_number_unsigned(), key, "a non-negative integer");
  value = json.get<std::uint64_t>();
}

void Reader::read(const char* key, const Json& json, double& value) {
  require_type(json.is_number(), key, "a number");
  value = json.get<double>();
}

void Reader::read(const char* key, const Json& json, Measured& measured) {
  if (json.is_number()) {
    measured = Measured::of(json.get<double>());
    return;
  }
  require<DataError>(
      json.is_object() && json.contains("why") && json["why"].is_string() && !json["why"].get<std::string>().empty(),
      key, " (is neither a number nor {\"value\":null,\"why\":\"...\"})");
  measured = Measured::undefined(json["why"].get<std::string>());
}

}  // namespace opshap::runs::json_row
