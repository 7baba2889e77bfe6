#include "cli/attribute_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/measured.hpp"
#include "core/names.hpp"
#include "data/npy.hpp"
#include "estimators/diagonal.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "estimators/second_order.hpp"
#include "evaluation/contest.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

namespace {

/// Up to so many players all coalitions are cheap.
constexpr int most_exact_players = 12;

/// diagonal_second_order as it is wanted.
std::unique_ptr<Estimator> wanted_second_order(const AttributeOptions& options) {
  estimators::SecondOrderOptions wanted;
  require(!options.rule, "attribute: --rule (diagonal_second_order is integrated by Gauss-Legendre). Leave it out.");
  if (options.nodes) wanted.nodes = *options.nodes;
  wanted.all_directions = options.directions == "all";
  if (!options.directions.empty() && !wanted.all_directions) {
    wanted.directions = number_of<int>(options.directions);
    require(wanted.directions.has_value(), "attribute: --directions=", options.directions,
            " (no whole number). Give a power of two, or all.");
  }
  require(options.base.empty() || options.base == "mean_field" || options.base == "integrated_gradients",
          "attribute: --base=", options.base, " (diagonal_second_order corrects no such method).",
          suggestion(options.base, {"integrated_gradients", "mean_field"}), " Give one of the two.");
  wanted.mean_field = options.base == "mean_field";
  return estimators::diagonal_second_order(wanted);
}

/// A method of gradients with the wanted nodes, rule and directions, or nullptr when none is given.
std::unique_ptr<Estimator> wanted_quadrature(const AttributeOptions& options) {
  if (options.method == "diagonal_second_order") return wanted_second_order(options);
  for (const auto& [given, option] :
       {std::pair(!options.directions.empty(), "--directions"), {!options.base.empty(), "--base"}})
    require(!given, "attribute: ", option, " (", options.method,
            " has none). Leave it out, or use --method diagonal_second_order.");
  if (!options.nodes && !options.rule) return nullptr;
  if (options.method == "mean_field") {
    require(!options.rule, "attribute: --rule (mean_field is integrated by Gauss-Legendre). Leave it out.");
    return estimators::mean_field(*options.nodes);
  }
  require(options.method == "integrated_gradients", "attribute: --", options.nodes ? "nodes" : "rule", " (",
          options.method, " has no quadrature to choose). Leave it out, or use --method integrated_gradients.");
  const estimators::Rule rule = options.rule ? estimators::find_rule(*options.rule) : estimators::Rule::midpoint;
  return estimators::integrated_gradients(rule, options.nodes.value_or(estimators::default_quadrature_nodes));
}

/// A least-squares method that answers with minimum-norm solutions where it must, or nullptr when that is not asked
/// for.
std::unique_ptr<Estimator> wanted_minimum_norm(const AttributeOptions& options) {
  if (!options.minimum_norm) return nullptr;
  const auto* solves = dynamic_cast<const estimators::LeastSquares*>(&estimators::find(options.method));
  require(solves != nullptr, "attribute: --minimum-norm (", options.method,
          " solves no least-squares problem). Leave it out, or use --method kernel_shap_paired.");
  return solves->with_minimum_norm();
}

/// A method that takes what it needs keeps no budget: only one that is enough for `exact` says nothing wrong.
void require_keeps(const Estimator& estimator, std::optional<std::int64_t> budget, std::int64_t needs) {
  if (!budget || estimator.guarantees().uses_budget()) return;
  const bool exact = estimator.guarantees().mse_rate == exact_rate;
  const std::string why =
      exact ? message(" evaluates all 2^n coalitions, ", needs, " here). Use a sampling method, or group the players.")
            : std::string(" takes what its quadrature needs, not a budget). Leave it out, or give --nodes.");
  require(exact && *budget >= needs, "attribute: --budget=", *budget, " (", estimator.name(), why);
}

}  // namespace

