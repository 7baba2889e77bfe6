#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "operators/box.hpp"
#include "operators/tiles.hpp"

namespace opshap::operators {

/// Neighbouring points of a line, for all fields of the batch.
struct Tile {
  std::int64_t line, point;  ///< in the padded grid
  std::int64_t points, rows;
  std::int64_t to;    ///< first row in the box of the output
  std::int64_t from;  ///< first row in the box of the input; −1 where the input is zero
};

/// The tiles of the output's box: each lies inside the input's box or outside.
class Tiles {
 public:
  Tiles(const BlockBoxes& boxes, std::int64_t batch)
      : boxes_(boxes),
        batch_(batch),
        most_points_(std::max<std::int64_t>(1, tile_rows / std::max<std::int64_t>(1, batch))) {}

  std::int64_t most_rows() const { return most_points_ * batch_; }

  template <typename Work>
  void for_each(const Work& work) const {
    const auto& [from, to] = boxes_;
    for (std::int64_t line = to.first_line; line < to.first_line + to.lines; ++line) {
      for (std::int64_t point = to.first; point < to.end();) {
        const bool before = from.holds_line(line) && point < from.first,
                   inside = from.holds_line(line) && !before && point < from.end();
        const std::int64_t border = before ? from.first : inside ? from.end() : to.end();
        const std::int64_t points = std::min({most_points_, border - point, to.end() - point});
        work(Tile{.line = line,
                  .point = point,
                  .points = points,
                  .rows = points * batch_,
                  .to = to.row(line, point, batch_),
                  .from = inside ? from.row(line, point, batch_) : -1});
        point += points;
      }
    }
  }

 private:
  BlockBoxes boxes_;
  std::int64_t batch_, most_points_;
};

/// The products with a Fourier basis along lines, a tile at a time: `numbers` = batch·channels columns.
template <typename T>
class LineTransform {
 public:
  LineTransform(const DenseKernels<T>& kernels, const torch::Tensor& forward, const torch::Tensor& inverse,
                std::int64_t numbers)
      : kernels_(kernels), forward_(forward), inverse_(inverse), numbers_(numbers) {}

  std::int64_t numbers() const { return forward_.size(0) * numbers_; }
  /// Field values of a tile from its line's coefficients.
  void synthesise(const Tile& tile, const T* line, T* values) const {
    const std::int64_t rows = forward_.size(0);
    multiply(data<T>(inverse_) + tile.point * rows, rows, 1, line, values, tile.points, rows, false);
  }
  /// Adds what a tile gives to its line's coefficients.
  void analyse(const Tile& tile, const T* values, T* line) const {
    multiply(data<T>(forward_) + tile.point, forward_.size(1), 1, values, line, forward_.size(0), tile.points, true);
  }
  /// The reverse of synthesise(): adds.
  void reverse_synthesise(const Tile& tile, const T* values, T* line) const {
    const std::int64_t rows = forward_.size(0);
    multiply(data<T>(inverse_) + tile.point * rows, 1, rows, values, line, rows, tile.points, true);
  }
  /// The reverse of analyse(): adds.
  void reverse_analyse(const Tile& tile, const T* line, T* values) const {
    multiply(data<T>(forward_) + tile.point, 1, forward_.size(1), line, values, tile.points, forward_.size(0), true);
  }

 private:
  void multiply(const T* a, std::int64_t a_row, std::int64_t a_step, const T* b, T* out, std::int64_t rows,
                std::int64_t inner, bool add) const {
    kernels_.multiply({.a = a,
                       .a_row = a_row,
                       .a_step = a_step,
                       .b = b,
                       .out = out,
                       .rows = rows,
                       .inner = inner,
                       .columns = numbers_,
                       .add = add});
  }

  const DenseKernels<T>& kernels_;
  const torch::Tensor &forward_, &inverse_;
  std::int64_t numbers_;
};

/// Boxes as numbers, as a reverse pass can keep them, and back.
inline std::vector<std::int64_t> packed(const BlockBoxes& boxes) {
  std::vector<std::int64_t> all;
  for (const Box& box : {boxes.from, boxes.to})
    all.insert(all.end(), {box.first_line, box.lines, box.first, box.points});
  return all;
}
inline BlockBoxes unpacked(const std::vector<std::int64_t>& all) {
  return {{all[0], all[1], all[2], all[3]}, {all[4], all[5], all[6], all[7]}};
}

}  // namespace opshap::operators
