#pragma once

#include <filesystem>
#include <vector>

#include "cli/globals.hpp"
#include "cli/profile.hpp"

namespace opshap::cli {

/// Prints the forecast of each profile, as Markdown or as JSON {"runs": [{pde, stages [{stage, evaluations {least,
/// most}, seconds {least, most}, seconds_on_ranks {least, most}, bytes}]}], "ranks"}. Trainings and evaluation are
/// shared out among `ranks` machines like this one, as if nothing were lost by it.
///
/// The stages of `opshap reproduce` are forecast from counts of the profile and rates that are measured here, with
/// untrained weights on an input of the problem: samples of the data, steps of each training at each resolution,
/// coalitions, and every method once at each resolution. What is not known is how soon a reference is good enough.
/// Cost: some seconds for `smoke`, a minute for `desk`. Nothing is written. Throws as the stages do for settings that
/// cannot work.
void print_forecasts(const std::vector<Profile>& profiles, int ranks, const Globals& globals);

/// Prints what `reproduce` ends with: where its page is, and the median NRMSE of each trained explainer beside that of
/// the mean field, which needs no training, and that of the uniform attribution, with a word where it is hardly better.
/// With --json {"report","errors":[{"shape","players","method","nrmse","mean_field_nrmse","uniform_nrmse"}]}. A run
/// without an evaluation of its own, such as a part, prints the path alone.
void print_ending(const Globals& globals, const std::filesystem::path& page, const std::filesystem::path& run);

}  // namespace opshap::cli
