#pragma once

// The values of a trained FNO for coalitions of inputs, as one kernel: a block takes a group of coalitions through the
// whole network, with their states in its shared memory where they fit. Inside a layer the state of a point goes from
// the mixed coefficients to the next transform's input in registers: inverse transform, skip, activation, perceptron
// and gate of a tile of 16 points are products of the tensor cores, one after the other. The mixing and the head
// multiply few rows by large matrices, for which the tensor cores are not made; they are sums in float32.

#include "devices/fno_arguments.hpp"
#include "devices/warp.hpp"

namespace opshap::devices {

// A GPU's kernel is compiled for the sizes of one network.
#ifdef OPSHAP_WIDTH
constexpr int most_width_tiles = OPSHAP_WIDTH / 8, most_hidden_tiles = OPSHAP_HIDDEN / 8, most_group = OPSHAP_GROUP;
#else
constexpr int most_width_tiles = 8, most_hidden_tiles = 8, most_group = 8;
#endif
/// Columns of eight of a transform's output that a warp takes at once.
constexpr int transform_tiles = 2;

/// A group of coalitions in a block.
template <Arithmetic arithmetic>
struct FnoGroup {
  const FnoArguments& of;
  const Block& block;
  long long first;  ///< coalition

  OPSHAP_DEVICE int width() const {
#ifdef OPSHAP_WIDTH
    return OPSHAP_WIDTH;
#else
    return of.width;
#endif
  }
  OPSHAP_DEVICE int hidden() const {
#ifdef OPSHAP_WIDTH
    return OPSHAP_HIDDEN;
#else
    return of.hidden;
#endif
  }
  OPSHAP_DEVICE int group() const {
#ifdef OPSHAP_WIDTH
    return OPSHAP_GROUP;
#else
    return of.group;
#endif
  }
  OPSHAP_DEVICE bool plane() const { return of.first_analysis != nullptr; }
  OPSHAP_DEVICE int points() const { return of.field_lines * of.field_line_points; }
  OPSHAP_DEVICE int frequencies() const { return of.rows * of.columns; }
  OPSHAP_DEVICE float* at(const Placed& placed) const {
    return (placed.shared != 0 ? block.shared : of.workspace + block.number * of.workspace_of_block) + placed.offset;
  }
  /// The coalition of a member of the group. Beyond the last one it is the last one once more.
  OPSHAP_DEVICE long long row(int member) const { return first + member < of.count ? first + member : of.count - 1; }
  OPSHAP_DEVICE float* state(int member, int line, int point) const {
    return at(of.state) + (static_cast<long long>(member * of.lines + line) * of.line_points + point) * width();
  }
  OPSHAP_DEVICE float* spectrum(const Placed& placed, int member) const {
    return at(placed) + static_cast<long long>(member) * 2 * frequencies() * width();
  }
  /// The coefficients of a line along it, which on a line are those of the field.
  OPSHAP_DEVICE float* of_line(const Placed& on_line, int member, int line) const {
    return plane() ? at(of.of_lines) + static_cast<long long>(member * of.lines + line) * 2 * of.columns * width()
                   : spectrum(on_line, member);
  }

  /// Who is shown.
  OPSHAP_DEVICE void look_up() const {
    float* members = at(of.members);
    block.threads([&](int thread) {
      for (int i = thread; i < group() * points(); i += threads_of_block) {
        const int player = of.owner[i % points()];
        const long long word = of.coalitions[row(i / points()) * of.words + player / 64];
        members[i] = (word >> (player % 64) & 1) != 0 ? 1.0F : 0.0F;
      }
    });
  }
  OPSHAP_DEVICE int input(int member) const { return static_cast<int>((of.before + row(member)) / of.each); }
  /// The row of a table for a place of the padded grid and the input of a member; null in the padding.
  OPSHAP_DEVICE const float* looked_up(const FnoTable& table, int member, int input, int line, int point) const {
    line -= of.first_line;
    point -= of.first_point;
    if (line < 0 || line >= of.field_lines || point < 0 || point >= of.field_line_points) return nullptr;
    const int number = line * of.field_line_points + point;
    const bool shown = at(of.members)[member * points() + number] != 0.0F;
    const int fields = shown ? of.inputs : of.baselines;
    return (shown ? table.shown : table.hidden) +
           (static_cast<long long>(number) * fields + (fields == 1 ? 0 : input)) * width();
  }

