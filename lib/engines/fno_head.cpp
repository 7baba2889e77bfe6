// The last block of an FNO and its projection at one query: their linear parts multiplied out, in double and rounded
// once.

#include <algorithm>

#include "core/error.hpp"
#include "engines/fno_engine.hpp"

namespace opshap::engines {

namespace {

using Index = std::int64_t;

std::size_t at(Index number) { return static_cast<std::size_t>(number); }

AlignedFloats rounded(const std::vector<double>& values) { return {values.begin(), values.end()}; }

}  // namespace

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
      for (Index c = 0; c < width; ++c) {
        for (Index h = 0; h < hidden; ++h)
          first[at((term.row * width_ + c) * hidden_ + h)] +=
              static_cast<double>(term.sign) *
              (of_re * last_re_[q][at(c * hidden + h)] + of_im * last_im_[q][at(c * hidden + h)]);
      }
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
  head.first = rounded(first);
  head.first_bias = rounded(first_bias);
  head.second = rounded(second);
  head.second_bias = rounded(second_bias);
  for (Index w = 0; w < wide; ++w)
    head.third.push_back(
        static_cast<float>(weight * static_cast<double>(projection1.weight[at(query.channel * wide + w)])));
  head.third.resize(at(wide_));
  head.bias = weight * static_cast<double>(projection1.bias[at(query.channel)]);
  return head;
}

}  // namespace opshap::engines
