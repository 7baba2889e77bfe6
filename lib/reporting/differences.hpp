#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opshap::reporting {

/// In what this suite differs from the paper, or what a reader must know to compare: a heading and some sentences.
struct Difference {
  std::string subject;
  std::string text;
};

/// Whatever the profile: first those of this problem's data, then those of all problems.
std::vector<Difference> standing_differences(std::string_view pde);

}  // namespace opshap::reporting
