// `opshap-networks`: the subcommands that need LibTorch. Started by `opshap`; not meant to be called by hand.

#include <malloc.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <new>

#include "cli/command_table.hpp"
#include "cli/commands.hpp"
#include "core/fast_blas.hpp"
#include "core/process_start.hpp"

int main(int argc, char** argv) try {
  using namespace opshap::cli;
  opshap::start_process();
  opshap::restart_with_fast_blas(argv);
  // Activations are large and short-lived: without these glibc gives them back to the kernel and faults them in again
  // at every layer.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  // That much more at a time, where the address space has no limit: under one, small allocations would fail by it.
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur == RLIM_INFINITY) mallopt(M_TOP_PAD, 256 << 20);
  Globals globals;
  CLI::App app("The part of opshap that needs LibTorch", "opshap");
  add_globals(app, globals);
#define COMMAND(name)
#define NETWORK_COMMAND(name, summary) add_network_##name(app, globals);
#include "cli/commands.def"
#undef COMMAND
#undef NETWORK_COMMAND
  // For `opshap completion` and `opshap man`.
  app.add_subcommand("tables", "All commands and options as JSON")->group("")->callback([&app] {
    print_json(to_json(table_of(app)));
  });
  return run(app, globals, argc, argv);
} catch (const std::bad_alloc&) {
  std::fputs("opshap: memory (the system has no more). Raise `ulimit -v`, or close other programs.\n", stderr);
  return 4;
}
