#include "estimators/coalition_gram.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/coalitions.hpp"
#include "core/threads.hpp"

namespace opshap::estimators {

namespace {

/// Players per side of a tile: 4 + 4 columns are loaded for 16 counts, which fit the registers.
constexpr std::size_t tile = 4;

using TileCounts = std::array<std::uint64_t, tile * tile>;
using Columns = std::array<const std::uint64_t*, tile>;
using CountTile = void (*)(const Columns& a, const Columns& b, std::size_t words, TileCounts& counts);

/// One source for all instruction sets; it is inlined into the functions below and compiled for each.
[[gnu::always_inline]] inline void count_tile(const Columns& a, const Columns& b, std::size_t words,
                                              TileCounts& counts) {
  const std::uint64_t *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
  for (std::size_t j = 0; j < tile; ++j) {
    const std::uint64_t* bj = b[j];
    std::uint64_t c0 = 0, c1 = 0, c2 = 0, c3 = 0;
    for (std::size_t word = 0; word < words; ++word) {
      c0 += static_cast<std::uint64_t>(__builtin_popcountll(a0[word] & bj[word]));
      c1 += static_cast<std::uint64_t>(__builtin_popcountll(a1[word] & bj[word]));
      c2 += static_cast<std::uint64_t>(__builtin_popcountll(a2[word] & bj[word]));
      c3 += static_cast<std::uint64_t>(__builtin_popcountll(a3[word] & bj[word]));
    }
    counts[j] = c0;
    counts[tile + j] = c1;
    counts[2 * tile + j] = c2;
    counts[3 * tile + j] = c3;
  }
}

void count_tile_anywhere(const Columns& a, const Columns& b, std::size_t words, TileCounts& counts) {
  count_tile(a, b, words, counts);
}

#ifdef __x86_64__
[[gnu::target("popcnt")]] void count_tile_popcnt(const Columns& a, const Columns& b, std::size_t words,
                                                 TileCounts& counts) {
  count_tile(a, b, words, counts);
}

[[gnu::target("popcnt,avx512f,avx512bw,avx512vl,avx512vpopcntdq,prefer-vector-width=512")]] void count_tile_avx512(
    const Columns& a, const Columns& b, std::size_t words, TileCounts& counts) {
  count_tile(a, b, words, counts);
}
#endif

CountTile best_count_tile() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    return count_tile_avx512;
  if (__builtin_cpu_supports("popcnt")) return count_tile_popcnt;
#endif
  return count_tile_anywhere;
}

}  // namespace

std::vector<double> weighted_gram(const Coalitions& coalitions, std::span<const double> weights) {
  const auto n = static_cast<std::size_t>(coalitions.players());
  std::vector<double> gram(n * n, 0.0);
  const CountTile count = best_count_tile();
  const std::size_t tiles = (n + tile - 1) / tile;
  for (std::size_t first = 0, last = 0; first < weights.size(); first = last) {
    last = first + 1;
    while (last < weights.size() && weights[last] == weights[first]) ++last;
    const CoalitionColumns columns(coalitions, first, last - first);
    // Beyond the last player the last one is counted again and not used.
    const auto columns_of = [&](std::size_t of_tile) {
      Columns pointers;
      for (std::size_t k = 0; k < tile; ++k)
        pointers[k] = columns.column(static_cast<int>(std::min(of_tile * tile + k, n - 1))).data();
      return pointers;
    };
    parallel_for(tiles, [&](std::size_t row_tile) {
      const Columns a = columns_of(row_tile);
      TileCounts counts;
      for (std::size_t column_tile = row_tile; column_tile < tiles; ++column_tile) {
        count(a, columns_of(column_tile), columns.words_per_column(), counts);
        for (std::size_t i = row_tile * tile; i < std::min(n, (row_tile + 1) * tile); ++i) {
          for (std::size_t j = column_tile * tile; j < std::min(n, (column_tile + 1) * tile); ++j) {
            gram[i * n + j] +=
                weights[first] * static_cast<double>(counts[(i - row_tile * tile) * tile + (j - column_tile * tile)]);
          }
        }
      }
    });
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) gram[i * n + j] = gram[j * n + i];
  }
  return gram;
}

}  // namespace opshap::estimators
