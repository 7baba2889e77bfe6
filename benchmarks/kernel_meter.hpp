#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "kernels/kernels.hpp"

namespace opshap {

/// What went through metered kernels. Two operations for each product added to a sum; additions alone are left out,
/// activations counted apart.
struct KernelMeter {
  /// What enters the first block; the first of two axes; mixing; blocks with their transforms along a line; last block
  /// and projection at the query.
  enum Part { first, axis, mixing, blocks, query, parts };
  static constexpr std::array<const char*, parts> names = {"first", "axis", "mixing", "blocks", "query"};

  std::array<double, parts> seconds{}, flops{};
  double activations = 0;

  double all_flops() const {
    double sum = 0;
    for (const double part : flops) sum += part;
    return sum;
  }
};

/// Kernels of an instruction set that note in kernel_meter what they are asked for and how long they take. On one
/// thread, for networks of one width.
const kernels::Kernels& metered(const kernels::Kernels& kernels, std::int64_t width);
inline KernelMeter kernel_meter;

namespace metering {

inline const kernels::Kernels* inner = nullptr;
inline std::int64_t network_width = 0;

/// Counts until the end of its life.
class Call {
 public:
  Call(KernelMeter::Part part, double products) : part_(part) { kernel_meter.flops[part] += 2 * products; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() {
    kernel_meter.seconds[part_] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  KernelMeter::Part part_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

inline double product(auto... numbers) { return (static_cast<double>(numbers) * ...); }
/// Products of one direction of a transform, for each channel.
inline double transform(const kernels::LineBasis& basis) {
  return product(basis.folded ? 1 : 4, basis.orbits, basis.rows);
}

}  // namespace metering

inline const kernels::Kernels& metered(const kernels::Kernels& kernels, std::int64_t width) {
  using namespace metering;
  static kernels::Kernels metered;
  inner = &kernels;
  network_width = width;
  metered = kernels;
  metered.floats.multiply = [](const kernels::Product<float>& p) {
    // Besides what is done at the query only few players' shares of the first block's coefficients are multiplied this
    // way.
    const bool shares = p.columns == network_width && p.out_row == network_width;
    const Call call(shares ? KernelMeter::first : KernelMeter::query, product(p.rows, p.inner, p.columns));
    inner->floats.multiply(p);
  };
  metered.quick_gelu = [](const float* from, float* to, std::int64_t count) {
    const Call call(KernelMeter::query, 0);
    kernel_meter.activations += static_cast<double>(count);
    inner->quick_gelu(from, to, count);
  };
  metered.line = [](const kernels::PointwiseBlock& block, const kernels::LineBasis& basis, const kernels::Line& line,
                    float* scratch) {
    const std::int64_t points = 4 * basis.orbits, skip = line.states == nullptr ? 0 : block.width + 1;
    const Call call(KernelMeter::blocks,
                    product(points, block.width, skip + 2 * block.hidden) + 2 * product(block.width, transform(basis)));
    kernel_meter.activations += product(points, 2 * block.width + block.hidden);
    inner->line(block, basis, line, scratch);
  };
  metered.transform = [](const kernels::LineBasis& basis, std::int64_t channels, const std::int32_t* place,
                         const float* table, float* coefficients, std::int64_t stride, float* scratch) {
    const Call call(KernelMeter::first, product(channels, transform(basis)));
    inner->transform(basis, channels, place, table, coefficients, stride, scratch);
  };
  metered.mix = [](const kernels::Mixing& mixing, float* scratch) {
    int products = 0;
    for (int i = 0; i < mixing.size; ++i) {
      const kernels::Frequency& frequency = mixing.frequencies[i];
      products += frequency.from.real() && frequency.to.real() ? 1 : 3;
    }
    const Call call(KernelMeter::mixing, product(products, mixing.count, mixing.width, mixing.width));
    inner->mix(mixing, scratch);
  };
  metered.spread = [](const kernels::LineBasis& basis, std::int64_t orbit, std::int64_t count, std::int64_t columns,
                      std::int64_t channels, const float* rows, std::int64_t stride, float* lines) {
    const Call call(KernelMeter::axis,
                    product(basis.folded ? 1 : 4, basis.rows, columns, channels) * static_cast<double>(count));
    inner->spread(basis, orbit, count, columns, channels, rows, stride, lines);
  };
  metered.gather = [](const kernels::LineBasis& basis, std::int64_t orbit, std::int64_t count, std::int64_t columns,
                      std::int64_t channels, const float* lines, float* rows, std::int64_t stride) {
    const Call call(KernelMeter::axis,
                    product(basis.folded ? 1 : 4, basis.rows, columns, channels) * static_cast<double>(count));
    inner->gather(basis, orbit, count, columns, channels, lines, rows, stride);
  };
  return metered;
}

}  // namespace opshap
