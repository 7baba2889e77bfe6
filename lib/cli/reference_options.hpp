#pragma once

#include <filesystem>

#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "evaluation/certified_reference.hpp"

namespace opshap::cli {

/// What `opshap reference` can be told.
struct ReferenceOptions : GameOptions {
  evaluation::ReferenceSettings settings;  ///< --relative-error, --max-evaluations, --exact-players
  std::filesystem::path attribution;       ///< --certify
};

/// --relative-error, --max-evaluations and --exact-players, for every command that needs a reference.
void add_reference_settings(CLI::App& command, evaluation::ReferenceSettings& settings);

/// Finds the reference of a game and prints it, or writes it to --out; with --certify also which of the two
/// attributions is nearer to the truth.
///
/// JSON keys: those of an attribution (so that a reference can be certified itself), and relative_error, rounding,
/// reached, cross_check {statistic, degrees_of_freedom [2], p_value, agrees} or null, estimates [{method, values,
/// standard_errors, evaluations, gradients}], witness {method, values, error_bar or null, distance, agrees,
/// evaluations, gradients} or null, certification {...} or null. Throws CheckFailed after printing when the two
/// estimates disagree or the error was not reached. The method "noisy" says that a program's game gives two values for
/// one coalition.
void run_reference(const Globals& globals, const ReferenceOptions& options, const NamedGame& named);

}  // namespace opshap::cli
