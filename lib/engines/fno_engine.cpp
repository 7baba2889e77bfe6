#include "engines/fno_engine.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace opshap::engines {

namespace {

Index padded(Index channels) {
  return (channels + kernels::channel_block - 1) / kernels::channel_block * kernels::channel_block;
}

/// Inputs first, both widths rounded up.
AlignedFloats packed(const FnoWeights::Linear& linear) {
  const Index columns = padded(linear.outputs);
  AlignedFloats packed(at(padded(linear.inputs) * columns));
  for (Index o = 0; o < linear.outputs; ++o)
    for (Index i = 0; i < linear.inputs; ++i) packed[at(i * columns + o)] = linear.weight[at(o * linear.inputs + i)];
  return packed;
}

AlignedFloats packed(const std::vector<float>& row) {
  AlignedFloats packed(at(padded(static_cast<Index>(row.size()))));
  std::ranges::copy(row, packed.begin());
  return packed;
}

/// Up to so many players have a table of what each adds to the first block: it costs a mixing for each, and saves one
/// for each coalition.
constexpr int few_players = 32;

/// Coefficients and states of a batch in half a core's second-level cache of 1 MB, where that leaves enough fields to
/// share the weights.
Index batch_of(Index field_floats, Index mixing_floats) {
  constexpr Index cache_floats = (Index{1} << 20) / sizeof(float);
  // Weights are read once for each batch; they should not cost more than the fields.
  const Index least = mixing_floats > cache_floats ? 32 : 4;
  return std::clamp<Index>(cache_floats / 2 / field_floats / 4 * 4, least, 64);
}

}  // namespace

LineBasis FnoEngine::view(const AxisBasis& basis) {
  return {.folded = basis.folded,
          .orbits = basis.orbits,
          .rows = static_cast<int>(basis.rows.size()),
          .class_begin = basis.class_begin.data(),
          .forward = basis.forward.data(),
          .inverse = basis.inverse.data()};
}

class FnoEngine::Workspace {
 public:
  Workspace(const FnoEngine& engine)
      : coefficients(at((engine.rows() + 1) * engine.row_stride())),
        mixed(coefficients.size()),
        states(at(engine.batch_ * engine.places() * engine.width_)),
        lines(engine.line_room()),
        hidden(at(engine.batch_ * (engine.hidden_ + engine.width_))),
        wide(at(engine.batch_ * engine.wide_)),
        scratch(at(kernels::kernel_scratch(engine.width_, engine.hidden_))),
        place(at(engine.batch_ * engine.places())),
        members(at(engine.batch_ * (few_players + 3))) {}

  AlignedFloats coefficients,
      mixed;             ///< rows + 1 of row_stride(), each [batch, width]; the last one holds the states at the query
  AlignedFloats states;  ///< [batch, places, width]
  AlignedFloats lines;   ///< room of run_lines()
  AlignedFloats hidden, wide, scratch;
  std::vector<std::int32_t> place;  ///< [batch, places]
  std::vector<float> members;       ///< [batch, players rounded up to 4], 0 or 1
};

FnoEngine::~FnoEngine() = default;

auto FnoEngine::workspace() const {
  return workspaces_.take([this] { return std::make_unique<Workspace>(*this); });
}

FnoEngine::FnoEngine(const FnoWeights& weights, const std::vector<int>& shape, const Kernels& kernels)
    : weights_((weights.check("engine"), weights)),
      kernels_(kernels),
      grid_(shape, weights.padding, weights.both_sides),
      first_(plane() ? AxisBasis::full(grid_.padded(0),
                                       std::min<Index>(grid_.padded(0), weights.modes[0] + 2 * lower_frequencies()))
                     : AxisBasis::trivial()),
      last_(AxisBasis::half(grid_.padded(1), std::min<Index>(grid_.padded(1) / 2, weights.modes.back() / 2) + 1)),
      width_(padded(weights.width)),
      hidden_(padded(weights.layers.front().mlp0.outputs)),
      wide_(padded(weights.projection0.outputs)) {
  require(static_cast<int>(shape.size()) == weights.dimension(), "engine: axes=", shape.size(),
          " (the network works on ", weights.dimension(), "). Give a grid of that dimension.");
  for (Index row = 0; row < lines(); ++row) {
    const Index padded_row = plane() ? first_.order[at(row)] : 0;
    empty_line_.push_back(1);
    for (Index column = 0; column < line_places(); ++column) {
      const Index padded_column = last_.order[at(column)];
      const Index point = padded_row < 0 || padded_column < 0 ? -1 : grid_.point_at(padded_row, padded_column);
      point_of_.push_back(static_cast<std::int32_t>(point));
      if (point >= 0) empty_line_.back() = 0;
    }
  }
  find_frequencies();
  batch_ = batch_of(places() * width_ + 2 * (rows() + 1) * width_,
                    2 * static_cast<Index>(frequencies_.all.size()) * width_ * width_);
  lifting0_ = packed(weights_.lifting0);
  lifting0_bias_ = packed(weights_.lifting0.bias);
  lifting1_ = packed(weights_.lifting1);
  lifting1_bias_ = packed(weights_.lifting1.bias);
  pack_blocks();
}

