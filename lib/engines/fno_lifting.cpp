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

AlignedFloats FnoEngine::entries(std::span<const double> field) const {
  const Index points = grid_.points(), entry = static_cast<Index>(lifting0_.size() / lifting0_bias_.size());
  AlignedFloats entries(at(lifted_rows() * entry));
  for (Index p = 0; p < points; ++p) {
    float* to = entries.data() + p * entry;
    for (int c = 0; c < weights_.in_channels; ++c) *to++ = static_cast<float>(field[at(c * points + p)]);
    for (int axis = 0; axis < weights_.dimension(); ++axis) *to++ = static_cast<float>(grid_.position(p, axis));
  }
  return entries;
}

void FnoEngine::lift(const float* entries, Index rows, float* middle, float* activated, float* states) const {
  const Index wide = static_cast<Index>(lifting0_bias_.size()), entry = static_cast<Index>(lifting0_.size()) / wide;
  kernels_.floats.multiply({.a = entries,
                            .a_row = entry,
                            .b = lifting0_.data(),
                            .out = middle,
                            .out_row = wide,
                            .rows = rows,
                            .inner = entry,
                            .columns = wide,
                            .bias = lifting0_bias_.data()});
  kernels_.quick_gelu(middle, activated, rows * wide);
  kernels_.floats.multiply({.a = activated,
                            .a_row = wide,
                            .b = lifting1_.data(),
                            .out = states,
                            .out_row = width_,
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

void FnoEngine::lift(std::span<const double> field, float* states, float* skips, float* gates,
                     const std::function<void(Index first, Index rows)>& beside) const {
  constexpr Index tile = 128;  // rows that stay in the cache from layer to layer
  const Block& block = blocks_.front();
  const AlignedFloats entries = this->entries(field);
  const Index wide = static_cast<Index>(lifting0_bias_.size()), entry = static_cast<Index>(lifting0_.size()) / wide;
  const Index rows = lifted_rows();
  parallel_for(at((rows + tile - 1) / tile), [&](std::size_t number) {
    const Index first = static_cast<Index>(number) * tile, count = std::min(tile, rows - first);
    AlignedFloats middle(at(count * wide));
    float* const of_tile = states + first * width_;
    lift(entries.data() + first * entry, count, middle.data(), middle.data(), of_tile);
    kernels_.floats.multiply({.a = of_tile,
                              .a_row = width_,
                              .b = block.skip.data(),
                              .out = skips + first * width_,
                              .out_row = width_,
                              .rows = count,
                              .inner = width_,
                              .columns = width_});
    for (Index i = 0; i < count * width_; ++i) gates[first * width_ + i] = of_tile[i] * block.gate[at(i % width_)];
    if (beside) beside(first, count);
  });
}

FnoEngine::Lifted FnoEngine::lifted(std::span<const double> field) const {
  const std::size_t size = at(lifted_rows() * width_);
  Lifted lifted{.field = {field.begin(), field.end()},
                .states = AlignedFloats(size),
                .skips = AlignedFloats(size),
                .gates = AlignedFloats(size)};
  lift(field, lifted.states.data(), lifted.skips.data(), lifted.gates.data());
  return lifted;
}

}  // namespace opshap::engines
