#include "cli/attribute_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "statistics/quantiles.hpp"

namespace opshap::cli {

namespace {

/// Rows of the table for people; --json has all.
constexpr std::size_t most_rows = 40;

void add_blocks(nlohmann::ordered_json& object, const std::optional<MeshBlocks>& blocks) {
  if (!blocks) return;
  object["blocks"] = blocks->count;
  object["block_of_player"] = blocks->of_player;
}

void print_blocks(const std::optional<MeshBlocks>& blocks) {
  if (!blocks) return;
  std::cout << fmt::format("{} of {} blocks of the mesh hold points and play; --json says which.\n",
                           blocks->of_player.size(), blocks->count);
}

/// Three digits of a value that has an error, six of another one. What rounding leaves of 0 is 0.
std::string shown_value(double value, double largest, bool has_error) {
  if (std::abs(value) <= 1e-14 * largest) value = 0;
  return has_error ? fmt::format("{:.3g}", value) : fmt::format("{:.6g}", value);
}

/// What standard errors do not say by themselves.
void print_errors_in_words(const Attribution& attribution) {
  constexpr std::int64_t few = 30;
  constexpr double upper = 0.975;
  const std::int64_t samples = attribution.error_samples;
  if (samples >= 2 && samples < few)
    std::cout << fmt::format(
        "The standard errors are of {} samples: an interval of 95 % is ± {:.3g} of them, not ± 1.96.\n", samples,
        statistics::student_quantile(upper, static_cast<double>(samples - 1)));
  if (!attribution.standard_errors || attribution.exact) return;
  if (const auto agreed = std::ranges::count(*attribution.standard_errors, 0.0); agreed > 0)
    std::cout << fmt::format(
        "{} players have a standard error of 0: what was drawn agreed for them. That is no proof; a coalition that "
        "matters may be rare.\n",
        agreed);
}

void print_table(const std::string& method, const Attribution& attribution, const Shown& shown) {
  const std::vector<double>& values = attribution.values;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool cut = values.size() > most_rows;
  if (cut || shown.sorted)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
  if (cut) order.resize(most_rows);
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  std::size_t width = 0;
  for (const std::size_t player : order)
    if (!shown.places.empty()) width = std::max(width, shown.places[player].size());
  const auto place = [&](const std::string& words) { return width == 0 ? "" : fmt::format("  {:<{}}", words, width); };
  std::cout << fmt::format("{:>8}{}  {:>12}  {:>12}\n", "player", place("at"), "value", "std. error");
  for (const std::size_t player : order) {
    const bool has_error = attribution.standard_errors.has_value();
    const std::string error = has_error ? fmt::format("{:.2g}", (*attribution.standard_errors)[player]) : "-";
    std::cout << fmt::format("{:>8}{}  {:>12}  {:>12}\n", player,
                             place(shown.places.empty() ? "" : shown.places[player]),
                             shown_value(values[player], largest, has_error), error);
  }
  if (cut)
    std::cout << fmt::format("The {} largest of {} players; --json and --out have all.\n", most_rows, values.size());
  if (shown.more.contains("explained"))
    std::cout << "explained: " << shown.more["explained"].get<std::string>() << '\n';
  std::cout << fmt::format("v(empty) = {:.6g}, v(grand) = {:.6g}, sum of values - (v(grand) - v(empty)) = {:.3g}\n",
                           attribution.empty, attribution.grand, attribution.efficiency_gap());
  std::cout << fmt::format(
      "{}{}: {} distinct coalitions, {} evaluations, {} gradients; {:.3g} s in the game, {:.3g} s in the estimator\n",
      method, attribution.exact ? " (exact)" : "", attribution.distinct, attribution.evaluations, attribution.gradients,
      attribution.game_seconds, attribution.estimator_seconds);
  print_errors_in_words(attribution);
  if (const auto& rank = attribution.minimum_norm) {
    std::cout << fmt::format(
        "Minimum-norm solution: the sample has rank {} of the {} that would determine the values, so there is no std. "
        "error.\n",
        rank->found, rank->needed);
  }
}

/// A name without the quotes of JSON.
std::string words(const nlohmann::ordered_json& name) {
  return name.is_string() ? name.get<std::string>() : name.dump();
}

/// Which method answered where none was asked for, and how well it is known.
void print_chosen(const nlohmann::ordered_json& chosen) {
  const auto& bar = chosen["error_bar"];
  std::cout << "chosen by opshap (--method names another one); relative error: "
            << (bar.is_null() ? "not known, " + chosen["error_bar_why"].get<std::string>()
                              : fmt::format("{:.2g}", bar.get<double>()))
            << '\n';
}

}  // namespace

nlohmann::ordered_json attribution_json(const Globals& globals, const std::string& method,
                                        const Attribution& attribution, const std::string& path) {
  nlohmann::ordered_json object = {
      {"method", method}, {"players", attribution.values.size()}, {"values", attribution.values}};
  object["standard_errors"] = nullptr;
  if (attribution.standard_errors) object["standard_errors"] = *attribution.standard_errors;
  if (attribution.error_samples > 0) object["error_samples"] = attribution.error_samples;
  object["empty"] = attribution.empty;
  object["grand"] = attribution.grand;
  object["efficiency_gap"] = attribution.efficiency_gap();
  object["distinct"] = attribution.distinct;
  object["evaluations"] = attribution.evaluations;
  object["gradients"] = attribution.gradients;
  object["seed"] = globals.seed;
  object["seconds"] = {{"game", attribution.game_seconds}, {"estimator", attribution.estimator_seconds}};
  object["exact"] = attribution.exact;
  object["minimum_norm"] = nullptr;
  if (const auto& rank = attribution.minimum_norm)
    object["minimum_norm"] = {{"rank", rank->found}, {"needed_rank", rank->needed}};
  if (!path.empty()) object["path"] = path;
  return object;
}

nlohmann::ordered_json shown_json(const Globals& globals, const std::string& method, const Attribution& attribution,
                                  const Shown& shown) {
  nlohmann::ordered_json object = attribution_json(globals, method, attribution, shown.path);
  add_blocks(object, shown.blocks);
  if (shown.chosen.is_object()) object.update(shown.chosen);
  object.update(shown.more);
  return object;
}

nlohmann::ordered_json attributions_json(const Globals& globals, const std::string& method,
                                         const std::vector<std::vector<Attribution>>& attributions,
                                         const Explained& explained, const Shown& shown) {
  nlohmann::ordered_json object = {
      {"method", method}, {"players", attributions.front().front().values.size()}, {explained.key, explained.names}};
  for (const char* key : {"values", "standard_errors", "empty", "grand", "efficiency_gap", "distinct", "evaluations",
                          "gradients", "exact", "minimum_norm"}) {
    object[key] = nlohmann::ordered_json::array();
  }
  nlohmann::ordered_json seconds = {{"game", 0.0}, {"estimator", 0.0}};
  for (const std::vector<Attribution>& of_input : attributions) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Attribution& attribution : of_input) {
      rows.push_back(attribution_json(globals, method, attribution, {}));
      seconds["game"] = seconds["game"].get<double>() + attribution.game_seconds;
      seconds["estimator"] = seconds["estimator"].get<double>() + attribution.estimator_seconds;
    }
    for (auto& [key, column] : object.items()) {
      if (!rows.front().contains(key) || key == "method" || key == "players") continue;
      nlohmann::ordered_json of_queries = nlohmann::ordered_json::array();
      for (const auto& row : rows) of_queries.push_back(row[key]);
      column.push_back(explained.names.size() == 1 ? of_queries.front() : of_queries);
    }
  }
  object["seed"] = globals.seed;
  object["seconds"] = seconds;
  if (!shown.path.empty()) object["path"] = shown.path;
  add_blocks(object, shown.blocks);
  if (shown.chosen.is_object()) object.update(shown.chosen);
  object.update(shown.more);
  return object;
}

