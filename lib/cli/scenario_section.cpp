#include "cli/scenario_section.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/error.hpp"

namespace opshap::cli {

ScenarioRule read_scenario(Section section, ScenarioRule rule) {
  const auto word = [&](const std::string& key, const std::vector<std::string>& known) {
    if (!section.has(key)) return std::string();
    std::string value = section.get<std::string>(key);
    require(std::ranges::find(known, value) != known.end(), "profile: scenario.", key, "=", value, " (not one of ",
            fmt::format("{}", fmt::join(known, ", ")), "). Correct it.");
    return value;
  };
  const std::string players = word("players", {"points", "blocks"}), baseline = word("baseline", {"zero", "mean"}),
                    query = word("query", {"centre"});
  if (players == "points") {
    rule.players = ScenarioRule::Players::points;
    rule.blocks = 0;
  }
  if (players == "blocks") {
    rule.players = ScenarioRule::Players::blocks;
    rule.blocks = section.count("blocks");
  }
  if (baseline == "zero") rule.baseline = ScenarioRule::Hidden::zero;
  if (baseline == "mean") rule.baseline = ScenarioRule::Hidden::mean;
  const auto explain = [&](ScenarioRule::Where where) {
    rule.query = where;
    rule.position.clear();
    rule.target.clear();
  };
  if (query == "centre") {
    explain(ScenarioRule::Where::centre);
  } else if (section.has("query_at")) {
    explain(ScenarioRule::Where::position);
    rule.position = section.list<double>("query_at");
  } else if (section.has("target")) {
    explain(ScenarioRule::Where::region);
    rule.target = section.get<std::string>("target");
    const auto region = parse_region("profile: scenario.target", rule.target);
    require(region && region->by_place, "profile: scenario.target=", rule.target,
            " (a profile has many grids, and only coordinates mean the same on all). Write mean:0.2..0.4@x.");
    rule.region = *region;
  }
  if (section.has("query_channel")) rule.channel = section.count("query_channel", 0);
  if (section.has("masked_channels")) {
    rule.masked = section.counts("masked_channels", 0);
  }
  section.finish();
  return rule;
}

toml::table scenario_table(const ScenarioRule& rule, const ScenarioRule& usual) {
  toml::table table;
  if (rule.players != usual.players || rule.blocks != usual.blocks) {
    const bool blocks = rule.players == ScenarioRule::Players::blocks;
    table.insert("players", blocks ? "blocks" : "points");
    if (blocks) table.insert("blocks", rule.blocks);
  }
  if (rule.baseline != usual.baseline)
    table.insert("baseline", rule.baseline == ScenarioRule::Hidden::mean ? "mean" : "zero");
  if (rule.query != usual.query || rule.position != usual.position || rule.target != usual.target) {
    if (rule.query == ScenarioRule::Where::position) {
      table.insert("query_at", list_of(rule.position));
    } else if (rule.query == ScenarioRule::Where::region) {
      table.insert("target", rule.target);
    } else {
      table.insert("query", "centre");
    }
  }
  if (rule.channel != usual.channel) table.insert("query_channel", rule.channel);
  if (rule.masked != usual.masked) table.insert("masked_channels", list_of(rule.masked));
  return table;
}

}  // namespace opshap::cli
