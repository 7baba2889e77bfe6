// Which rows of the two axes make a kept frequency of an FNO, and which get what becomes of it.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numbers>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "engines/fno_engine.hpp"

namespace opshap::engines {

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

std::map<int, std::vector<std::size_t>> FnoEngine::by_source() const {
  std::map<int, std::vector<std::size_t>> groups;
  for (std::size_t q = 0; q < frequencies_.all.size(); ++q) groups[frequencies_.all[q].from.re[0].row].push_back(q);
  return groups;
}

// The last block of an FNO and its projection at one query: their linear parts multiplied out, in double and rounded
// once.

FnoEngine::Heads FnoEngine::heads(const Readout& readout) const {
  Heads heads;
  for (const auto& [query, weight] : readout.terms()) heads.push_back(head(query, weight));
  return heads;
}

FnoEngine::Head FnoEngine::head(Query query, double weight) const {
  require(
      query.point >= 0 && query.point < grid_.points() && query.channel >= 0 && query.channel < weights_.out_channels,
      "engine: query=", query.point, ", channel=", query.channel, " (the output has ", grid_.points(), " points and ",
      weights_.out_channels, " channels). Give one of them.");
  const FnoWeights::Layer& layer = weights_.layers.back();
  const FnoWeights::Linear &projection0 = weights_.projection0, &projection1 = weights_.projection1;
  const Index width = weights_.width, hidden = layer.mlp0.outputs, wide = projection0.outputs;
  Head head;
  head.place = std::ranges::find(point_of_, static_cast<std::int32_t>(query.point)) - point_of_.begin();
  const Index padded_point = grid_.padded_point(query.point);

  // Coefficients to field at the query, mixing and the MLP's first layer.
  std::vector<double> first(at((rows() + 1) * width_ * hidden_)), first_bias(at(hidden_));
  const auto inverse_at = [&](int row) {
    const int columns = static_cast<int>(last_.rows.size());
    return first_.inverse_at(row / columns, padded_point / grid_.padded(1)) *
           last_.inverse_at(row % columns, padded_point % grid_.padded(1));
  };
  for (std::size_t q = 0; q < frequencies_.all.size(); ++q) {
    const Frequency& frequency = frequencies_.all[q];
    double alpha = 0, beta = 0;
    for (const auto& term : frequency.to.re)
      if (term.row >= 0) alpha += static_cast<double>(term.sign) * inverse_at(term.row);
    for (const auto& term : frequency.to.im)
      if (term.row >= 0) beta += static_cast<double>(term.sign) * inverse_at(term.row);
    const auto add = [&](const Frequency::Term& term, double of_re, double of_im) {
      if (term.row < 0) return;
      for (Index c = 0; c < width; ++c)
        for (Index h = 0; h < hidden; ++h)
          first[at((term.row * width_ + c) * hidden_ + h)] +=
              static_cast<double>(term.sign) *
              (of_re * last_re_[q][at(c * hidden + h)] + of_im * last_im_[q][at(c * hidden + h)]);
    };
    for (const auto& term : frequency.from.re) add(term, alpha, beta);
    for (const auto& term : frequency.from.im) add(term, beta, -alpha);
  }
  for (Index h = 0; h < hidden; ++h) {
    const float* row = layer.mlp0.weight.data() + h * width;
    first_bias[at(h)] = static_cast<double>(layer.mlp0.bias[at(h)]);
    for (Index o = 0; o < width; ++o) {
      first_bias[at(h)] += static_cast<double>(row[o]) * static_cast<double>(layer.spectral_bias[at(o)]);
      for (Index c = 0; c < width; ++c)
        first[at((rows() * width_ + c) * hidden_ + h)] +=
            static_cast<double>(row[o]) * static_cast<double>(layer.skip.weight[at(o * width + c)]);
    }
  }

  // The MLP's second layer, the gate and the projection's first layer.
  std::vector<double> second(at((hidden_ + width_) * wide_)), second_bias(at(wide_));
  for (Index w = 0; w < wide; ++w) {
    second_bias[at(w)] = static_cast<double>(projection0.bias[at(w)]);
    for (Index c = 0; c < width; ++c) {
      const auto weight = static_cast<double>(projection0.weight[at(w * width + c)]);
      second_bias[at(w)] += weight * static_cast<double>(layer.mlp1.bias[at(c)]);
      second[at((hidden_ + c) * wide_ + w)] = weight * static_cast<double>(layer.gate[at(c)]);
      for (Index h = 0; h < hidden; ++h)
        second[at(h * wide_ + w)] += weight * static_cast<double>(layer.mlp1.weight[at(c * hidden + h)]);
    }
  }
  head.first.assign(first.begin(), first.end());
  head.first_bias.assign(first_bias.begin(), first_bias.end());
  head.second.assign(second.begin(), second.end());
  head.second_bias.assign(second_bias.begin(), second_bias.end());
  for (Index w = 0; w < wide; ++w)
    head.third.push_back(
        static_cast<float>(weight * static_cast<double>(projection1.weight[at(query.channel * wide + w)])));
  head.third.resize(at(wide_));
  head.bias = weight * static_cast<double>(projection1.bias[at(query.channel)]);
  return head;
}

// What an FNO makes of its input's values before the first block: states of every point shown and hidden, and what the
// first block needs of them alone.

void FnoEngine::multiply(Index rows, const float* a, Index inner, const float* b, Index columns, float* out,
                         const float* bias, bool add) const {
  kernels_.floats.multiply({.a = a,
                            .a_row = inner,
                            .b = b,
                            .out = out,
                            .out_row = columns,
                            .rows = rows,
                            .inner = inner,
                            .columns = columns,
                            .bias = bias,
                            .add = add});
}

AlignedFloats FnoEngine::entries(std::span<const double> field) const {
  const Index points = grid_.points(), entry = entry_channels();
  AlignedFloats entries(at(lifted_rows() * entry));
  for (Index p = 0; p < points; ++p) {
    float* to = entries.data() + p * entry;
    for (int c = 0; c < weights_.in_channels; ++c) *to++ = static_cast<float>(field[at(c * points + p)]);
    for (int axis = 0; axis < weights_.dimension(); ++axis) *to++ = static_cast<float>(grid_.position(p, axis));
  }
  return entries;
}

void FnoEngine::lift(const float* entries, Index rows, float* middle, float* activated, float* states) const {
  const Index wide = lifting_width();
  multiply(rows, entries, entry_channels(), lifting0_.data(), wide, middle, lifting0_bias_.data());
  kernels_.quick_gelu(middle, activated, rows * wide);
  multiply(rows, activated, wide, lifting1_.data(), width_, states, lifting1_bias_.data());
}

void FnoEngine::lift(std::span<const double> field, Tables& tables, Index begin,
                     const std::function<void(Index first, Index rows)>& beside) const {
  constexpr Index tile = 128;  // rows that stay in the cache from layer to layer
  const Block& block = blocks_.front();
  const AlignedFloats entries = this->entries(field);
  const Index rows = lifted_rows();
  parallel_for(at((rows + tile - 1) / tile), [&](std::size_t number) {
    const Index first = static_cast<Index>(number) * tile, count = std::min(tile, rows - first);
    const Index from = (begin + first) * width_;
    AlignedFloats middle(at(count * lifting_width()));
    float *const states = tables.states.data() + from, *const gates = tables.gates.data() + from;
    lift(entries.data() + first * entry_channels(), count, middle.data(), middle.data(), states);
    multiply(count, states, width_, block.skip.data(), width_, tables.skips.data() + from);
    for (Index i = 0; i < count * width_; ++i) gates[i] = states[i] * block.gate[at(i % width_)];
    if (beside) beside(first, count);
  });
}

FnoEngine::Lifted FnoEngine::lifted(std::span<const double> field) const {
  Lifted lifted{.field = {field.begin(), field.end()}, .tables = Tables(lifted_rows() * width_)};
  lift(field, lifted.tables, 0);
  return lifted;
}

}  // namespace opshap::engines
