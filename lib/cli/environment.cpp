#include "cli/environment.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "cli/doctor.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"

namespace opshap::cli {

nlohmann::ordered_json environment() {
  utsname system{};
  uname(&system);
  return {{"processor", processor()},
          {"processors", sysconf(_SC_NPROCESSORS_ONLN)},
          {"threads", threads()},
          {"compiler", message("g++ ", __VERSION__)},
          {"system", message(system.sysname, " ", system.release, " ", system.machine)}};
}

runs::Beginning beginning(const std::string& who, std::string_view schema, const Globals& globals,
                          nlohmann::ordered_json environment, nlohmann::ordered_json subject) {
  return {.who = who,
          .schema = std::string(schema),
          .command = globals.arguments,
          .seed = globals.seed,
          .commit = version::commit,
          .dirty = version::dirty,
          .environment = std::move(environment),
          .subject = std::move(subject)};
}

}  // namespace opshap::cli
