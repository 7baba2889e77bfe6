#pragma once

#include <cstdint>

namespace opshap::operators {

/// Points first..first+points-1 of lines first_line..first_line+lines-1. A line is the last axis; there is one of them
/// in one dimension.
struct Box {
  std::int64_t first_line = 0, lines = 1, first = 0, points = 0;

  bool holds_line(std::int64_t line) const { return line >= first_line && line < first_line + lines; }
  bool holds(const Box& other) const {
    return holds_line(other.first_line) && holds_line(other.first_line + other.lines - 1) && other.first >= first &&
           other.end() <= end();
  }
  std::int64_t end() const { return first + points; }
  /// Rows of a batch before those of a point of the box, when the box is stored as [lines, points, batch].
  std::int64_t row(std::int64_t line, std::int64_t point, std::int64_t batch) const {
    return ((line - first_line) * points + point - first) * batch;
  }
  std::int64_t rows(std::int64_t batch) const { return lines * points * batch; }
};

/// Where a block's input is not zero, and where its output is wanted.
struct BlockBoxes {
  Box from, to;
};

}  // namespace opshap::operators