void FnoEngine::pack_blocks() {
  const Index width = weights_.width, square = width_ * width_, columns = weights_.modes.back() / 2 + 1;
  const Index wanted_rows = plane() ? weights_.modes[0] : 1;
  const auto spectral = [&](const FnoWeights::Layer& layer, std::size_t q, Index in, Index out) {
    const auto weight = [&](Index row) {
      return std::complex<double>(
          layer.spectral[at(((in * width + out) * wanted_rows + row) * columns + weighted_[q].column)]);
    };
    // w·z for f and w′·conj(z) for −f add up to the real part of (w + conj(w′))·z.
    const Weighted& of = weighted_[q];
    if (of.row < 0) return std::complex<double>();
    return of.mirrored < 0 ? of.turn * weight(of.row) : weight(of.row) + std::conj(weight(of.mirrored));
  };
  for (const FnoWeights::Layer& layer : weights_.layers) {
    Block block{.skip = packed(layer.skip),
                .mlp0 = packed(layer.mlp0),
                .mlp0_bias = packed(layer.mlp0.bias),
                .mlp1 = packed(layer.mlp1),
                .mlp1_bias = packed(layer.mlp1.bias),
                .gate = packed(layer.gate),
                .spectral_bias = packed(layer.spectral_bias)};
    if (&layer != &weights_.layers.back()) {
      block.spectral.resize(weighted_.size() * at(2 * square));
      for (std::size_t q = 0; q < weighted_.size(); ++q) {
        float* to = block.spectral.data() + q * at(2 * square);
        for (Index in = 0; in < width; ++in)
          for (Index out = 0; out < width; ++out) {
            const std::complex<double> w = spectral(layer, q, in, out);
            to[in * width_ + out] = static_cast<float>(w.real());
            to[square + in * width_ + out] = static_cast<float>(w.imag());
          }
      }
    }
    blocks_.push_back(std::move(block));
  }
  const FnoWeights::Layer& layer = weights_.layers.back();
  const Index hidden = layer.mlp0.outputs;
  for (std::size_t q = 0; q < weighted_.size(); ++q) {
    std::vector<double> re(at(width * hidden)), im(re.size());
    for (Index in = 0; in < width; ++in)
      for (Index out = 0; out < width; ++out) {
        const std::complex<double> w = spectral(layer, q, in, out);
        for (Index h = 0; h < hidden; ++h) {
          const auto mlp = static_cast<double>(layer.mlp0.weight[at(h * width + out)]);
          re[at(in * hidden + h)] += w.real() * mlp;
          im[at(in * hidden + h)] += w.imag() * mlp;
        }
      }
    last_re_.push_back(std::move(re));
    last_im_.push_back(std::move(im));
  }
}

std::vector<FnoEngine::Subject> FnoEngine::subjects(std::span<const Pair> fields, std::span<const int> player_of,
                                                    int players) const {
  std::vector<Subject> subjects;
  subjects.reserve(fields.size());
  for (const auto& [shown, hidden] : fields) {
    Subject& subject = subjects.emplace_back(Subject{.shown = {shown.begin(), shown.end()},
                                                     .hidden = hidden->field,
                                                     .player_of = {player_of.begin(), player_of.end()},
                                                     .tables = Tables((2 * lifted_rows() + 1) * width_)});
    lift(shown, subject.tables, lifted_rows(), [&](Index first, Index rows) {
      for (const auto table : {&Tables::states, &Tables::skips, &Tables::gates})
        std::copy_n((hidden->tables.*table).data() + first * width_, rows * width_,
                    (subject.tables.*table).data() + first * width_);
    });
  }
  if (players <= few_players && blocks_.size() > 1) tabulate_players(subjects, fields, players);
  return subjects;
}