void print_attributions(const Globals& globals, const std::string& method,
                        const std::vector<std::vector<Attribution>>& attributions, const Explained& explained,
                        const Shown& shown) {
  if (globals.json) return print_json(attributions_json(globals, method, attributions, explained, shown));
  std::cout << fmt::format("{:>6}  {:>8}  {:>22}  {:>14}  {:>14}\n", "input",
                           explained.key[0] == 'q' ? "query" : "target", "v(grand) - v(empty)", "largest player",
                           "its value");
  std::size_t rows = 0;
  for (std::size_t input = 0; input < attributions.size(); ++input) {
    for (std::size_t query = 0; query < explained.names.size() && rows < most_rows; ++query, ++rows) {
      const Attribution& attribution = attributions[input][query];
      const auto largest = std::max_element(attribution.values.begin(), attribution.values.end(),
                                            [](double a, double b) { return std::abs(a) < std::abs(b); });
      std::cout << fmt::format("{:>6}  {:>8}  {:>22.6g}  {:>14}  {:>14.6g}\n", input, words(explained.names[query]),
                               attribution.grand - attribution.empty, largest - attribution.values.begin(), *largest);
    }
  }
  if (const std::size_t all = attributions.size() * explained.names.size(); rows < all)
    std::cout << fmt::format("The first {} of {} rows.\n", rows, all);
  std::cout << fmt::format("{}: {} inputs, {} {} each; --json and --out have all values.\n", method,
                           attributions.size(), explained.names.size(), explained.key);
  print_blocks(shown.blocks);
  if (!shown.path.empty()) std::cout << "game computed by " << shown.path << '\n';
}

void print_attribution(const Globals& globals, const std::string& method, const Attribution& attribution,
                       const Shown& shown) {
  if (globals.json) return print_json(shown_json(globals, method, attribution, shown));
  print_table(method, attribution, shown);
  if (shown.chosen.is_object()) print_chosen(shown.chosen);
  print_blocks(shown.blocks);
  if (!shown.path.empty()) std::cout << "game computed by " << shown.path << '\n';
}

}  // namespace opshap::cli
