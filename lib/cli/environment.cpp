#include "cli/environment.hpp"

#include <sys/utsname.h>

#include "cli/doctor.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"

namespace opshap::cli {

nlohmann::ordered_json environment() {
  utsname system{};
  uname(&system);
  return {{"processor", processor()},
          {"threads", threads()},
          {"compiler", message("g++ ", __VERSION__)},
          {"system", message(system.sysname, " ", system.release, " ", system.machine)}};
}

}  // namespace opshap::cli
