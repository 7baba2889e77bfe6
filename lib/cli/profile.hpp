#pragma once

#include <string>
#include <vector>

namespace opshap {

/// A profile's TOML text as it was compiled into the program.
struct EmbeddedProfile {
  std::string name;  ///< "smoke", "desk", "paper"
  std::string text;
};

const std::vector<EmbeddedProfile>& embedded_profiles();

}  // namespace opshap
