#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace opshap {

/// The object of a TOML text, with its keys in their order there. `lines` gets the line of each key by its dotted name;
/// those of objects in lists are named "curves[0].players". Throws DataError("who: source line N (why). …").
nlohmann::ordered_json parse_toml(std::string_view text, std::string_view who, const std::string& source,
                                  std::map<std::string, int, std::less<>>& lines);

/// The TOML text of an object, keys ascending; nulls are left out. Objects in lists and those with a name of `inlined`
/// stand on one line.
std::string toml_text(const nlohmann::ordered_json& object, const std::set<std::string>& inlined = {});

/// Lays an object over another: tables are merged, and what is in both comes from `from`.
void lay_over(nlohmann::ordered_json& into, const nlohmann::ordered_json& from);

}  // namespace opshap
