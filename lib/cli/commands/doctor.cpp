// `opshap doctor`: is this machine fit, and what repairs it.

#include "cli/doctor.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "core/process.hpp"
#include "networks/networks.hpp"

namespace opshap::cli {

namespace {

/// Whoever sets OPENBLAS_CORETYPE gets those kernels; worth a word where this processor has better ones.
std::string forced_kernels() {
  const char* forced = std::getenv("OPENBLAS_CORETYPE");
  const std::string best = fast_blas_core_type();
  if (forced == nullptr || best.empty() || best == forced) return "";
  return fmt::format("; OPENBLAS_CORETYPE={} is set, without it opshap uses {}", forced, best);
}

/// What the networks rest on, and what matrix products cost here.
void examine_networks(std::vector<Finding>& findings, const Globals& globals) {
  const networks::Networks& library = networks::library();
  const networks::Blas blas = library.blas();
  findings.push_back({"blas",
                      fmt::format("{}, {:.0f} GFLOP/s a thread{}{}", blas.name, blas.gflops,
                                  blas.path.empty() ? "" : ", " + blas.path, forced_kernels()),
                      blas.fast, blas.fix});
  const networks::Torch torch = library.torch();
  findings.push_back({"libtorch", fmt::format("{}, loaded from {}", torch.compiled, torch.library), torch.as_compiled,
                      "unset LD_LIBRARY_PATH, or build again against that LibTorch"});
  findings.push_back(
      {"gpu", torch.gpu, globals.device == "cpu" || torch.gpu != "none",
       "use --device cpu, or build with -DOPSHAP_TORCH=<a CUDA wheel's torch folder> on a machine with a GPU"});
  findings.push_back(openmp_runtimes());
}

}  // namespace

void add_doctor(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "doctor", "Check the machine: BLAS, threads, LibTorch, GPU, disk; exit code 4 with the command that repairs it");
  const auto quick = std::make_shared<bool>(false);
  command->add_flag("--quick", *quick, "Only what needs no LibTorch; takes milliseconds");
  command->callback([quick, &globals] {
    std::vector<Finding> findings = examine_machine(globals.out);
    if (!*quick) examine_networks(findings, globals);
    report_findings(findings, globals);
  });
}

}  // namespace opshap::cli