void FnoEngine::tabulate_players(std::span<Subject> subjects, std::span<const Pair> fields, int players) const {
  const auto work = workspace();
  const Index points = grid_.points(), slots = (players + 3) / 4 * 4;
  const std::int32_t nothing = row_of_padding();
  const auto place_of = [&](Index field, const auto& row_for) {
    for (std::size_t i = 0; i < point_of_.size(); ++i)
      work->place[at(field * places()) + i] = point_of_[i] < 0 ? nothing : row_for(point_of_[i]);
  };
  for (std::size_t s = 0; s < subjects.size(); ++s) {
    if (s > 0 && fields[s].hidden == fields[s - 1].hidden) {
      subjects[s].nobody = subjects[s - 1].nobody;
      continue;
    }
    std::ranges::fill(work->coefficients, 0.0F);
    place_of(0, [&](std::int32_t point) { return row_of(point, false); });
    transform(*work, subjects[s].tables.states, 0);
    mix(*work, blocks_.front(), 1);
    AlignedFloats& nobody = subjects[s].nobody;
    for (Index r = 0; r < rows(); ++r)
      nobody.insert(nobody.end(), row(work->mixed, r, 0), row(work->mixed, r, 0) + width_);
  }

  // The players of all subjects, one after the other. The row of a shown point is what showing it changes.
  AlignedFloats changes(subjects.front().tables.states.size());
  for (Subject& subject : subjects) subject.by_player.resize(at(rows() * slots * width_));
  const Index all = static_cast<Index>(subjects.size()) * players;
  for (Index first = 0; first < all; first += batch_) {
    const Index count = std::min<Index>(batch_, all - first);
    std::ranges::fill(work->coefficients, 0.0F);
    for (Index field = 0; field < count; ++field) {
      const Subject& subject = subjects[at((first + field) / players)];
      const Index player = (first + field) % players;
      if (player == 0) {
        const AlignedFloats& states = subject.tables.states;
        const Index shown = lifted_rows() * width_;
        for (Index i = 0; i < points * width_; ++i) changes[at(shown + i)] = states[at(shown + i)] - states[at(i)];
      }
      place_of(field, [&](std::int32_t point) {
        return subject.player_of[at(point)] == player ? row_of(point, true) : nothing;
      });
      transform(*work, changes, field);
    }
    mix(*work, blocks_.front(), count, false);
    for (Index field = 0; field < count;) {
      const Index player = (first + field) % players, some = std::min(players - player, count - field);
      AlignedFloats& table = subjects[at((first + field) / players)].by_player;
      for (Index r = 0; r < rows(); ++r)
        std::copy_n(row(work->mixed, r, field), some * width_, table.data() + (r * slots + player) * width_);
      field += some;
    }
  }
}

void FnoEngine::transform(Workspace& work, const AlignedFloats& states, Index field) const {
  float* coefficients = row(work.coefficients, 0, field);
  const std::int32_t* place = work.place.data() + field * places();
  const LineBasis last = view(last_);
  const Index stride = row_stride(), columns = static_cast<Index>(last_.rows.size()), size = columns * width_;
  if (!plane()) {
    kernels_.transform(last, width_, place, states.data(), coefficients, stride, work.scratch.data());
    return;
  }
  for (Index orbit = 0; orbit < first_.orbits; orbit += line_orbits) {
    const Index orbits = std::min(line_orbits, first_.orbits - orbit);
    const auto begin = empty_line_.begin() + 4 * orbit;
    if (std::all_of(begin, begin + 4 * orbits, [](char empty) { return empty; })) continue;
    std::fill_n(work.lines.data(), 4 * orbits * size, 0.0F);
    for (Index line = 0; line < 4 * orbits; ++line) {
      if (empty_line_[at(4 * orbit + line)]) continue;
      kernels_.transform(last, width_, place + (4 * orbit + line) * line_places(), states.data(),
                         work.lines.data() + line * size, width_, work.scratch.data());
    }
    kernels_.gather(view(first_), orbit, orbits, columns, width_, work.lines.data(), coefficients, stride);
  }
}

