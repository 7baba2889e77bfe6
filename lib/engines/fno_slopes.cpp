#include "engines/fno_slopes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace opshap::engines {

namespace {

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

/// One forward and one reverse pass of one branch (diagonal), or of two that share their coefficients: shown and hidden
/// (mean field at one t), or at each point the state that a mask takes and the other one (mean field at a mask).
///
/// Forward by the engine's own kernel; only the states between the blocks are kept. The reverse pass computes a tile's
/// activations again and is done with it before it takes the next: it stays in the first-level cache. Passes are used
/// again: much of a fresh one's time is its memory's first touch.
class FnoSlopes::Pass {
 public:
  explicit Pass(const FnoSlopes& slopes)
      : slopes_(slopes),
        engine_(slopes.engine_),
        kernels_(engine_.kernels_),
        width_(engine_.width_),
        hidden_width_(engine_.hidden_),
        places_(engine_.places()),
        stride_(4 * width_),
        first_(FnoEngine::view(engine_.first_)),
        last_(FnoEngine::view(engine_.last_)),
        inputs_(engine_.blocks_.size(),
                Branches{AlignedFloats(at(places_ * width_)), AlignedFloats(at(places_ * width_))}),
        mixed_(engine_.blocks_.size() - 1, AlignedFloats(at(engine_.rows() * stride_))),
        towards_{AlignedFloats(at(places_ * width_)), AlignedFloats(at(places_ * width_))},
        coefficients_(at(engine_.rows() * stride_)),
        other_coefficients_(coefficients_.size()),
        lines_(std::max(engine_.line_room(), at(12 * last_.rows * width_))),
        scratch_(at(kernels::kernel_scratch(width_, hidden_width_))),
        slopes_at_(at(places_)) {
    for (AlignedFloats* buffer : {&tile_.mean, &tile_.first, &tile_.third, &tile_.field, &tile_.other})
      buffer->resize(at(tile_points * width_));
    for (AlignedFloats* buffer : {&tile_.second, &tile_.hidden}) buffer->resize(at(tile_points * hidden_width_));
  }

  using Branches = std::array<AlignedFloats, 2>;
  /// The states of a branch, [places, width], to be filled in before run().
  AlignedFloats& states(std::size_t branch) { return inputs_[0][branch]; }

  /// One branch: the slopes by its first states are in towards() afterwards.
  void run(const FnoEngine::Heads& heads) { run(heads, {1, 0}, 1); }
  /// Two branches with these weights in the mean: the slopes at each place, by the weight of the first.
  const std::vector<float>& run(const FnoEngine::Heads& heads, std::array<float, 2> shares) {
    run(heads, shares, 2);
    return slopes_at_;
  }
  /// The same where the first branch has a weight of its own at each place.
  const std::vector<float>& run(const FnoEngine::Heads& heads, std::vector<float> first_shares) {
    first_shares_ = std::move(first_shares);
    mean_states_.resize(at(places_ * width_));
    run(heads, {1, 1}, 2);
    first_shares_.clear();
    return slopes_at_;
  }
  const AlignedFloats& towards() const { return towards_[0]; }

 private:
  void run(const FnoEngine::Heads& heads, std::array<float, 2> shares, std::size_t branches) {
    shares_ = shares;
    branches_ = branches;
    std::ranges::fill(slopes_at_, 0.0F);
    transform_input();
    for (std::size_t layer = 0; layer < mixed_.size(); ++layer) forward(layer);
    start(heads);
    for (std::size_t layer = mixed_.size(); layer > 0; --layer) {
      std::ranges::fill(other_coefficients_, 0.0F);
      for_lines(&mixed_[layer - 1], &other_coefficients_,
                [&](Index number, const float* mixed, const float* towards_mean, float* back, Index stride) {
                  for (Index first = 0; first < last_.orbits; first += tile_orbits)
                    backward_tile(layer - 1, number, first, mixed, towards_mean, back, stride);
                });
      engine_.mix(slopes_.frequencies_, slopes_.blocks_[layer - 1].spectral, other_coefficients_, coefficients_, 4,
                  stride_, scratch_);
    }
    for_lines(nullptr, nullptr, [&](Index number, const float*, const float* towards_mean, float*, Index stride) {
      for (Index first = 0; first < last_.orbits; first += tile_orbits)
        take_mean(0, tile_at(number, first), towards_mean, stride);
    });
  }

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

