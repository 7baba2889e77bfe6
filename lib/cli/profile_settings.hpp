#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/profile.hpp"
#include "core/error.hpp"
#include "core/strict_json.hpp"

namespace opshap::cli {

/// One key of a table of a profile, written once: of it are made reading, writing, a run's identity, departures from
/// the paper, and the page of keys.
template <typename Table>
struct Setting {
  using Json = nlohmann::ordered_json;

  std::string key;
  std::string range;    ///< what may be given: "1 to 1048576", "\"grid\" or \"query\""
  std::string meaning;  ///< what it says, and what holds without it where it may be left out
  std::function<void(StrictObject&, Table&)> read;
  /// The value to write; null to leave the key out. `usual` is the table that needs no key.
  std::function<Json(const Table&, const Table& usual)> write;
  bool optional = false;   ///< a profile may leave it out
  std::string paper = {};  ///< what a departure from the paper's value is called; empty where none is named by itself
};

template <typename Table>
using Settings = std::vector<Setting<Table>>;

/// The value of a member, null where it holds none.
template <typename Value>
nlohmann::ordered_json json_of_member(const Value& value) {
  if constexpr (requires { value.has_value(); }) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  } else {
    return value;
  }
}

/// A setting that is a member: needed, or left out where it is as usual.
template <typename Table, typename Value>
Setting<Table> member_setting(std::string key, Value Table::*member, std::string range, std::string meaning,
                              std::type_identity_t<std::function<void(StrictObject&, Table&)>> read) {
  const auto write = [member](const Table& table, const Table&) { return json_of_member(table.*member); };
  return {std::move(key), std::move(range), std::move(meaning), std::move(read), write};
}

/// An integer of the member's own type from `least` to `most`; more than fits is refused.
template <typename Table, typename Whole>
Setting<Table> whole_setting(std::string key, Whole Table::*member, Whole least, std::string meaning,
                             Whole most = std::numeric_limits<Whole>::max()) {
  constexpr std::int64_t largest = std::int64_t{1} << 40;
  if (static_cast<std::int64_t>(most) > largest) most = static_cast<Whole>(largest);
  return member_setting(
      key, member, message(least, " to ", most), std::move(meaning),
      [=](StrictObject& object, Table& table) { table.*member = object.whole<Whole>(key, least, most); });
}

template <typename Table, typename Number>
Setting<Table> number_setting(std::string key, Number Table::*member, bool zero_too, std::string meaning) {
  return member_setting(key, member, zero_too ? "a number, not negative" : "a positive number", std::move(meaning),
                        [=](StrictObject& object, Table& table) {
                          table.*member = zero_too ? object.not_negative(key) : object.positive(key);
                        });
}

template <typename Table>
Setting<Table> truth_setting(std::string key, bool Table::*member, std::string meaning) {
  return member_setting(key, member, "true or false", std::move(meaning),
                        [=](StrictObject& object, Table& table) { table.*member = object.get<bool>(key); });
}

/// A word, one of `choices`; any word without them.
template <typename Table, typename Word>
Setting<Table> word_setting(std::string key, Word Table::*member, std::vector<std::string> choices,
                            std::string meaning) {
  std::string range = choices.empty() ? "a word" : "";
  for (const std::string& choice : choices) range += message(range.empty() ? "" : ", ", '"', choice, '"');
  return member_setting(key, member, range, std::move(meaning),
                        [key, member, choices = std::move(choices)](StrictObject& object, Table& table) {
                          table.*member = choices.empty() ? object.get<std::string>(key) : object.word(key, choices);
                        });
}

/// The same setting, which a profile may leave out, and which is written where it is not as usual.
template <typename Table>
Setting<Table> optional(Setting<Table> setting) {
  setting.optional = true;
  setting.write = [write = std::move(setting.write)](const Table& table, const Table& usual) {
    auto value = write(table, usual);
    return value == write(usual, usual) ? nlohmann::ordered_json(nullptr) : value;
  };
  return setting;
}

/// The same setting, which the paper has too.
template <typename Table>
Setting<Table> of_the_paper(Setting<Table> setting, std::string name) {
  setting.paper = std::move(name);
  return setting;
}

/// Reads all keys of an object, and refuses what nobody asked for.
template <typename Table>
void read_settings(const Settings<Table>& settings, StrictObject object, Table& table) {
  for (const Setting<Table>& setting : settings) {
    if (!setting.optional || object.has(setting.key)) setting.read(object, table);
  }
  object.finish();
}

/// The object that read_settings() reads.
template <typename Table>
nlohmann::ordered_json written_settings(const Settings<Table>& settings, const Table& table, const Table& usual = {}) {
  auto object = nlohmann::ordered_json::object();
  for (const Setting<Table>& setting : settings) {
    if (auto value = setting.write(table, usual); !value.is_null()) object[setting.key] = std::move(value);
  }
  return object;
}

/// "backbone epochs: 60 instead of the paper's 200", for each setting that the paper has too.
template <typename Table>
std::vector<std::string> settings_that_differ(const Settings<Table>& settings, const std::string& of, const Table& ours,
                                              const Table& paper) {
  std::vector<std::string> sentences;
  for (const Setting<Table>& setting : settings) {
    if (setting.paper.empty()) continue;
    const auto value = setting.write(ours, paper), theirs = setting.write(paper, paper);
    if (value != theirs)
      sentences.push_back(message(of, setting.paper, ": ", value, " instead of the paper's ", theirs));
  }
  return sentences;
}

/// The tables [data], [backbone], [explainer], [evaluation] and [scenario] of a profile, key by key.
const Settings<DataSettings>& data_settings();
const Settings<networks::BackboneRecipe>& backbone_settings();
const Settings<networks::ExplainerRecipe>& explainer_settings();
const Settings<evaluation::EvaluationSettings>& evaluation_settings();
const Settings<ScenarioRule>& scenario_settings();

/// The recipe of the table [explainer], for networks of this model at these resolutions. Throws InvalidArgument naming
/// key and line.
networks::ExplainerRecipe read_explainer(StrictObject object, const networks::NetworkSettings& model,
                                         const std::vector<Resolution>& resolutions);

/// The table [operator]. The settings are not looked at: what they mean is the architecture's business. Throws
/// InvalidArgument where there is no model.
networks::NetworkSettings read_operator(StrictObject object);
/// The object that read_operator() reads.
nlohmann::ordered_json written_operator(const networks::NetworkSettings& settings);

/// A list of n or [nx, ny], ascending. Throws InvalidArgument naming the key.
std::vector<Resolution> read_resolutions(StrictObject& object, const std::string& key);

/// Every key of these tables: [{name "explainer.batch", summary, range, needed}].
nlohmann::ordered_json profile_keys();
/// docs/profile-keys.md: the same for people, a table of keys for each table of a profile.
std::string profile_keys_page();

}  // namespace opshap::cli
