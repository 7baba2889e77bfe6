#include "core/strict_json.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/names.hpp"

namespace opshap {

namespace {

constexpr std::size_t longest_shown = 200;

std::string shortened(const std::string& text) {
  return text.size() <= longest_shown ? text : text.substr(0, longest_shown) + "...";
}

/// Builds the value as the parser tells of its pieces, and refuses what is beyond the limits before it is stored.
template <typename Json>
class Builder {
 public:
  using number_integer_t = typename Json::number_integer_t;
  using number_unsigned_t = typename Json::number_unsigned_t;
  using number_float_t = typename Json::number_float_t;
  using string_t = typename Json::string_t;
  using binary_t = typename Json::binary_t;

  Builder(std::string_view text, std::string_view who, const JsonLimits& limits)
      : text_(text), who_(who), limits_(limits) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(number_integer_t value) { return put(value); }
  bool number_unsigned(number_unsigned_t value) { return put(value); }
  bool number_float(number_float_t value, const string_t&) { return put(value); }
  bool string(string_t& value) { return put(std::move(value)); }
  bool binary(binary_t&) { return false; }  // there are none in a text
  bool start_object(std::size_t) { return begin(Json::object()); }
  bool start_array(std::size_t) { return begin(Json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(string_t& name) {
    Json& object = *open_.back();
    require<DataError>(object.size() < limits_.keys, who_, ": keys=", object.size() + 1, " (an object has at most ",
                       limits_.keys, "). Repair the file.");
    if (object.contains(name))
      throw DataError(message(who_, ": key=", shortened(name), " (given twice in one object). Keep one."));
    member_ = &object[name];
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
    const std::string foreign = no_number_of_json(position);
    throw DataError(message(who_, ": json (", foreign.empty() ? shortened(error.what()) : foreign, "). ",
                            foreign.empty() ? "Repair the file." : "Write a finite number."));
  }

  Json take() { return std::move(root_); }

 private:
  Json* place() {
    if (open_.empty()) return &root_;
    return open_.back()->is_array() ? &open_.back()->emplace_back() : member_;
  }
  template <typename Value>
  bool put(Value&& value) {
    *place() = std::forward<Value>(value);
    return true;
  }
  bool begin(Json empty) {
    const auto depth = static_cast<int>(open_.size()) + 1;
    require<DataError>(depth <= limits_.depth, who_, ": depth=", depth, " (at most ", limits_.depth,
                       " levels are read). Remove the nested value.");
    Json* const started = place();
    *started = std::move(empty);
    open_.push_back(started);
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }
  /// What other programs write for a number that is not finite, where the parser has stopped in it.
  std::string no_number_of_json(std::size_t position) const {
    const std::size_t begin = position < 3 ? 0 : position - 3, end = std::min(text_.size(), position + 9);
    const std::string_view near = text_.substr(std::min(begin, end), end - std::min(begin, end));
    for (const char* word : {"NaN", "nan", "Infinity", "inf"}) {
      if (near.find(word) != std::string_view::npos) return message(word, " is no number of JSON, at byte ", position);
    }
    return "";
  }

  std::string_view text_, who_;
  const JsonLimits& limits_;
  Json root_;
  std::vector<Json*> open_;  ///< the arrays and objects that are not closed; they do not move meanwhile
  Json* member_ = nullptr;   ///< of the innermost object, that waits for its value
};

/// PowerShell and some editors write UTF-16, of which every other byte is 0 in plain English.
bool is_utf16(std::string_view text) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return true;
  return text.size() >= 2 && (text[0] == '\0') != (text[1] == '\0');
}

}  // namespace

template <typename Json>
Json strict_json(std::string_view text, std::string_view who, const JsonLimits& limits) {
  require<DataError>(text.size() <= limits.bytes, who, ": bytes=", text.size(), " (at most ", limits.bytes,
                     " are read). Give a smaller text.");
  require<DataError>(!is_utf16(text), who, ": json (the text is UTF-16). Save it as UTF-8.");
  Builder<Json> builder(text, who, limits);
  Json::sax_parse(text, &builder);
  return builder.take();
}

template nlohmann::json strict_json(std::string_view, std::string_view, const JsonLimits&);
template nlohmann::ordered_json strict_json(std::string_view, std::string_view, const JsonLimits&);

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
  if (std::ranges::find(choices, found) == choices.end())
    refuse(message(key, "=", found), "not one of " + joined(choices));
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