  /// Calls make(which, row, tile) for the parts of `products` products with so many rows each: those with rows row..
  /// and channels 8·tile.. Each warp takes every eighth part.
  template <typename Make>
  OPSHAP_DEVICE void each_part(int products, int rows, const Make& make) const {
    const int down = (rows + Tile::rows - 1) / Tile::rows,
              across = (width() / 8 + transform_tiles - 1) / transform_tiles;
    block.each_warp([&](int warp) {
      OPSHAP_ROLL
      for (int part = warp; part < products * down * across; part += warps)
        make(Lanes(), part / (down * across), part / across % down * Tile::rows, part % across * transform_tiles);
    });
  }
  /// A part of out(row, channel) = Σ a(row, inner)·b(inner, channel).
  template <typename Left, typename Right, typename Out>
  OPSHAP_DEVICE void product(const Lanes& lanes, int row, int rows, int tile, int inner, const Left& a, const Right& b,
                             const Out& out) const {
    Tile sum[transform_tiles] = {};
    const int left = width() / 8 - tile;
    accumulate<arithmetic>(
        lanes, sum, left, inner, [&](int r, int k) { return row + r < rows ? a(row + r, k) : 0.0F; },
        [&](int k, int column) { return b(k, 8 * tile + column); });
    OPSHAP_UNROLL
    for (int i = 0; i < transform_tiles; ++i) {
      if (i >= left) break;
      sum[i].each(lanes, [&](float& number, int r, int column) {
        if (row + r < rows) out(row + r, 8 * (tile + i) + column, number);
      });
    }
  }

  /// The coefficients of the states, or of what the lifting made of the coalitions.
  template <bool lifted>
  OPSHAP_DEVICE void analyse() const {
    // In the lifted field the padding is zero, and left out.
    const int first_line = lifted ? of.first_line : 0, lines = lifted ? of.field_lines : of.lines,
              first_point = lifted ? of.first_point : 0, points = lifted ? of.field_line_points : of.line_points;
    each_part(group() * lines, 2 * of.columns, [&](const Lanes& lanes, int which, int row, int tile) {
      const int member = which / lines, line = first_line + which % lines, of_input = lifted ? input(member) : 0;
      const float* from = state(member, line, 0);
      float* to = of_line(of.spectrum, member, line);
      product(
          lanes, row, 2 * of.columns, tile, points,
          [&](int r, int k) { return of.analysis[r * of.line_points + first_point + k]; },
          [&](int k, int c) {
            if constexpr (lifted)
              return looked_up(of.states, member, of_input, line, first_point + k)[c];
            else
              return from[k * width() + c];
          },
          [&](int r, int c, float number) { to[r * width() + c] = number; });
    });
    if (!plane()) return;
    each_part(group() * of.columns, 2 * of.rows, [&](const Lanes& lanes, int which, int row, int tile) {
      const int member = which / of.columns, column = which % of.columns;
      float* to = spectrum(of.spectrum, member);
      product(
          lanes, row, 2 * of.rows, tile, 2 * lines,
          [&](int r, int k) { return of.first_analysis[r * 2 * of.lines + 2 * first_line + k]; },
          [&](int k, int c) {
            return of_line(of.spectrum, member, first_line + k / 2)[(k % 2 * of.columns + column) * width() + c];
          },
          [&](int r, int c, float number) { to[((r / 2 * of.columns + column) * 2 + r % 2) * width() + c] = number; });
    });
  }

  /// The coefficients times a layer's complex weights, and its bias.
  OPSHAP_DEVICE void mix(const FnoLayerArguments& layer) const {
    block.threads([&](int thread) {
      for (int i = thread; i < frequencies() * width(); i += threads_of_block) {
        const int frequency = i / width(), out = i % width();
        const float* weights = layer.mixing + static_cast<long long>(frequency) * width() * 2 * width() + out;
        float re[most_group] = {}, im[most_group] = {};
        OPSHAP_SOME
        for (int in = 0; in < width(); ++in) {
          const float of_re = weights[in * 2 * width()], of_im = weights[in * 2 * width() + width()];
          OPSHAP_UNROLL
          for (int member = 0; member < most_group; ++member) {
            if (member >= group()) break;
            const float* from = spectrum(of.spectrum, member) + frequency * 2 * width() + in;
            re[member] += from[0] * of_re - from[width()] * of_im;
            im[member] += from[0] * of_im + from[width()] * of_re;
          }
        }
        OPSHAP_UNROLL
        for (int member = 0; member < most_group; ++member) {
          if (member >= group()) break;
          float* to = spectrum(of.mixed, member) + frequency * 2 * width() + out;
          to[0] = re[member] + (frequency == of.constant ? layer.spectral_bias[out] : 0.0F);
          to[width()] = im[member];
        }
      }
    });
    if (!plane()) return;
    each_part(group() * of.columns, 2 * of.lines, [&](const Lanes& lanes, int which, int row, int tile) {
      const int member = which / of.columns, column = which % of.columns;
      const float* from = spectrum(of.mixed, member);
      product(
          lanes, row, 2 * of.lines, tile, 2 * of.rows,
          [&](int r, int k) { return of.first_synthesis[r * 2 * of.rows + k]; },
          [&](int k, int c) { return from[((k / 2 * of.columns + column) * 2 + k % 2) * width() + c]; },
          [&](int r, int c, float number) {
            of_line(of.mixed, member, r / 2)[(r % 2 * of.columns + column) * width() + c] = number;
          });
    });
  }

