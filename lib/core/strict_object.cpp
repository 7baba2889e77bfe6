#include "core/strict_object.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/names.hpp"

namespace opshap {

StrictObject::StrictObject(const Json& object, Voice voice, std::string path)
    : object_(object), voice_(std::move(voice)), path_(std::move(path)) {
  if (object.is_object()) return;
  std::string name = path_;
  if (name.ends_with('.')) name.pop_back();
  path_.clear();
  refuse(name, "is not an object");
}

bool StrictObject::has(const std::string& key) {
  known_.insert(key);
  return object_.contains(key);
}

const StrictObject::Json* StrictObject::find(const std::string& key) {
  if (!has(key)) return nullptr;
  read_.insert(key);
  return &object_.at(key);
}

const StrictObject::Json& StrictObject::value(const std::string& key) {
  const Json* found = find(key);
  if (found == nullptr) fail(message(voice_.who, path_, key, " (is missing). ", voice_.missing));
  return *found;
}

std::vector<int> StrictObject::wholes(const std::string& key, int least, int most) {
  std::vector<int> values;
  for (const Json& element : array(key)) values.push_back(static_cast<int>(fitting(key, element, least, most)));
  return values;
}

double StrictObject::positive(const std::string& key) {
  const auto number = get<double>(key);
  if (!(number > 0 && std::isfinite(number))) refuse(message(key, "=", number), "needs a positive number");
  return number;
}

double StrictObject::not_negative(const std::string& key) {
  const auto number = get<double>(key);
  if (!(number >= 0 && std::isfinite(number))) refuse(message(key, "=", number), "needs a number that is not negative");
  return number;
}

std::string StrictObject::word(const std::string& key, const std::vector<std::string>& choices) {
  auto found = get<std::string>(key);
  if (std::ranges::find(choices, found) == choices.end()) {
    std::string all;
    for (const std::string& choice : choices) all += message(all.empty() ? "" : ", ", choice);
    refuse(message(key, "=", found), "not one of " + all);
  }
  return found;
}

StrictObject StrictObject::object(const std::string& key) { return {value(key), voice_, path_ + key + "."}; }

std::vector<StrictObject> StrictObject::objects(const std::string& key) {
  std::vector<StrictObject> found;
  for (const Json& element : array(key))
    found.emplace_back(element, voice_, message(path_, key, "[", found.size(), "]."));
  return found;
}

const StrictObject::Json& StrictObject::array(const std::string& key) {
  const Json& found = value(key);
  if (!found.is_array()) refuse(shown(key, found), "is not a list");
  return found;
}

StrictObject::Json StrictObject::rest() {
  Json values = Json::object();
  for (const auto& [key, value] : object_.items()) {
    if (read_.insert(key).second) values[key] = value;
  }
  return values;
}

std::vector<std::string> StrictObject::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object_.items()) keys.push_back(key);
  return keys;
}

void StrictObject::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (read_.contains(key)) continue;
    const std::string where = place(key);
    fail(message(voice_.who, path_, key.substr(0, 60), " (", where, where.empty() ? "" : "; ", voice_.unknown, ").",
                 suggestion(key, {known_.begin(), known_.end()})));
  }
}

void StrictObject::refuse(const std::string& what, const std::string& why) const {
  const std::string key = what.substr(0, what.find_first_of("=["));
  const std::string where = place(key);
  const std::string advice =
      voice_.advice.empty() ? message("Correct ", path_, key, where.empty() ? "" : " at ", where, ".") : voice_.advice;
  fail(message(voice_.who, path_, what, " (", why, "). ", advice));
}

std::int64_t StrictObject::fitting(const std::string& key, const Json& value, std::int64_t least,
                                   std::int64_t most) const {
  constexpr double exact = 9007199254740992;  // up to here every whole number is a double
  const bool whole =
      value.is_number_integer() || (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>() &&
                                    std::abs(value.get<double>()) <= exact);
  if (!whole) refuse(shown(key, value), "needs a whole number");
  const bool too_large =
      value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto number = value.get<std::int64_t>();
  if (too_large || number < least || number > most) refuse(shown(key, value), message("needs ", least, " to ", most));
  return number;
}

std::string StrictObject::shown(const std::string& key, const Json& value) {
  constexpr std::size_t longest = 40;
  const bool has_parts = value.is_structured() && value.size() > 8;
  std::string text =
      has_parts ? std::string(value.type_name()) : value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (value.is_string()) text = text.substr(1, text.size() - 2);
  return key + "=" + text.substr(0, longest);
}

std::string StrictObject::place(const std::string& what) const {
  const auto known = voice_.places.find(path_ + what);
  return known == voice_.places.end() ? "" : known->second;
}

void StrictObject::fail(const std::string& text) const {
  if (voice_.of_a_file) throw DataError(text);
  throw InvalidArgument(text);
}

}  // namespace opshap
