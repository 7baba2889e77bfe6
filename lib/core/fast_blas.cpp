#include "core/fast_blas.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace opshap {

const char* fast_blas_core_type() {
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (avx512) return "SKYLAKEX";
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return avx2 && __builtin_cpu_is("intel") ? "HASWELL" : "";
}

void restart_with_fast_blas(char** argv) {
  const char* core_type = fast_blas_core_type();
  if (std::strlen(core_type) == 0 || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  setenv("OPENBLAS_CORETYPE", core_type, 1);
  execv("/proc/self/exe", argv);  // on failure the program simply goes on at the lower speed
}

}  // namespace opshap
