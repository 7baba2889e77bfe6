#pragma once

// What the kernels of this folder are written in. Their source is compiled twice: by NVRTC for a GPU, and by the C++
// compiler, which emulates a GPU. A kernel consists of phases between which all threads of a block wait for each other.
// A phase is a function of the thread or of the warp; on a GPU each calls it with its own number, and the emulation
// calls it with one number after the other.

#ifdef __CUDACC__
#define OPSHAP_DEVICE __device__ __forceinline__
#define OPSHAP_UNROLL _Pragma("unroll")
#define OPSHAP_ROLL _Pragma("unroll 1")
#define OPSHAP_SOME _Pragma("unroll 4")
#else
#include <bit>
#include <cmath>
#include <cstdint>
#define OPSHAP_DEVICE inline
#define OPSHAP_UNROLL
#define OPSHAP_ROLL
#define OPSHAP_SOME
#endif

namespace opshap::devices {

constexpr int lanes = 32, warps = 8, threads_of_block = warps * lanes;

/// What the factors of a matrix product are rounded to; sums are in float32. TF32 keeps 11 significant bits and BF16
/// eight. With tf32x3 each factor is the sum of two TF32 numbers, and the product of the smaller ones is left out:
/// about the accuracy of float32.
enum class Arithmetic : int { tf32x3, tf32, bf16 };

/// The lanes that a thread plays: its own on a GPU, and in the emulation all of a warp, one after the other.
class Lanes {
 public:
#ifdef __CUDACC__
  static constexpr int held = 1;
  /// Asked anew for each piece of work: what follows from it is not kept in registers between pieces.
  OPSHAP_DEVICE Lanes() { asm volatile("mov.u32 %0, %%laneid;" : "=r"(number_)); }
  OPSHAP_DEVICE int at(int) const { return number_; }

 private:
  int number_;
#else
  static constexpr int held = devices::lanes;
  int at(int slot) const { return slot; }
#endif
};

/// What a lane has for the two rows of a Tile in which it has numbers.
template <typename Thing>
struct PerRow {
  Thing of[Lanes::held][2];

  /// Calls use(thing, row) for both.
  template <typename Use>
  OPSHAP_DEVICE void each(const Lanes& lanes, const Use& use) {
    OPSHAP_UNROLL
    for (int slot = 0; slot < Lanes::held; ++slot) {
      OPSHAP_UNROLL
      for (int half = 0; half < 2; ++half) use(of[slot][half], lanes.at(slot) / 4 + 8 * half);
    }
  }
};

/// 16 × 8 numbers of a warp, of a sum or of a left factor. A lane has four: in rows lane/4 and lane/4 + 8, columns
/// 2·(lane mod 4) and the next one.
struct Tile {
  static constexpr int rows = 16, columns = 8;
  float of[Lanes::held][4];

  /// Calls use(number, row, column) for each of the numbers.
  template <typename Use>
  OPSHAP_DEVICE void each(const Lanes& lanes, const Use& use) {
    OPSHAP_UNROLL
    for (int slot = 0; slot < Lanes::held; ++slot) {
      const int lane = lanes.at(slot);
      OPSHAP_UNROLL
      for (int i = 0; i < 4; ++i) use(of[slot][i], lane / 4 + 8 * (i / 2), 2 * (lane % 4) + i % 2);
    }
  }
  /// Calls use(number, column, thing of the row).
  template <typename Thing, typename Use>
  OPSHAP_DEVICE void each(const Lanes& lanes, const PerRow<Thing>& things, const Use& use) {
    OPSHAP_UNROLL
    for (int slot = 0; slot < Lanes::held; ++slot) {
      const int lane = lanes.at(slot);
      OPSHAP_UNROLL
      for (int i = 0; i < 4; ++i) use(of[slot][i], 2 * (lane % 4) + i % 2, things.of[slot][i / 2]);
    }
  }
};

/// 8 × 8 numbers of a right factor. A lane has two: in rows 2·(lane mod 4) and the next one, column lane/4. So the
/// inner index has the place that it has in a Tile, and a sum can be the next product's left factor as it is.
struct Strip {
  static constexpr int rows = 8, columns = 8;
  float of[Lanes::held][2];

