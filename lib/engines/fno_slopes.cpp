#include "engines/fno_slopes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace opshap::engines {

namespace {

/// Floats of one field's states that go into all blocks, up to which fields are worth computing together.
constexpr Index most_states = Index{1} << 17;

/// [rows, columns] to [columns, rows].
AlignedFloats transposed(const AlignedFloats& matrix, Index rows, Index columns, float sign = 1) {
  AlignedFloats result(at(rows * columns));
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) result[at(c * rows + r)] = sign * matrix[at(r * columns + c)];
  return result;
}

/// The transform whose matrix is the transpose: its forward values are the other's inverse ones.
LineBasis adjoint(LineBasis basis) {
  std::swap(basis.forward, basis.inverse);
  return basis;
}

}  // namespace

/// One forward and one reverse pass of some fields of weights, each with one branch (diagonal), or with two that share
/// their coefficients: shown and hidden (mean field at one t), or at each point the state that a mask takes and the
/// other one (mean field at a mask).
///
/// Forward by the engine's own kernel; only the states between the blocks are kept. The reverse pass computes a tile's
/// activations again and is done with it before it takes the next: it stays in the first-level cache. The fields have
/// their states one after the other, and their coefficients beside each other, since the kernel of the mixing computes
/// four fields at once. Passes are used again: much of a fresh one's time is its memory's first touch.
class FnoSlopes::Pass {
 public:
  explicit Pass(const FnoSlopes& slopes)
      : slopes_(slopes),
        engine_(slopes.engine_),
        kernels_(engine_.kernels_),
        width_(engine_.width_),
        hidden_width_(engine_.hidden_),
        places_(engine_.places()),
        stride_(most_fields * width_),
        first_(FnoEngine::view(engine_.first_)),
        last_(FnoEngine::view(engine_.last_)),
        inputs_(engine_.blocks_.size()),
        mixed_(engine_.blocks_.size() - 1, AlignedFloats(at(engine_.rows() * stride_))),
        coefficients_(at(engine_.rows() * stride_)),
        other_coefficients_(coefficients_.size()),
        lines_(std::max(engine_.line_room(), at(12 * last_.rows * width_))),
        scratch_(at(kernels::kernel_scratch(width_, hidden_width_))) {
    for (AlignedFloats* buffer : {&tile_.mean, &tile_.first, &tile_.third, &tile_.field, &tile_.other})
      buffer->resize(at(tile_points * width_));
    for (AlignedFloats* buffer : {&tile_.second, &tile_.hidden}) buffer->resize(at(tile_points * hidden_width_));
  }

  /// Weights of a field's two branches in their mean.
  struct Shares {
    std::array<float, 2> same{1, 0};  ///< everywhere
    std::vector<float> first = {};    ///< [places] of the first branch, where they differ from place to place
  };

  /// Makes room for so many fields and branches. Their states() and shares() are to be filled in before run().
  void prepare(Index fields, std::size_t branches) {
    fields_ = fields;
    branches_ = branches;
    const auto grow = [](auto& numbers, Index count) {
      if (numbers.size() < at(count)) numbers.resize(at(count));
    };
    for (std::size_t branch = 0; branch < branches; ++branch) {
      for (Branches& states : inputs_) grow(states[branch], fields * places_ * width_);
      grow(towards_[branch], fields * places_ * width_);
    }
    grow(slopes_at_, fields * places_);
    shares_.assign(at(fields), {});
  }
  /// [places, width].
  float* states(Index field, std::size_t branch) { return of_field(inputs_[0][branch], field); }
  Shares& shares(Index field) { return shares_[at(field)]; }

