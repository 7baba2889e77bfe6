// The kernels' products and activations on arrays in the first two levels of cache. Products also by the BLAS of
// LibTorch, which runs its own kernels for the instruction set that OPENBLAS_CORETYPE names.

#include "kernels/kernels.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/rng.hpp"
#include "kernels/aligned_floats.hpp"
#include "operators/torch.hpp"

namespace {

using namespace opshap;
using kernels::AlignedFloats;

/// Normal numbers times `scale`.
AlignedFloats random_numbers(std::size_t count, double scale) {
  AlignedFloats numbers(count);
  Rng rng(1, "kernels");
  for (float& number : numbers) number = static_cast<float>(scale * rng.normal());
  return numbers;
}

/// A product of [256, 64] and [64, 64], as the layers of the paper's FNO have it.
template <typename Multiply>
void products(benchmark::State& state, const Multiply& multiply) {
  constexpr std::int64_t rows = 256, width = 64;
  AlignedFloats a = random_numbers(rows * width, 1), b = random_numbers(width * width, 1), out(rows * width);
  const kernels::Product<float> product{
      .a = a.data(), .a_row = width, .b = b.data(), .out = out.data(), .rows = rows, .inner = width, .columns = width};
  for (auto _ : state) {
    multiply(product);
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * rows * width * width * static_cast<double>(state.iterations()),
                                                 benchmark::Counter::kIsRate);
}

void product(benchmark::State& state) { products(state, kernels::chosen_kernels().floats.multiply); }
void product_sgemm(benchmark::State& state) {
  torch::set_num_threads(1);
  const torch::NoGradGuard no_grad;
  products(state, [](const kernels::Product<float>& p) {
    const auto tensor = [](const float* numbers, std::int64_t rows, std::int64_t columns) {
      return torch::from_blob(const_cast<float*>(numbers), {rows, columns});
    };
    torch::Tensor out = tensor(p.out, p.rows, p.columns);
    torch::mm_out(out, tensor(p.a, p.rows, p.inner), tensor(p.b, p.inner, p.columns));
  });
}

/// Time a number, and the largest errors against erf in double precision, absolute and relative to the number.
template <typename Gelu>
void activations(benchmark::State& state, const Gelu& gelu) {
  constexpr std::int64_t count = 4096;
  const AlignedFloats x = random_numbers(count, 2);
  AlignedFloats y(count);
  for (auto _ : state) {
    gelu(x.data(), y.data(), count);
    benchmark::ClobberMemory();
  }
  double absolute = 0, relative = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = 0.5 * x[i] * std::erfc(-x[i] / std::numbers::sqrt2), error = std::abs(y[i] - exact);
    absolute = std::max(absolute, error);
    relative = std::max(relative, error / std::abs(static_cast<double>(x[i])));
  }
  state.counters["ns a number"] = benchmark::Counter(1e-9 * count * static_cast<double>(state.iterations()),
                                                     benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["absolute error"] = absolute;
  state.counters["relative error"] = relative;
}

void gelu_quick(benchmark::State& state) { activations(state, kernels::chosen_kernels().quick_gelu); }
void gelu(benchmark::State& state) { activations(state, kernels::chosen_kernels().floats.gelu); }

BENCHMARK(product);
BENCHMARK(product_sgemm);
BENCHMARK(gelu_quick);
BENCHMARK(gelu);

}  // namespace

BENCHMARK_MAIN();
