// What an FNO makes of its input's values before the first block: states of every point shown and hidden, and what the
// first block needs of them alone.

#include <algorithm>

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

void FnoEngine::lift(const AlignedFloats& entries, AlignedFloats& middle, AlignedFloats& states) const {
  const Index wide = static_cast<Index>(lifting0_bias_.size()), entry = static_cast<Index>(lifting0_.size()) / wide;
  const Index rows = static_cast<Index>(entries.size()) / entry;
  middle.resize(at(rows * wide));
  states.resize(at(rows * width_));
  kernels_.multiply({.a = entries.data(),
                     .a_stride = entry,
                     .b = lifting0_.data(),
                     .out = middle.data(),
                     .out_stride = wide,
                     .rows = rows,
                     .inner = entry,
                     .columns = wide,
                     .bias = lifting0_bias_.data()});
  AlignedFloats activated(middle.size());
  kernels_.gelu(middle.data(), activated.data(), rows * wide);
  kernels_.multiply({.a = activated.data(),
                     .a_stride = wide,
                     .b = lifting1_.data(),
                     .out = states.data(),
                     .out_stride = width_,
                     .rows = rows,
                     .inner = wide,
                     .columns = width_,
                     .bias = lifting1_bias_.data()});
}

void FnoEngine::lift(Subject& subject) const {
  const Index states = 2 * grid_.points() + 1, rows = (states + 3) / 4 * 4;
  AlignedFloats middle;
  lift(entries({subject.hidden, subject.shown}), middle, subject.states);
  subject.states.resize(at(rows * width_));
  // The padding is zero, not lifted zeros.
  std::fill(subject.states.begin() + (states - 1) * width_, subject.states.end(), 0.0F);
  subject.skips = subject.gates = subject.states;
  kernels_.multiply({.a = subject.states.data(),
                     .a_stride = width_,
                     .b = blocks_.front().skip.data(),
                     .out = subject.skips.data(),
                     .out_stride = width_,
                     .rows = rows,
                     .inner = width_,
                     .columns = width_});
  for (std::size_t i = 0; i < subject.states.size(); ++i)
    subject.gates[i] = subject.states[i] * blocks_.front().gate[i % at(width_)];
}

}  // namespace opshap::engines
