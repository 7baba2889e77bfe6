#include "kernels/kernels.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/error.hpp"

namespace opshap::kernels {

extern const Kernels kernels_avx512, kernels_avx2, kernels_baseline;

namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

}  // namespace

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
  const std::vector<std::string> known = {"avx512", "avx2", "baseline"}, here = instruction_sets();
  require<EnvironmentError>(std::ranges::find(known, instruction_set) != known.end(),
                            "engine: OPSHAP_ENGINE=", instruction_set,
                            " (there is no such instruction set). Give one of ", joined(here), ".");
  require<EnvironmentError>(std::ranges::find(here, instruction_set) != here.end(),
                            "engine: OPSHAP_ENGINE=", instruction_set,
                            " (this processor does not have it). Give one of ", joined(here), ".");
#ifdef __x86_64__
  if (instruction_set == "avx512") return kernels_avx512;
  if (instruction_set == "avx2") return kernels_avx2;
#endif
  return kernels_baseline;
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
