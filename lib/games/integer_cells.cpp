#include "games/integer_cells.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "core/error.hpp"
#include "core/gauss_legendre.hpp"

namespace opshap::games {

namespace {

/// The integers low..high, all that a sum can be.
struct Range {
  int low = 0, high = 0;
  std::size_t size() const { return static_cast<std::size_t>(high - low + 1); }
};

/// ranges[k]: of the sum over players 0..k−1.
std::vector<Range> ranges_of_sums(std::span<const int> cells) {
  std::vector<Range> ranges(cells.size() + 1);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    ranges[k + 1] = {.low = ranges[k].low + std::min(cells[k], 0), .high = ranges[k].high + std::max(cells[k], 0)};
  }
  return ranges;
}

}  // namespace

std::vector<double> shapley_values_on_integers(std::span<const int> cells, const std::function<double(double)>& f) {
  const std::size_t n = cells.size();
  const std::vector<Range> ranges = ranges_of_sums(cells);
  std::vector<double> of_sum(ranges[n].size());
  for (std::size_t x = 0; x < of_sum.size(); ++x) of_sum[x] = f(ranges[n].low + static_cast<double>(x));

  const GaussLegendre rule(static_cast<int>((n + 1) / 2));
  std::vector<double> shapley(n, 0.0), law, next_law;
  std::vector<std::vector<double>> expected(n + 1);  // expected[k][x]: E f given the sum x over players 0..k−1
  for (std::size_t k = 0; k <= n; ++k) expected[k].resize(ranges[k].size());
  for (std::size_t node = 0; node < rule.nodes.size(); ++node) {
    const double t = rule.nodes[node];
    expected[n] = of_sum;
    // Where the sum without and with player k lies in expected[k + 1].
    const auto without = [&](std::size_t k) { return static_cast<std::size_t>(ranges[k].low - ranges[k + 1].low); };
    const auto with = [&](std::size_t k) {
      return static_cast<std::size_t>(ranges[k].low + cells[k] - ranges[k + 1].low);
    };
    for (std::size_t k = n; k-- > 0;) {
      const double* stays = expected[k + 1].data() + without(k);
      const double* joins = expected[k + 1].data() + with(k);
      double* here = expected[k].data();
      for (std::size_t x = 0; x < ranges[k].size(); ++x) here[x] = stays[x] + t * (joins[x] - stays[x]);
    }
    law.assign(1, 1.0);
    for (std::size_t k = 0; k < n; ++k) {
      const double* stays = expected[k + 1].data() + without(k);
      const double* joins = expected[k + 1].data() + with(k);
      double marginal = 0;
      for (std::size_t x = 0; x < law.size(); ++x) marginal += law[x] * (joins[x] - stays[x]);
      shapley[k] += rule.weights[node] * marginal;
      next_law.assign(ranges[k + 1].size(), 0.0);
      for (std::size_t x = 0; x < law.size(); ++x) next_law[x + without(k)] += (1 - t) * law[x];
      for (std::size_t x = 0; x < law.size(); ++x) next_law[x + with(k)] += t * law[x];
      law.swap(next_law);
    }
  }
  return shapley;
}

Measure measure_of_integers(std::span<const int> cells, std::string_view who) {
  constexpr std::int64_t largest_cell = 1000000, largest_table = std::int64_t{1} << 28;
  std::int64_t total = 0;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    require(std::abs(static_cast<std::int64_t>(cells[k])) <= largest_cell, who, ": cell=", cells[k], " (cell ", k,
            "; at most ", largest_cell, " in size). Divide all cells by a common factor.");
    total += std::abs(static_cast<std::int64_t>(cells[k]));
  }
  require(total * static_cast<std::int64_t>(cells.size()) <= largest_table, who, ": total=", total, " with ",
          cells.size(), " cells (the sums' table would have over 2^28 entries). Divide all cells by a common factor.");
  return Measure({cells.begin(), cells.end()});
}

}  // namespace opshap::games
