#include "core/processor_time.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>

#include "core/file.hpp"

namespace opshap {

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

}  // namespace opshap