void choose_method(AttributeOptions& options, const Game& game) {
  for (const auto& [given, option] : {std::pair(options.nodes.has_value(), "--nodes"),
                                      {options.rule.has_value(), "--rule"},
                                      {!options.directions.empty(), "--directions"},
                                      {!options.base.empty(), "--base"},
                                      {options.minimum_norm, "--minimum-norm"},
                                      {!options.budget.empty(), "--budget"}})
    require(!given, "attribute: ", option, " (only with --method). Name a method, or leave it out.");
  if (game.players() <= most_exact_players) {
    options.method = "exact";
  } else if (game.mean_field() != nullptr) {
    options.method = "mean_field";
  } else if (game.extension() != nullptr) {
    options.method = "integrated_gradients";
  } else {
    options.method = "permutation_antithetic";
    options.budget = "16n";
  }
}

Json chosen_json(const AttributeOptions& options, const Attribution& attribution) {
  Measured bar = Measured::undefined("the method has no standard errors: its error is not of sampling");
  if (attribution.exact) bar = Measured::of(0);
  if (attribution.standard_errors) bar = relative(norm(*attribution.standard_errors), norm(attribution.values));
  if (attribution.second_order) bar = Measured::of(attribution.second_order->error_bar);
  const Json error_bar = bar.value ? Json(*bar.value) : Json(nullptr);
  Json chosen = {{"error_bar", error_bar}};
  if (!bar.value) chosen["error_bar_why"] = bar.why;
  chosen["steps"] = Json::array({{{"method", options.method},
                                  {"error_bar", error_bar},
                                  {"seconds", attribution.game_seconds + attribution.estimator_seconds}}});
  return chosen;
}

std::unique_ptr<methods::Method> wanted_peer(const AttributeOptions& options) {
  if (!options.method.starts_with(peer_prefix)) return nullptr;
  require(
      !options.nodes && !options.rule && !options.minimum_norm && options.directions.empty() && options.base.empty(),
      "attribute: --method=", options.method,
      " (takes no --nodes, --rule, --directions, --base or --minimum-norm). Leave them out.");
  require(!options.budget.empty(), "attribute: --budget (", options.method,
          " needs a limit). Give at least 2: the empty and the grand coalition.");
  return methods::resolve(options.method);
}

Attribution run_method(const AttributeOptions& options, const methods::Method* peer, methods::Question question) {
  const int players = question.game.players();
  const auto budget = options.budget.empty() ? std::optional<std::int64_t>()
                                             : evaluation::parse_budget("attribute: --budget", options.budget, players);
  if (peer != nullptr) {
    const auto shown = shown_game(question.game, *budget);
    return peer->attribute({*shown, question.scenario, {*budget}, question.seed});
  }
  const Estimator& registered = estimators::find(options.method);
  const std::unique_ptr<Estimator> minimum_norm = wanted_minimum_norm(options), quadrature = wanted_quadrature(options);
  const Estimator& estimator = minimum_norm ? *minimum_norm : quadrature ? *quadrature : registered;
  const bool samples = estimator.guarantees().uses_budget();
  const std::int64_t minimum = estimator.minimum(players).coalitions;
  require(!samples || budget.has_value(), "attribute: --budget (", estimator.name(),
          " samples coalitions, so it needs a limit). Give at least ", minimum, " for n=", players, " players.");
  require_keeps(estimator, budget, minimum);
  const auto shown = shown_game(question.game, std::max(budget.value_or(0), samples ? budget.value_or(0) : minimum));
  return attribute(estimator, *shown, {budget.value_or(0)}, question.seed);
}

