#include "core/explainer.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"

namespace opshap {

namespace {

/// "0.5", or "0.5,2" with several channels; "zero" where all are 0. Six digits: float32 has about seven.
std::string constants(const std::vector<double>& values) {
  if (std::ranges::all_of(values, [](double value) { return value == 0; })) return "zero";
  return joined(values, ",");
}

/// The constant of each channel; nothing where a channel is not constant.
std::optional<std::vector<double>> constants_of(const FieldBatch& field) {
  std::vector<double> found;
  const auto points = static_cast<std::size_t>(field.domain.points());
  for (int channel = 0; channel < field.channels; ++channel) {
    const auto values = std::span(field.values).subspan(static_cast<std::size_t>(channel) * points, points);
    if (std::ranges::any_of(values, [&](double v) { return v != values.front(); })) return std::nullopt;
    found.push_back(values.front());
  }
  return found;
}

std::string baseline_in_words(const ScenarioRule& rule) {
  using Hidden = ScenarioRule::Hidden;
  if (rule.baseline == Hidden::zero || rule.baseline == Hidden::blur) return rule.baseline_in_words();
  if (!rule.hides_by_field()) return constants(rule.constants);
  if (const auto found = constants_of(rule.hidden)) return constants(*found);
  return message("a field of ", rule.hidden.domain.points(), " points, crc32c ",
                 hexadecimal(crc32c(std::as_bytes(std::span(rule.hidden.values))), 8));
}

}  // namespace

TrainedFor trained_for(const Operator& op, const ScenarioRule& rule) {
  std::string query = "centre";
  if (rule.query != ScenarioRule::Where::centre)
    query = rule.query == ScenarioRule::Where::index ? "index" : "position";
  if (!rule.target.empty()) query = "target " + rule.target;
  for (const double coordinate : rule.position) query += message(" ", coordinate);
  for (const int index : rule.index) query += message(" ", index);
  TrainedFor facts = {{"players", rule.players == ScenarioRule::Players::blocks   ? "blocks"
                                  : rule.players == ScenarioRule::Players::labels ? "labels"
                                                                                  : "points"},
                      {"baseline", baseline_in_words(rule)},
                      {"masked channels", rule.masked.empty() ? "all" : joined(rule.masked, ",")},
                      {"channel", std::to_string(rule.channel)},
                      {"query", query}};
  if (const std::string checksum = op.checksum(); !checksum.empty()) facts["operator"] = checksum;
  if (const std::string problem = op.problem(); !problem.empty()) facts["problem"] = problem;
  return facts;
}

namespace {

/// Whether both sides know a fact, and know it otherwise.
bool differ(const TrainedFor& known, const TrainedFor& asked, const char* fact) {
  const auto then = known.find(fact), now = asked.find(fact);
  return then != known.end() && now != asked.end() && then->second != now->second;
}

}  // namespace

bool is_of_another_operator(const TrainedFor& known, const TrainedFor& asked) {
  return known.contains("base") && differ(known, asked, "operator") && known.contains("problem") &&
         asked.contains("problem") && !differ(known, asked, "problem");
}

std::string differences(const TrainedFor& known, const TrainedFor& asked) {
  std::string words;
  std::vector<const char*> facts = {"players", "baseline", "masked channels", "channel"};
  if (differ(known, asked, "operator") && !is_of_another_operator(known, asked)) {
    if (known.contains("base")) facts.insert(facts.begin(), "problem");
    facts.insert(facts.begin(), "operator");
  }
  for (const char* fact : facts) {
    if (!differ(known, asked, fact)) continue;
    words += message(words.empty() ? "" : ", ", fact, " ", asked.at(fact), " instead of ", known.at(fact));
  }
  return words;
}

std::vector<double> attribution_density(const Explainer& explainer, const Scenario& scenario, CountedGame& game,
                                        std::optional<double> gain) {
  const ExplainerBase base = explainer.base();
  if (!base.any()) return explainer.densities(scenario.input, scenario.readout).values;
  require_base(base, scenario);
  if (!gain) gain = game.grand() - game.empty();
  BasedField field = with_base(base, scenario, base_slopes(base, game), *gain);
  const FieldBatch corrections = explainer.densities(field.input, scenario.readout);
  for (std::size_t i = 0; i < field.density.size(); ++i) {
    field.density[i] += field.scale * corrections.values[i];
    require<NumericalError>(std::isfinite(field.density[i]), "explainer: correction=", corrections.values[i],
                            " (at point ", i, ", by ", explainer.describe(), "). Train it again.");
  }
  return std::move(field.density);
}

std::vector<double> cell_values(std::span<const double> density, const Domain& domain, const Partition& partition,
                                double empty, double grand) {
  std::vector<double> values(static_cast<std::size_t>(partition.players), 0.0);
  for (std::size_t point = 0; point < density.size(); ++point) {
    values[static_cast<std::size_t>(partition.player_of[point])] +=
        density[point] * domain.volume(static_cast<std::int64_t>(point));
  }
  const double gap = (grand - empty) - std::accumulate(values.begin(), values.end(), 0.0);
  for (std::size_t player = 0; player < values.size(); ++player)
    values[player] += gap * partition.volumes[player] / domain.volume();
  return values;
}

}  // namespace opshap
