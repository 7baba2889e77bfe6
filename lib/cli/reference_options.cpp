#include "cli/reference_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/attribute_output.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/measured.hpp"
#include "core/strict_json.hpp"
#include "evaluation/certify.hpp"

namespace opshap::cli {

using Json = nlohmann::ordered_json;

namespace {

/// An attribution somebody wrote down, as `opshap attribute --json` prints it.
struct StoredAttribution {
  std::string method;          ///< "unknown" when the file does not say
  std::vector<double> values;  ///< [n]
};

/// Operators in float32 give values that differ in the last digits between batches; another game differs in the first
/// ones.
constexpr double same_value = 1e-3;

void require_same(const nlohmann::json& file, const char* key, double value, double scale, const std::string& who) {
  if (!file.contains(key)) return;
  require<DataError>(file[key].is_number(), who, ": key=", key, " (", file[key].type_name(),
                     " instead of a number). Give a number.");
  const double found = file[key].get<double>();
  require<DataError>(std::abs(found - value) <= same_value * scale, who, ": ", key, "=", found, " (this game has ",
                     value, "). Give an attribution of this game.");
}

/// Reads {"values":[n numbers], ...}; "method", "players", "empty" and "grand" are optional and the last three must be
/// those of the game. "-" is standard input. Throws DataError naming the key, also for an attribution of another game.
StoredAttribution read_attribution(const std::filesystem::path& path, const Game& game) {
  const std::string who = path == "-" ? "standard input" : path.string();
  nlohmann::json file;
  try {
    file = strict_json<nlohmann::json>(read_file(path), "text");
  } catch (const DataError& error) {
    throw DataError(message(who, ": key=values (missing: this is no attribution; ", error.what(),
                            "). Give what `opshap attribute --json` printed."));
  }
  require<DataError>(file.is_object() && file.contains("values") && file["values"].is_array(), who,
                     ": key=values (missing: this is no attribution). Give what `opshap attribute --json` printed.");
  StoredAttribution found{.method = "unknown", .values = {}};
  if (file.contains("method") && file["method"].is_string()) found.method = file["method"].get<std::string>();
  for (const nlohmann::json& value : file["values"]) {
    require<DataError>(value.is_number(), who, ": key=values[", found.values.size(), "] (", value.type_name(),
                       " instead of a number). Give a number.");
    found.values.push_back(value.get<double>());
  }
  require<DataError>(found.values.size() == static_cast<std::size_t>(game.players()), who, ": key=values (",
                     found.values.size(), " values, but the game has ", game.players(),
                     " players). Give an attribution of this game.");
  CountedGame ends(game, {2});
  const double scale =
      std::max({std::abs(ends.empty()), std::abs(ends.grand()), std::abs(ends.grand() - ends.empty())});
  require_same(file, "empty", ends.empty(), scale, who);
  require_same(file, "grand", ends.grand(), scale, who);
  return found;
}

/// Which of the two was nearer, and how that is known.
struct Judgement {
  std::string method, verdict;
  evaluation::Certification certified;
};

/// The square of a length, where a double holds it.
Measured squared(double length) {
  const double square = length * length;
  if (!std::isfinite(square)) return Measured::undefined("no double is large enough");
  if (length > 0 && square < std::numeric_limits<double>::min())
    return Measured::undefined("no normal double is small enough");
  return Measured::of(square);
}

/// |given − reference| in parts of the reference.
Measured relative_distance(const Judgement& judgement, const evaluation::CertifiedReference& reference) {
  return relative(judgement.certified.distance, norm(reference.attribution.values));
}

Judgement judge(const StoredAttribution& given, const Globals& globals, const ReferenceOptions& options,
                const Game& game, const evaluation::CertifiedReference& reference) {
  const std::vector<double>& values = reference.attribution.values;
  if (reference.method == "exact") {  // the truth is known: no identity is needed
    const double apart = distance(given.values, values);
    return {given.method, "reference is exact", {.difference = squared(apart), .p_value = 0, .distance = apart}};
  }
  using Verdict = evaluation::Certification::Verdict;
  const evaluation::Certification certified = evaluation::certify(
      game, given.values, values, {.max_evaluations = options.settings.max_evaluations}, globals.seed);
  return {given.method,
          certified.verdict == Verdict::first    ? "attribution is nearer"
          : certified.verdict == Verdict::second ? "reference is nearer"
                                                 : "undecided",
          certified};
}

Answers answers_of(const Game& game, const evaluation::CertifiedReference& reference) {
  return {.method = reference.method, .attributions = {{reference.attribution}}, .path = game.path()};
}

Json json_of(const evaluation::ReferenceEstimate& estimate) {
  return {{"method", estimate.method},
          {"values", estimate.attribution.values},
          {"standard_errors", *estimate.attribution.standard_errors},
          {"evaluations", estimate.attribution.evaluations},
          {"gradients", estimate.attribution.gradients}};
}

Json json_of(const evaluation::Witness& witness) {
  Json bar = nullptr;
  if (witness.error_bar) bar = json_number(*witness.error_bar, "its values are all 0");
  return {{"method", witness.method},
          {"values", witness.attribution.values},
          {"error_bar", std::move(bar)},
          {"distance", witness.distance},
          {"agrees", witness.agrees},
          {"evaluations", witness.attribution.evaluations},
          {"gradients", witness.attribution.gradients}};
}

Json json_of(const Globals& globals, const Game& game, const evaluation::CertifiedReference& reference,
             const std::optional<Judgement>& judgement) {
  Json object = answers_json(globals, answers_of(game, reference));
  object["relative_error"] = json_number(reference.error);
  object["rounding"] = reference.rounding;
  object["reached"] = reference.reached;
  object["cross_check"] = nullptr;
  if (const auto& check = reference.cross_check) {
    object["cross_check"] = {
        {"statistic", check->statistic},
        {"degrees_of_freedom",
         {check->numerator_degrees, json_number(check->denominator_degrees, "the standard errors are all rounding")}},
        {"p_value", check->p_value},
        {"agrees", check->agrees()}};
  }
  object["estimates"] = Json::array();
  for (const evaluation::ReferenceEstimate& estimate : reference.estimates)
    object["estimates"].push_back(json_of(estimate));
  object["witness"] = nullptr;
  if (reference.witness) object["witness"] = json_of(*reference.witness);
  object["certification"] = nullptr;
  if (judgement) {
    const evaluation::Certification& certified = judgement->certified;
    object["certification"] = {{"method", judgement->method},
                               {"verdict", judgement->verdict},
                               {"squared_error_difference", json_number(certified.difference)},
                               {"standard_error", json_number(certified.standard_error)},
                               {"p_value", certified.p_value},
                               {"distance", certified.distance},
                               {"relative_distance", json_number(relative_distance(*judgement, reference))},
                               {"evaluations", certified.evaluations}};
  }
  return object;
}

std::string measured_in_words(const Measured& number) {
  return number.value ? fmt::format("{:.3g}", *number.value) : "undefined (" + number.why + ")";
}

void print_words(const evaluation::CertifiedReference& reference, const std::optional<Judgement>& judgement) {
  std::cout << fmt::format("relative standard error {}: of all values together, and no promise for each of them\n",
                           measured_in_words(reference.error));
  if (const auto& check = reference.cross_check) {
    const auto& first = reference.estimates.front();
    const auto& second = reference.estimates.back();
    std::cout << fmt::format(
        "cross-check: {} ({} evaluations) and {} ({}) {}: |difference|²/variance = {:.3g} on ({:.0f}, {:.0f}) degrees "
        "of freedom, p = {:.3g}\n",
        first.method, first.attribution.evaluations, second.method, second.attribution.evaluations,
        check->agrees() ? "agree" : "DISAGREE", check->statistic, check->numerator_degrees, check->denominator_degrees,
        check->p_value);
  }
  if (const auto& witness = reference.witness) {
    const Measured apart = relative(witness->distance, norm(reference.attribution.values));
    std::cout << fmt::format("witness: {} ({} evaluations) {}: it is {} of the reference away{}\n", witness->method,
                             witness->attribution.evaluations, witness->agrees ? "agrees" : "DISAGREES",
                             measured_in_words(apart),
                             witness->error_bar ? fmt::format(", its error bar is {:.3g}", *witness->error_bar) : "");
  }
  if (!judgement) return;
  const evaluation::Certification& certified = judgement->certified;
  std::cout << fmt::format("certification of {}: {}. |given - reference| = {:.4g} ({} of the reference)\n",
                           judgement->method, judgement->verdict, certified.distance,
                           measured_in_words(relative_distance(*judgement, reference)));
  if (certified.evaluations > 0) {
    std::cout << fmt::format(
        "  |given - truth|² - |reference - truth|² = {} ± {}, p = {:.2g}, from {} coalitions that neither was made "
        "from\n",
        measured_in_words(certified.difference), measured_in_words(certified.standard_error), certified.p_value,
        certified.evaluations);
  }
}

}  // namespace

void add_reference_settings(CLI::App& command, evaluation::ReferenceSettings& settings) {
  command
      .add_option("--relative-error", settings.relative_error,
                  "How well the reference shall be known: |standard errors|/|values| over all players; a single player "
                  "may be known less well")
      ->capture_default_str();
  command
      .add_option("--max-evaluations", settings.max_evaluations,
                  "The most coalitions to evaluate for it; a reverse pass of an operator counts as several")
      ->capture_default_str();
  command
      .add_option("--exact-players", settings.exact_players,
                  "Enumerate all coalitions up to so many players, at most 24")
      ->capture_default_str();
}

void run_reference(const Globals& globals, const ReferenceOptions& options, const NamedGame& named) {
  require(!(options.game == "-" && options.attribution == "-"),
          "reference: --game=- with --certify=- (both would read standard input). Name a file for one of them.");
  AskedGame asked(*named.game, named.foreign);
  const Game& game = asked.game();
  std::optional<StoredAttribution> given;  // read first: a broken file stops here, not after an hour
  if (!options.attribution.empty()) given = read_attribution(options.attribution, game);
  evaluation::CertifiedReference reference = evaluation::certified_reference(
      *shown_game(game, options.settings.max_evaluations), options.settings, globals.seed);
  std::optional<Judgement> judgement;
  if (given) judgement = judge(*given, globals, options, game, reference);
  asked.ask_again("reference");
  if (asked.noisy()) {
    reference.method = "noisy";
    reference.attribution.exact = reference.reached = false;
  }
  Json object = json_of(globals, game, reference, judgement);
  asked.describe(object);
  if (!globals.out.empty()) write_file(globals.out, object.dump(2) + '\n');
  if (globals.json) {
    if (globals.out != "-") print_json(object);
  } else if (globals.out != "-") {
    print_answers(globals, answers_of(game, reference));
    print_words(reference, judgement);
  }
  std::cout.flush();
  const bool disagree = reference.cross_check && !reference.cross_check->agrees();
  if (disagree)
    std::cerr << "reference: p_value=" << reference.cross_check->p_value
              << " (the two estimates are farther apart than chance allows: one of them is wrong). Values are those of "
              << reference.method << " alone.\n";
  if (reference.witness && !reference.witness->agrees && !disagree)
    std::cerr << "reference: note: " << reference.witness->method
              << " is farther from the reference than its error bar allows (the bar is no bound, and two independent "
                 "estimates agree). Take a smaller --relative-error to be sure.\n";
  if (!reference.reached && !asked.noisy())
    std::cerr << "reference: relative_error=" << measured_in_words(reference.error) << " (asked for "
              << options.settings.relative_error
              << (reference.only_rounding ? ", but the rounding of the game's values alone is that large). Take their "
                                            "common part off them, or ask for less.\n"
                                          : message(" within ", options.settings.max_evaluations,
                                                    " evaluations). Raise --max-evaluations.\n"));
  if (disagree || !reference.reached) throw CheckFailed{};
}

}  // namespace opshap::cli
