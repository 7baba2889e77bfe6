#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/coalitions.hpp"
#include "core/field.hpp"
#include "core/operator.hpp"
#include "engines/axis_basis.hpp"
#include "engines/fno_weights.hpp"
#include "kernels/aligned_floats.hpp"
#include "kernels/kernels.hpp"

namespace opshap::engines {

/// Objects that are costly to make, between their uses by one thread at a time. Safe to use from several threads.
template <typename Object>
class Spares {
 public:
  /// One that nobody uses, or what make() returns; it comes back here when the returned pointer goes. Must not outlive
  /// this.
  template <typename Make>
  auto take(const Make& make) {
    std::unique_ptr<Object> object;
    {
      const std::lock_guard lock(mutex_);
      if (!objects_.empty()) {
        object = std::move(objects_.back());
        objects_.pop_back();
      }
    }
    if (!object) object = make();
    const auto give_back = [this](Object* used) {
      const std::lock_guard lock(mutex_);
      objects_.emplace_back(used);
    };
    return std::unique_ptr<Object, decltype(give_back)>(object.release(), give_back);
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Object>> objects_;
};

using kernels::AlignedFloats;
using kernels::Frequency;
using kernels::Kernels;
using kernels::LineBasis;
using kernels::PointwiseBlock;

/// A trained FNO on one grid, ready to be evaluated at a few points for many masks of one input. Exact up to the
/// rounding of single precision.
///
/// What it saves against applying the network to masked fields: each point is lifted twice for an input, shown and
/// hidden, and looked up afterwards; the Fourier transforms share the products of four points (AxisBasis); a block's
/// layers run one after the other on a tile of points that stays in the cache; the last block and the projection are
/// computed at the queries alone, with their linear parts multiplied out beforehand. Immutable after construction;
/// every member may be called from several threads at once.
class FnoEngine {
 public:
  /// Throws DataError for weights that do not fit together or are not finite. The kernels are referred to.
  FnoEngine(const FnoWeights& weights, const std::vector<int>& shape,
            const Kernels& kernels = kernels::chosen_kernels());
  ~FnoEngine();

  /// What the network makes of points before they see each other, [rows, width]; skips and gates by the first block.
  struct Tables {
    AlignedFloats states, skips, gates;

    explicit Tables(std::int64_t numbers = 0)
        : states(static_cast<std::size_t>(numbers)), skips(states), gates(states) {}
  };
  /// A field of one sample.
  struct Lifted {
    std::vector<double> field;  ///< [channels, points]
    Tables tables;              ///< of the points, rounded up to 4
  };
  /// A field on the engine's grid. Cost: about half a coalition.
  Lifted lifted(std::span<const double> field) const;

  /// An input, its baseline and the players, as the engine wants them.
  struct Subject {
    std::vector<double> shown, hidden;  ///< the fields, [channels, points]
    std::vector<int> player_of;         ///< [points]
    Tables tables;                      ///< Lifted's rows of the baseline and of the input, and one of zeros: row_of()
    /// For few players: the first block's mixed coefficients are linear in the mask.
    AlignedFloats nobody;     ///< [rows, width] of the empty coalition
    AlignedFloats by_player;  ///< [rows, players rounded up to 4, width] that each player adds; empty for many players
  };
  /// A field on the engine's grid and its baseline.
  struct Pair {
    std::span<const double> shown;
    const Lifted* hidden;
  };
  /// Of several fields with the same players; each point's player. Cost for each: about half a coalition, and half a
  /// coalition for each of few players, a third where many fields share them.
  std::vector<Subject> subjects(std::span<const Pair> fields, std::span<const int> player_of, int players) const;
  /// Of one field, whose baseline is not lifted yet.
  Subject subject(std::span<const double> shown, std::span<const double> hidden, std::span<const int> player_of,
                  int players) const {
    const Lifted baseline = lifted(hidden);
    const Pair pair{shown, &baseline};
    return std::move(subjects({&pair, 1}, player_of, players).front());
  }

