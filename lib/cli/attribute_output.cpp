#include "cli/attribute_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <vector>

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

void print_table(const std::string& method, const Attribution& attribution) {
  const std::vector<double>& values = attribution.values;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool cut = values.size() > most_rows;
  if (cut) {
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
    order.resize(most_rows);
  }
  std::cout << fmt::format("{:>8}  {:>22}  {:>12}\n", "player", "value", "std. error");
  for (const std::size_t player : order) {
    const std::string error =
        attribution.standard_errors ? fmt::format("{:.3g}", (*attribution.standard_errors)[player]) : "-";
    std::cout << fmt::format("{:>8}  {:>22.15g}  {:>12}\n", player, values[player], error);
  }
  if (cut) std::cout << fmt::format("The {} largest of {} players; --json prints all.\n", most_rows, values.size());
  std::cout << fmt::format("v(empty) = {:.15g}, v(grand) = {:.15g}, sum of values - (v(grand) - v(empty)) = {:.3g}\n",
                           attribution.empty, attribution.grand, attribution.efficiency_gap());
  std::cout << fmt::format(
      "{}{}: {} distinct coalitions, {} evaluations, {} gradients; {:.3g} s in the game, {:.3g} s in the estimator\n",
      method, attribution.exact ? " (exact)" : "", attribution.distinct, attribution.evaluations, attribution.gradients,
      attribution.game_seconds, attribution.estimator_seconds);
  if (const auto& rank = attribution.minimum_norm) {
    std::cout << fmt::format(
        "Minimum-norm solution: the sample has rank {} of the {} that would determine the values, so there is no std. "
        "error.\n",
        rank->found, rank->needed);
  }
}

}  // namespace

nlohmann::ordered_json attribution_json(const Globals& globals, const std::string& method,
                                        const Attribution& attribution, const std::string& path) {
  nlohmann::ordered_json object = {
      {"method", method}, {"players", attribution.values.size()}, {"values", attribution.values}};
  object["standard_errors"] = nullptr;
  if (attribution.standard_errors) object["standard_errors"] = *attribution.standard_errors;
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

void print_attributions(const Globals& globals, const std::string& method,
                        const std::vector<std::vector<Attribution>>& attributions,
                        const std::vector<std::int64_t>& queries, const std::string& path,
                        const std::optional<MeshBlocks>& blocks) {
  if (globals.json) {
    nlohmann::ordered_json object = {
        {"method", method}, {"players", attributions.front().front().values.size()}, {"queries", queries}};
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
        column.push_back(queries.size() == 1 ? of_queries.front() : of_queries);
      }
    }
    object["seed"] = globals.seed;
    object["seconds"] = seconds;
    if (!path.empty()) object["path"] = path;
    add_blocks(object, blocks);
    return print_json(object);
  }
  std::cout << fmt::format("{:>6}  {:>8}  {:>22}  {:>14}  {:>14}\n", "input", "query", "v(grand) - v(empty)",
                           "largest player", "its value");
  for (std::size_t input = 0; input < attributions.size(); ++input) {
    for (std::size_t query = 0; query < queries.size(); ++query) {
      const Attribution& attribution = attributions[input][query];
      const auto largest = std::max_element(attribution.values.begin(), attribution.values.end(),
                                            [](double a, double b) { return std::abs(a) < std::abs(b); });
      std::cout << fmt::format("{:>6}  {:>8}  {:>22.15g}  {:>14}  {:>14.6g}\n", input, queries[query],
                               attribution.grand - attribution.empty, largest - attribution.values.begin(), *largest);
    }
  }
  std::cout << fmt::format("{}: {} inputs, {} queries each; --json and --out have all values.\n", method,
                           attributions.size(), queries.size());
  print_blocks(blocks);
  if (!path.empty()) std::cout << "game computed by " << path << '\n';
}

void print_attribution(const Globals& globals, const std::string& method, const Attribution& attribution,
                       const std::string& path, const std::optional<MeshBlocks>& blocks) {
  if (globals.json) {
    nlohmann::ordered_json object = attribution_json(globals, method, attribution, path);
    add_blocks(object, blocks);
    return print_json(object);
  }
  print_table(method, attribution);
  print_blocks(blocks);
  if (!path.empty()) std::cout << "game computed by " << path << '\n';
}

}  // namespace opshap::cli
