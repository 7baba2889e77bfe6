// `opshap doctor` with LibTorch loaded: everything the light one says, and what matrix products cost here.

#include "cli/doctor.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

#include "cli/commands.hpp"
#include "core/fast_blas.hpp"
#include "operators/blas.hpp"

namespace opshap::cli {

namespace {

/// Whoever sets OPENBLAS_CORETYPE gets those kernels; worth a word where this processor has better ones.
std::string forced_kernels() {
  const char* forced = std::getenv("OPENBLAS_CORETYPE");
  const std::string best = fast_blas_core_type();
  if (forced == nullptr || best.empty() || best == forced) return "";
  return fmt::format("; OPENBLAS_CORETYPE={} is set, without it opshap uses {}", forced, best);
}

}  // namespace

void add_network_doctor(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "doctor", "Check the machine: BLAS, threads, LibTorch, GPU, disk; exit code 4 with the command that repairs it");
  command->callback([&globals] {
    std::vector<Finding> findings = examine_machine(globals.out);
    const operators::Blas blas = operators::examine_blas();
    findings.push_back({"blas",
                        fmt::format("{}, {:.0f} GFLOP/s a thread{}{}", blas.name, blas.gflops,
                                    blas.path.empty() ? "" : ", " + blas.path, forced_kernels()),
                        blas.fast, blas.fix});
    const operators::Torch torch = operators::examine_torch();
    findings.push_back({"libtorch", fmt::format("{}, loaded from {}", torch.compiled, torch.library), torch.as_compiled,
                        torch.as_compiled ? "" : "unset LD_LIBRARY_PATH, or build again against that LibTorch"});
    const bool gpu_missing = globals.device != "cpu" && torch.gpu == "none";
    findings.push_back(
        {"gpu", torch.gpu, !gpu_missing,
         gpu_missing
             ? "use --device cpu, or build with -DOPSHAP_TORCH=<a CUDA wheel's torch folder> on a machine with a GPU"
             : ""});
    report_findings(findings, globals);
  });
}

}  // namespace opshap::cli
