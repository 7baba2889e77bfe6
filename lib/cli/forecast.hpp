#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/globals.hpp"
#include "cli/profile.hpp"

namespace opshap::cli {

/// What a stage of a run will cost on this machine.
struct StageForecast {
  std::string stage;  ///< as the manifest of the run will call it
  /// Of the backbone, forward equivalents. A training that may stop early, and references that end when they are good
  /// enough, have a range.
  std::int64_t least_evaluations = 0, most_evaluations = 0;
  double least_seconds = 0, most_seconds = 0;  ///< wall time on all threads
  double bytes = 0;                            ///< of what it leaves on disk
};

/// The stages of `opshap reproduce` for this profile, from counts of the profile and rates that are measured here, with
/// untrained weights on an input of the problem: samples of the data, steps of each training at each resolution,
/// coalitions, and every method once at each resolution. What it does not know is how soon a reference is good enough.
/// Cost: some seconds for `smoke`, a minute for `desk`. Nothing is written. Throws as the stages do for settings that
/// cannot work.
std::vector<StageForecast> forecast(const Profile& profile, const Globals& globals);

/// Prints the forecast of each profile, as Markdown or as JSON {"runs": [{pde, stages [{stage, evaluations {least,
/// most}, seconds {least, most}, seconds_on_ranks {least, most}, bytes}]}], "ranks"}. Trainings and evaluation are
/// shared out among `ranks` machines like this one, as if nothing were lost by it.
void print_forecasts(const std::vector<Profile>& profiles, int ranks, const Globals& globals);

/// Prints what `reproduce` ends with: where its page is, and the median NRMSE of each trained explainer beside that of
/// the mean field, which needs no training, and that of the uniform attribution, with a word where it is hardly better.
/// With --json {"report","errors":[{"shape","players","method","nrmse","mean_field_nrmse","uniform_nrmse"}]}. A run without an evaluation of its own, such as a part, prints the path alone.
void print_ending(const Globals& globals, const std::filesystem::path& page, const std::filesystem::path& run);

}  // namespace opshap::cli
