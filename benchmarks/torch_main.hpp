#pragma once

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "core/process.hpp"
#include "core/threads.hpp"
#include "operators/blas.hpp"

namespace opshap {

/// The main function of benchmarks of networks: as opshap loads them, and with what their numbers depend on beside
/// them.
template <typename Register>
void run_torch_benchmarks(int argc, char** argv, const Register& register_all) {
  restart_with_fast_blas(argv);
  // Activations are large and short-lived.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 256 << 20);
  set_verbosity(Verbosity::quiet);
  benchmark::Initialize(&argc, argv);
  benchmark::AddCustomContext("libtorch", operators::examine_torch().compiled);
  benchmark::AddCustomContext("blas", operators::examine_blas().name);
  register_all();
  benchmark::RunSpecifiedBenchmarks();
}

}  // namespace opshap
