#include "reporting/timing.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>

namespace opshap::reporting {

namespace {

/// Of the processors' time. What a system does for itself stays below it.
constexpr double most_beside = 0.05;

std::string machine_of(const runs::Sitting& sitting) {
  std::string words = sitting.value("processor");
  if (const std::string gpu = sitting.value("gpu"); !gpu.empty()) words += ", " + gpu;
  if (const std::string threads = sitting.value("threads"); !threads.empty()) words += ", " + threads + " threads";
  return words;
}

}  // namespace

Timing timing_of(const runs::Run& run) {
  std::set<std::string> machines;
  Timing timing;
  for (const runs::Sitting& sitting : run.sittings) {
    machines.insert(machine_of(sitting));
    const std::optional<double> beside = sitting.others_share();
    if (!beside) {
      timing.why_not = "The run does not say what ran beside it, so its wall times are not comparable.";
    } else if (*beside > most_beside && timing.why_not.empty()) {
      timing.why_not = fmt::format("Other programs had {:.0f} % of the processors beside this run.", 100 * *beside);
    }
  }
  std::string words;
  for (const std::string& machine : machines) words += (words.empty() ? "" : "; ") + machine;
  timing.machine = words;
  if (machines.size() > 1) timing.why_not = fmt::format("The run was timed on several machines ({}).", words);
  return timing;
}

}  // namespace opshap::reporting