void FnoEngine::mix(const Frequencies& frequencies, const AlignedFloats& weights, const AlignedFloats& in,
                    AlignedFloats& out, Index count, Index stride, AlignedFloats& scratch) const {
  kernels::Mixing mixing{.frequencies = frequencies.all.data(),
                         .weights = weights.data(),
                         .width = width_,
                         .count = count,
                         .in = in.data(),
                         .out = out.data(),
                         .stride = stride};
  for (const int size : frequencies.groups) {
    mixing.size = size;
    kernels_.mix(mixing, scratch.data());
    mixing.frequencies += size;
    mixing.weights += size * 2 * width_ * width_;
  }
}

void FnoEngine::mix(Workspace& work, const Block& block, Index count, bool biased) const {
  mix(frequencies_, block.spectral, work.coefficients, work.mixed, (count + 3) / 4 * 4, row_stride(), work.scratch);
  for (Index field = 0; biased && field < count; ++field)  // a constant field has this coefficient alone
    kernels_.add_scaled(1, block.spectral_bias.data(), row(work.mixed, constant_row(), field), width_);
  std::ranges::fill(work.coefficients, 0.0F);  // the block adds its own to them
}

void FnoEngine::mix_first(Workspace& work, const Asked& asked, std::size_t first, Index count) const {
  std::ranges::fill(work.coefficients, 0.0F);
  if (asked.subjects.front().by_player.empty()) {
    for (Index field = 0; field < count; ++field) transform(work, asked.of(first + at(field)).tables.states, field);
    if (blocks_.size() > 1) mix(work, blocks_.front(), count);
    return;
  }
  const Index players = asked.coalitions.players(), slots = (players + 3) / 4 * 4;
  for (Index field = 0; field < count; ++field)
    for (Index i = 0; i < players; ++i)
      work.members[at(field * slots + i)] = asked.coalitions.contains(first + at(field), static_cast<int>(i)) ? 1 : 0;
  for (Index field = 0, some = 0; field < count; field += some) {
    const Subject& subject = asked.of(first + at(field));
    const std::size_t left = asked.each - (first + at(field)) % asked.each;
    some = std::min(count - field, static_cast<Index>(left));
    for (Index r = 0; r < rows(); ++r)
      kernels_.floats.multiply({.a = work.members.data() + field * slots,
                                .a_row = slots,
                                .b = subject.by_player.data() + r * slots * width_,
                                .out = row(work.mixed, r, field),
                                .out_row = width_,
                                .rows = some,
                                .inner = players,
                                .columns = width_,
                                .bias = subject.nobody.data() + r * width_});
  }
}

PointwiseBlock FnoEngine::pointwise(std::size_t layer) const {
  const Block& block = blocks_[layer];
  return {.width = width_,
          .hidden = hidden_,
          .skip = block.skip.data(),
          .mlp0 = block.mlp0.data(),
          .mlp0_bias = block.mlp0_bias.data(),
          .mlp1 = block.mlp1.data(),
          .mlp1_bias = block.mlp1_bias.data(),
          .gate = block.gate.data()};
}

void FnoEngine::run_lines(const float* mixed, float* coefficients, Index stride, float* room,
                          const RunLine& run) const {
  if (!plane()) return run(0, mixed, coefficients, stride);
  const Index columns = static_cast<Index>(last_.rows.size()), size = columns * width_;
  float *come = room, *go = come + 4 * line_orbits * size;
  for (Index orbit = 0; orbit < first_.orbits; orbit += line_orbits) {
    const Index orbits = std::min(line_orbits, first_.orbits - orbit);
    kernels_.spread(view(first_), orbit, orbits, columns, width_, mixed, stride, come);
    std::fill_n(go, 4 * orbits * size, 0.0F);
    for (Index line = 0; line < 4 * orbits; ++line)
      if (first_.order[at(4 * orbit + line)] >= 0) run(4 * orbit + line, come + line * size, go + line * size, width_);
    kernels_.gather(view(first_), orbit, orbits, columns, width_, go, coefficients, stride);
  }
}

