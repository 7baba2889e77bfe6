#include "cli/environment.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/doctor.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"
#include "kernels/kernels.hpp"
#include "networks/build.hpp"
#include "networks/networks.hpp"

namespace opshap::cli {

nlohmann::ordered_json environment() {
  utsname system{};
  uname(&system);
  return {{"processor", processor()},
          {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
          {"threads", threads()},
          {"compiler", message("g++ ", __VERSION__)},
          {"system", message(system.sysname, " ", system.release, " ", system.machine)}};
}

nlohmann::ordered_json network_environment(const Globals& globals) {
  const networks::Blas blas = networks::library().blas();
  nlohmann::ordered_json found = environment();
  found["device"] = globals.device;
  found["blas"] = fmt::format("{}, {:.0f} GFLOP/s a thread", blas.name, blas.gflops);
  const networks::Torch torch = networks::library().torch();
  found["libtorch"] = torch.compiled;
  const bool on_cpu = globals.device == "cpu";
  found["engine"] = !globals.engine ? "off" : on_cpu ? kernels::chosen_kernels().name : "LibTorch on " + globals.device;
  if (!on_cpu) found["gpu"] = torch.gpu;
  return found;
}

runs::Beginning beginning(const std::string& who, std::string_view schema, const Globals& globals,
                          nlohmann::ordered_json environment, nlohmann::ordered_json subject) {
  return {.who = who,
          .schema = std::string(schema),
          .command = globals.arguments,
          .seed = globals.seed,
          .commit = networks::commit,
          .dirty = networks::dirty,
          .environment = std::move(environment),
          .subject = std::move(subject)};
}

}  // namespace opshap::cli
