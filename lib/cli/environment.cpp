#include "cli/environment.hpp"

#include <sys/utsname.h>

#include <ctime>

#include "cli/doctor.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"

namespace opshap::cli {

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

nlohmann::ordered_json environment() {
  utsname system{};
  uname(&system);
  return {{"processor", processor()},
          {"threads", threads()},
          {"compiler", message("g++ ", __VERSION__)},
          {"system", message(system.sysname, " ", system.release, " ", system.machine)}};
}

}  // namespace opshap::cli