  /// Calls work(line, its coefficients of `mixed`, its cotangents of the mean, what it adds to `back`, stride from row
  /// to row) for each line. The cotangents are those of coefficients_. `mixed` and `back` may be null.
  template <typename Work>
  void for_lines(const AlignedFloats* mixed, AlignedFloats* back, const Work& work) {
    if (!engine_.plane())
      return work(0, mixed == nullptr ? nullptr : mixed->data(), coefficients_.data(),
                  back == nullptr ? nullptr : back->data(), stride_);
    const Index size = last_.rows * width_;
    float *of_mixed = lines_.data(), *of_mean = of_mixed + 4 * size, *of_back = of_mean + 4 * size;
    for (Index orbit = 0; orbit < first_.orbits; ++orbit) {
      if (mixed != nullptr) kernels_.spread(first_, orbit, 1, last_.rows, width_, mixed->data(), stride_, of_mixed);
      kernels_.spread(adjoint(first_), orbit, 1, last_.rows, width_, coefficients_.data(), stride_, of_mean);
      std::fill_n(of_back, 4 * size, 0.0F);
      for (Index line = 0; line < 4; ++line)
        work(4 * orbit + line, of_mixed + line * size, of_mean + line * size, of_back + line * size, width_);
      if (back != nullptr)
        kernels_.gather(adjoint(first_), orbit, 1, last_.rows, width_, of_back, back->data(), stride_);
    }
  }

  /// Of a branch in the mean at a place.
  float share(std::size_t branch, Index place) const {
    if (first_shares_.empty()) return shares_[branch];
    return branch == 0 ? first_shares_[at(place)] : 1 - first_shares_[at(place)];
  }

  /// The coefficients of the mean of both branches' inputs of a block, whose weights differ from place to place.
  void join_states(std::size_t layer) {
    std::ranges::fill(mean_states_, 0.0F);
    for (std::size_t branch = 0; branch < 2; ++branch)
      for (Index place = 0; place < places_; ++place)
        kernels_.add_scaled(share(branch, place), inputs_[layer][branch].data() + place * width_,
                            mean_states_.data() + place * width_, width_);
    transform(mean_states_, coefficients_);
  }

  /// The coefficients of the branches' mean; a branch has one weight everywhere, so it is the mean of their
  /// coefficients.
  void join(std::size_t branch, const AlignedFloats& of_branch, AlignedFloats& mean) const {
    if (branch == 0) std::ranges::fill(mean, 0.0F);
    kernels_.add_scaled(shares_[branch], of_branch.data(), mean.data(), static_cast<Index>(mean.size()));
  }

  /// The coefficients of these states, [places, width].
  void transform(const AlignedFloats& states, AlignedFloats& coefficients) {
    std::ranges::fill(coefficients, 0.0F);
    const auto transform_line = [&](Index line, float* to, Index stride) {
      for (Index orbit = 0; orbit < last_.orbits; ++orbit)
        kernels_.gather(last_, orbit, 1, 1, width_, states.data() + (line * engine_.line_places() + 4 * orbit) * width_,
                        to, stride);
    };
    if (!engine_.plane()) return transform_line(0, coefficients.data(), stride_);
    const Index size = last_.rows * width_;
    for (Index orbit = 0; orbit < first_.orbits; ++orbit) {
      std::fill_n(lines_.data(), 4 * size, 0.0F);
      for (Index line = 0; line < 4; ++line) transform_line(4 * orbit + line, lines_.data() + line * size, width_);
      kernels_.gather(first_, orbit, 1, last_.rows, width_, lines_.data(), coefficients.data(), stride_);
    }
  }

