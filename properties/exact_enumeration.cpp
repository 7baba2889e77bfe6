// The exact values, against three independent ways of computing them.

#include <gtest/gtest.h>

#include <cmath>

#include "core/error.hpp"
#include "estimators/exact.hpp"
#include "estimators/registry.hpp"
#include "games/registry.hpp"
#include "games/table_game.hpp"
#include "support/for_all.hpp"
#include "support/generators.hpp"
#include "support/oracles.hpp"
#include "support/tolerance.hpp"

namespace opshap {
namespace {

/// 64 n roundings of numbers of the size of the values; the folds add in pairs.
Tolerance rounding_of(const Table& table) { return rounding(64 * table.players, table.scale()); }

TEST(ExactEnumeration, AgreesWithTheTextbookSum) {
  for_all([] {
    const Table table = *any_game(12);
    RC_TAG(table.players);
    RC_ASSERT(mismatch(textbook_shapley_values(table), estimators::shapley_values_of_table(table.values),
                       rounding_of(table)) == "");
  });
}

TEST(ExactEnumeration, AgreesWithTheMeanOverAllOrderings) {
  for_all([] {
    const Table table = *any_game(7);
    RC_ASSERT(mismatch(shapley_values_by_orderings(table), estimators::shapley_values_of_table(table.values),
                       rounding_of(table)) == "");
  });
}

TEST(ExactEnumeration, AgreesWithTheHarsanyiDividends) {
  for_all([] {
    const Table table = *any_game(10);
    // Multiples of 1/64 have exact dividends, of which 2^n are added.
    const double dividends = largest(moebius_coefficients(table).values);
    RC_ASSERT(mismatch(shapley_values_by_dividends(table), estimators::shapley_values_of_table(table.values),
                       rounding(std::pow(2, table.players), dividends + 1)) == "");
  });
}

TEST(ExactEnumeration, SolvesEveryGameWithAClosedForm) {
  for (const games::Kind& kind : games::all()) {
    for (int players = 1; kind.random != nullptr && players <= 16; ++players) {
      Rng rng(3, kind.name, 0, static_cast<std::uint64_t>(players));
      const auto game = kind.random(players, rng);
      const auto* solved = dynamic_cast<const SolvedGame*>(game.get());
      if (solved == nullptr) continue;
      const Attribution found = attribute(estimators::find("exact"), *game, {0}, 1);
      EXPECT_EQ("", mismatch(solved->shapley_values(), found.values, rounding(64 * players, as_table(*game).scale())))
          << kind.name << " n=" << players;
      EXPECT_TRUE(found.exact);
    }
  }
}

TEST(ExactEnumeration, RefusesMoreThan24Players) {
  Rng rng(1);
  EXPECT_THROW(attribute(estimators::find("exact"), *games::all().at(1).random(25, rng), {0}, 1), InvalidArgument);
}

}  // namespace
}  // namespace opshap
