#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "evaluation/certify.hpp"

namespace opshap::cli {

/// A game as a command asks it. That of a program is asked for one coalition twice, once a command.
class AskedGame {
 public:
  /// Refers to the game.
  AskedGame(const Game& game, bool foreign) : game_(game), foreign_(foreign), repeated_(game) {}

  const Game& game() const { return foreign_ ? static_cast<const Game&>(repeated_) : game_; }
  /// To be called when the work is done. Says on standard error what was found.
  void ask_again(std::string_view who);
  bool noisy() const { return noise_.has_value(); }
  /// Adds "repeated" and "noise" (null, or the coalition, its two values and their relative difference) for the game of
  /// a program.
  void describe(nlohmann::ordered_json& object) const;

 private:
  const Game& game_;
  bool foreign_;
  evaluation::RepeatedGame repeated_;
  std::optional<evaluation::Noise> noise_;
};

}  // namespace opshap::cli