  void run(const FnoEngine::Heads& heads) {
    std::ranges::fill(slopes_at_, 0.0F);
    for (Index field = 0; field < fields_; ++field) transform_input(field);
    for (std::size_t layer = 0; layer < mixed_.size(); ++layer) forward(layer);
    start(heads);
    for (std::size_t layer = mixed_.size(); layer > 0; --layer) {
      std::ranges::fill(other_coefficients_, 0.0F);
      for (Index field = 0; field < fields_; ++field)
        for_lines(field, &mixed_[layer - 1], &other_coefficients_,
                  [&](Index number, const float* mixed, const float* towards_mean, float* back, Index stride) {
                    for (Index first = 0; first < last_.orbits; first += tile_orbits)
                      backward_tile(field, layer - 1, tile_at(number, first), mixed, towards_mean, back, stride);
                  });
      engine_.mix(slopes_.frequencies_, slopes_.blocks_[layer - 1].spectral, other_coefficients_, coefficients_,
                  most_fields, stride_, scratch_);
    }
    for (Index field = 0; field < fields_; ++field)
      for_lines(field, nullptr, nullptr,
                [&](Index number, const float*, const float* towards_mean, float*, Index stride) {
                  for (Index first = 0; first < last_.orbits; first += tile_orbits)
                    take_mean(field, 0, tile_at(number, first), towards_mean, stride);
                });
  }

  /// Of one branch: the slopes by its first states, [places, width].
  const float* towards(Index field) { return of_field(towards_[0], field); }
  /// Of two branches: the slopes at each place by the weight of the first, [places].
  const float* slopes(Index field) const { return slopes_at_.data() + field * places_; }

 private:
  using Branches = std::array<AlignedFloats, 2>;

  static constexpr Index tile_orbits = 8, tile_points = 4 * tile_orbits;

  /// Orbits first..first+orbits-1 of a line; its points' states begin at `from`.
  struct Tile {
    Index first = 0, orbits = 0, place = 0;
  };
  /// Of one tile: the cotangent of the mean, what goes into a block's three activations, and room.
  struct Buffers {
    AlignedFloats mean, first, second, third, field, other, hidden;
  };

  Tile tile_at(Index line, Index first) const {
    return {first, std::min(tile_orbits, last_.orbits - first), line * engine_.line_places() + 4 * first};
  }

  /// A field's part of states, [fields, places, width].
  float* of_field(AlignedFloats& states, Index field) const { return states.data() + field * places_ * width_; }
  /// And of coefficients, [rows, most_fields, width]: stride_ leads from row to row.
  float* column(AlignedFloats& coefficients, Index field) const { return coefficients.data() + field * width_; }
  void clear(float* coefficients) const {
    for (Index r = 0; r < engine_.rows(); ++r) std::fill_n(coefficients + r * stride_, width_, 0.0F);
  }

  /// Calls work(line, its coefficients of `mixed`, its cotangents of the mean, what it adds to `back`, stride from row
  /// to row) for each line of a field. The cotangents are those of coefficients_. `mixed` and `back` may be null.
  template <typename Work>
  void for_lines(Index field, AlignedFloats* mixed, AlignedFloats* back, const Work& work) {
    const float *from = mixed == nullptr ? nullptr : column(*mixed, field), *towards = column(coefficients_, field);
    float* to = back == nullptr ? nullptr : column(*back, field);
    if (!engine_.plane()) return work(0, from, towards, to, stride_);
    const Index size = last_.rows * width_;
    float *of_mixed = lines_.data(), *of_mean = of_mixed + 4 * size, *of_back = of_mean + 4 * size;
    for (Index orbit = 0; orbit < first_.orbits; ++orbit) {
      if (from != nullptr) kernels_.spread(first_, orbit, 1, last_.rows, width_, from, stride_, of_mixed);
      kernels_.spread(adjoint(first_), orbit, 1, last_.rows, width_, towards, stride_, of_mean);
      std::fill_n(of_back, 4 * size, 0.0F);
      for (Index line = 0; line < 4; ++line)
        work(4 * orbit + line, of_mixed + line * size, of_mean + line * size, of_back + line * size, width_);
      if (to != nullptr) kernels_.gather(adjoint(first_), orbit, 1, last_.rows, width_, of_back, to, stride_);
    }
  }

  /// Of a branch in the mean at a place.
  float share(Index field, std::size_t branch, Index place) const {
    const Shares& shares = shares_[at(field)];
    if (shares.first.empty()) return shares.same[branch];
    return branch == 0 ? shares.first[at(place)] : 1 - shares.first[at(place)];
  }
  /// Whether a branch has one weight everywhere.
  bool uniform(Index field) const { return shares_[at(field)].first.empty(); }

