#include "operators/blas.hpp"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <iostream>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "operators/torch.hpp"

namespace opshap::operators {

namespace {

/// The real path of the library that `symbol` comes from; empty when no shared library exports it.
std::string provider(const char* symbol) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  Dl_info info;
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code failure;
  const auto path = std::filesystem::canonical(info.dli_fname, failure);
  return failure ? info.dli_fname : path.string();
}

std::string call(const char* symbol) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  return address == nullptr ? "" : reinterpret_cast<const char* (*)()>(address)();
}

/// By the driver, which LibTorch has loaded: LibTorch itself tells names only to programs that have CUDA's headers.
std::string gpu_name(int index) {
  using DeviceGetName = int (*)(char* name, int length, int device);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  const auto get_name = driver == nullptr ? nullptr : reinterpret_cast<DeviceGetName>(dlsym(driver, "cuDeviceGetName"));
  std::array<char, 128> name{};
  if (get_name == nullptr || get_name(name.data(), static_cast<int>(name.size()), index) != 0) return "GPU";
  return name.data();
}

double measure_gflops() {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  constexpr int size = 512;
  const auto a = torch::ones({size, size}), b = torch::ones({size, size});
  auto c = torch::mm(a, b);
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [](std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  double best = 1e9;
  constexpr double longest = 1;  // seconds, in which a machine that was busy for a moment has shown what it can
  for (int repeat = 0; repeat < 5 && since(begin) < longest; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    torch::mm_out(c, a, b);
    best = std::min(best, since(start));
  }
  at::set_num_threads(threads);
  return 2.0 * size * size * size / best * 1e-9;
}

}  // namespace

networks::Blas examine_blas() {
  networks::Blas blas;
  blas.path = provider("sgemm_");
  const std::string openblas = call("openblas_get_config"), core = call("openblas_get_corename");
  const bool inside_torch = blas.path.find("libtorch") != std::string::npos || blas.path.empty();
  const bool openmp = openblas.find("USE_OPENMP") != std::string::npos;
  const bool reference = blas.path.find("/blas/libblas") != std::string::npos;
  blas.name = inside_torch && at::hasMKL() ? "MKL"
              : !openblas.empty()          ? message(openblas.substr(0, openblas.find(' ', openblas.find(' ') + 1)),
                                            openmp ? " (OpenMP)" : "", core.empty() ? "" : ", kernels for ", core)
              : reference                  ? "reference BLAS"
                                           : "BLAS of unknown make";
  blas.gflops = measure_gflops();
  blas.fast = blas.name != "reference BLAS";
  if (!blas.fast)
    blas.fix = "apt-get install -y libopenblas0-openmp && update-alternatives --auto libblas.so.3-$(gcc -dumpmachine)";
  return blas;
}

void require_fast_blas() { require_fast(examine_blas()); }

void require_fast(const networks::Blas& blas) {
  require<EnvironmentError>(blas.fast, "blas: name=", blas.name, " (", blas.gflops,
                            " GFLOP/s a thread, so no timing taken here means anything). Run: ", blas.fix);
  constexpr double usual = 8;  // of the slowest processors that are in use, alone
  if (blas.gflops < usual && verbosity() != Verbosity::quiet)
    std::cerr << message("blas: ", blas.name, " makes ", blas.gflops,
                         " GFLOP/s a thread. The machine is busy or old, so times taken now say little.\n");
}

networks::Torch examine_torch() {
  networks::Torch torch;
  torch.compiled = message(TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR, ".", TORCH_VERSION_PATCH);
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&at::get_num_threads), &info) != 0) torch.library = info.dli_fname;
  std::error_code failure;
  torch.as_compiled =
      std::filesystem::equivalent(std::filesystem::path(torch.library).parent_path(), OPSHAP_TORCH_LIBRARIES, failure);
  const int gpus = torch::cuda::is_available() ? static_cast<int>(torch::cuda::device_count()) : 0;
  for (int index = 0; index < gpus; ++index)
    torch.gpu += message(index == 0 ? "" : ", ", "cuda:", index, " ", gpu_name(index));
  if (gpus == 0) torch.gpu = "none";
  return torch;
}

}  // namespace opshap::operators
