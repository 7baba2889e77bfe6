#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/coalitions.hpp"
#include "core/estimator.hpp"
#include "core/game.hpp"
#include "core/scenario.hpp"
#include "methods/method.hpp"
#include "runs/part.hpp"
#include "runs/results.hpp"

namespace opshap::evaluation {

/// Budgets from text, increasing and without repetitions, for a game of n players:
///
///     128,256,1e3       numbers
///     2^7               a power
///     2n,4n,n           multiples of the number of players
///     2^7..2^15         doubling from the first up to the second; either may be any of the forms above, "2n..2^12"
///
/// Commas separate parts of any form. Throws InvalidArgument naming the part that has none of these forms, is below 1
/// or beyond 2^62, or runs down.
std::vector<std::int64_t> parse_budgets(std::string_view text, int players);

/// One budget of these forms, but for ranges. `who` starts the message: "attribute: --budget".
std::int64_t parse_budget(std::string_view who, std::string_view text, int players);

/// Methods that are scored against each other. Rows know a method by its name and that of its weights.
using Contestants = std::vector<std::shared_ptr<const methods::Method>>;

/// Adds a method, which was asked for as `given`. A registered one that is there already stays the one it is. `who`
/// starts the message: "compare: --methods". Throws InvalidArgument for an explainer or a program that rows could not
/// tell from another one.
void add_contestant(std::string_view who, Contestants& contestants, std::shared_ptr<const methods::Method> method,
                    const std::string& given);

/// One question to one method.
struct Turn {
  const methods::Method& method;
  std::int64_t budget = 0;  ///< a method that uses none is asked once, with the first one
  std::int64_t repeat = 0;
};

/// Who is asked at which budget how often. Turns are numbered through and not listed: there may be billions of repeats.
class Schedule {
 public:
  /// Adds a method at these budgets, in turn; what is there already is not added again. A method that uses no budget is
  /// asked once in all.
  void add(const methods::Method& method, std::span<const std::int64_t> budgets, std::int64_t repeats = 1);

  std::int64_t size() const { return size_; }
  Turn operator[](std::int64_t number) const;

 private:
  struct Turns {
    const methods::Method* method;
    std::int64_t budget, first;
  };
  std::vector<Turns> turns_;
  std::int64_t size_ = 0;
};

/// What all methods of a contest are asked, and what their answers are scored by.
struct Contest {
  std::string who;  ///< starts messages: "compare"
  const Game& game;
  const Scenario* scenario = nullptr;      ///< the field behind the game; null for a game without one
  std::uint64_t seed = 0;                  ///< each turn draws from a stream of its own
  std::span<const double> truth;           ///< [n]
  const Coalitions* coalitions = nullptr;  ///< those that R² is measured on; null: it is not measured
  std::span<const double> gains = {};      ///< v(S) − v(∅) on them
};

/// What came of a turn.
struct Reply {
  runs::Answer answer;
  std::optional<Attribution> attribution;  ///< none where the method did not answer
  std::string why;                         ///< then: why, as the scores say too
  /// How a program ended that did not finish, to_string(peers::Ending): its answer is no refusal.
  std::optional<std::string> failure;
};

/// Plays a part of a schedule, turn after turn, so that times can be compared, and hands each reply to `each` with
/// its turn. Turns that `known` says yes to are left out.
///
/// A budget or a game that cannot work, a numerical failure, and a program that fails or refuses are reasons in the
/// place of scores: one method that fails costs its own rows and no other. What stops the whole run passes through:
/// Stopped, EnvironmentError, DataError.
void play(const Contest& contest, const Schedule& schedule,
          const std::function<void(const Turn& turn, const Reply& reply)>& each, const runs::Part& part = {},
          const std::function<bool(const Turn& turn)>& known = {});

}  // namespace opshap::evaluation
