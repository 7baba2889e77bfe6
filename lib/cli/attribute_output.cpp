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
#include "core/threads.hpp"
#include "data/npy.hpp"
#include "methods/steps.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

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
  const std::set<std::string> known = {".npy", ".npz", ".csv", ".json", ".vtu"};
  if (known.contains(out.extension().string())) return;
  // What is no regular file has no ending: a device, a pipe.
  const auto kind = std::filesystem::status(out).type();
  if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular &&
      kind != std::filesystem::file_type::directory)
    return;
  throw InvalidArgument(message("attribute: --out=", out.string(),
                                " (its ending says no format that values have). Give .npy, .npz, .csv or .json, or "
                                ".vtu for a field on triangles."));
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

/// "relative error about 0.02", or why it is not known.
std::string in_words(const Measured& error_bar) {
  return error_bar.value ? fmt::format("relative error about {:.2g}", *error_bar.value)
                         : fmt::format("relative error not known ({})", error_bar.why);
}

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
  if (answers.chosen) std::cout << "chosen by opshap (--method names another one)\n";
  if (const auto& order = attribution.second_order; order && attribution.steps.back().method == "diagonal_second_order")
    std::cout << fmt::format("{} nodes, {} directions; without the correction: {}\n", order->nodes, order->directions,
                             in_words(methods::first_order_error_bar(*order)));
  if (!attribution.steps.empty())
    std::cout << fmt::format("{}: {}\n", attribution.steps.back().method, in_words(methods::error_bar(attribution)));
  if (const auto& rank = attribution.minimum_norm) {
    std::cout << fmt::format(
        "Minimum-norm solution: the sample has rank {} of the {} that would determine the values, so there is no std. "
        "error.\n",
        rank->found, rank->needed);
  }
}

/// A name without the quotes of JSON.
std::string words(const Json& name) { return name.is_string() ? name.get<std::string>() : name.dump(); }

Json json_of(const Measured& error_bar) { return error_bar.value ? Json(*error_bar.value) : Json(nullptr); }

/// The method that has answered.
const std::string& answering(const Answers& answers, const Attribution& attribution) {
  return attribution.steps.empty() ? answers.method : attribution.steps.back().method;
}

/// What JSON says of an attribution's steps.
Json steps_json(const Answers& answers, const Attribution& attribution) {
  const Measured bar = methods::error_bar(attribution);
  Json object = {{"error_bar", json_of(bar)}};
  if (!bar.value) object["error_bar_why"] = bar.why;
  if (answers.chosen) object["chosen"] = true;
  if (answers.tolerance)
    object.update({{"tolerance", *answers.tolerance},
                   {"within_tolerance", bar.value ? Json(methods::within(bar, *answers.tolerance)) : Json(nullptr)}});
  if (const auto& order = attribution.second_order)
    object.update({{"first_order_error_bar", order->first_order_error_bar},
                   {"correction", order->correction},
                   {"nodes", order->nodes},
                   {"directions", order->directions},
                   {"fallback", nullptr}});
  if (!answers.chosen && attribution.steps.size() > 1) object["fallback"] = attribution.steps.back().method;
  Json steps = Json::array();
  for (const Step& step : attribution.steps) {
    steps.push_back({{"method", step.method},
                     {"error_bar", json_of(step.error_bar)},
                     {"seconds", step.seconds},
                     {"forward_equivalents", step.forward_equivalents}});
    if (!step.error_bar.value) steps.back()["error_bar_why"] = step.error_bar.why;
  }
  object["steps"] = std::move(steps);
  return object;
}

/// Where coalitions are not all that it costs, or need not be.
bool counts_passes(const Attribution& attribution) { return attribution.gradients > 0 || !attribution.steps.empty(); }

/// An attribution as one JSON object.
Json attribution_json(const Globals& globals, const Answers& answers, const Attribution& attribution) {
  Json object = {{"method", answers.chosen ? answering(answers, attribution) : answers.method},
                 {"players", attribution.values.size()},
                 {"values", attribution.values}};
  object["standard_errors"] = attribution.standard_errors ? Json(*attribution.standard_errors) : Json(nullptr);
  if (attribution.error_samples > 0) object["error_samples"] = attribution.error_samples;
  object["empty"] = attribution.empty;
  object["grand"] = attribution.grand;
  object["efficiency_gap"] = attribution.efficiency_gap();
  object["distinct"] = attribution.distinct;
  object["evaluations"] = attribution.evaluations;
  object["gradients"] = attribution.gradients;
  if (counts_passes(attribution)) object["forward_equivalents"] = attribution.forward_equivalents;
  object["seed"] = globals.seed;
  object["seconds"] = {{"game", attribution.game_seconds}, {"estimator", attribution.estimator_seconds}};
  object["exact"] = attribution.exact;
  const auto& rank = attribution.minimum_norm;
  object["minimum_norm"] = rank ? Json{{"rank", rank->found}, {"needed_rank", rank->needed}} : Json(nullptr);
  if (!attribution.steps.empty()) object.update(steps_json(answers, attribution));
  return object;
}

/// All steps of a method, over all answers.
struct StepsOfMethod {
  std::string method;
  std::size_t tried = 0, measured = 0, answers = 0;
  double largest = 0;  ///< error bar that was measured
  std::string why;     ///< one was not
  double seconds = 0;
  std::int64_t forward_equivalents = 0;
};

