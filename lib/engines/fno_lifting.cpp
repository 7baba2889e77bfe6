// What an FNO makes of its input's values before the first block: states of every point shown and hidden, and what the
// first block needs of them alone.

#include <algorithm>

#include "core/threads.hpp"
#include "engines/fno_engine.hpp"

namespace opshap::engines {

namespace {

using Index = std::int64_t;

std::size_t at(Index number) { return static_cast<std::size_t>(number); }

}  // namespace

AlignedFloats FnoEngine::entries(std::initializer_list<std::span<const double>> fields) const {
  const Index points = grid_.points(), count = static_cast<Index>(fields.size());
  const Index entry = static_cast<Index>(lifting0_.size() / lifting0_bias_.size());
  AlignedFloats entries(at((points * count + 3) / 4 * 4 * entry));
  for (Index p = 0; p < points; ++p) {
    float* row = entries.data() + p * count * entry;
    for (const std::span<const double> field : fields) {
      float* to = row;
      for (int c = 0; c < weights_.in_channels; ++c) *to++ = static_cast<float>(field[at(c * points + p)]);
      for (int axis = 0; axis < weights_.dimension(); ++axis) *to++ = static_cast<float>(grid_.position(p, axis));
      row += entry;
    }
  }
  return entries;
}

void FnoEngine::lift(const float* entries, Index rows, float* middle, float* activated, float* states) const {
  const Index wide = static_cast<Index>(lifting0_bias_.size()), entry = static_cast<Index>(lifting0_.size()) / wide;
  kernels_.multiply({.a = entries,
                     .a_stride = entry,
                     .b = lifting0_.data(),
                     .out = middle,
                     .out_stride = wide,
                     .rows = rows,
                     .inner = entry,
                     .columns = wide,
                     .bias = lifting0_bias_.data()});
  kernels_.gelu(middle, activated, rows * wide);
  kernels_.multiply({.a = activated,
                     .a_stride = wide,
                     .b = lifting1_.data(),
                     .out = states,
                     .out_stride = width_,
                     .rows = rows,
                     .inner = wide,
                     .columns = width_,
                     .bias = lifting1_bias_.data()});
}

void FnoEngine::lift(const AlignedFloats& entries, AlignedFloats& middle, AlignedFloats& states) const {
  const Index wide = static_cast<Index>(lifting0_bias_.size()), entry = static_cast<Index>(lifting0_.size()) / wide;
  const Index rows = static_cast<Index>(entries.size()) / entry;
  middle.resize(at(rows * wide));
  states.resize(at(rows * width_));
  AlignedFloats activated(middle.size());
  lift(entries.data(), rows, middle.data(), activated.data(), states.data());
}

void FnoEngine::lift(Subject& subject) const {
  constexpr Index tile = 256;  // rows that stay in the cache from layer to layer
  const Block& block = blocks_.front();
  const AlignedFloats entries = this->entries({subject.hidden, subject.shown});
  const Index wide = static_cast<Index>(lifting0_bias_.size()), entry = static_cast<Index>(lifting0_.size()) / wide;
  const Index states = 2 * grid_.points() + 1, rows = (states + 3) / 4 * 4;
  for (AlignedFloats* table : {&subject.states, &subject.skips, &subject.gates}) table->resize(at(rows * width_));
  // Whole groups of four rows, as entries() has them. The last row, of the padding, is zero, not lifted zeros.
  const Index lifted = static_cast<Index>(entries.size()) / entry;
  parallel_for(at((lifted + tile - 1) / tile), [&](std::size_t number) {
    const Index first = static_cast<Index>(number) * tile, count = std::min(tile, lifted - first);
    AlignedFloats middle(at(count * wide));
    float* const of_tile = subject.states.data() + first * width_;
    lift(entries.data() + first * entry, count, middle.data(), middle.data(), of_tile);
    for (Index row = std::max(first, states - 1); row < first + count; ++row)
      std::fill_n(subject.states.data() + row * width_, width_, 0.0F);
    kernels_.multiply({.a = of_tile,
                       .a_stride = width_,
                       .b = block.skip.data(),
                       .out = subject.skips.data() + first * width_,
                       .out_stride = width_,
                       .rows = count,
                       .inner = width_,
                       .columns = width_});
    for (Index i = first * width_; i < (first + count) * width_; ++i)
      subject.gates[at(i)] = subject.states[at(i)] * block.gate[at(i % width_)];
  });
}

}  // namespace opshap::engines
