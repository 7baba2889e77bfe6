#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/cli11_fwd.hpp"
#include "cli/globals.hpp"
#include "cli/profile.hpp"
#include "core/operator.hpp"
#include "data/dataset.hpp"
#include "evaluation/held_out.hpp"
#include "runs/manifest.hpp"

namespace opshap::cli {

/// `opshap study amortisation`, `methods`, `queries`, `readings`, `references`: a file each.
void add_amortisation_study(CLI::App& study, const Globals& globals);
void add_methods_study(CLI::App& study, const Globals& globals);
void add_query_study(CLI::App& study, const Globals& globals);
void add_readings_study(CLI::App& study, const Globals& globals);
void add_reference_study(CLI::App& study, const Globals& globals);

/// Which games of a run a study asks, and how well their answers have to be known.
struct StudiedGames {
  int inputs = 30;                 ///< the first ones of the test split
  double reference_error = 0.005;  ///< relative, of the references
  bool any_query = false;          ///< each input is explained at a random point, instead of the run's query
};

/// `--inputs` and `--reference-error` of a study.
void add_studied_games(CLI::App& command, StudiedGames& games);

/// `--any-query` of a study that can ask at random points.
void add_any_query(CLI::App& command, StudiedGames& games);

/// What a study takes from the folder of a run: config.resolved.toml, data/ and backbone/.
struct StudiedRun {
  Profile profile;  ///< the run's, with settings laid over it
  data::Dataset data;
  std::unique_ptr<Operator> op;
  std::string op_checksum;

  /// The first inputs of the run's test split, at the run's resolutions. Throws InvalidArgument when there are fewer.
  evaluation::HeldOutPlan plan(const StudiedGames& games, std::uint64_t seed) const;
  /// Everything that decides the references of these games, as text.
  std::string identity(const StudiedGames& games, std::uint64_t seed) const;
  /// "burgers1d, fno 1D, width 64, 16 modes, 4 layers".
  std::string subject() const;
};

/// The file of a run's data set: the one that its profile names, else that of its folder.
std::filesystem::path data_file_of(const std::filesystem::path& run, const Profile& profile);

/// A file as the data set of a run with this profile. Throws InvalidArgument where the profile names another one.
data::Dataset read_data_for(const Profile& profile, const std::filesystem::path& file);

/// The profile that a run had, with settings laid over it. Throws as load_profile(), and DataError for a folder that is
/// no run; those in it are named, since a run of several problems has one for each.
Profile profile_of_run(const std::filesystem::path& run, const std::filesystem::path& overrides);

/// Throws as profile_of_run(), read_data_for() and networks::library().load_operator().
StudiedRun read_studied_run(const std::filesystem::path& run, const std::filesystem::path& overrides,
                            const Globals& globals);

/// The options' checks that all studies share: a folder for the results, the CPU, a fast BLAS.
void require_study(const Globals& globals);

/// What the manifest of a study of this problem begins with.
runs::Beginning study_beginning(const Globals& globals, const std::string& pde, const nlohmann::ordered_json& settings);

}  // namespace opshap::cli
