#include "cli/environment.hpp"

#include <fmt/format.h>

#include "engines/kernels.hpp"
#include "operators/blas.hpp"

namespace opshap::cli {

nlohmann::ordered_json network_environment(const Globals& globals) {
  const operators::Blas blas = operators::examine_blas();
  nlohmann::ordered_json found = environment();
  found["blas"] = fmt::format("{}, {:.0f} GFLOP/s a thread", blas.name, blas.gflops);
  found["libtorch"] = operators::examine_torch().compiled;
  found["engine"] = globals.engine ? engines::kernels().name : "off";
  return found;
}

}  // namespace opshap::cli
