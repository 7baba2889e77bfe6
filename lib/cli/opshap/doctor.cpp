// `opshap doctor`: is this machine fit, and what repairs it.

#include "cli/doctor.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.hpp"

namespace opshap::cli {

void add_doctor(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "doctor", "Check the machine: BLAS, threads, LibTorch, GPU, disk; exit code 4 with the command that repairs it");
  const auto quick = std::make_shared<bool>(false);
  command->add_flag("--quick", *quick, "Only what needs no LibTorch; takes milliseconds");
  command->callback([quick, &globals] {
    if (!*quick) run_networks(globals);
    report_findings(examine_machine(globals.out), globals);
  });
}

}  // namespace opshap::cli
