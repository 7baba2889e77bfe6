#pragma once

#include <cstdint>

#include "core/estimator.hpp"
#include "core/game.hpp"
#include "core/measured.hpp"

namespace opshap::methods {

/// The relative error that an answer may have where nobody says another one.
inline constexpr double default_tolerance = 0.05;

/// How far off the values are, relative to their norm: by the last step, by the standard errors, or by the bar of the
/// second order. 0 where they are exact. Undefined with the reason where nothing tells.
Measured error_bar(const Attribution& attribution);

/// How far off the first order is: the size r of the correction beyond what aliases may have of it, and theirs s, as
/// √(r² + s²). Where they may have all of it r is 0, and nothing is known of a correction that is smaller than s.
Measured first_order_error_bar(const SecondOrder& order);

/// Whether an error bar is known and at most the tolerance.
bool within(const Measured& error_bar, double tolerance);

/// Which values a correction corrects.
enum class FirstOrder { integrated_gradients, mean_field };

/// The values of `estimator`, integrated gradients or the mean field, with the error bar of their first order.
///
/// The bar is that of a correction with four nodes (estimators::diagonal_second_order), whose gradients are counted.
/// Throws InvalidArgument for a game without gradients off the diagonal.
Attribution with_error_bar(const Estimator& estimator, FirstOrder first_order, const Game& game, std::uint64_t seed);

/// What answers in place of a method whose error bar is above the tolerance.
struct Fallback {
  const Estimator& estimator;
  Budget budget;  ///< of the estimator; what the method before it took is not part of it
};

/// The values of `second_order`, or those of the fallback where there is one and the error bar is above the tolerance.
/// Attribution::second_order stays in either case. Throws as attribute() does.
Attribution second_order_or(const Estimator& second_order, double tolerance, const Fallback* fallback, const Game& game,
                            std::uint64_t seed);

/// Shapley values by methods that follow each other until one knows its error to be at most the tolerance.
///
/// 1. `exact` up to 12 players that may change a value (Game::active_players). The others get 0.
/// 2. The mean field where the game has a closure, else integrated gradients, by Gauss–Legendre with the nodes of
///    diagonal_second_order. Its error bar takes the gradients of a correction. A closure that is the multilinear
///    extension needs no correction: its only error is the quadrature's.
/// 3. `diagonal_second_order`. Its gradients are those of step 2, so it costs nothing more.
/// 4. `odd_shap` with 16 coalitions a player, paired regression where that sample does not determine its solution or
///    there are more than 1024 players, antithetic orderings beyond 4096 players.
///
/// Where the gradients have kinks (Extension::has_kinks) step 4 follows step 1. A game without gradients off the
/// diagonal goes from step 1 to antithetic orderings with 16 coalitions a player, whose standard errors say how far off
/// they are. The values of each step are those of the named method with the same seed, tolerance and nodes. Throws
/// InvalidArgument for a tolerance outside (0, 1], and as attribute() does.
Attribution in_steps(const Game& game, double tolerance, std::uint64_t seed);

/// The most coalitions that one of these steps evaluates.
std::int64_t most_coalitions(const Game& game);

/// The values of the method that answered a like question in_steps(), without the steps before it: the mean field or
/// integrated gradients with as many nodes and no error bar, diagonal_second_order with its own bar, or the same
/// sampling. Where `exact` answered and this game has too many players for it, in_steps().
Attribution as_before(const Attribution& answered, const Game& game, double tolerance, std::uint64_t seed);

}  // namespace opshap::methods