void FnoEngine::run_block(Workspace& work, const Subject& subject, std::size_t layer, Index field) const {
  const PointwiseBlock block = pointwise(layer);
  const LineBasis last = view(last_);
  float* states = work.states.data() + field * places() * width_;
  const auto run_line = [&](Index number, const float* from, float* to, Index from_row_to_row) {
    kernels::Line line{.coefficients = from,
                       .stride = from_row_to_row,
                       .out = states + number * line_places() * width_,
                       .out_coefficients = to};
    if (layer == 0) {
      line.place = work.place.data() + field * places() + number * line_places();
      line.skip_table = subject.tables.skips.data();
      line.gate_table = subject.tables.gates.data();
    } else {
      line.states = line.out;
    }
    kernels_.line(block, last, line, work.scratch.data());
  };
  run_lines(row(work.mixed, 0, field), row(work.coefficients, 0, field), row_stride(), work.lines.data(), run_line);
}

void FnoEngine::finish(Workspace& work, const Head& head, std::span<double> values) const {
  const Index count = (static_cast<Index>(values.size()) + 3) / 4 * 4, stride = hidden_ + width_;
  for (Index r = 0; r <= rows(); ++r)
    kernels_.floats.multiply({.a = row(work.coefficients, r, 0),
                              .a_row = width_,
                              .b = head.first.data() + r * width_ * hidden_,
                              .out = work.hidden.data(),
                              .out_row = stride,
                              .rows = count,
                              .inner = width_,
                              .columns = hidden_,
                              .bias = r == 0 ? head.first_bias.data() : nullptr,
                              .add = r > 0});
  for (Index field = 0; field < count; ++field) {
    float* to = work.hidden.data() + field * stride;
    kernels_.quick_gelu(to, to, hidden_);
    std::copy_n(row(work.coefficients, rows(), field), width_, to + hidden_);
  }
  multiply(count, work.hidden.data(), stride, head.second.data(), wide_, work.wide.data(), head.second_bias.data());
  kernels_.quick_gelu(work.wide.data(), work.wide.data(), count * wide_);
  for (std::size_t field = 0; field < values.size(); ++field) {
    const float* wide = work.wide.data() + field * at(wide_);
    values[field] += head.bias;
    for (Index w = 0; w < wide_; ++w)
      values[field] += static_cast<double>(wide[w]) * static_cast<double>(head.third[at(w)]);
  }
}

void FnoEngine::values(std::span<const Subject> subjects, const Heads& heads, const Coalitions& coalitions,
                       std::size_t first, std::span<double> values) const {
  if (values.empty()) return;
  require(coalitions.size() % subjects.size() == 0, "engine: coalitions=", coalitions.size(), " (of ", subjects.size(),
          " inputs; each has as many). Give a multiple.");
  const Asked asked{subjects, coalitions, coalitions.size() / subjects.size()};
  const auto work = workspace();
  for (std::size_t begin = 0; begin < values.size(); begin += batch()) {
    const std::size_t count = std::min(batch(), values.size() - begin);
    for (std::size_t field = 0; field < count; ++field) {
      const auto members = coalitions.row(first + begin + field);
      const std::vector<int>& player_of = asked.of(first + begin + field).player_of;
      std::int32_t* place = work->place.data() + field * at(places());
      for (std::size_t i = 0; i < point_of_.size(); ++i) {
        const std::int32_t point = point_of_[i];
        place[i] = point < 0 ? row_of_padding() : row_of(point, contains(members, player_of[at(point)]));
      }
    }
    mix_first(*work, asked, first + begin, static_cast<Index>(count));
    for (std::size_t layer = 0; layer + 1 < blocks_.size(); ++layer) {
      if (layer > 0) mix(*work, blocks_[layer], static_cast<Index>(count));
      for (std::size_t field = 0; field < count; ++field)
        run_block(*work, asked.of(first + begin + field), layer, static_cast<Index>(field));
    }
    const std::span<double> found = values.subspan(begin, count);
    std::ranges::fill(found, 0.0);
    for (const Head& head : heads) {
      for (std::size_t field = 0; field < count; ++field) {
        const float* state = blocks_.size() == 1
                                 ? asked.of(first + begin + field).tables.states.data() +
                                       work->place[field * at(places()) + at(head.place)] * width_
                                 : work->states.data() + (static_cast<Index>(field) * places() + head.place) * width_;
        std::copy_n(state, width_, row(work->coefficients, rows(), static_cast<Index>(field)));
      }
      finish(*work, head, found);
    }
  }
}

}  // namespace opshap::engines