namespace {

/// The shape of a number for each attribution.
std::vector<std::int64_t> outer_shape(const Answers& answers) {
  if (answers.one_game) return {};
  std::vector<std::int64_t> shape = {static_cast<std::int64_t>(answers.attributions.size())};
  if (answers.attributions.front().size() > 1)
    shape.push_back(static_cast<std::int64_t>(answers.attributions.front().size()));
  return shape;
}

/// `part` of each attribution, one after the other.
template <typename Part>
data::NpyArray npy_array(const Answers& answers, bool of_players, const Part& part) {
  std::vector<std::int64_t> shape = outer_shape(answers);
  if (of_players) shape.push_back(static_cast<std::int64_t>(answers.attributions.front().front().values.size()));
  std::vector<double> numbers;
  for (const auto& of_input : answers.attributions) {
    for (const Attribution& attribution : of_input) {
      const std::vector<double> found = part(attribution);
      numbers.insert(numbers.end(), found.begin(), found.end());
    }
  }
  return {std::move(shape), data::Dtype::float64, std::move(numbers)};
}

data::NpyArray npy_values(const Answers& answers) {
  return npy_array(answers, true, [](const Attribution& found) { return found.values; });
}

std::string npz(const Answers& answers) {
  std::vector<std::pair<std::string, data::NpyArray>> arrays = {{"values", npy_values(answers)}};
  const bool errors = std::ranges::all_of(answers.attributions, [](const auto& of_input) {
    return std::ranges::all_of(of_input, [](const Attribution& found) { return found.standard_errors.has_value(); });
  });
  if (errors)
    arrays.emplace_back("standard_errors",
                        npy_array(answers, true, [](const Attribution& found) { return *found.standard_errors; }));
  arrays.emplace_back("empty", npy_array(answers, false, [](const Attribution& f) { return std::vector{f.empty}; }));
  arrays.emplace_back("grand", npy_array(answers, false, [](const Attribution& f) { return std::vector{f.grand}; }));
  return data::format_npz(arrays);
}

std::string csv(const Answers& answers) {
  const bool several = !answers.one_game;
  std::string text = several ? "input,query,player,value,standard_error\n" : "player,value,standard_error\n";
  for (std::size_t input = 0; input < answers.attributions.size(); ++input) {
    for (std::size_t query = 0; query < answers.attributions[input].size(); ++query) {
      const Attribution& found = answers.attributions[input][query];
      for (std::size_t player = 0; player < found.values.size(); ++player) {
        if (several) text += fmt::format("{},{},", input, answers.explained.names[query].dump());
        text += fmt::format("{},{},{}\n", player, found.values[player],
                            found.standard_errors ? fmt::format("{}", (*found.standard_errors)[player]) : "");
      }
    }
  }
  return text;
}

}  // namespace

void require_values_file(const std::filesystem::path& out) {
  if (out.empty() || out == "-") return;
  const std::set<std::string> known = {".npy", ".npz", ".csv", ".json"};
  if (known.contains(out.extension().string())) return;
  // What is no regular file has no ending: a device, a pipe.
  const auto kind = std::filesystem::status(out).type();
  if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular &&
      kind != std::filesystem::file_type::directory)
    return;
  throw InvalidArgument(message("attribute: --out=", out.string(),
                                " (its ending says no format that values have). Give .npy, .npz, .csv or .json."));
}

void write_values(const Globals& globals, const Answers& answers) {
  const std::filesystem::path& out = globals.out;
  if (out.empty()) return;
  const std::string ending = out == "-" ? ".npy" : out.extension().string();
  if (ending == ".npz") return write_file(out, npz(answers));
  if (ending == ".csv") return write_file(out, csv(answers));
  if (ending == ".json") return write_file(out, answers_json(globals, answers).dump(2) + '\n');
  data::write_npy(out, npy_values(answers));
}

