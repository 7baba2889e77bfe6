#include <dlfcn.h>
#include <malloc.h>
#include <sys/resource.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "core/error.hpp"
#include "core/process.hpp"
#include "networks/build.hpp"
#include "networks/networks.hpp"

namespace opshap::networks {

namespace {

/// Activations are large and short-lived: without these glibc gives them back to the kernel and faults them in again at
/// every layer.
void keep_activations() {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  // That much more at a time, where the address space has no limit: under one, small allocations would fail by it.
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur == RLIM_INFINITY) mallopt(M_TOP_PAD, 256 << 20);
}

/// The folder of the library, or of the program, that this code is in.
std::filesystem::path own_folder() {
  Dl_info here{};
  require<EnvironmentError>(::dladdr(reinterpret_cast<const void*>(&library), &here) != 0 && here.dli_fname != nullptr,
                            "opshap: library (the loader does not say where libopshap.so is). Install opshap again.");
  return std::filesystem::absolute(here.dli_fname).parent_path();
}

const Networks* loaded() {
  const std::filesystem::path path = own_folder() / "libopshap-networks.so";
  if (std::strlen(fast_blas_core_type()) > 0) setenv("OPENBLAS_CORETYPE", fast_blas_core_type(), 0);
  keep_activations();
  const auto refuse = [&path](const std::string& why, const char* advice) {
    throw EnvironmentError(
        message("opshap: library=", path.string(), " (", why, "; this command needs LibTorch). ", advice));
  };
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr)
    refuse(::dlerror(),
           "Build with OPSHAP_NETWORKS=ON, keep both libraries in one folder, and see that LibTorch is installed.");
  const auto entry = reinterpret_cast<Entry (*)()>(::dlsym(library, "opshap_networks"));
  if (entry == nullptr) refuse("has no opshap_networks()", "Build both libraries again.");
  const Entry found = entry();
  if (std::strcmp(found.build, build) != 0)
    refuse(message("is of another build, ", found.build, ", not ", build), "Install both libraries of one build.");
  return found.networks;
}

}  // namespace

const Networks& library() {
  static const Networks* const found = loaded();
  return *found;
}

}  // namespace opshap::networks