  /// The coefficients of the mean of both branches' inputs of a block, whose weights differ from place to place.
  void join_states(Index field, std::size_t layer) {
    mean_states_.assign(at(places_ * width_), 0.0F);
    for (std::size_t branch = 0; branch < 2; ++branch)
      for (Index place = 0; place < places_; ++place)
        kernels_.add_scaled(share(field, branch, place), of_field(inputs_[layer][branch], field) + place * width_,
                            mean_states_.data() + place * width_, width_);
    transform(mean_states_.data(), column(coefficients_, field));
  }

  /// The coefficients of the branches' mean; a branch has one weight everywhere, so it is the mean of their
  /// coefficients.
  void join(Index field, std::size_t branch) {
    const float *from = column(other_coefficients_, field), weight = shares_[at(field)].same[branch];
    float* to = column(coefficients_, field);
    if (branch == 0) clear(to);
    for (Index r = 0; r < engine_.rows(); ++r)
      kernels_.add_scaled(weight, from + r * stride_, to + r * stride_, width_);
  }

  /// The coefficients of these states, [places, width].
  void transform(const float* states, float* coefficients) {
    clear(coefficients);
    const auto transform_line = [&](Index line, float* to, Index stride) {
      for (Index orbit = 0; orbit < last_.orbits; ++orbit)
        kernels_.gather(last_, orbit, 1, 1, width_, states + (line * engine_.line_places() + 4 * orbit) * width_, to,
                        stride);
    };
    if (!engine_.plane()) return transform_line(0, coefficients, stride_);
    const Index size = last_.rows * width_;
    for (Index orbit = 0; orbit < first_.orbits; ++orbit) {
      std::fill_n(lines_.data(), 4 * size, 0.0F);
      for (Index line = 0; line < 4; ++line) transform_line(4 * orbit + line, lines_.data() + line * size, width_);
      kernels_.gather(first_, orbit, 1, last_.rows, width_, lines_.data(), coefficients, stride_);
    }
  }

  void transform_input(Index field) {
    if (!uniform(field)) return join_states(field, 0);
    for (std::size_t branch = 0; branch < branches_; ++branch) {
      transform(states(field, branch), column(other_coefficients_, field));
      join(field, branch);
    }
  }

  /// From the mean's coefficients of a block's input to the block's outputs and the coefficients of their mean.
  void forward(std::size_t layer) {
    const FnoEngine::Block& block = engine_.blocks_[layer];
    AlignedFloats& mixed = mixed_[layer];
    engine_.mix(engine_.frequencies_, block.spectral, coefficients_, mixed, most_fields, stride_, scratch_);
    for (Index field = 0; field < fields_; ++field) {
      kernels_.add_scaled(1, block.spectral_bias.data(), column(mixed, field) + engine_.constant_row() * stride_,
                          width_);
      for (std::size_t branch = 0; branch < branches_; ++branch) {
        clear(column(other_coefficients_, field));
        const float* from_states = of_field(inputs_[layer][branch], field);
        float* to_states = of_field(inputs_[layer + 1][branch], field);
        const auto run_line = [&](Index number, const float* from, float* to, Index stride) {
          const Index place = number * engine_.line_places() * width_;
          kernels_.line(engine_.pointwise(layer), last_,
                        {.coefficients = from,
                         .stride = stride,
                         .states = from_states + place,
                         .out = to_states + place,
                         .out_coefficients = to},
                        scratch_.data());
        };
        engine_.run_lines(column(mixed, field), column(other_coefficients_, field), stride_, lines_.data(), run_line);
        if (uniform(field)) join(field, branch);
      }
      if (!uniform(field)) join_states(field, layer + 1);
    }
  }

  /// What the coefficients want of the states they were taken from: to the slopes and to the cotangents of the
  /// branches.
  void take_mean(Index field, std::size_t layer, const Tile& tile, const float* towards_mean, Index stride) {
    const Index from = tile.place * width_, size = 4 * tile.orbits * width_;
    for (Index orbit = 0; orbit < tile.orbits; ++orbit)
      kernels_.spread(adjoint(last_), tile.first + orbit, 1, 1, width_, towards_mean, stride,
                      tile_.mean.data() + 4 * orbit * width_);
    if (branches_ == 2) {
      const float *one = of_field(inputs_[layer][0], field) + from, *other = of_field(inputs_[layer][1], field) + from;
      for (Index i = 0; i < 4 * tile.orbits; ++i)
        slopes_at_[at(field * places_ + tile.place + i)] +=
            kernels_.dot_difference(tile_.mean.data() + i * width_, one + i * width_, other + i * width_, width_);
    }
    for (std::size_t branch = 0; branch < branches_; ++branch) {
      float* towards = of_field(towards_[branch], field) + from;
      if (uniform(field)) {
        kernels_.add_scaled(shares_[at(field)].same[branch], tile_.mean.data(), towards, size);
        continue;
      }
      for (Index i = 0; i < 4 * tile.orbits; ++i)
        kernels_.add_scaled(share(field, branch, tile.place + i), tile_.mean.data() + i * width_, towards + i * width_,
                            width_);
    }
  }