  void transform_input() {
    if (!first_shares_.empty()) return join_states(0);
    for (std::size_t branch = 0; branch < branches_; ++branch) {
      transform(inputs_[0][branch], other_coefficients_);
      join(branch, other_coefficients_, coefficients_);
    }
  }

  /// From the mean's coefficients of a block's input to the block's outputs and the coefficients of their mean.
  void forward(std::size_t layer) {
    const FnoEngine::Block& block = engine_.blocks_[layer];
    AlignedFloats& mixed = mixed_[layer];
    engine_.mix(engine_.frequencies_, block.spectral, coefficients_, mixed, 4, stride_, scratch_);
    kernels_.add_scaled(1, block.spectral_bias.data(), mixed.data() + engine_.constant_row() * stride_, width_);
    for (std::size_t branch = 0; branch < branches_; ++branch) {
      std::ranges::fill(other_coefficients_, 0.0F);
      const auto run_line = [&](Index number, const float* from, float* to, Index stride) {
        const Index place = number * engine_.line_places() * width_;
        kernels_.line(engine_.pointwise(layer), last_,
                      {.coefficients = from,
                       .stride = stride,
                       .states = inputs_[layer][branch].data() + place,
                       .out = inputs_[layer + 1][branch].data() + place,
                       .out_coefficients = to},
                      scratch_.data());
      };
      engine_.run_lines(mixed.data(), other_coefficients_.data(), stride_, lines_.data(), run_line);
      if (first_shares_.empty()) join(branch, other_coefficients_, coefficients_);
    }
    if (!first_shares_.empty()) join_states(layer + 1);
  }

  /// What the coefficients want of the states they were taken from: to the slopes and to the cotangents of the
  /// branches.
  void take_mean(std::size_t layer, const Tile& tile, const float* towards_mean, Index stride) {
    const Index from = tile.place * width_, size = 4 * tile.orbits * width_;
    for (Index orbit = 0; orbit < tile.orbits; ++orbit)
      kernels_.spread(adjoint(last_), tile.first + orbit, 1, 1, width_, towards_mean, stride,
                      tile_.mean.data() + 4 * orbit * width_);
    if (branches_ == 2)
      for (Index i = 0; i < 4 * tile.orbits; ++i)
        slopes_at_[at(tile.place + i)] +=
            kernels_.dot_difference(tile_.mean.data() + i * width_, inputs_[layer][0].data() + from + i * width_,
                                    inputs_[layer][1].data() + from + i * width_, width_);
    for (std::size_t branch = 0; branch < branches_; ++branch) {
      if (first_shares_.empty()) {
        kernels_.add_scaled(shares_[branch], tile_.mean.data(), towards_[branch].data() + from, size);
        continue;
      }
      for (Index i = 0; i < 4 * tile.orbits; ++i)
        kernels_.add_scaled(share(branch, tile.place + i), tile_.mean.data() + i * width_,
                            towards_[branch].data() + from + i * width_, width_);
    }
  }