  template <typename Use>
  OPSHAP_DEVICE void each(const Lanes& lanes, const Use& use) {
    OPSHAP_UNROLL
    for (int slot = 0; slot < Lanes::held; ++slot) {
      const int lane = lanes.at(slot);
      OPSHAP_UNROLL
      for (int i = 0; i < 2; ++i) use(of[slot][i], 2 * (lane % 4) + i, lane / 4);
    }
  }
};

/// The nearest TF32 number, ties away from zero, as the GPU's conversion rounds.
OPSHAP_DEVICE float rounded_to_tf32(float number) {
#ifdef __CUDACC__
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(number));
  return __uint_as_float(bits & 0xffffe000u);
#else
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return std::isfinite(number) ? std::bit_cast<float>((bits + 0x1000U) & 0xffffe000U) : number;
#endif
}

/// The nearest BF16 number, ties to even.
OPSHAP_DEVICE float rounded_to_bf16(float number) {
#ifdef __CUDACC__
  unsigned short bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(number));
  return __uint_as_float(static_cast<unsigned>(bits) << 16);
#else
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return std::isfinite(number) ? std::bit_cast<float>((bits + 0x7fffU + (bits >> 16 & 1U)) & 0xffff0000U) : number;
#endif
}

/// A factor as the products take it.
template <Arithmetic arithmetic, typename Numbers>
struct Factor {
  Numbers large, small;  ///< `small` is used by tf32x3 alone

  OPSHAP_DEVICE explicit Factor(const Numbers& exact) {
    constexpr int numbers = sizeof(exact.of[0]) / sizeof(float);
    OPSHAP_UNROLL
    for (int slot = 0; slot < Lanes::held; ++slot) {
      OPSHAP_UNROLL
      for (int i = 0; i < numbers; ++i) {
        const float number = exact.of[slot][i];
        large.of[slot][i] = arithmetic == Arithmetic::bf16 ? rounded_to_bf16(number) : rounded_to_tf32(number);
        if (arithmetic == Arithmetic::tf32x3) small.of[slot][i] = rounded_to_tf32(number - large.of[slot][i]);
      }
    }
  }
};

/// sum += a·b of numbers that are rounded already: one instruction of the tensor cores.
template <Arithmetic arithmetic>
OPSHAP_DEVICE void add_product(Tile& sum, const Tile& a, const Strip& b) {
#ifdef __CUDACC__
  float* const d = sum.of[0];
  if constexpr (arithmetic == Arithmetic::bf16) {
    unsigned first, second, right;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(first) : "f"(a.of[0][1]), "f"(a.of[0][0]));
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(second) : "f"(a.of[0][3]), "f"(a.of[0][2]));
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(right) : "f"(b.of[0][1]), "f"(b.of[0][0]));
    asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(first), "r"(second), "r"(right));
  } else {
    // The instruction's inner indices t and t + 4 are 2t and 2t + 1 here, in both factors.
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(__float_as_uint(a.of[0][0])), "r"(__float_as_uint(a.of[0][2])), "r"(__float_as_uint(a.of[0][1])),
          "r"(__float_as_uint(a.of[0][3])), "r"(__float_as_uint(b.of[0][0])), "r"(__float_as_uint(b.of[0][1])));
  }
#else
  // Products of rounded numbers are exact in double, and so nearly is their sum.
  sum.each({}, [&](float& number, int row, int column) {
    double exact = number;
    for (int inner = 0; inner < Strip::rows; ++inner)
      exact += static_cast<double>(a.of[row % 8 * 4 + inner / 2][row / 8 * 2 + inner % 2]) *
               static_cast<double>(b.of[column * 4 + inner / 2][inner % 2]);
    number = static_cast<float>(exact);
  });
#endif
}

/// sum += a·b.
template <Arithmetic arithmetic>
OPSHAP_DEVICE void add_product(Tile& sum, const Factor<arithmetic, Tile>& a, const Factor<arithmetic, Strip>& b) {
  if constexpr (arithmetic == Arithmetic::tf32x3) {
    add_product<arithmetic>(sum, a.small, b.large);
    add_product<arithmetic>(sum, a.large, b.small);
  }
  add_product<arithmetic>(sum, a.large, b.large);
}

