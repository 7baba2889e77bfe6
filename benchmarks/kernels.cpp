// The two sets of vector kernels side by side: those of the coalition engine and those of the fused layers of training.
// What each is good for is in operators/pointwise_kernels.hpp.

#include "engines/kernels.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <numbers>

#include "core/rng.hpp"
#include "operators/pointwise_kernels.hpp"

namespace {

using namespace opshap;

struct Free {
  void operator()(float* numbers) const { std::free(numbers); }
};
using Numbers = std::unique_ptr<float[], Free>;

/// Aligned as the engine wants it; normal numbers times `scale`.
Numbers random_numbers(std::size_t count, double scale) {
  Numbers numbers(static_cast<float*>(std::aligned_alloc(64, (count * sizeof(float) + 63) / 64 * 64)));
  Rng rng(1, "kernels");
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(scale * rng.normal());
  return numbers;
}

constexpr std::int64_t rows = 256, width = 64;

void report_flops(benchmark::State& state) {
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * rows * width * width * static_cast<double>(state.iterations()),
                                                 benchmark::Counter::kIsRate);
}

void product_engine(benchmark::State& state) {
  const Numbers a = random_numbers(rows * width, 1), b = random_numbers(width * width, 1),
                out = random_numbers(rows * width, 0), bias = random_numbers(width, 1);
  const engines::Product product{.a = a.get(),
                                 .a_stride = width,
                                 .b = b.get(),
                                 .out = out.get(),
                                 .out_stride = width,
                                 .rows = rows,
                                 .inner = width,
                                 .columns = width,
                                 .bias = bias.get()};
  for (auto _ : state) {
    engines::kernels().multiply(product);
    benchmark::ClobberMemory();
  }
  report_flops(state);
}

void product_training(benchmark::State& state) {
  const Numbers a = random_numbers(rows * width, 1), b = random_numbers(width * width, 1),
                out = random_numbers(rows * width, 0), bias = random_numbers(width, 1);
  const operators::StridedProduct<float> product{.a = a.get(),
                                                 .a_row = width,
                                                 .a_step = 1,
                                                 .b = b.get(),
                                                 .out = out.get(),
                                                 .rows = rows,
                                                 .inner = width,
                                                 .columns = width,
                                                 .bias = bias.get()};
  for (auto _ : state) {
    operators::pointwise_kernels<float>().multiply(product);
    benchmark::ClobberMemory();
  }
  report_flops(state);
}

/// Time a number, and the largest errors against erf in double precision, absolute and relative.
template <typename Gelu>
void activations(benchmark::State& state, const Gelu& gelu) {
  constexpr std::int64_t count = 4096;
  const Numbers x = random_numbers(count, 2), y = random_numbers(count, 0);
  for (auto _ : state) {
    gelu(x.get(), y.get(), count);
    benchmark::ClobberMemory();
  }
  double absolute = 0, relative = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const double exact = 0.5 * x[i] * std::erfc(-x[i] / std::numbers::sqrt2), error = std::abs(y[i] - exact);
    absolute = std::max(absolute, error);
    relative = std::max(relative, error / std::abs(exact));
  }
  state.counters["ns a number"] = benchmark::Counter(1e-9 * count * static_cast<double>(state.iterations()),
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["absolute error"] = absolute;
  state.counters["relative error"] = relative;
}

void gelu_engine(benchmark::State& state) { activations(state, engines::kernels().gelu); }
void gelu_training(benchmark::State& state) { activations(state, operators::pointwise_kernels<float>().gelu); }

BENCHMARK(product_engine);
BENCHMARK(product_training);
BENCHMARK(gelu_engine);
BENCHMARK(gelu_training);

}  // namespace

BENCHMARK_MAIN();
