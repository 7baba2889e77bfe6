#pragma once

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "support/mutations.hpp"

namespace opshap {

/// How mutants ended that were read in processes of their own.
struct ReadApart {
  std::uint64_t taken = 0, refused = 0, crashed = 0;
  char unexpected[400] = {};  ///< the first mutant that ended in an error that is not ours, empty for none
};

/// Limits what this process may allocate from now on. Does nothing under a sanitizer, which reserves all addresses.
inline void limit_memory([[maybe_unused]] std::size_t further_bytes) {
#ifndef __SANITIZE_ADDRESS__
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + further_bytes;
  const rlimit limit{most, most};
  ::setrlimit(RLIMIT_AS, &limit);
#endif
}

/// What an item may take that is read apart; one takes some milliseconds.
constexpr unsigned most_seconds = 60;

/// Calls read(item) for the items 0 to count − 1 in another process that may allocate `further_bytes` more than this
/// one has. A crash, or a minute without an end, ends the item and is counted; the next process goes on behind it. So a
/// library that crashes on damaged files is tried at the cost of a process for each crash, not for each file.
inline ReadApart read_apart(std::uint64_t count, std::size_t further_bytes, const auto& read) {
  struct Shared {
    std::uint64_t next = 0;
    ReadApart found = {};
  };
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Shared& shared = *new (memory) Shared;
  while (shared.next < count) {
    const ::pid_t child = ::fork();
    if (child == 0) {
      limit_memory(further_bytes);
      while (shared.next < count) {
        const std::uint64_t item = shared.next;
        ++shared.next;
        ::alarm(most_seconds);
        try {
          read(item);
          ++shared.found.taken;
        } catch (const Error&) {
          ++shared.found.refused;
        } catch (const std::exception& error) {
          const std::string told = message("mutant ", item, ": ", error.what());
          if (shared.found.unexpected[0] == '\0')
            std::strncpy(shared.found.unexpected, told.c_str(), sizeof shared.found.unexpected - 1);
        }
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) ++shared.found.crashed;
  }
  const ReadApart found = shared.found;
  ::munmap(memory, sizeof(Shared));
  return found;
}

}  // namespace opshap