  /// From the cotangents of a block's outputs to those of its inputs, and of its mixed coefficients, of the field with
  /// this number.
  void backward_tile(Index number, std::size_t layer, const Tile& tile, const float* mixed, const float* towards_mean,
                     float* of_mixed, Index stride) {
    const FnoEngine::Block& block = engine_.blocks_[layer];
    const Block& back = slopes_.blocks_[layer];
    const Index from = tile.place * width_, rows = 4 * tile.orbits, size = rows * width_, narrow = rows * hidden_width_;
    take_mean(number, layer + 1, tile, towards_mean, stride);
    for (std::size_t branch = 0; branch < branches_; ++branch) {
      if (uniform(number) && shares_[at(number)].same[branch] == 0) continue;  // nothing reaches the query from it
      const float* states = of_field(inputs_[layer][branch], number) + from;
      float *first = tile_.first.data(), *second = tile_.second.data(), *third = tile_.third.data(),
            *field = tile_.field.data(), *hidden = tile_.hidden.data(), *other = tile_.other.data();
      for (Index orbit = 0; orbit < tile.orbits; ++orbit)
        kernels_.spread(last_, tile.first + orbit, 1, 1, width_, mixed, stride, first + 4 * orbit * width_);
      engine_.multiply(rows, states, width_, block.skip.data(), width_, first, nullptr, true);
      kernels_.quick_gelu(first, field, size);
      engine_.multiply(rows, field, width_, block.mlp0.data(), hidden_width_, second, block.mlp0_bias.data());
      kernels_.quick_gelu(second, hidden, narrow);
      engine_.multiply(rows, hidden, hidden_width_, block.mlp1.data(), width_, third, block.mlp1_bias.data());
      kernels_.floats.gate(block.gate.data(), states, third, rows, width_);

      float* towards = of_field(towards_[branch], number) + from;
      kernels_.quick_gelu_slope(third, towards, size);
      engine_.multiply(rows, towards, width_, back.mlp1.data(), hidden_width_, hidden);
      kernels_.quick_gelu_slope(second, hidden, narrow);
      engine_.multiply(rows, hidden, hidden_width_, back.mlp0.data(), width_, field);
      kernels_.quick_gelu_slope(first, field, size);
      for (Index orbit = 0; orbit < tile.orbits; ++orbit)
        kernels_.gather(adjoint(last_), tile.first + orbit, 1, 1, width_, field + 4 * orbit * width_, of_mixed, stride);
      // The mean field's first states do not depend on the weights.
      if (layer == 0 && branches_ == 2) continue;
      engine_.multiply(rows, field, width_, back.skip.data(), width_, other);
      kernels_.floats.gate(block.gate.data(), towards, other, rows, width_);
      std::copy_n(other, size, towards);
    }
  }

