#include "core/strict_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/error.hpp"

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

}  // namespace opshap
