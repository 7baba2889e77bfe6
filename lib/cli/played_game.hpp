#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/compare_options.hpp"
#include "cli/game_options.hpp"
#include "cli/globals.hpp"
#include "evaluation/comparison_run.hpp"
#include "methods/method.hpp"
#include "reporting/method_comparison.hpp"
#include "runs/part.hpp"

namespace opshap::cli {

/// A game on which methods were compared.
struct PlayedGame {
  nlohmann::ordered_json settings;  ///< what decided the rows; that of the folder's manifest
  evaluation::ComparisonRun run;

  std::string note;  ///< what the summary says of the settings; may be empty
  nlohmann::ordered_json noise = nlohmann::ordered_json::object();  ///< AskedGame::describe()
  bool noisy = false;                                               ///< so no method can be exact on it

  /// The object of `opshap compare --json`, without `against`.
  nlohmann::ordered_json json() const;
  /// Everything in words and tables, as Markdown.
  std::string summary() const { return run.comparison.markdown() + note; }
};

/// What decides the rows of a comparison on this game. Throws InvalidArgument for methods and budgets that cannot work.
nlohmann::ordered_json comparison_settings(const Globals& globals, const CompareOptions& options,
                                           const NamedGame& named, const methods::Kinds& kinds);

/// Runs the methods of the options on the game, or what is left of it in `folder` (empty: nothing is stored). Every
/// call makes the methods anew, so a program that failed on one game is asked again on the next one.
PlayedGame play(const Globals& globals, const CompareOptions& options, const NamedGame& named,
                const nlohmann::ordered_json& environment, const methods::Kinds& kinds,
                const std::filesystem::path& folder);

/// Runs a part of what play() runs, or what is left of it, in the part's folder of the run `folder`.
void play_part(const Globals& globals, const CompareOptions& options, const NamedGame& named,
               const nlohmann::ordered_json& environment, const methods::Kinds& kinds,
               const std::filesystem::path& folder, const runs::Part& part);

/// Says which method broke a promise on one of the games. Throws CheckFailed when one did or when one is worse than in
/// the baseline, and peers::Failure for a program that failed so often that it was not asked again. Does nothing when
/// there is no such method.
void require_sound(const std::vector<const PlayedGame*>& played,
                   const std::optional<reporting::MethodChanges>& changes);

}  // namespace opshap::cli
