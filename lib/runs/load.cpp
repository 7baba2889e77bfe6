#include "runs/load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

namespace opshap::runs {

namespace {

double seconds(const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); }

double own_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    sum += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return sum;
}

/// Of all programs; NaN where the system does not say it. Fields of proc(5), /proc/stat: user, nice, system, idle,
/// iowait, irq, softirq, and what another guest of the same host took (steal).
double machine_seconds() {
  std::ifstream stat("/proc/stat");
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0, steal = 0;
  stat >> name >> user >> nice >> system >> idle >> waiting >> irq >> softirq >> steal;
  if (!stat || name != "cpu") return std::numeric_limits<double>::quiet_NaN();
  return (user + nice + system + irq + softirq + steal) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

Load::Load() : start_(std::chrono::steady_clock::now()), own_(own_seconds()), machine_(machine_seconds()) {}

nlohmann::ordered_json Load::since() const {
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double own = own_seconds() - own_, machine = machine_seconds() - machine_;
  nlohmann::ordered_json json = {{"wall_seconds", wall},
                                 {"processors", std::thread::hardware_concurrency()},
                                 {"cpu_seconds", own},
                                 {"other_cpu_seconds", nullptr}};
  if (!std::isnan(machine)) json["other_cpu_seconds"] = std::max(machine - own, 0.0);
  return json;
}

}  // namespace opshap::runs
