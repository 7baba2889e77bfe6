#include "cli/program_folder.hpp"

#include <unistd.h>

#include <string>

#include "core/error.hpp"

namespace opshap::cli {

std::filesystem::path program_folder() {
  char self[4096];
  const ::ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  require<EnvironmentError>(length > 0, "opshap: /proc/self/exe (cannot be read). Mount /proc.");
  return std::filesystem::path(std::string(self, static_cast<std::size_t>(length))).parent_path();
}

}  // namespace opshap::cli