std::vector<StepsOfMethod> steps_by_method(const Answers& answers) {
  std::vector<StepsOfMethod> all;
  for (const std::vector<Attribution>& of_input : answers.attributions) {
    for (const Attribution& attribution : of_input) {
      for (const Step& step : attribution.steps) {
        auto place = std::ranges::find(all, step.method, &StepsOfMethod::method);
        if (place == all.end()) place = all.insert(all.end(), {.method = step.method});
        ++place->tried;
        place->answers += &step == &attribution.steps.back();
        place->measured += step.error_bar.value.has_value();
        place->largest = std::max(place->largest, step.error_bar.value.value_or(0));
        if (!step.error_bar.value) place->why = step.error_bar.why;
        place->seconds += step.seconds;
        place->forward_equivalents += step.forward_equivalents;
      }
    }
  }
  return all;
}

/// Those of several inputs or queries.
Json attributions_json(const Globals& globals, const Answers& answers) {
  const auto& [key_of_names, names] = answers.explained;
  const std::vector<StepsOfMethod> steps = steps_by_method(answers);
  Json object = {{"method", answers.method},
                 {"players", answers.attributions.front().front().values.size()},
                 {key_of_names, names}};
  for (const char* key : {"values", "standard_errors", "empty", "grand", "efficiency_gap", "distinct", "evaluations",
                          "gradients", "exact", "minimum_norm"}) {
    object[key] = Json::array();
  }
  if (!steps.empty())
    for (const char* key : {"methods", "error_bar"}) object[key] = Json::array();
  if (answers.tolerance)
    for (const char* key : {"within_tolerance", "fallback"}) object[key] = Json::array();
  if (counts_passes(answers.attributions.front().front())) object["forward_equivalents"] = Json::array();
  double game_seconds = 0, estimator_seconds = 0;
  for (const std::vector<Attribution>& of_input : answers.attributions) {
    Json rows = Json::array();
    for (const Attribution& attribution : of_input) {
      rows.push_back(attribution_json(globals, answers, attribution));
      rows.back()["methods"] = answering(answers, attribution);
      game_seconds += attribution.game_seconds;
      estimator_seconds += attribution.estimator_seconds;
    }
    for (auto& [key, column] : object.items()) {
      if (!column.is_array() || key == key_of_names) continue;
      Json of_queries = Json::array();
      for (const auto& row : rows) of_queries.push_back(row.value(key, Json(nullptr)));
      column.push_back(names.size() == 1 ? of_queries.front() : of_queries);
    }
  }
  object["seed"] = globals.seed;
  object["seconds"] = {{"game", game_seconds}, {"estimator", estimator_seconds}};
  if (answers.chosen) object["chosen"] = true;
  if (answers.tolerance) object["tolerance"] = *answers.tolerance;
  for (const StepsOfMethod& step : steps)
    object["steps"].push_back({{"method", step.method},
                               {"error_bar", step.measured > 0 ? Json(step.largest) : Json(nullptr)},
                               {"seconds", step.seconds},
                               {"forward_equivalents", step.forward_equivalents},
                               {"measured", step.measured},
                               {"answers", step.answers}});
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
                                : attribution_json(globals, answers, answers.attributions.front().front());
  if (!answers.path.empty()) {
    object["path"] = answers.path;
    if (const std::string precision = precision_name(globals); precision != "float32")
      object.update(Json{{"device", globals.device}, {"precision", precision}, {"kernels", {"fno"}}});
  }
  if (const auto& blocks = answers.blocks)
    object.update(Json{{"blocks", blocks->count}, {"block_of_player", blocks->of_player}});
  object.update(answers.more);
  return object;
}

std::string answering_methods(const Answers& answers) {
  std::vector<std::string> names;
  for (const StepsOfMethod& step : steps_by_method(answers))
    if (step.answers > 0) names.push_back(step.method);
  return joined(names);
}

namespace {

std::string compared(const Measured& error_bar, double tolerance) {
  return message(in_words(error_bar), methods::within(error_bar, tolerance) ? ", within" : ", not within",
                 " the tolerance of ", tolerance);
}

/// "diagonal_second_order: relative error at most 0.03 in 64 of 64; 12 of 1024 answers".
std::string of_all(const StepsOfMethod& step, std::size_t answers) {
  const std::string bar = step.measured == 0
                              ? fmt::format("relative error not known ({})", step.why)
                              : fmt::format("relative error at most {:.2g} in the {} of {} where it is known",
                                            step.largest, step.measured, step.tried);
  return fmt::format("{}: {}; {} of {} answers", step.method, bar, step.answers, answers);
}

}  // namespace

void say_steps(const Answers& answers) {
  if (!answers.tolerance) return;
  const std::vector<Attribution>& firsts = answers.attributions.front();
  const std::size_t count = answers.attributions.size() * firsts.size();
  const bool beyond = std::ranges::any_of(answers.attributions, [&](const auto& of_input) {
    return std::ranges::any_of(of_input, [&](const Attribution& one) {
      return !methods::within(one.steps.front().error_bar, *answers.tolerance);
    });
  });
  if (answers.chosen ? verbosity() == Verbosity::quiet : !beyond) return;
  if (count > 1)
    for (const StepsOfMethod& step : steps_by_method(answers))
      std::cerr << "attribute: " << of_all(step, count) << ".\n";
  else
    for (const Step& step : firsts.front().steps)
      std::cerr << "attribute: " << step.method << ": " << compared(step.error_bar, *answers.tolerance) << ".\n";
  if (!answers.chosen && firsts.front().steps.size() == 1 && count == 1)
    std::cerr << "attribute: --fallback with a --budget samples instead.\n";
}

void print_answers(const Globals& globals, const Answers& answers) {
  if (globals.json) return print_json(answers_json(globals, answers));
  answers.several ? print_rows(answers) : print_table(answers);
  print_game(answers);
}

}  // namespace opshap::cli