  /// The rest of a layer at each point. A tile's new states replace the old ones, which no other tile reads.
  template <bool lifted>
  OPSHAP_DEVICE void pointwise(const FnoLayerArguments& layer) const {
    const int across = (of.line_points + Tile::rows - 1) / Tile::rows;
    block.each_warp([&](int warp) {
      OPSHAP_ROLL
      for (int part = warp; part < group() * of.lines * across; part += warps)
        tile<lifted>(layer, part / across / of.lines, part / across % of.lines, part % across * Tile::rows);
    });
  }
  template <bool lifted>
  OPSHAP_DEVICE void tile(const FnoLayerArguments& layer, int member, int line, int point) const {
    const Lanes lanes;
    const int tiles = width() / 8, hidden_tiles = hidden() / 8, left = of.line_points - point;
    const float* mixed = of_line(of.mixed, member, line);
    const float* synthesis = of.synthesis + point * 2 * of.columns;
    float* states = state(member, line, point);
    // What the skip and the gate add: of the lifted field by the tables, of which they are a part already.
    PerRow<const float*> skips, gates;
    if constexpr (lifted) {
      const int of_input = input(member);
      skips.each(lanes, [&](const float*& from, int row) {
        from = looked_up(of.skips, member, of_input, line, row < left ? point + row : of.line_points);
      });
      gates.each(lanes, [&](const float*& from, int row) {
        from = looked_up(of.gates, member, of_input, line, row < left ? point + row : of.line_points);
      });
    } else {
      gates.each(lanes, [&](const float*& from, int row) { from = row < left ? states + row * width() : nullptr; });
    }
    Tile y[most_width_tiles] = {};
    accumulate<arithmetic>(
        lanes, y, tiles, 2 * of.columns,
        [&](int row, int k) { return row < left ? synthesis[row * 2 * of.columns + k] : 0.0F; },
        [&](int k, int channel) { return mixed[k * width() + channel]; });
    if constexpr (!lifted)
      accumulate<arithmetic>(
          lanes, y, tiles, width(), [&](int row, int k) { return row < left ? states[row * width() + k] : 0.0F; },
          [&](int k, int channel) { return layer.skip[k * width() + channel]; });
    OPSHAP_UNROLL
    for (int i = 0; i < most_width_tiles; ++i) {
      if (i >= tiles) break;
      if constexpr (lifted)
        y[i].each(lanes, skips, [&](float& number, int column, const float* from) {
          if (from != nullptr) number += from[8 * i + column];
        });
      y[i].each(lanes, [&](float& number, int, int) { number = gelu(number); });
    }
    Tile middle[most_hidden_tiles];
    OPSHAP_UNROLL
    for (int i = 0; i < most_hidden_tiles; ++i) {
      if (i >= hidden_tiles) break;
      middle[i].each(lanes, [&](float& number, int, int column) { number = layer.mlp0_bias[8 * i + column]; });
    }
    accumulate<arithmetic>(lanes, middle, hidden_tiles, y, tiles,
                           [&](int k, int column) { return layer.mlp0[k * hidden() + column]; });
    OPSHAP_UNROLL
    for (int i = 0; i < most_hidden_tiles; ++i) {
      if (i >= hidden_tiles) break;
      middle[i].each(lanes, [&](float& number, int, int) { number = gelu(number); });
    }
    OPSHAP_UNROLL
    for (int i = 0; i < most_width_tiles; ++i) {
      if (i >= tiles) break;
      y[i].each(lanes, gates, [&](float& number, int column, const float* from) {
        const int channel = 8 * i + column;
        number = layer.mlp1_bias[channel];
        if (from != nullptr) number += (lifted ? 1.0F : layer.gate[channel]) * from[channel];
      });
    }
    accumulate<arithmetic>(lanes, y, tiles, middle, hidden_tiles,
                           [&](int k, int channel) { return layer.mlp1[k * width() + channel]; });
    OPSHAP_UNROLL
    for (int i = 0; i < most_width_tiles; ++i) {
      if (i >= tiles) break;
      y[i].each(lanes, [&](float& number, int row, int column) {
        if (row < left) states[row * width() + 8 * i + column] = gelu(number);
      });
    }
  }

