#include "core/threads.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"

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

namespace {

double seconds_of(int who) {
  rusage usage{};
  getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// Ticks that the processors were not idle, of the line "cpu  user nice system idle iowait irq softirq steal guest
/// guest_nice". The last two are in user and nice already.
double busy_ticks(std::string_view stat) {
  std::istringstream lines{std::string(stat)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu ")) continue;
    std::istringstream numbers(line.substr(4));
    double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft_interrupts = 0, stolen = 0;
    numbers >> user >> nice >> system >> idle >> waiting >> interrupts >> soft_interrupts >> stolen;
    return user + nice + system + interrupts + soft_interrupts + stolen;
  }
  return 0;
}

}  // namespace

ProcessorTime ProcessorTime::since(const ProcessorTime& earlier) const {
  return {.own = own - earlier.own, .all = all - earlier.all, .wall = wall - earlier.wall, .processors = processors};
}

double ProcessorTime::of_others() const { return std::max(0.0, all - own); }

ProcessorTime processor_time() {
  constexpr const char* counters = "/proc/stat";
  return processor_time(is_there(counters) ? read_file(counters) : std::string());
}

ProcessorTime processor_time(std::string_view stat) {
  return {.own = seconds_of(RUSAGE_SELF) + seconds_of(RUSAGE_CHILDREN),
          .all = busy_ticks(stat) / static_cast<double>(sysconf(_SC_CLK_TCK)),
          .wall = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
          .processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))};
}

namespace {

std::atomic<Verbosity> current_verbosity{Verbosity::normal};

std::string duration(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  const auto two_digits = [](long number) { return (number < 10 ? "0" : "") + std::to_string(number); };
  if (whole < 60) return message(whole, "s");
  if (whole < 3600) return message(whole / 60, "m", two_digits(whole % 60), "s");
  return message(whole / 3600, "h", two_digits(whole / 60 % 60), "m");
}

/// "[######..............] ", a letter for each twentieth.
std::string bar(std::int64_t done, std::int64_t total) {
  constexpr std::int64_t letters = 20;
  const std::int64_t full = total > 0 ? std::clamp<std::int64_t>(letters * done / total, 0, letters) : letters;
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(letters - full), '.') + "] ";
}

}  // namespace

void set_verbosity(Verbosity verbosity) { current_verbosity = verbosity; }

Verbosity verbosity() { return current_verbosity; }

Progress::Progress(std::string label, std::int64_t total, std::string unit,
                   std::chrono::steady_clock::duration patience)
    : label_(std::move(label)),
      unit_(std::move(unit)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) == 1 && std::getenv("CI") == nullptr),
      patience_(patience),
      start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (terminal_ && shown_ && verbosity() != Verbosity::quiet) std::fputc('\n', stderr);
}

void Progress::advance(std::int64_t count, const std::string& note) {
  const std::lock_guard lock(mutex_);
  done_ += count;
  if (verbosity() == Verbosity::quiet) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - start_ < patience_) return;
  const int parts = verbosity() == Verbosity::verbose ? 100 : 10;
  const int parts_done = total_ > 0 ? static_cast<int>(parts * done_ / total_) : parts;
  if (terminal_ ? (done_ >= total_ || now - last_shown_ > std::chrono::milliseconds(200)) : parts_done > parts_shown_) {
    last_shown_ = now;
    parts_shown_ = parts_done;
    shown_ = true;
    show(note, done_ >= total_);
  }
}

void Progress::skip(std::int64_t count) {
  const std::lock_guard lock(mutex_);
  done_ += count;
  skipped_ += count;
}

void Progress::show(const std::string& note, bool last) {
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double rate = elapsed > 0 ? static_cast<double>(done_ - skipped_) / elapsed : 0;
  const double left = rate > 0 ? static_cast<double>(total_ - done_) / rate : 0;
  std::fprintf(stderr, "%s%s %s%lld/%lld %s, %.3g/s, %s %s%s%s%s", terminal_ ? "\r\033[K" : "", label_.c_str(),
               terminal_ ? bar(done_, total_).c_str() : "", static_cast<long long>(done_),
               static_cast<long long>(total_), unit_.c_str(), rate, duration(last ? elapsed : left).c_str(),
               last ? "in all" : "left", note.empty() ? "" : ", ", note.c_str(), terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace opshap
