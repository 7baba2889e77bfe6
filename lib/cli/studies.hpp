#pragma once

#include <string>
#include <vector>

namespace opshap::cli {

/// A convergence study: `convergence/<name>.cpp`, run by CTest.
struct StudyName {
  std::string name;
  std::string summary;  ///< the first line of its file
};

/// All of convergence/, as of the build.
const std::vector<StudyName>& studies();

}  // namespace opshap::cli
