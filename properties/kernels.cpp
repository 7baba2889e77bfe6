// The kernels of each instruction set that this processor has, against the same in double.

#include "kernels/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/rng.hpp"

namespace opshap {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Exact {
  double value, slope;
};

/// gelu and its slope; at ±infinity their limits.
Exact exact_gelu(double x) {
  const double bounded = std::clamp(x, -40.0, 40.0);  // further out x·Φ(x) is max(x, 0) in double precision, too
  const double law = 0.5 * std::erfc(-bounded / std::numbers::sqrt2);
  const double density = std::exp(-bounded * bounded / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return {.value = std::max(x, bounded) * law, .slope = law + bounded * density};
}

/// Every 1021st bit pattern of a float that is a number: all exponents, denormals too, some 8000 numbers each. Besides
/// them both zeros, both infinities, the largest and the smallest numbers. As many as fill vectors.
std::vector<float> floats_of_every_size() {
  constexpr float largest = std::numeric_limits<float>::max(), smallest = std::numeric_limits<float>::denorm_min();
  std::vector<float> all = {0.0F, -0.0F, infinity, -infinity, largest, -largest, smallest, -smallest};
  for (std::uint64_t bits = 0; bits <= std::numeric_limits<std::uint32_t>::max(); bits += 1021) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isnan(x)) all.push_back(x);
  }
  while (all.size() % kernels::channel_block != 0) all.push_back(1);
  return all;
}

const float not_a_number = std::numeric_limits<float>::quiet_NaN();

TEST(Kernels, GiveQuickGeluAndItsSlopeToTheirAbsoluteErrorsForAllFloats) {
  const std::vector<float> x = floats_of_every_size();
  const auto count = static_cast<std::int64_t>(x.size());
  for (const std::string& set : kernels::instruction_sets()) {
    const kernels::Kernels& of_set = kernels::kernels_for(set);
    std::vector<float> y(x.size()), slope(x.size(), 1);
    of_set.quick_gelu(x.data(), y.data(), count);
    of_set.quick_gelu_slope(x.data(), slope.data(), count);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto [value, exact_slope] = exact_gelu(x[i]);
      const double rounding = std::max(0.0, static_cast<double>(x[i])) * 0x1p-24;  // half a unit in the last place
      if (x[i] == infinity)
        ASSERT_EQ(y[i], infinity) << set;
      else
        ASSERT_NEAR(y[i], value, 2.2e-7 + rounding) << set << " at " << x[i];
      ASSERT_NEAR(slope[i], exact_slope, 5e-7) << set << " at " << x[i];
    }
    EXPECT_TRUE(std::signbit(y[1])) << set << " at -0";
    for (const float bad : {not_a_number, -not_a_number}) {
      std::vector<float> all(kernels::channel_block, bad), one(kernels::channel_block, 1);
      of_set.quick_gelu_slope(all.data(), one.data(), kernels::channel_block);
      of_set.quick_gelu(all.data(), all.data(), kernels::channel_block);
      EXPECT_TRUE(std::ranges::all_of(all, [](float y) { return std::isnan(y); })) << set;
      EXPECT_TRUE(std::ranges::all_of(one, [](float y) { return std::isnan(y); })) << set;
    }
  }
}

/// `relative` of |x| for the value, and of 1 for the slope.
template <typename T>
void expect_gelu(const kernels::DenseKernels<T> kernels::Kernels::*dense, const std::vector<float>& floats,
                 double relative) {
  const std::vector<T> x(floats.begin(), floats.end());
  const auto count = static_cast<std::int64_t>(x.size());
  for (const std::string& set : kernels::instruction_sets()) {
    const kernels::DenseKernels<T>& of_type = kernels::kernels_for(set).*dense;
    std::vector<T> alone(x.size()), y(x.size()), slope(x.size()), again(x.size()), chained(x.size(), 2);
    of_type.gelu(x.data(), alone.data(), count);
    of_type.gelu_and_slope(x.data(), y.data(), slope.data(), count);
    of_type.gelu_and_chain(x.data(), again.data(), chained.data(), count);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto [value, exact_slope] = exact_gelu(x[i]);
      if (floats[i] == infinity) {
        ASSERT_EQ(y[i], x[i]) << set;
      } else {
        const double tolerance = floats[i] == -infinity ? 0.0
                                                        : relative * std::abs(static_cast<double>(x[i])) +
                                                              std::numeric_limits<float>::denorm_min();
        ASSERT_NEAR(y[i], value, tolerance) << set << " at " << x[i];
        ASSERT_NEAR(alone[i], value, tolerance) << set << " at " << x[i];
      }
      ASSERT_NEAR(slope[i], exact_slope, relative) << set << " at " << x[i];
      ASSERT_EQ(y[i], again[i]) << set << " at " << x[i];
      ASSERT_NEAR(chained[i], 2 * exact_slope, 2 * relative) << set << " at " << x[i];
    }
    EXPECT_TRUE(std::signbit(y[1])) << set << " at -0";
    const T bad = std::numeric_limits<T>::quiet_NaN();
    T out = 0, slope_out = 0;
    of_type.gelu_and_slope(&bad, &out, &slope_out, 1);
    EXPECT_TRUE(std::isnan(out) && std::isnan(slope_out)) << set;
  }
}

