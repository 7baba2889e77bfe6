#include "core/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace opshap {

namespace {

std::atomic<int> wanted_threads{0};

/// Whether this thread works for a parallel_for that keeps all threads busy. More threads would only take turns then.
thread_local bool all_busy = false;

int available_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

int threads() {
  const int wanted = wanted_threads;
  return wanted > 0 ? wanted : available_cpus();
}

void set_threads(int threads) {
  require(threads >= 1, "threads: --threads=", threads,
          " (work needs at least one thread). Give 1 or more, or leave it out for all CPUs.");
  wanted_threads = threads;
}

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const bool fills = count >= static_cast<std::size_t>(threads());
  const auto work = [&] {
    const bool before = std::exchange(all_busy, all_busy || fills);
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
    all_busy = before;
  };
  const std::size_t at_once = all_busy ? 1 : static_cast<std::size_t>(threads());
  const std::size_t helpers = std::min(count, at_once) - (count > 0 ? 1 : 0);
  std::vector<std::jthread> pool;
  for (std::size_t i = 0; i < helpers; ++i) pool.emplace_back(work);
  work();
  pool.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace opshap
