#include "kernels/kernels.hpp"

#include <cstdlib>

#include "core/error.hpp"

namespace opshap::kernels {

extern const Kernels kernels_avx512, kernels_avx2, kernels_baseline;

std::int64_t kernel_scratch(std::int64_t width, std::int64_t hidden) {
  constexpr std::int64_t tile_points = 64;
  return tile_points * (width + hidden);
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> found;
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) found.emplace_back("avx512");
  if (__builtin_cpu_supports("x86-64-v3")) found.emplace_back("avx2");
#endif
  found.emplace_back("baseline");
  return found;
}

const Kernels& kernels_for(const std::string& instruction_set) {
  std::string all;
  for (const std::string& here : instruction_sets()) {
    if (here == instruction_set) {
#ifdef __x86_64__
      if (here == "avx512") return kernels_avx512;
      if (here == "avx2") return kernels_avx2;
#endif
      return kernels_baseline;
    }
    all += (all.empty() ? "" : ", ") + here;
  }
  const bool known = instruction_set == "avx512" || instruction_set == "avx2";
  throw EnvironmentError(message("engine: OPSHAP_ENGINE=", instruction_set, " (",
                                 known ? "this processor does not have it" : "there is no such instruction set",
                                 "). Give one of ", all, "."));
}

const Kernels& chosen_kernels() {
  const char* wanted = std::getenv("OPSHAP_ENGINE");
  return kernels_for(wanted != nullptr && *wanted != '\0' ? wanted : instruction_sets().front());
}

template <>
const DenseKernels<float>& chosen_dense_kernels() {
  return chosen_kernels().floats;
}
template <>
const DenseKernels<double>& chosen_dense_kernels() {
  return chosen_kernels().doubles;
}

}  // namespace opshap::kernels