TEST(Kernels, GiveGeluAndItsSlopeToTheirRelativeErrorsForAllFloats) {
  expect_gelu(&kernels::Kernels::floats, floats_of_every_size(), 3e-7);
  std::vector<float> some;
  for (int i = -1500; i <= 1500; ++i) some.push_back(static_cast<float>(i) * 1e-2F);
  some.insert(some.begin(), {0.0F, -0.0F, infinity, -infinity, 1e30F, -1e30F, 1e-30F, -1e-30F});
  expect_gelu(&kernels::Kernels::doubles, some, 1e-15);
}

template <typename T>
void expect_products(const kernels::DenseKernels<T>& of_type, const std::string& set) {
  Rng rng(5, "products");
  for (int trial = 0; trial < 60; ++trial) {
    const auto size = [&](double most) { return static_cast<std::int64_t>(rng.uniform(1, most)); };
    const std::int64_t rows = size(trial < 40 ? 71 : 140), inner = size(71), columns = size(71);
    const std::int64_t gap = trial % 4 == 0 ? size(9) : 0;  // between the rows of out
    const auto drawn = [&](std::int64_t count) {
      std::vector<T> values(static_cast<std::size_t>(count));
      for (T& value : values) value = static_cast<T>(rng.normal());
      return values;
    };
    const std::vector<T> a = drawn(rows * inner), b = drawn(inner * columns), bias = drawn(columns);
    const std::vector<T> before = drawn(rows * (columns + gap));
    std::vector<T> out = before;
    const bool transposed = trial % 2 == 0, add = trial % 3 == 0, with_bias = trial % 5 < 2;
    of_type.multiply({.a = a.data(),
                      .a_row = transposed ? 1 : inner,
                      .a_step = transposed ? rows : 1,
                      .b = b.data(),
                      .out = out.data(),
                      .out_row = gap > 0 ? columns + gap : 0,
                      .rows = rows,
                      .inner = inner,
                      .columns = columns,
                      .bias = with_bias ? bias.data() : nullptr,
                      .add = add});
    const double unit = sizeof(T) == 4 ? 6e-8 : 1.1e-16;  // 72 roundings of sums of products of size at most 16
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns + gap; ++c) {
        const auto place = static_cast<std::size_t>(r * (columns + gap) + c);
        if (c >= columns) {
          ASSERT_EQ(before[place], out[place]) << set << ": what lies between the rows";
          continue;
        }
        double sum = with_bias ? bias[static_cast<std::size_t>(c)] : 0;
        if (add) sum += before[place];
        for (std::int64_t k = 0; k < inner; ++k)
          sum += static_cast<double>(a[static_cast<std::size_t>(transposed ? k * rows + r : r * inner + k)]) *
                 b[static_cast<std::size_t>(k * columns + c)];
        ASSERT_NEAR(sum, out[place], 72 * 72 * 16 * unit) << set;
      }
  }
}

TEST(Kernels, MultiplyMatricesOfAnySize) {
  for (const std::string& set : kernels::instruction_sets()) {
    expect_products(kernels::kernels_for(set).floats, set);
    expect_products(kernels::kernels_for(set).doubles, set);
  }
}

TEST(Kernels, RefuseAnInstructionSetThatIsNotThere) {
  EXPECT_THROW(kernels::kernels_for("avx1024"), EnvironmentError);
  EXPECT_EQ(kernels::instruction_sets().back(), "baseline");
  for (const std::string& set : kernels::instruction_sets()) EXPECT_EQ(kernels::kernels_for(set).name, set);
}

}  // namespace
}  // namespace opshap