/// sum[i] += a·b for the columns 8·i.. of b, of which there are 8·tiles. a(row, inner) and b(inner, column) give the
/// factors; beyond `inner` both are 0.
template <Arithmetic arithmetic, int most, typename Left, typename Right>
OPSHAP_DEVICE void accumulate(const Lanes& lanes, Tile (&sum)[most], int tiles, int inner, const Left& a,
                              const Right& b) {
  OPSHAP_ROLL
  for (int first = 0; first < inner; first += Strip::rows) {
    Tile of_a;
    of_a.each(lanes, [&](float& number, int row, int column) {
      number = first + column < inner ? a(row, first + column) : 0.0F;
    });
    const Factor<arithmetic, Tile> left(of_a);
    OPSHAP_UNROLL
    for (int tile = 0; tile < most; ++tile) {
      if (tile >= tiles) break;
      Strip of_b;
      of_b.each(lanes, [&](float& number, int row, int column) {
        number = first + row < inner ? b(first + row, 8 * tile + column) : 0.0F;
      });
      add_product<arithmetic>(sum[tile], left, Factor<arithmetic, Strip>(of_b));
    }
  }
}

/// sum[i] += a·b where a's columns 8·k.. are the tile a[k].
template <Arithmetic arithmetic, int most, int most_inner, typename Right>
OPSHAP_DEVICE void accumulate(const Lanes& lanes, Tile (&sum)[most], int tiles, const Tile (&a)[most_inner],
                              int inner_tiles, const Right& b) {
  OPSHAP_UNROLL
  for (int k = 0; k < most_inner; ++k) {
    if (k >= inner_tiles) break;
    const Factor<arithmetic, Tile> left(a[k]);
    OPSHAP_UNROLL
    for (int tile = 0; tile < most; ++tile) {
      if (tile >= tiles) break;
      Strip of_b;
      of_b.each(lanes, [&](float& number, int row, int column) { number = b(8 * k + row, 8 * tile + column); });
      add_product<arithmetic>(sum[tile], left, Factor<arithmetic, Strip>(of_b));
    }
  }
}

/// x·Φ(x), where erf has the error 1.5e-7 of formula 7.1.26 of Abramowitz and Stegun (1964). It has no branches.
OPSHAP_DEVICE float gelu(float x) {
#ifdef __CUDACC__
  const float z = fabsf(x) * 0.70710678F, t = __fdividef(1.0F, 1.0F + 0.3275911F * z), decay = __expf(-z * z);
#else
  const float z = std::abs(x) * 0.70710678F, t = 1.0F / (1.0F + 0.3275911F * z), decay = std::exp(-z * z);
#endif
  // The half of 1 − erf(z), which is Φ(−|x|).
  const float tail = 0.5F * decay * t *
                     (0.254829592F + t * (-0.284496736F + t * (1.421413741F + t * (-1.453152027F + t * 1.061405429F))));
  return x < 0 ? x * tail : x - x * tail;
}

#ifdef __CUDACC__
/// Asked anew in each phase, as Lanes are.
OPSHAP_DEVICE int thread_number() {
  int number;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
  return number;
}
#endif

/// The threads of a block, and the memory that they share.
struct Block {
  long long number, blocks;  ///< this one's, and how many there are
  float* shared;

  /// Calls run(thread) for each of them; then all have waited for all.
  template <typename Run>
  OPSHAP_DEVICE void threads(const Run& run) const {
#ifdef __CUDACC__
    run(thread_number());
    __syncthreads();
#else
    for (int thread = 0; thread < threads_of_block; ++thread) run(thread);
#endif
  }

  /// Calls run(warp) for each of them, all of whose lanes take part; then all have waited for all.
  template <typename Run>
  OPSHAP_DEVICE void each_warp(const Run& run) const {
#ifdef __CUDACC__
    run(thread_number() / lanes);
    __syncthreads();
#else
    for (int warp = 0; warp < warps; ++warp) run(warp);
#endif
  }
};

}  // namespace opshap::devices
