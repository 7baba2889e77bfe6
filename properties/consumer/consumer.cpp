// Prints a row of JSON for each run: the consumer's estimator and one of opshap's on a game of pairwise interactions.

#include <iostream>
#include <memory>
#include <vector>

#include "core/rng.hpp"
#include "evaluation/comparison_run.hpp"
#include "first_and_last.hpp"
#include "games/unanimity.hpp"

int main() {
  using namespace opshap;
  constexpr int players = 12;
  Rng rng(1, "pairs");
  std::vector<games::UnanimityTerm> pairs;
  for (int one = 0; one < players; ++one)
    for (int other = 0; other < one; ++other) pairs.push_back({.coalition = {other, one}, .coefficient = rng.normal()});
  const std::unique_ptr<SolvedGame> game = games::unanimity_sum(players, pairs);
  evaluation::ComparisonPlan plan{.game = *game,
                                  .name = "pairs",
                                  .interaction_order = 2,
                                  .methods = {methods::of_estimator(first_and_last()), methods::resolve("permutation")},
                                  .budgets = {64},
                                  .repeats = 3};
  evaluation::compare_methods(plan, evaluation::truth_of(*game, {}, plan.seed), {},
                              [](const runs::MethodRow& row) { std::cout << to_json_line(row) << '\n'; });
}
