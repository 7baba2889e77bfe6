// Which rows of the two axes make a kept frequency of an FNO, and which get what becomes of it.

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <map>
#include <numbers>

#include "engines/fno_engine.hpp"

namespace opshap::engines {

namespace {

using Index = std::int64_t;

}  // namespace

void FnoEngine::find_frequencies() {
  const auto number = [&](Index f, bool first_sine, Index k, bool last_sine) {
    const int row = first_.row(f, first_sine), column = last_.row(k, last_sine);
    return row < 0 || column < 0 ? -1 : row * static_cast<int>(last_.rows.size()) + column;
  };
  // exp(−i(fα + kβ)) for f = ±a as products of the axes' cosines and sines.
  const auto rows_of = [&](Index f, Index k) {
    const Index a = std::abs(f);
    const float sign = f < 0 ? -1 : 1;
    return Frequency::Number{.re = {{number(a, false, k, false), 1}, {number(a, true, k, true), -sign}},
                             .im = {{number(a, true, k, false), -sign}, {number(a, false, k, true), -1}}};
  };
  const Index points = grid_.padded(0), lower = lower_frequencies();
  const Index wanted = plane() ? weights_.modes[0] : 1, kept = std::min(points, wanted);
  const Index columns = std::min<Index>(grid_.padded(1) / 2, weights_.modes.back() / 2) + 1;
  const Index least = -(kept / 2), most = least + kept - 1;
  const Index highest = std::ranges::max(first_.rows, {}, &AxisBasis::Row::frequency).frequency;
  for (Index a = 0; a <= highest; ++a) {
    for (Index k = 0; k < columns; ++k) {
      int& group = frequencies_.groups.emplace_back(0);
      const auto add = [&](Index f, Index back, const Weighted& weighted) {
        frequencies_.all.push_back({.from = rows_of(f, k), .to = rows_of(back, k)});
        weighted_.push_back(weighted);
        ++group;
      };
      // A field is real: without a sine on the last axis the coefficients of −f are the conjugates of those of f.
      const bool conjugates = lower == 0 && last_.row(k, true) < 0;
      for (const Index back : {a, -a}) {
        Index f = back + lower;
        if (lower > 0 && f > most) f -= points;
        if (f > most || f < least || (a == 0 && group == 1)) continue;
        const Index row = (wanted - kept) / 2 + f - least;
        if (conjugates && group == 1) {
          weighted_.back().mirrored = row;
          continue;
        }
        const double phase = std::numbers::pi * static_cast<double>(f - back) / static_cast<double>(points);
        add(f, back, {.row = row, .column = k, .turn = lower == 0 ? 1 : std::polar(1.0, phase)});
      }
      // A bias needs its row even where no weight gives to it.
      if (group == 0) add(a + lower, a, {.row = -1, .column = k});
    }
  }
}

std::vector<std::vector<std::size_t>> FnoEngine::by_source() const {
  std::map<int, std::vector<std::size_t>> groups;
  for (std::size_t q = 0; q < frequencies_.all.size(); ++q) groups[frequencies_.all[q].from.re[0].row].push_back(q);
  std::vector<std::vector<std::size_t>> found;
  for (auto& [row, group] : groups) found.push_back(std::move(group));
  return found;
}

FnoEngine::Frequencies FnoEngine::adjoint_frequencies() const {
  Frequencies adjoint;
  for (const std::vector<std::size_t>& group : by_source()) {
    adjoint.groups.push_back(static_cast<int>(group.size()));
    for (const std::size_t q : group)
      adjoint.all.push_back({.from = frequencies_.all[q].to, .to = frequencies_.all[q].from});
  }
  return adjoint;
}

}  // namespace opshap::engines