  /// The last block and the projection at a query, times the query's weight.
  struct Head {
    std::int64_t place = 0;           ///< of the query's point in the order of states
    AlignedFloats first, first_bias;  ///< [(rows + 1)·width, hidden]: coefficients and state at the query to the MLP
    AlignedFloats second, second_bias,
        third;  ///< [hidden + width, wide] to the projection's hidden layer, and its output row
    double bias = 0;
  };
  /// Those of a readout: what they give is added up.
  using Heads = std::vector<Head>;
  /// Throws InvalidArgument for a query outside the grid or the outputs. Memory: (rows + 1)·width·hidden floats for
  /// each query.
  Heads heads(const Readout& readout) const;

  /// values[i] = v(S) of coalition first + i. On the calling thread, in batches that fit the caches. Of all coalitions
  /// each subject has as many, those of the first one first. Throws InvalidArgument unless their number is a multiple
  /// of that of the subjects.
  void values(std::span<const Subject> subjects, const Heads& heads, const Coalitions& coalitions, std::size_t first,
              std::span<double> values) const;
  void values(const Subject& subject, const Heads& heads, const Coalitions& coalitions, std::size_t first,
              std::span<double> values) const {
    this->values(std::span(&subject, 1), heads, coalitions, first, values);
  }

  /// How many coalitions are computed together.
  std::size_t batch() const { return static_cast<std::size_t>(batch_); }

 private:
  struct Block {
    AlignedFloats skip, mlp0, mlp0_bias, mlp1, mlp1_bias, gate;
    AlignedFloats spectral, spectral_bias;  ///< [frequencies][2, width, width]
  };
  struct Weighted {
    std::int64_t row = 0, column = 0;  ///< of the spectral weights; a row of −1 for weights that are zero
    std::int64_t mirrored = -1;        ///< row of −f, where f and −f see the same coefficients; −1 for none
    std::complex<double> turn = 1;     ///< what phases at p + ½ leave where the inverse has another frequency
  };
  struct Frequencies {
    std::vector<Frequency> all;
    std::vector<int> groups;  ///< sizes of 1 or 2 that they fall into: those of a group give to the same rows
  };
  class Workspace;
  friend class FnoSlopes;

  std::int64_t rows() const { return static_cast<std::int64_t>(first_.rows.size() * last_.rows.size()); }
  std::int64_t lines() const { return plane() ? 4 * first_.orbits : 1; }
  std::int64_t line_places() const { return 4 * last_.orbits; }
  std::int64_t places() const { return lines() * line_places(); }
  bool plane() const { return weights_.dimension() == 2; }
  static LineBasis view(const AxisBasis& basis);
  PointwiseBlock pointwise(std::size_t layer) const;
  /// The row of a constant field.
  std::int64_t constant_row() const {
    return first_.row(0, false) * static_cast<std::int64_t>(last_.rows.size()) + last_.row(0, false);
  }
  std::int64_t lower_frequencies() const { return plane() ? grid_.lower_frequencies(weights_.inverse_fftshift) : 0; }
  void find_frequencies();
  /// The numbers of the frequencies, grouped by the rows that they take from.
  std::map<int, std::vector<std::size_t>> by_source() const;
  void pack_blocks();
  auto workspace() const;
  /// The fields' points in Lifted, rounded up to groups of four.
  std::int64_t lifted_rows() const { return (grid_.points() + 3) / 4 * 4; }
  /// Of a Subject's tables.
  std::int32_t row_of(std::int64_t point, bool shown) const {
    return static_cast<std::int32_t>(point + (shown ? lifted_rows() : 0));
  }
  /// The row of zeros there, for the padding.
  std::int32_t row_of_padding() const { return static_cast<std::int32_t>(2 * lifted_rows()); }
  /// out [rows, columns] = a·b (+ bias), or added to what is there: a [rows, inner], b [inner, columns].
  void multiply(std::int64_t rows, const float* a, std::int64_t inner, const float* b, std::int64_t columns, float* out,
                const float* bias = nullptr, bool add = false) const;
  /// Sizes of the lifting's layers.
  std::int64_t lifting_width() const { return static_cast<std::int64_t>(lifting0_bias_.size()); }
  std::int64_t entry_channels() const { return static_cast<std::int64_t>(lifting0_.size()) / lifting_width(); }
  /// Values and coordinates of every point, [lifted_rows(), entry channels].
  AlignedFloats entries(std::span<const double> field) const;
  /// `middle` gets what goes into the lifting's activation, and `activated`, which may be the same memory, what comes
  /// out of it. Rows in groups of four.
  void lift(const float* entries, std::int64_t rows, float* middle, float* activated, float* states) const;
  /// A field's lifted_rows() of the tables from row `begin` on, in tiles on all threads; `beside` is called with each
  /// tile's rows.
  void lift(std::span<const double> field, Tables& tables, std::int64_t begin,
            const std::function<void(std::int64_t first, std::int64_t rows)>& beside = {}) const;
  /// Whose coalitions are asked for.
  struct Asked {
    std::span<const Subject> subjects;
    const Coalitions& coalitions;
    std::size_t each;  ///< so many of the coalitions belong to one subject

