#include "cli/environment.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/kernels.hpp"
#include "operators/blas.hpp"

namespace opshap::cli {

nlohmann::ordered_json network_environment(const Globals& globals) {
  const operators::Blas blas = operators::examine_blas();
  nlohmann::ordered_json found = environment();
  found["device"] = globals.device;
  found["blas"] = fmt::format("{}, {:.0f} GFLOP/s a thread", blas.name, blas.gflops);
  const operators::Torch torch = operators::examine_torch();
  found["libtorch"] = torch.compiled;
  const bool on_cpu = globals.device == "cpu";
  found["engine"] = !globals.engine ? "off" : on_cpu ? kernels::chosen_kernels().name : "LibTorch on " + globals.device;
  if (!on_cpu) found["gpu"] = torch.gpu;
  return found;
}

}  // namespace opshap::cli