  /// From the cotangents of a block's outputs to those of its inputs, and of its mixed coefficients.
  void backward_tile(std::size_t layer, Index number, Index first_orbit, const float* mixed, const float* towards_mean,
                     float* of_mixed, Index stride) {
    const FnoEngine::Block& block = engine_.blocks_[layer];
    const Block& back = slopes_.blocks_[layer];
    const Tile tile = tile_at(number, first_orbit);
    const Index from = tile.place * width_, rows = 4 * tile.orbits, size = rows * width_, narrow = rows * hidden_width_;
    take_mean(layer + 1, tile, towards_mean, stride);
    for (std::size_t branch = 0; branch < branches_; ++branch) {
      if (shares_[branch] == 0) continue;  // nothing reaches the query from it
      const float* states = inputs_[layer][branch].data() + from;
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

      float* towards = towards_[branch].data() + from;
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
  /// Adds those of one head.
  void start(const FnoEngine::Head& head, AlignedFloats& of_coefficients) {
    const Branches& states = inputs_.back();
    const Index rows = engine_.rows(), wide = engine_.wide_, joint = hidden_width_ + width_;
    AlignedFloats row(at(stride_));
    std::array<double, 2> values{};
    for (std::size_t branch = 0; branch < branches_; ++branch) {
      const float* state = states[branch].data() + head.place * width_;
      AlignedFloats before(at(4 * hidden_width_)), joined(at(4 * joint)), last(at(4 * wide)), activated(last.size());
      for (Index r = 0; r <= rows; ++r) {
        std::copy_n(r < rows ? coefficients_.data() + r * stride_ : state, width_, row.data());
        engine_.multiply(4, row.data(), width_, head.first.data() + r * width_ * hidden_width_, hidden_width_,
                         before.data(), r == 0 ? head.first_bias.data() : nullptr, r > 0);
      }
      kernels_.quick_gelu(before.data(), joined.data(), hidden_width_);
      std::copy_n(state, width_, joined.data() + hidden_width_);
      engine_.multiply(4, joined.data(), joint, head.second.data(), wide, last.data(), head.second_bias.data());
      kernels_.quick_gelu(last.data(), activated.data(), wide);
      for (Index w = 0; w < wide; ++w)
        values[branch] += static_cast<double>(activated[at(w)]) * static_cast<double>(head.third[at(w)]);

      AlignedFloats back = head.third;
      for (float& number : back) number *= share(branch, head.place);
      kernels_.quick_gelu_slope(last.data(), back.data(), wide);
      AlignedFloats of_joined(at(joint)), of_row(at(width_));
      transposed_product(head.second.data(), joint, wide, back.data(), of_joined.data());
      kernels_.quick_gelu_slope(before.data(), of_joined.data(), hidden_width_);
      float* of_state = towards_[branch].data() + head.place * width_;
      for (Index r = 0; r <= rows; ++r) {
        transposed_product(head.first.data() + r * width_ * hidden_width_, width_, hidden_width_, of_joined.data(),
                           of_row.data());
        kernels_.add_scaled(1, of_row.data(), r < rows ? of_coefficients.data() + r * stride_ : of_state, width_);
      }
      kernels_.add_scaled(1, of_joined.data() + hidden_width_, of_state, width_);
    }
    // F at the query is the mean of the branches' projections.
    if (branches_ == 2) slopes_at_[at(head.place)] += static_cast<float>(values[0] - values[1]);
  }

  static void transposed_product(const float* matrix, Index rows, Index columns, const float* x, float* out) {
    for (Index r = 0; r < rows; ++r) {
      out[r] = 0;
      for (Index c = 0; c < columns; ++c) out[r] += matrix[r * columns + c] * x[c];
    }
  }

  const FnoSlopes& slopes_;
  const FnoEngine& engine_;
  const Kernels& kernels_;
  const Index width_, hidden_width_, places_, stride_;
  const LineBasis first_, last_;
  std::array<float, 2> shares_{1, 0};
  std::vector<float> first_shares_;  ///< [places]; empty where a branch has one share everywhere
  std::size_t branches_ = 1;
  std::vector<Branches> inputs_;      ///< [blocks]: states that go into each block
  std::vector<AlignedFloats> mixed_;  ///< [blocks − 1]: mixed coefficients of each block but the last
  Branches towards_;                  ///< cotangents of the states the reverse pass has come to
  AlignedFloats coefficients_, other_coefficients_, lines_, scratch_;
  AlignedFloats mean_states_;     ///< [places, width]
  std::vector<float> slopes_at_;  ///< [places]
  Buffers tile_;
};

FnoSlopes::~FnoSlopes() = default;

auto FnoSlopes::pass() const {
  return passes_.take([this] { return std::make_unique<Pass>(*this); });
}

FnoSlopes::FnoSlopes(const FnoEngine& engine) : engine_(engine) {
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
  const bool mask = std::ranges::all_of(weights, [](double weight) { return weight == 0 || weight == 1; });
  // Of a mask the first branch has the state that it takes, so that the second one has no share anywhere.
  const auto shown_first = [&](Index point) { return !mask || weights[at(point)] == 1; };
  const Index width = engine_.width_, places = engine_.places();
  const auto pass = this->pass();
  std::vector<float> shares(at(places), 1);
  for (Index place = 0; place < places; ++place) {
    const Index point = engine_.point_of_[at(place)];
    if (point >= 0 && !mask) shares[at(place)] = static_cast<float>(weights[at(point)]);
    for (Index branch = 0; branch < 2; ++branch) {
      const bool shown = point >= 0 && shown_first(point) == (branch == 0);
      const Index row = point < 0 ? engine_.row_of_padding() : engine_.row_of(point, shown);
      std::copy_n(subject.tables.states.data() + row * width, width, pass->states(at(branch)).data() + place * width);
    }
  }
  const auto same = static_cast<float>(mask ? 1 : weights.front());
  const bool uniform = mask || std::ranges::all_of(weights, [&](double weight) { return weight == weights.front(); });
  const std::vector<float>& at_places =
      uniform ? pass->run(heads, std::array{same, 1 - same}) : pass->run(heads, std::move(shares));
  for (Index place = 0; place < places; ++place) {
    const Index point = engine_.point_of_[at(place)];
    if (point < 0) continue;
    const double by_first = static_cast<double>(at_places[at(place)]);
    slopes[at(point)] = shown_first(point) ? by_first : -by_first;
  }
}

void FnoSlopes::of_input(const FnoEngine::Subject& subject, const FnoEngine::Heads& heads,
                         std::span<const double> weights, std::span<double> slopes) const {
  const Index width = engine_.width_, places = engine_.places(), points = engine_.grid_.points();
  const Index channels = engine_.weights_.in_channels, rows = engine_.lifted_rows(), wide = engine_.lifting_width(),
              entry = engine_.entry_channels();
  // The field u_b + w ⊙ (u − u_b), lifted.
  std::vector<double> field(subject.shown.size());
  for (std::size_t i = 0; i < field.size(); ++i) {
    const double weight = weights[i % weights.size()];
    field[i] = (1 - weight) * subject.hidden[i] + weight * subject.shown[i];
  }
  AlignedFloats middle(at(rows * wide)), activated(middle.size()), lifted(at(rows * width));
  engine_.lift(engine_.entries(field).data(), rows, middle.data(), activated.data(), lifted.data());
  const auto pass = this->pass();
  std::ranges::fill(pass->states(0), 0.0F);
  for (Index place = 0; place < places; ++place)
    if (const Index point = engine_.point_of_[at(place)]; point >= 0)
      std::copy_n(lifted.data() + point * width, width, pass->states(0).data() + place * width);
  pass->run(heads);

  // Back through the lifting.
  AlignedFloats of_state(at(rows * width)), of_middle(at(rows * wide)), of_entry(at(rows * entry));
  for (Index place = 0; place < places; ++place)
    if (const Index point = engine_.point_of_[at(place)]; point >= 0)
      std::copy_n(pass->towards().data() + place * width, width, of_state.data() + point * width);
  engine_.multiply(rows, of_state.data(), width, lifting1_.data(), wide, of_middle.data());
  engine_.kernels_.quick_gelu_slope(middle.data(), of_middle.data(), rows * wide);
  engine_.multiply(rows, of_middle.data(), wide, lifting0_.data(), entry, of_entry.data());
  for (Index point = 0; point < points; ++point) {
    slopes[at(point)] = 0;
    for (Index c = 0; c < channels; ++c) {
      const std::size_t i = at(c * points + point);
      slopes[at(point)] +=
          static_cast<double>(of_entry[at(point * entry + c)]) * (subject.shown[i] - subject.hidden[i]);
    }
  }
}

}  // namespace opshap::engines