  /// The last block and the projection: cotangents of the states in towards_, those of the coefficients in
  /// coefficients_.
  void start(const FnoEngine::Heads& heads) {
    for (std::size_t branch = 0; branch < branches_; ++branch) std::ranges::fill(towards_[branch], 0.0F);
    AlignedFloats of_coefficients(coefficients_.size());
    for (const FnoEngine::Head& head : heads) start(head, of_coefficients);
    std::swap(coefficients_, of_coefficients);
  }
  /// Adds those of one head, of all fields together.
  void start(const FnoEngine::Head& head, AlignedFloats& of_coefficients) {
    const Index rows = engine_.rows(), wide = engine_.wide_, joint = hidden_width_ + width_;
    std::array<std::array<double, most_fields>, 2> values{};
    AlignedFloats states(at(stride_)), before(at(most_fields * hidden_width_)), joined(at(most_fields * joint)),
        last(at(most_fields * wide)), activated(last.size()), back(last.size());
    for (std::size_t branch = 0; branch < branches_; ++branch) {
      const auto state_at = [&](AlignedFloats& of, Index field) { return of_field(of, field) + head.place * width_; };
      for (Index field = 0; field < fields_; ++field)
        std::copy_n(state_at(inputs_.back()[branch], field), width_, states.data() + field * width_);
      for (Index r = 0; r <= rows; ++r)
        engine_.multiply(most_fields, r < rows ? coefficients_.data() + r * stride_ : states.data(), width_,
                         head.first.data() + r * width_ * hidden_width_, hidden_width_, before.data(),
                         r == 0 ? head.first_bias.data() : nullptr, r > 0);
      for (Index field = 0; field < fields_; ++field) {
        kernels_.quick_gelu(before.data() + field * hidden_width_, joined.data() + field * joint, hidden_width_);
        std::copy_n(states.data() + field * width_, width_, joined.data() + field * joint + hidden_width_);
      }
      engine_.multiply(most_fields, joined.data(), joint, head.second.data(), wide, last.data(),
                       head.second_bias.data());
      kernels_.quick_gelu(last.data(), activated.data(), most_fields * wide);
      for (Index field = 0; field < fields_; ++field) {
        for (Index w = 0; w < wide; ++w) {
          values[branch][at(field)] +=
              static_cast<double>(activated[at(field * wide + w)]) * static_cast<double>(head.third[at(w)]);
          back[at(field * wide + w)] = share(field, branch, head.place) * head.third[at(w)];
        }
      }
      kernels_.quick_gelu_slope(last.data(), back.data(), most_fields * wide);
      const AlignedFloats of_joined = transposed_products(head.second.data(), joint, wide, back.data());
      for (Index field = 0; field < fields_; ++field) {
        float* of_hidden = joined.data() + field * hidden_width_;  // its room is free by now
        for (Index h = 0; h < hidden_width_; ++h) of_hidden[h] = of_joined[at(h * kernels::channel_block + field)];
        kernels_.quick_gelu_slope(before.data() + field * hidden_width_, of_hidden, hidden_width_);
      }
      const AlignedFloats of_rows =
          transposed_products(head.first.data(), (rows + 1) * width_, hidden_width_, joined.data());
      for (Index field = 0; field < fields_; ++field) {
        float* of_state = state_at(towards_[branch], field);
        for (Index r = 0; r <= rows; ++r) {
          float* to = r < rows ? of_coefficients.data() + r * stride_ + field * width_ : of_state;
          for (Index c = 0; c < width_; ++c) to[c] += of_rows[at((r * width_ + c) * kernels::channel_block + field)];
        }
        for (Index c = 0; c < width_; ++c)
          of_state[c] += of_joined[at((hidden_width_ + c) * kernels::channel_block + field)];
      }
    }
    // F at the query is the mean of the branches' projections.
    for (Index field = 0; branches_ == 2 && field < fields_; ++field)
      slopes_at_[at(field * places_ + head.place)] += static_cast<float>(values[0][at(field)] - values[1][at(field)]);
  }

  /// Σ_c matrix[r, c]·x[field, c], [rows, channel_block]: the fields of x [most_fields, columns] are columns, and the
  /// rest is zero.
  AlignedFloats transposed_products(const float* matrix, Index rows, Index columns, const float* x) const {
    AlignedFloats turned(at(columns * kernels::channel_block)), out(at(rows * kernels::channel_block));
    for (Index field = 0; field < fields_; ++field)
      for (Index c = 0; c < columns; ++c) turned[at(c * kernels::channel_block + field)] = x[field * columns + c];
    engine_.multiply(rows, matrix, columns, turned.data(), kernels::channel_block, out.data());
    return out;
  }

