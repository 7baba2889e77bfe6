#pragma once

#include <string>
#include <vector>

namespace opshap::reporting {

/// In what this suite differs from the paper whatever the profile, and what a reader must know to compare: a heading
/// and two or three sentences each.
struct Difference {
  std::string subject;
  std::string text;
};

const std::vector<Difference>& standing_differences();

}  // namespace opshap::reporting
