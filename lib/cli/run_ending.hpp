#pragma once

#include <filesystem>

#include "cli/globals.hpp"

namespace opshap::cli {

/// Prints what `reproduce` ends with: where its page is, and the median NRMSE of each trained explainer beside that of
/// the mean field, which needs no training. With --json {"report","errors":[{"shape","players","method","nrmse",
/// "mean_field_nrmse"}]}. A run without an evaluation of its own, such as a part, prints the path alone.
void print_ending(const Globals& globals, const std::filesystem::path& page, const std::filesystem::path& run);

}  // namespace opshap::cli
