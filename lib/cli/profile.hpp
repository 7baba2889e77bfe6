#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/domain.hpp"
#include "core/scenario.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "evaluation/evaluate.hpp"
#include "networks/recipe.hpp"
#include "pde/problem.hpp"

namespace opshap::cli {

/// A TOML text as it was compiled into the program.
struct EmbeddedSettings {
  std::string name;  ///< "smoke", "desk", "paper"; "amortisation"
  std::string text;
};

/// Complete profiles.
const std::vector<EmbeddedSettings>& embedded_profiles();
/// What studies lay over a profile.
const std::vector<EmbeddedSettings>& embedded_overlays();
/// Those of this name; nullptr where there are none.
const EmbeddedSettings* embedded(const std::vector<EmbeddedSettings>& all, std::string_view name);
std::vector<std::string> names_of(const std::vector<EmbeddedSettings>& all);

/// A finished data set that stands where a problem does.
struct DataFile {
  std::string path;           ///< decides nothing: the contents do
  std::string content_hash;   ///< Dataset::content_hash
  std::string imported_from;  ///< where an import has it from, in words; empty for a set of our generator
  std::vector<int> shape;     ///< points per axis of its grid; empty for flows on meshes
  Domain domain = {};         ///< its grid; only of a file that was just opened
  std::vector<Resolution> resolutions = {};  ///< that it is served at; only of a file that was just opened
};

struct DataSettings {
  std::string pde;
  pde::ParameterValues parameters = {};  ///< those that differ from the problem's defaults
  int train = 0, validation = 0, test = 0;
  std::optional<DataFile> file = {};  ///< then pde, parameters and counts are the file's
  /// The fields are taken at so many scattered points of their grid, as data::scattered() does it. 0: on the grid.
  int scattered = 0;
  int windows = 8;  ///< of each trajectory, which then is what the three counts count

  int samples() const { return train + validation + test; }
  /// Whether the data are made from a problem of ours. Nothing of ours knows the problem of imported data.
  bool has_problem() const { return !file || file->imported_from.empty(); }
  /// Whether they are windows of flows on meshes of their own.
  bool on_meshes() const;
  /// That problem with its parameters. Throws InvalidArgument for a name or a parameter that it does not know, and for
  /// flows on meshes.
  std::unique_ptr<pde::Problem> problem() const;
  /// The same for whatever equation that is.
  std::unique_ptr<pde::Equation> equation() const;
  /// The game that is played unless the profile says another one: that of the equation. Of imported flows it is that of
  /// ours of the same name.
  ScenarioRule usual_rule() const;
};

/// Everything that decides a run's size: one TOML file. Every key is needed but for those of [scenario], which has the
/// problem's default rule without them, `parameters`, `scattered` and `windows` of [data], `unseen` of [evaluation],
/// and what the paper's recipe of an explainer does not have.
///
/// One file serves many problems: what [plane] has is laid over the rest for a problem in two dimensions, or what
/// [meshes] has for flows on meshes, and then what [pde.NAME] has for that problem. A [meshes.operator] of another
/// model takes the place of [operator].
///
/// A data set file that takes the place of a problem is the table [data.file] of a stored profile.
struct Profile {
  std::string name;
  std::string summary;
  DataSettings data;
  std::vector<Resolution> resolutions;  ///< for training and evaluation; with scattered points their number
  networks::BackboneRecipe backbone;
  networks::ExplainerRecipe explainer;
  /// Further explainers by name, which are scored beside it: tables [explainers.NAME], each laid over [explainer], or
  /// over the explainer that its key `like` names. `NAME = false` in an overlay's [explainers] leaves one out.
  std::map<std::string, networks::ExplainerRecipe> explainers;
  evaluation::EvaluationSettings evaluation;
};

/// The profile of that name, or of that .toml file, with the values of `overrides` (a TOML file or the name of an
/// embedded overlay; empty for none) over it, for the problem `pde` (empty: the one that they name). Throws
/// InvalidArgument for an unknown name or key and for values that cannot work (naming key and line), DataError for a
/// file that cannot be parsed.
Profile load_profile(const std::string& name_or_file, const std::filesystem::path& overrides,
                     const std::string& pde = "");

/// The same for a data set file instead of a problem. The counts of samples are the file's. So is the number of test
/// inputs where the file has fewer than the profile wants.
Profile load_profile(const std::string& name_or_file, const std::filesystem::path& overrides, const DataSettings& data);

/// What a data set file says of itself. Throws as data::read_dataset(), and InvalidArgument for one without samples for
/// training, validation or testing.
DataSettings settings_of_file(const std::filesystem::path& path);

/// The profile for commands on a data set that is there: as it is where the data set has its resolutions and as many
/// test inputs, else fitted to the file as above. `data` is what the file holds.
Profile load_profile_for(const std::string& name_or_file, const std::filesystem::path& overrides,
                         const std::filesystem::path& file, const data::Dataset& data);

/// The profile of a TOML text in which every key is present, such as to_toml() writes. `source` starts the messages.
/// Throws as load_profile().
Profile parse_profile(const std::string& text, const std::string& source);

/// The resolved profile as TOML: what is stored beside results. parse_profile() reads it back.
std::string to_toml(const Profile& profile);

/// What decides a run's numbers: to_toml() without the wording. Runs of the same identity and seed may be resumed.
std::string identity(const Profile& profile);

/// In what a profile's recipe and sizes differ from the paper's, one sentence each. Profile `paper` has only further
/// explainers, beside the paper's one.
std::vector<std::string> departures(const Profile& profile);

/// Whether the paper's cells can judge this profile's: a further explainer has rows of its own and changes no other.
bool comparable_with_paper(Profile profile);

/// A profile for each of several problems, in their order; {"all"} names those of the paper. All are read before one is
/// returned, so that a wrong name is told before the work on the first begins. Throws as load_profile().
std::vector<Profile> load_profiles(const std::string& name_or_file, const std::filesystem::path& overrides,
                                   std::vector<std::string> pdes);

/// The data set that a run of this profile needs.
data::DatasetRequest data_request(const Profile& profile, std::uint64_t seed);

/// A data set at the scattered points that a profile asks for, else as it is. Throws as data::scattered().
data::Dataset at_points_of(const Profile& profile, data::Dataset data);

}  // namespace opshap::cli
