#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/game.hpp"

namespace opshap::evaluation {

/// A game that gave two values for one coalition.
struct Noise {
  std::string coalition;         ///< in words
  double first = 0, second = 0;  ///< its values
  double relative = 0;           ///< |first − second| in parts of the largest value that was seen
};

/// A game that passes everything on and remembers the first coalition that is neither ∅ nor N, so that it can be asked
/// again. A game of this project gives the same value twice. A program or a function of somebody else may not: then no
/// result is exact, and no error bar holds. Refers to the game.
class RepeatedGame final : public Game {
 public:
  explicit RepeatedGame(const Game& game) : game_(game) {}

  int players() const override { return game_.players(); }
  std::string path() const override { return game_.path(); }
  const DifferentiableGame* differentiable() const override { return game_.differentiable(); }
  const MeanField* mean_field() const override { return game_.mean_field(); }
  const CoalitionSlopes* slopes() const override { return game_.slopes(); }

  /// Asks the game for that coalition again, alone. Nothing where no such coalition was asked for, or where the values
  /// differ by at most a millionth of the largest value that was seen: what float32 may make of another batch. To be
  /// called once, at the end. Cost: one evaluation, which no budget counts.
  std::optional<Noise> noise() const;
  /// Evaluations that noise() made: 0 or 1.
  int repeated() const { return repeated_; }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override;

  const Game& game_;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint64_t> coalition_;
  mutable double value_ = 0, largest_ = 0;
  mutable int repeated_ = 0;
};

/// "v({0, 3})=1.5 and then 1.25, which is 0.1 of the largest value": for messages.
std::string in_words(const Noise& noise);

}  // namespace opshap::evaluation
