// What a correction of second order is best spent on: its candidates at equal cost, and what their error bars tell.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/measured.hpp"
#include "core/scenario.hpp"
#include "estimators/second_order.hpp"
#include "evaluation/certified_reference.hpp"
#include "games/cell_mask_game.hpp"
#include "games/measure.hpp"
#include "games/smooth_functions.hpp"
#include "operators/weights.hpp"
#include "pde/registry.hpp"
#include "reporting/evidence.hpp"
#include "runs/row_files.hpp"
#include "second_order_candidates.hpp"
#include "second_order_rows.hpp"
#include "support/fading_game.hpp"
#include "support/test_seed.hpp"

namespace opshap {
namespace {

/// A study of full size has OPSHAP_INPUTS inputs of each kind of game; reports/second_order says how it was run.
bool is_full() { return std::getenv("OPSHAP_INPUTS") != nullptr; }
int inputs() { return is_full() ? std::max(2, std::atoi(std::getenv("OPSHAP_INPUTS"))) : 4; }
std::vector<int> sizes() { return is_full() ? std::vector<int>{16, 32, 64, 128} : std::vector<int>{16, 64}; }

/// Solved games of a kind.
struct Family {
  std::string name;
  std::function<std::unique_ptr<SolvedGame>(int players, Rng& rng)> draw;
};

const std::vector<Family>& families() {
  using games::random_measure;
  static const std::vector<Family> all = {
      {"polynomial",
       [](int n, Rng& rng) {
         return games::polynomial_of_measure(random_measure(n, rng), {0.5, -1, 2, 3, 1});
       }},
      {"product",
       [](int n, Rng& rng) {
         std::vector<games::Measure> factors;
         for (int factor = 0; factor < 4; ++factor) factors.push_back(random_measure(n, rng));
         return games::product_of_measures(std::move(factors));
       }},
      {"exponential", [](int n, Rng& rng) { return games::exponential_of_measure(random_measure(n, rng), 1); }},
      {"long range", [](int n, Rng& rng) { return games::exponential_of_measure(random_measure(n, rng), 2); }},
      {"cosine",
       [](int n, Rng& rng) {
         return games::exponential_of_measure(random_measure(n, rng), {0, 2});
       }},
      {"fading", [](int n, Rng& rng) { return std::make_unique<FadingGame>(n, rng.uniform(0.15, 0.3)); }},
  };
  return all;
}

/// The nodes that diagonal_second_order takes: four, doubled until the first order adds up to the gain to a tenth of
/// the tolerance.
FirstOrder first_order_that_adds_up(const Extension& extension, int players, double gain) {
  for (int nodes = 4;; nodes *= 2) {
    FirstOrder first = first_order(extension, players, nodes);
    double size = std::abs(gain);
    for (const double value : first.values) size = std::max(size, std::abs(value));
    const double sum = std::accumulate(first.values.begin(), first.values.end(), 0.0);
    if (std::abs(sum - gain) <= estimators::SecondOrderOptions().tolerance / 10 * size || nodes == 64) return first;
  }
}

double relative_distance(const std::vector<double>& values, const std::vector<double>& truth) {
  return distance(values, truth) / norm(truth);
}

/// The rows of all candidates on one game. `row` has what they share.
void measure(const Game& game, const Extension& extension, const std::vector<double>& truth, SecondOrderRow row,
             std::uint64_t seed, std::vector<SecondOrderRow>& rows) {
  const int n = game.players();
  const double gain = std::accumulate(truth.begin(), truth.end(), 0.0);
  const FirstOrder first = first_order_that_adds_up(extension, n, gain);
  std::vector<double> shifted = first.values;
  const double missing = (gain - std::accumulate(shifted.begin(), shifted.end(), 0.0)) / n;
  for (double& value : shifted) value += missing;
  row.players = n;
  row.nodes = static_cast<int>(first.nodes.size());
  row.directions = estimators::comb_directions(n);
  row.first_order_error = relative_distance(shifted, truth);
  for (const Candidate& candidate : candidates()) {
    if (!has_room(candidate, row.directions)) continue;
    const Corrected found = corrected(candidate, extension, first, game.places(), row.directions, gain, seed);
    row.candidate = candidate.name;
    row.gradients = found.gradients;
    row.error = relative_distance(found.values, truth);
    row.first_order_bar = found.first_order_bar;
    row.apart = found.apart;
    row.share = found.share;
    rows.push_back(row);
  }
}

void measure_solved_games(std::vector<SecondOrderRow>& rows) {
  for (const Family& family : families()) {
    for (const int n : sizes()) {
      Rng rng(test_seed(), "second order/" + family.name, static_cast<std::uint32_t>(n));
      for (int input = 0; input < inputs(); ++input) {
        const auto game = family.draw(n, rng);
        measure(*game, *game->extension(), game->shapley_values(),
                {.family = family.name, .input = input, .base = "plain", .candidate = {}},
                test_seed() + static_cast<std::uint64_t>(input), rows);
      }
    }
  }
}

/// A backbone on new inputs of Burgers' equation, each with a query of its own.
void measure_network(const std::string& name, const std::filesystem::path& file, const std::vector<int>& players,
                     int count, std::vector<SecondOrderRow>& rows) {
  const auto op = operators::load_operator(file);
  const pde::Problem& problem = pde::find("burgers1d");
  for (const int n : players) {
    for (int input = 0; input < count; ++input) {
      const auto number = static_cast<std::uint64_t>(input);
      const FieldBatch field = problem.draw(Rng(test_seed(), "second order/burgers1d"), number).input;
      Rng queries(test_seed(), "second order/queries", static_cast<std::uint32_t>(n), number);
      ScenarioRule rule;
      rule.query = ScenarioRule::Where::index;
      rule.index = {static_cast<int>(queries.below(static_cast<std::uint64_t>(n)))};
      const auto game = games::cell_mask_game(*op, make_scenario(rule, field, {n}));
      const evaluation::CertifiedReference truth = evaluation::certified_reference(
          *game, {.relative_error = 0.002, .max_evaluations = 50000, .exact_players = 16}, test_seed() + number);
      const std::pair<const char*, const Extension*> bases[] = {{"plain", game->extension()},
                                                                {"mean_field", game->mean_field()}};
      for (const auto& [base, extension] : bases)
        measure(*game, *extension, truth.attribution.values,
                {.family = name,
                 .of_network = true,
                 .input = input,
                 .base = base,
                 .candidate = {},
                 .reference_error = truth.error.value.value()},
                test_seed() + number, rows);
    }
  }
}

const std::filesystem::path reports = std::filesystem::path(OPSHAP_SOURCE_DIR) / "reports";

std::vector<SecondOrderRow> measured_rows() {
  std::vector<SecondOrderRow> rows;
  measure_solved_games(rows);
  measure_network("Burgers, desk", reports / "desk/burgers1d/backbone/model.safetensors",
                  is_full() ? sizes() : std::vector<int>{16}, is_full() ? inputs() : 2, rows);
  if (is_full())
    measure_network("Burgers, paper", reports / "paper/backbone/model.safetensors", sizes(), inputs(), rows);
  return rows;
}

reporting::Evidence evidence_of_candidates(const std::vector<SecondOrderRow>& rows) {
  std::string finding = fmt::format(
      "For the same gradients, \"{}\" has {:.2f} times the error of \"{}\" on solved games and {:.2f} times on "
      "networks.\n",
      product, mean_ratio(rows, product, false), half_combs, mean_ratio(rows, product, true));
  for (const Candidate& candidate : candidates())
    finding += fmt::format("\n- {}: {}.", candidate.name, candidate.meaning);
  return {.name = "candidates",
          .title = "What the gradients of a correction of second order are best spent on",
          .finding = finding,
          .studies = {},
          .tables = {table_of_candidates(rows), table_of_ratios(rows)}};
}

reporting::Evidence evidence_of_bars(const std::vector<SecondOrderRow>& rows) {
  return {.name = "bars",
          .title = "Error bars of integrated gradients and of their correction of second order",
          .finding = "How far the bars are from the errors on the rows of [candidates](candidates.md).",
          .studies = {},
          .tables = {table_of_bars(rows, {product, half_combs}), table_of_rules(rows, product)}};
}

TEST(SecondOrderStudy, TheProductIsNotWorseThanHalfCombs) {
  const std::vector<SecondOrderRow> rows = measured_rows();
  const char* folder = std::getenv("OPSHAP_REPORTS");
  if (is_full() && folder != nullptr)
    write_file(std::filesystem::path(folder) / "rows.csv.gz", runs::gzip(to_csv(rows)));
  EXPECT_LT(mean_ratio(rows, product, false), 1);
  EXPECT_LT(mean_ratio(rows, product, true), 1);
}

// The tables of reports/second_order, or of another folder that has rows, where they are written anew.
TEST(SecondOrderStudy, TablesFollowFromTheirRows) {
  const char* asked = std::getenv("OPSHAP_REPORTS");
  const bool is_new = asked != nullptr && is_file(std::filesystem::path(asked) / "rows.csv.gz");
  const std::filesystem::path folder = is_new ? asked : reports / "second_order";
  const std::vector<SecondOrderRow> rows = read_second_order_rows(folder / "rows.csv.gz");
  EXPECT_EQ(read_file(folder / "rows.csv.gz"), runs::gzip(to_csv(rows)));
  for (const reporting::Evidence& evidence : {evidence_of_candidates(rows), evidence_of_bars(rows)}) {
    if (is_new) write(evidence, folder);
    EXPECT_EQ(read_file(folder / (evidence.name + ".md")), evidence.markdown());
    for (const reporting::Table& table : evidence.tables)
      EXPECT_EQ(read_file(folder / (evidence.name + "_" + table.name + ".csv")), table.csv());
  }
}

// Whoever compares candidates compares the product: the same signs give the same values.
TEST(SecondOrderStudy, TheProductIsOneOfTheCandidates) {
  Rng rng(test_seed(), "product");
  const auto game = games::exponential_of_measure(games::random_measure(40, rng), 2);
  const Attribution found = attribute(*estimators::diagonal_second_order({}), *game, {}, 5);
  const double gain = found.grand - found.empty;
  const FirstOrder first = first_order_that_adds_up(*game->extension(), 40, gain);
  const Candidate& built = *std::ranges::find(candidates(), std::string(product), &Candidate::name);
  const Corrected again = corrected(built, *game->extension(), first, game->places(), 16, gain, 5);
  // Roundings of 1e-16 over the squares of steps from .035 on.
  EXPECT_LT(relative_distance(again.values, found.values), 1e-12);
  EXPECT_EQ(found.gradients, again.gradients);
  // But for what the quadrature misses, whose relative size is below 1e-6 with these nodes.
  EXPECT_NEAR(found.second_order->first_order_error_bar, again.first_order_bar, 1e-6);
}

// The two terms of the constant direction cancel, so that nothing is lost by leaving it out.
TEST(SecondOrderStudy, WithoutTheConstantAllDirectionsAreStillExactOnPolynomialsOfDegreeThree) {
  Rng rng(test_seed(), "constant");
  const auto game = games::polynomial_of_measure(games::random_measure(32, rng), {0, 1, -2, 3});
  const std::vector<double> truth = game->shapley_values();
  const FirstOrder first = first_order(*game->extension(), 32, 4);
  for (const Candidate& candidate : candidates()) {
    if (candidate.halves || candidate.shrinking != Shrinking::none) continue;
    const Corrected found = corrected(candidate, *game->extension(), first, game->places(), 32,
                                      std::accumulate(truth.begin(), truth.end(), 0.0), 1);
    EXPECT_LT(relative_distance(found.values, truth), 1e-12) << candidate.name;
  }
}

}  // namespace
}  // namespace opshap
