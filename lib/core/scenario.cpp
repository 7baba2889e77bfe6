#include "core/scenario.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/error.hpp"

namespace opshap {

namespace {

template <typename Number>
std::string listed(const std::vector<Number>& numbers) {
  std::string text;
  for (const Number number : numbers) text += message(text.empty() ? "" : ",", number);
  return text;
}

Partition partition_of(const ScenarioRule& rule, const Domain& domain) {
  if (rule.players == ScenarioRule::Players::blocks) return Partition::blocks(domain, rule.blocks);
  if (rule.players == ScenarioRule::Players::labels) return Partition::from_labels(domain, rule.labels);
  return Partition::one_player_per_point(domain);
}

FieldBatch baseline_of(const ScenarioRule& rule, const FieldBatch& input) {
  FieldBatch baseline = FieldBatch::zeros(input.domain, 1, input.channels);
  if (rule.baseline == ScenarioRule::Hidden::mean) {
    require(static_cast<int>(rule.means.size()) == input.channels, "scenario: means=", rule.means.size(),
            " (the input has ", input.channels, " channels). Give one mean for each channel.");
    for (std::size_t i = 0; i < baseline.values.size(); ++i)
      baseline.values[i] = rule.means[i / static_cast<std::size_t>(input.domain.points())];
  }
  if (rule.baseline == ScenarioRule::Hidden::field) {
    require(rule.hidden.batch == 1 && rule.hidden.channels == input.channels &&
                rule.hidden.domain.points() == input.domain.points(),
            "scenario: baseline=", rule.hidden.channels, " channels of ", rule.hidden.domain.points(),
            " points (the input has ", input.channels, " of ", input.domain.points(),
            "). Give a baseline of the input's shape.");
    baseline.values = rule.hidden.values;
  }
  if (rule.masked.empty()) return baseline;
  for (const int channel : rule.masked) {
    require(channel >= 0 && channel < input.channels, "scenario: masked channel=", channel,
            " (the input has the channels 0..", input.channels - 1, "). Name one of them.");
  }
  const auto points = static_cast<std::ptrdiff_t>(input.domain.points());
  for (int channel = 0; channel < input.channels; ++channel) {
    if (std::ranges::find(rule.masked, channel) != rule.masked.end()) continue;
    std::copy_n(input.values.begin() + channel * points, points, baseline.values.begin() + channel * points);
  }
  return baseline;
}

Readout readout_of(const ScenarioRule& rule, const Domain& domain) {
  if (rule.query == ScenarioRule::Where::region) return mean_over(rule.region, domain, rule.channel);
  if (rule.query == ScenarioRule::Where::weights) return Readout::of_weights(rule.weights, domain.points());
  Query query{.point = 0, .channel = rule.channel};
  if (rule.query == ScenarioRule::Where::index) {
    query.point = domain.point(rule.index);
  } else if (rule.query == ScenarioRule::Where::position) {
    query.point = domain.nearest(rule.position);
  } else {
    query.point = domain.centre();
  }
  return query;
}

}  // namespace

std::string ScenarioRule::describe() const {
  const std::string who = players == Players::blocks   ? message(blocks, " blocks")
                          : players == Players::labels ? "labels"
                                                       : "points";
  const std::string hides = baseline == Hidden::mean    ? message("mean (", listed(means), ")")
                            : baseline == Hidden::field ? "a field"
                                                        : "zero";
  const std::string at = !target.empty()            ? "target " + target
                         : query == Where::index    ? message("index ", listed(index))
                         : query == Where::position ? message("position ", listed(position))
                                                    : "centre";
  return message("players: ", who, "; baseline: ", hides, "; query: ", at, ", channel ", channel,
                 "; masked channels: ", masked.empty() ? "all" : listed(masked));
}

Scenario make_scenario(const ScenarioRule& rule, const FieldBatch& field) {
  require(field.batch == 1, "scenario: batch=", field.batch, " (a game explains one input). Take one sample.");
  return {.input = field,
          .baseline = baseline_of(rule, field),
          .partition = partition_of(rule, field.domain),
          .readout = readout_of(rule, field.domain)};
}

Scenario make_scenario(const ScenarioRule& rule, const FieldBatch& field, const std::vector<int>& shape) {
  if (rule.baseline != ScenarioRule::Hidden::field || rule.hidden.domain != field.domain)
    return make_scenario(rule, strided(field, shape));
  ScenarioRule coarse = rule;
  coarse.hidden = strided(rule.hidden, shape);
  return make_scenario(coarse, strided(field, shape));
}

}  // namespace opshap
