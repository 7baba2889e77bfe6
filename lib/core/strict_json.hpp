#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/error.hpp"

namespace opshap {

/// What a JSON text may have at most, so that no text can take more than a few times its own size.
struct JsonLimits {
  int depth = 64;                            ///< objects and arrays inside each other
  std::size_t keys = 10000;                  ///< of one object
  std::size_t bytes = std::size_t{1} << 32;  ///< of the text
};

/// The JSON text that came from outside: a file, or a message of another program.
///
/// Json is nlohmann::json or nlohmann::ordered_json. Throws DataError("who: json (why). What to do.") for what is no
/// JSON, for a text beyond the limits and for a key that is given twice in one object. What Python, PowerShell and
/// others write by mistake is named: NaN, Infinity, UTF-16.
template <typename Json>
Json strict_json(std::string_view text, std::string_view who, const JsonLimits& limits = {});

/// Where settings were written, by their dotted names: "scenario.query_at" -> "mine.toml, line 4".
using Places = std::map<std::string, std::string, std::less<>>;

/// Reads every key of one object of settings: a table of a profile, of a suite or of plugin.toml, the configuration of
/// a network, a game in JSON.
///
/// A key that is missing or mistyped, a number that does not fit, and a key that nobody asked for are refused by name:
/// "WHO PATH.KEY=VALUE (why). ADVICE". The object must outlive its reader.
class StrictObject {
 public:
  using Json = nlohmann::ordered_json;

  /// What the messages say, and what they are thrown as.
  struct Voice {
    std::string who;                  ///< "profile: "
    std::string advice = {};          ///< "Correct the config."; empty: "Correct KEY at PLACE."
    std::string missing = "Add it.";  ///< the advice for a key that is not there
    std::string unknown = "no such setting";
    bool of_a_file = false;  ///< DataError, else InvalidArgument
    Places places = {};
  };

  /// `path` is put before the keys in messages: "explainer.". Throws for what is no object.
  StrictObject(const Json& object, Voice voice, std::string path = "");

  const Voice& voice() const { return voice_; }

  bool has(const std::string& key);
  /// The value of a key; nullptr without it.
  const Json* find(const std::string& key);
  const Json& value(const std::string& key);

  /// A bool, a std::string, a double or an integer. No number is made of true, and none of a word.
  template <typename T>
  T get(const std::string& key) {
    return as<T>(key, value(key));
  }
  template <typename T>
  T get(const std::string& key, const T& otherwise) {
    const Json* found = find(key);
    return found == nullptr ? otherwise : as<T>(key, *found);
  }
  template <typename T>
  std::vector<T> list(const std::string& key) {
    std::vector<T> values;
    for (const Json& element : array(key)) values.push_back(as<T>(key, element));
    return values;
  }

  /// An integer from `least` to `most`, which is by default the largest int, or 2^40 for a wider type.
  template <typename T = int>
  T whole(const std::string& key, T least = 1, T most = largest<T>()) {
    return static_cast<T>(fitting(key, value(key), least, most));
  }
  /// A list of such integers.
  std::vector<int> wholes(const std::string& key, int least, int most = largest<int>());
  double positive(const std::string& key);
  double not_negative(const std::string& key);
  /// One of these words.
  std::string word(const std::string& key, const std::vector<std::string>& choices);

  StrictObject object(const std::string& key);
  /// A list of objects, as "PATH.KEY[0]." and so on.
  std::vector<StrictObject> objects(const std::string& key);
  const Json& array(const std::string& key);

  /// Every key that nobody has read yet: for settings that somebody else understands.
  Json rest();
  /// All keys, in the order of the object.
  std::vector<std::string> keys() const;
  /// Throws when the object has a key that nobody asked for.
  void finish() const;

  /// "WHO PATH.WHAT (why). ADVICE". `what` begins with the key, and may have "=VALUE" behind it.
  [[noreturn]] void refuse(const std::string& what, const std::string& why) const;

 private:
  template <typename T>
  static constexpr T largest() {
    return static_cast<T>(std::min(std::int64_t{1} << 40, static_cast<std::int64_t>(std::numeric_limits<T>::max())));
  }
  template <typename T>
  T as(const std::string& key, const Json& value) const {
    if constexpr (std::is_same_v<T, bool>) {
      if (value.is_boolean()) return value.get<bool>();
      refuse(shown(key, value), "needs true or false");
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (value.is_string()) return value.get<std::string>();
      refuse(shown(key, value), "needs a word in quotation marks");
    } else if constexpr (std::is_floating_point_v<T>) {
      if (value.is_number()) return value.get<T>();
      refuse(shown(key, value), "needs a number");
    } else {
      return static_cast<T>(fitting(key, value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
  }
  std::int64_t fitting(const std::string& key, const Json& value, std::int64_t least, std::int64_t most) const;
  /// "KEY=VALUE", as much of it as a message can carry.
  static std::string shown(const std::string& key, const Json& value);
  /// "mine.toml, line 4", or nothing where nobody wrote it.
  std::string place(const std::string& what) const;
  [[noreturn]] void fail(const std::string& text) const;

  const Json& object_;
  Voice voice_;
  std::string path_;
  std::set<std::string> read_, known_;  ///< keys that were read, and those that could be
};

}  // namespace opshap