namespace {

/// Rows of the table for people; --json has all.
constexpr std::size_t most_rows = 40;

void print_game(const Answers& answers) {
  if (answers.blocks)
    std::cout << fmt::format("{} of {} blocks of the mesh hold points and play; --json says which.\n",
                             answers.blocks->of_player.size(), answers.blocks->count);
  if (!answers.path.empty()) std::cout << "game computed by " << answers.path << '\n';
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

void print_table(const Answers& answers) {
  const Attribution& attribution = answers.attributions.front().front();
  const std::vector<double>& values = attribution.values;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool cut = values.size() > most_rows;
  if (cut || answers.sorted)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::abs(values[a]) > std::abs(values[b]); });
  if (cut) order.resize(most_rows);
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  std::size_t width = 0;
  for (const std::size_t player : order)
    if (!answers.places.empty()) width = std::max(width, answers.places[player].size());
  const auto place = [&](const std::string& words) { return width == 0 ? "" : fmt::format("  {:<{}}", words, width); };
  std::cout << fmt::format("{:>8}{}  {:>12}  {:>12}\n", "player", place("at"), "value", "std. error");
  for (const std::size_t player : order) {
    const bool has_error = attribution.standard_errors.has_value();
    const std::string error = has_error ? fmt::format("{:.2g}", (*attribution.standard_errors)[player]) : "-";
    std::cout << fmt::format("{:>8}{}  {:>12}  {:>12}\n", player,
                             place(answers.places.empty() ? "" : answers.places[player]),
                             shown_value(values[player], largest, has_error), error);
  }
  if (cut)
    std::cout << fmt::format("The {} largest of {} players; --json and --out have all.\n", most_rows, values.size());
  if (answers.more.contains("explained"))
    std::cout << "explained: " << answers.more["explained"].get<std::string>() << '\n';
  std::cout << fmt::format("v(empty) = {:.6g}, v(grand) = {:.6g}, sum of values - (v(grand) - v(empty)) = {:.3g}\n",
                           attribution.empty, attribution.grand, attribution.efficiency_gap());
  std::cout << fmt::format(
      "{}{}: {} distinct coalitions, {} evaluations, {} gradients{}; {:.3g} s in the game, {:.3g} s in the estimator\n",
      answers.method, attribution.exact ? " (exact)" : "", attribution.distinct, attribution.evaluations,
      attribution.gradients,
      attribution.gradients == 0 ? "" : fmt::format(", {} forward equivalents", attribution.forward_equivalents),
      attribution.game_seconds, attribution.estimator_seconds);
  print_errors_in_words(attribution);
  if (const auto& order = attribution.second_order)
    std::cout << fmt::format(
        "{} nodes, {} directions: relative error about {:.2g}, and about {:.2g} without the correction\n", order->nodes,
        order->directions, order->error_bar, order->first_order_error_bar);
  if (const auto& rank = attribution.minimum_norm) {
    std::cout << fmt::format(
        "Minimum-norm solution: the sample has rank {} of the {} that would determine the values, so there is no std. "
        "error.\n",
        rank->found, rank->needed);
  }
}

/// A name without the quotes of JSON.
std::string words(const Json& name) { return name.is_string() ? name.get<std::string>() : name.dump(); }

/// Which method answered where none was asked for, and how well it is known.
void print_chosen(const Json& chosen) {
  const auto& bar = chosen["error_bar"];
  std::cout << "chosen by opshap (--method names another one); relative error: "
            << (bar.is_null() ? "not known, " + chosen["error_bar_why"].get<std::string>()
                              : fmt::format("{:.2g}", bar.get<double>()))
            << '\n';
}

/// An attribution as one JSON object.
Json attribution_json(const Globals& globals, const std::string& method, const Attribution& attribution) {
  Json object = {{"method", method}, {"players", attribution.values.size()}, {"values", attribution.values}};
  object["standard_errors"] = attribution.standard_errors ? Json(*attribution.standard_errors) : Json(nullptr);
  if (attribution.error_samples > 0) object["error_samples"] = attribution.error_samples;
  object["empty"] = attribution.empty;
  object["grand"] = attribution.grand;
  object["efficiency_gap"] = attribution.efficiency_gap();
  object["distinct"] = attribution.distinct;
  object["evaluations"] = attribution.evaluations;
  object["gradients"] = attribution.gradients;
  if (attribution.gradients > 0) object["forward_equivalents"] = attribution.forward_equivalents;
  object["seed"] = globals.seed;
  object["seconds"] = {{"game", attribution.game_seconds}, {"estimator", attribution.estimator_seconds}};
  object["exact"] = attribution.exact;
  const auto& rank = attribution.minimum_norm;
  object["minimum_norm"] = rank ? Json{{"rank", rank->found}, {"needed_rank", rank->needed}} : Json(nullptr);
  if (const auto& order = attribution.second_order)
    object.update({{"error_bar", order->error_bar},
                   {"first_order_error_bar", order->first_order_error_bar},
                   {"correction", order->correction},
                   {"nodes", order->nodes},
                   {"directions", order->directions},
                   {"forward_equivalents", order->forward_equivalents},
                   {"fallback", nullptr},
                   {"steps", Json::array({{{"method", method},
                                           {"error_bar", order->error_bar},
                                           {"seconds", attribution.game_seconds + attribution.estimator_seconds}}})}});
  return object;
}

