#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/measured.hpp"

namespace opshap::reporting::json_row {

using Json = nlohmann::ordered_json;

/// The number itself. Throws NumericalError naming the key when it is not finite: JSON has none.
double finite(const char* key, double value);
const std::vector<double>& finite(const char* key, const std::vector<double>& values);

/// A number, or {"value":null,"why":"..."}.
Json to_json(const Measured& measured);
Json to_json(const std::optional<std::int64_t>& count);

/// One row of a .jsonl file being read: every access throws DataError naming the key that is missing or mistyped. Keeps a reference.
class Row {
 public:
  explicit Row(const Json& json) : json_(json) {}

  void read(const char* key, std::string& value) const {
    value = typed(key, &Json::is_string, "a string").get<std::string>();
  }
  void read(const char* key, int& value) const {
    value = typed(key, &Json::is_number_integer, "an integer").get<int>();
  }
  void read(const char* key, std::int64_t& value) const {
    value = typed(key, &Json::is_number_integer, "an integer").get<std::int64_t>();
  }
  void read(const char* key, std::uint64_t& value) const {
    value = typed(key, &Json::is_number_unsigned, "a non-negative integer").get<std::uint64_t>();
  }
  void read(const char* key, double& value) const { value = typed(key, &Json::is_number, "a number").get<double>(); }
  void read(const char* key, std::optional<std::int64_t>& value) const {
    const Json& found = at(key);
    require<DataError>(found.is_null() || found.is_number_integer(), key, " (is neither an integer nor null)");
    if (!found.is_null()) value = found.get<std::int64_t>();
  }
  void read(const char* key, std::vector<double>& values) const {
    for (const Json& value : typed(key, &Json::is_array, "a list")) {
      require<DataError>(value.is_number(), key, " (an entry is not a number)");
      values.push_back(value.get<double>());
    }
  }
  void read(const char* key, Measured& measured) const {
    const Json& found = at(key);
    if (found.is_number()) {
      measured = Measured::of(found.get<double>());
      return;
    }
    require<DataError>(found.is_object() && found.contains("why") && found["why"].is_string() &&
                           !found["why"].get<std::string>().empty(),
                       key, " (is neither a number nor {\"value\":null,\"why\":\"...\"})");
    measured = Measured::undefined(found["why"].get<std::string>());
  }
  /// The object under a key.
  Row nested(const char* key) const { return Row(typed(key, &Json::is_object, "an object")); }

 private:
  const Json& at(const char* key) const {
    require<DataError>(json_.contains(key), key, " (is missing)");
    return json_[key];
  }
  const Json& typed(const char* key, bool (Json::*is)() const noexcept, const char* what) const {
    const Json& found = at(key);
    require<DataError>((found.*is)(), key, " (is not ", what, ")");
    return found;
  }

  const Json& json_;
};

}  // namespace opshap::reporting::json_row
