#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "core/game.hpp"

namespace opshap {

/// A game by a function of one coalition, a row of a batch.
class FunctionGame final : public Game {
 public:
  using Value = std::function<double(const Coalitions& coalitions, std::size_t row)>;
  FunctionGame(int players, Value value) : players_(players), value_(std::move(value)) {}
  int players() const override { return players_; }
  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values;
    for (std::size_t row = 0; row < coalitions.size(); ++row) values.push_back(value_(coalitions, row));
    return values;
  }

 private:
  int players_;
  Value value_;
};

}  // namespace opshap