/// Those of several inputs or queries.
Json attributions_json(const Globals& globals, const Answers& answers) {
  const auto& [key_of_names, names] = answers.explained;
  Json object = {{"method", answers.method},
                 {"players", answers.attributions.front().front().values.size()},
                 {key_of_names, names}};
  for (const char* key : {"values", "standard_errors", "empty", "grand", "efficiency_gap", "distinct", "evaluations",
                          "gradients", "exact", "minimum_norm"}) {
    object[key] = Json::array();
  }
  if (answers.attributions.front().front().gradients > 0) object["forward_equivalents"] = Json::array();
  double game_seconds = 0, estimator_seconds = 0;
  for (const std::vector<Attribution>& of_input : answers.attributions) {
    Json rows = Json::array();
    for (const Attribution& attribution : of_input) {
      rows.push_back(attribution_json(globals, answers.method, attribution));
      game_seconds += attribution.game_seconds;
      estimator_seconds += attribution.estimator_seconds;
    }
    for (auto& [key, column] : object.items()) {
      if (!rows.front().contains(key) || key == "method" || key == "players") continue;
      Json of_queries = Json::array();
      for (const auto& row : rows) of_queries.push_back(row[key]);
      column.push_back(names.size() == 1 ? of_queries.front() : of_queries);
    }
  }
  object["seed"] = globals.seed;
  object["seconds"] = {{"game", game_seconds}, {"estimator", estimator_seconds}};
  return object;
}

void print_rows(const Answers& answers) {
  const auto& [key, names] = answers.explained;
  std::cout << fmt::format("{:>6}  {:>8}  {:>22}  {:>14}  {:>14}\n", "input", key[0] == 'q' ? "query" : "target",
                           "v(grand) - v(empty)", "largest player", "its value");
  std::size_t rows = 0;
  for (std::size_t input = 0; input < answers.attributions.size(); ++input) {
    for (std::size_t query = 0; query < names.size() && rows < most_rows; ++query, ++rows) {
      const Attribution& attribution = answers.attributions[input][query];
      const auto largest = std::max_element(attribution.values.begin(), attribution.values.end(),
                                            [](double a, double b) { return std::abs(a) < std::abs(b); });
      std::cout << fmt::format("{:>6}  {:>8}  {:>22.6g}  {:>14}  {:>14.6g}\n", input, words(names[query]),
                               attribution.grand - attribution.empty, largest - attribution.values.begin(), *largest);
    }
  }
  const std::size_t inputs = answers.attributions.size(), all = inputs * names.size();
  if (rows < all) std::cout << fmt::format("The first {} of {} rows.\n", rows, all);
  std::cout << fmt::format("{}: {} inputs, {} {} each; --json and --out have all values.\n", answers.method, inputs,
                           names.size(), key);
}

}  // namespace

Json answers_json(const Globals& globals, const Answers& answers) {
  Json object = answers.several ? attributions_json(globals, answers)
                                : attribution_json(globals, answers.method, answers.attributions.front().front());
  if (!answers.path.empty()) object["path"] = answers.path;
  if (const auto& blocks = answers.blocks)
    object.update(Json{{"blocks", blocks->count}, {"block_of_player", blocks->of_player}});
  if (answers.chosen.is_object()) object.update(answers.chosen);
  object.update(answers.more);
  return object;
}

void print_answers(const Globals& globals, const Answers& answers) {
  if (globals.json) return print_json(answers_json(globals, answers));
  answers.several ? print_rows(answers) : print_table(answers);
  if (answers.chosen.is_object() && !answers.several) print_chosen(answers.chosen);
  print_game(answers);
}

}  // namespace opshap::cli