    const Subject& of(std::size_t row) const { return subjects[row / each]; }
  };
  void tabulate_players(std::span<Subject> subjects, std::span<const Pair> fields, int players) const;
  /// Adds the coefficients of a field's states, looked up by place.
  void transform(Workspace& work, const AlignedFloats& states, std::int64_t field) const;
  /// The first block's mixed coefficients of a batch of coalitions.
  void mix_first(Workspace& work, const Asked& asked, std::size_t first, std::int64_t count) const;
  /// From row to row of coefficients. Not a power of two: rows would meet in the same few sets of the caches.
  std::int64_t row_stride() const { return batch_ * width_ + kernels::channel_block; }
  float* row(AlignedFloats& coefficients, std::int64_t row, std::int64_t field) const {
    return coefficients.data() + row * row_stride() + field * width_;
  }
  void mix(Workspace& work, const Block& block, std::int64_t count, bool biased = true) const;
  /// All frequencies of coefficients with these weights, [rows] of `stride` with `count` fields each.
  void mix(const Frequencies& frequencies, const AlignedFloats& weights, const AlignedFloats& in, AlignedFloats& out,
           std::int64_t count, std::int64_t stride, AlignedFloats& scratch) const;
  /// Runs a line: its number, its mixed coefficients, where its own are added, from row to row of either.
  using RunLine = std::function<void(std::int64_t line, const float* mixed, float* coefficients, std::int64_t stride)>;
  /// So many orbits of lines go through the first of two axes together.
  static constexpr std::int64_t line_orbits = 4;
  /// Room that run_lines() needs: lines that come and lines that go.
  std::size_t line_room() const { return last_.rows.size() * static_cast<std::size_t>(2 * 4 * line_orbits * width_); }
  /// Runs each line of a field: a plane's come from `mixed` and go to `coefficients` through the first axis.
  void run_lines(const float* mixed, float* coefficients, std::int64_t stride, float* room, const RunLine& run) const;
  void run_block(Workspace& work, const Subject& subject, std::size_t layer, std::int64_t field) const;
  Head head(Query query, double weight) const;
  /// Adds the head's part to the values.
  void finish(Workspace& work, const Head& head, std::span<double> values) const;

  FnoWeights weights_;
  const Kernels& kernels_;
  PaddedGrid grid_;
  AxisBasis first_, last_;
  std::int64_t width_, hidden_, wide_, batch_;  ///< widths rounded up to channel_block
  std::vector<std::int32_t> point_of_;          ///< [places] point of the field, −1 in the padding
  std::vector<char> empty_line_;                ///< [lines]: no point of the field in it
  Frequencies frequencies_;
  std::vector<Weighted> weighted_;  ///< [frequencies]
  AlignedFloats lifting0_, lifting0_bias_, lifting1_, lifting1_bias_;
  std::vector<Block> blocks_;
  std::vector<std::vector<double>> last_re_,
      last_im_;  ///< [frequencies][width·hidden]: the last block's mixing times its MLP
  mutable Spares<Workspace> workspaces_;
};

}  // namespace opshap::engines
