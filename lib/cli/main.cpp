// `opshap`: every subcommand. LibTorch is loaded by those that need a network, when they need it.

#include <cstdio>
#include <cstdlib>
#include <new>

#include "cli/program.hpp"
#include "core/error.hpp"
#include "core/process.hpp"
#include "networks/build.hpp"

namespace {

/// Ends the process without the destructors of libraries: those of LibTorch take an eighth of a short command. Whatever
/// has work to do at the end is closed by then, or waits in std::at_quick_exit.
[[noreturn]] void leave(int code) {
  std::fflush(nullptr);
#ifdef __SANITIZE_ADDRESS__
  std::exit(code);  // leaks are looked for behind the destructors
#else
  std::quick_exit(code);
#endif
}

}  // namespace

int main(int argc, char** argv) try {
  opshap::start_process();
  leave(opshap::cli::program(argc, argv,
                             opshap::message(OPSHAP_VERSION, " (commit ", opshap::networks::commit,
                                             opshap::networks::dirty ? ", with uncommitted changes)" : ")")));
} catch (const std::bad_alloc&) {
  std::fputs("opshap: memory (the system has no more). Raise `ulimit -v`, or close other programs.\n", stderr);
  return 4;
}