  const FnoSlopes& slopes_;
  const FnoEngine& engine_;
  const Kernels& kernels_;
  const Index width_, hidden_width_, places_, stride_;
  const LineBasis first_, last_;
  Index fields_ = 0;
  std::size_t branches_ = 1;
  std::vector<Shares> shares_;        ///< [fields]
  std::vector<Branches> inputs_;      ///< [blocks]: states that go into each block, [fields, places, width]
  std::vector<AlignedFloats> mixed_;  ///< [blocks − 1]: mixed coefficients of each block but the last
  Branches towards_;                  ///< cotangents of the states the reverse pass has come to
  AlignedFloats coefficients_, other_coefficients_, lines_, scratch_;
  AlignedFloats mean_states_;     ///< [places, width] of one field
  std::vector<float> slopes_at_;  ///< [fields, places]
  Buffers tile_;
};

FnoSlopes::~FnoSlopes() = default;

FnoSlopes::FnoSlopes(const FnoEngine& engine)
    : engine_(engine),
      // Where the states of a group would leave the second-level cache, the mixing is a small part of a pass.
      group_(engine.places() * engine.width_ * static_cast<Index>(engine.blocks_.size()) <= most_states ? most_fields
                                                                                                        : 1) {
  const std::map<int, std::vector<std::size_t>> groups = engine.by_source();
  for (const auto& [row, group] : groups) {
    frequencies_.groups.push_back(static_cast<int>(group.size()));
    for (const std::size_t q : group)
      frequencies_.all.push_back({.from = engine.frequencies_.all[q].to, .to = engine.frequencies_.all[q].from});
  }
  const Index width = engine.width_, hidden = engine.hidden_, square = width * width;
  for (const FnoEngine::Block& block : engine.blocks_) {
    Block back{.skip = transposed(block.skip, width, width),
               .mlp0 = transposed(block.mlp0, width, hidden),
               .mlp1 = transposed(block.mlp1, hidden, width)};
    // The adjoint of a product with w is the product with its conjugate transpose.
    for (const auto& [row, group] : groups)
      for (std::size_t part = 0; part < (block.spectral.empty() ? 0 : 2 * group.size()); ++part) {
        const auto first =
            block.spectral.begin() + static_cast<std::ptrdiff_t>(2 * group[part / 2] + part % 2) * square;
        const AlignedFloats turned = transposed({first, first + square}, width, width, part % 2 == 0 ? 1 : -1);
        back.spectral.insert(back.spectral.end(), turned.begin(), turned.end());
      }
    blocks_.push_back(std::move(back));
  }
  lifting0_ = transposed(engine.lifting0_, engine.entry_channels(), engine.lifting_width());
  lifting1_ = transposed(engine.lifting1_, engine.lifting_width(), width);
}

void FnoSlopes::of_mean_field(const FnoEngine::Subject& subject, const FnoEngine::Heads& heads,
                              std::span<const double> weights, std::span<double> slopes) const {
  in_groups(weights, slopes, [&](Pass& pass, std::span<const double> some, std::span<double> of_some) {
    mean_field_of_group(pass, subject, heads, some, of_some);
  });
}

void FnoSlopes::of_input(const FnoEngine::Subject& subject, const FnoEngine::Heads& heads,
                         std::span<const double> weights, std::span<double> slopes) const {
  in_groups(weights, slopes, [&](Pass& pass, std::span<const double> some, std::span<double> of_some) {
    input_of_group(pass, subject, heads, some, of_some);
  });
}

template <typename Work>
void FnoSlopes::in_groups(std::span<const double> weights, std::span<double> slopes, const Work& work) const {
  const auto pass = passes_.take([this] { return std::make_unique<Pass>(*this); });
  const std::size_t size = at(group_ * engine_.grid_.points());
  for (std::size_t first = 0; first < weights.size(); first += size) {
    const std::size_t count = std::min(size, weights.size() - first);
    work(*pass, weights.subspan(first, count), slopes.subspan(first, count));
  }
}

