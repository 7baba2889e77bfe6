#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "reporting/scoreboard.hpp"
#include "support/synthetic_run.hpp"

namespace opshap {

inline const reporting::Discretisation points{.players = 16, .shape = {4, 4}}, blocks{.players = 16, .shape = {8, 8}};

/// A run on two grids with 16 players each: 4 × 4 points, and 8 × 8 points in 16 blocks; two channels in, one out.
inline runs::Results run_on_planes() {
  runs::Results results = SyntheticRun{.resolutions = {16}, .curves = {16}, .curve_inputs = 8}.results();
  results.operators.clear();
  results.fields.clear();
  const auto put_on_both = [](auto& rows) {
    for (auto& row : rows) row.shape = points.shape;
    const auto once = rows;
    for (auto row : once) {
      row.shape = blocks.shape;
      rows.push_back(row);
    }
  };
  put_on_both(results.attributions);
  put_on_both(results.values);
  for (const int side : {4, 8}) {
    results.operators.push_back({.pde = "burgers1d",
                                 .points = side * side,
                                 .relative_errors = std::vector<Measured>(8, Measured::of(0.05)),
                                 .shape = {side, side}});
    for (std::int64_t sample = 0; sample < 8; ++sample) {
      runs::FieldsRow fields{.pde = "burgers1d",
                             .sample = sample,
                             .shape = {side, side},
                             .input_channels = {"a", "b"},
                             .output_channels = {"w"},
                             .query = {0.5, 0.25}};
      for (int axis = 0; axis < 2; ++axis)
        for (int i = 0; i < side; ++i) fields.x.push_back((i + 0.5) / side);
      for (int channel = 0; channel < 2; ++channel)
        for (int i = 0; i < side * side; ++i) fields.input.push_back(std::sin(i + channel));
      for (int i = 0; i < side * side; ++i) {
        fields.solution.push_back(std::cos(i));
        fields.prediction.push_back(std::cos(i) + 0.1);
        if (side == 8) fields.player_of.push_back(i / 16 * 4 + i % 8 / 2);
      }
      results.fields.push_back(fields);
    }
  }
  return results;
}

}  // namespace opshap