  /// Adds the value at a query, or with the first of them sets it.
  template <bool lifted>
  OPSHAP_DEVICE void finish(const FnoHeadArguments& head, bool first_head) const {
    float* partial = at(of.scratch);
    float* middle = partial + warps * group() * hidden();
    float* wide = middle + group() * hidden();
    const int inner = 2 * frequencies() * width(), slice = (inner + warps - 1) / warps;
    const auto here = [&](int member) {
      const float* from = state(member, head.line, head.place);
      if constexpr (lifted) from = looked_up(of.states, member, input(member), head.line, head.place);
      return from;
    };
    block.threads([&](int thread) {
      const int warp = thread / lanes, end = (warp + 1) * slice < inner ? (warp + 1) * slice : inner;
      for (int out = thread % lanes; out < hidden(); out += lanes) {
        float sum[most_group] = {};
        OPSHAP_SOME
        for (int k = warp * slice; k < end; ++k) {
          const float weight = head.first[static_cast<long long>(k) * hidden() + out];
          OPSHAP_UNROLL
          for (int member = 0; member < most_group; ++member) {
            if (member >= group()) break;
            sum[member] += spectrum(of.spectrum, member)[k] * weight;
          }
        }
        OPSHAP_UNROLL
        for (int member = 0; member < most_group; ++member) {
          if (member >= group()) break;
          partial[(warp * group() + member) * hidden() + out] = sum[member];
        }
      }
    });
    block.threads([&](int thread) {
      for (int i = thread; i < group() * hidden(); i += threads_of_block) {
        const int member = i / hidden(), out = i % hidden();
        const float* from = here(member);
        float sum = head.first_bias[out];
        OPSHAP_SOME
        for (int warp = 0; warp < warps; ++warp) sum += partial[(warp * group() + member) * hidden() + out];
        OPSHAP_SOME
        for (int channel = 0; channel < width(); ++channel)
          sum += from[channel] * head.first_here[channel * hidden() + out];
        middle[i] = gelu(sum);
      }
    });
    block.threads([&](int thread) {
      for (int i = thread; i < group() * of.wide; i += threads_of_block) {
        const int member = i / of.wide, out = i % of.wide;
        const float* from = here(member);
        float sum = head.second_bias[out];
        OPSHAP_SOME
        for (int k = 0; k < hidden(); ++k) sum += middle[member * hidden() + k] * head.second[k * of.wide + out];
        OPSHAP_SOME
        for (int channel = 0; channel < width(); ++channel)
          sum += from[channel] * head.second_here[channel * of.wide + out];
        wide[i] = gelu(sum) * head.third[out];
      }
    });
    block.threads([&](int thread) {
      if (thread >= group() || first + thread >= of.count) return;
      float sum = head.bias[0];
      OPSHAP_SOME
      for (int k = 0; k < of.wide; ++k) sum += wide[thread * of.wide + k];
      of.values[first + thread] = first_head ? sum : of.values[first + thread] + sum;
    });
  }

  OPSHAP_DEVICE void evaluate() const {
    look_up();
    analyse<true>();
    OPSHAP_ROLL
    for (int layer = 0; layer + 1 < of.layers; ++layer) {
      mix(of.layer[layer]);
      if (layer == 0)
        pointwise<true>(of.layer[layer]);
      else
        pointwise<false>(of.layer[layer]);
      analyse<false>();
    }
    OPSHAP_ROLL
    for (int head = 0; head < of.heads; ++head) {
      if (of.layers == 1)
        finish<true>(of.head[head], head == 0);
      else
        finish<false>(of.head[head], head == 0);
    }
  }
};

/// All groups that fall to a block.
template <Arithmetic arithmetic>
OPSHAP_DEVICE void evaluate_fno(const FnoArguments& of, const Block& block) {
  OPSHAP_ROLL
  for (long long first = block.number * of.group; first < of.count; first += block.blocks * of.group)
    FnoGroup<arithmetic>{of, block, first}.evaluate();
}

}  // namespace opshap::devices

#ifdef __CUDACC__
extern "C" __global__ void __launch_bounds__(opshap::devices::threads_of_block, 1)
    opshap_fno(const __grid_constant__ opshap::devices::FnoArguments of) {
  extern __shared__ float shared[];
  opshap::devices::evaluate_fno<opshap::devices::Arithmetic::OPSHAP_ARITHMETIC>(
      of, opshap::devices::Block{blockIdx.x, gridDim.x, shared});
}
#endif