void FnoSlopes::mean_field_of_group(Pass& pass, const FnoEngine::Subject& subject, const FnoEngine::Heads& heads,
                                    std::span<const double> weights, std::span<double> slopes) const {
  const Index width = engine_.width_, places = engine_.places(), points = engine_.grid_.points();
  const Index fields = static_cast<Index>(weights.size()) / points;
  // Of a mask the first branch has the state that it takes, so that the second one has no share anywhere.
  std::vector<char> masks;
  const auto shown_first = [&](Index field, Index point) {
    return masks[at(field)] == 0 || weights[at(field * points + point)] == 1;
  };
  pass.prepare(fields, 2);
  for (Index field = 0; field < fields; ++field) {
    const std::span<const double> own = weights.subspan(at(field * points), at(points));
    const bool mask = std::ranges::all_of(own, [](double weight) { return weight == 0 || weight == 1; });
    masks.push_back(mask ? 1 : 0);
    const auto same = static_cast<float>(mask ? 1 : own.front());
    pass.shares(field).same = {same, 1 - same};
    if (!mask && std::ranges::any_of(own, [&](double weight) { return weight != own.front(); })) {
      std::vector<float>& first = pass.shares(field).first;
      first.assign(at(places), 1);
      for (Index place = 0; place < places; ++place)
        if (const Index point = engine_.point_of_[at(place)]; point >= 0)
          first[at(place)] = static_cast<float>(own[at(point)]);
    }
    for (Index place = 0; place < places; ++place) {
      const Index point = engine_.point_of_[at(place)];
      for (const std::size_t branch : {0, 1}) {
        const bool shown = point >= 0 && shown_first(field, point) == (branch == 0);
        const Index row = point < 0 ? engine_.row_of_padding() : engine_.row_of(point, shown);
        std::copy_n(subject.tables.states.data() + row * width, width, pass.states(field, branch) + place * width);
      }
    }
  }
  pass.run(heads);
  for (Index field = 0; field < fields; ++field) {
    for (Index place = 0; place < places; ++place) {
      const Index point = engine_.point_of_[at(place)];
      if (point < 0) continue;
      const auto by_first = static_cast<double>(pass.slopes(field)[place]);
      slopes[at(field * points + point)] = shown_first(field, point) ? by_first : -by_first;
    }
  }
}

void FnoSlopes::input_of_group(Pass& pass, const FnoEngine::Subject& subject, const FnoEngine::Heads& heads,
                               std::span<const double> weights, std::span<double> slopes) const {
  const Index width = engine_.width_, places = engine_.places(), points = engine_.grid_.points();
  const Index channels = engine_.weights_.in_channels, rows = engine_.lifted_rows(), wide = engine_.lifting_width(),
              entry = engine_.entry_channels(), fields = static_cast<Index>(weights.size()) / points;
  std::vector<double> mixed(subject.shown.size());
  AlignedFloats middle(at(fields * rows * wide)), activated(at(rows * wide)), states(at(rows * width));
  pass.prepare(fields, 1);
  for (Index field = 0; field < fields; ++field) {
    // The field u_b + w ⊙ (u − u_b), lifted.
    for (std::size_t i = 0; i < mixed.size(); ++i) {
      const double weight = weights[at(field * points) + i % at(points)];
      mixed[i] = (1 - weight) * subject.hidden[i] + weight * subject.shown[i];
    }
    engine_.lift(engine_.entries(mixed).data(), rows, middle.data() + field * rows * wide, activated.data(),
                 states.data());
    std::fill_n(pass.states(field, 0), places * width, 0.0F);
    for (Index place = 0; place < places; ++place)
      if (const Index point = engine_.point_of_[at(place)]; point >= 0)
        std::copy_n(states.data() + point * width, width, pass.states(field, 0) + place * width);
  }
  pass.run(heads);

  // Back through the lifting.
  AlignedFloats of_state(at(rows * width)), of_middle(at(rows * wide)), of_entry(at(rows * entry));
  for (Index field = 0; field < fields; ++field) {
    for (Index place = 0; place < places; ++place)
      if (const Index point = engine_.point_of_[at(place)]; point >= 0)
        std::copy_n(pass.towards(field) + place * width, width, of_state.data() + point * width);
    engine_.multiply(rows, of_state.data(), width, lifting1_.data(), wide, of_middle.data());
    engine_.kernels_.quick_gelu_slope(middle.data() + field * rows * wide, of_middle.data(), rows * wide);
    engine_.multiply(rows, of_middle.data(), wide, lifting0_.data(), entry, of_entry.data());
    for (Index point = 0; point < points; ++point) {
      double& slope = slopes[at(field * points + point)];
      slope = 0;
      for (Index c = 0; c < channels; ++c) {
        const std::size_t i = at(c * points + point);
        slope += static_cast<double>(of_entry[at(point * entry + c)]) * (subject.shown[i] - subject.hidden[i]);
      }
    }
  }
}

}  // namespace opshap::engines
