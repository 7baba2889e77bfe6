#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/estimator.hpp"

namespace opshap::peers {

/// What a peer may ask for, from `needs` in plugin.toml.
enum class Need {
  values,     ///< values of coalitions: a black box
  gradients,  ///< gradients of the game on the diagonal
};

/// As plugin.toml has it.
const char* to_string(Need need);

/// What a plugin is.
enum class Role {
  estimator,  ///< it explains games of this program
  game,       ///< this program explains it
  op,         ///< "operator": this program makes games of it
};

/// As plugin.toml has it.
const char* to_string(Role role);

/// How long a peer may take, and how much memory.
struct Limits {
  double start_seconds = 60;  ///< from its start to its greeting
  double task_seconds = 600;  ///< of its own time for a task; the time of the game does not count
  double grace_seconds = 5;   ///< to answer a request to stop, and to end by itself before it is killed
  double memory_gib = 0;      ///< of address space; 0: no limit. By default the memory of the machine
};

/// A program that explains games or is one, described by plugin.toml in its folder.
///
///     name = "my_shap"                        # letters, digits, _ and -
///     command = ["python3", "estimator.py"]   # runs in the folder
///     needs = ["values"]                      # or "gradients": what it may ask for
///     role = "estimator"                      # or "game", "operator"
///     version = "0.1"                         # these may be left out
///     citation = "..."
///     threads = 1                             # of OpenMP and BLAS
///     [env]                                   # more variables of its environment
///     [parameters]                            # numbers, texts and booleans that go with every task
///     [limits]                                # seconds, start_seconds, memory_gib
///     [sandbox]                               # read: what it may read in a sandbox (peers/process.hpp)
///     [claims]                                # what it promises: unbiased, efficient, stochastic, keys of Guarantees
struct Plugin {
  std::filesystem::path folder;  ///< empty for a program of ours, which needs none
  std::string name, version, citation;
  std::vector<std::string> command;
  Role role = Role::estimator;
  std::vector<Need> needs;
  int threads = 1;
  std::map<std::string, std::string> environment;
  std::string parameters = "{}";  ///< a JSON object
  Limits limits;
  std::vector<std::filesystem::path> readable;  ///< `[sandbox] read`, from the folder
  Guarantees claims;                            ///< what `[claims]` says; nothing more
  bool stochastic = true;                       ///< `claims.stochastic`: another seed gives another answer
  std::string checksum;                         ///< xxh64 of the names and contents of the folder's files

  bool needs_only_values() const { return needs == std::vector<Need>{Need::values}; }
};

/// The plugin of a folder. Throws DataError for a plugin.toml that is missing, cannot be read, has an unknown key or a
/// value that cannot work.
Plugin read_plugin(const std::filesystem::path& folder);

/// All of the environment that the plugin's process gets: PATH, HOME and TMPDIR of this program, the thread variables,
/// its name and needs, the numbers of its pipes, and what plugin.toml adds.
std::map<std::string, std::string> environment_of(const Plugin& plugin);

/// Languages that write_template() knows: "python", "c++", "r".
std::vector<std::string> template_languages();

/// Writes a plugin that works, with the package that it needs, into a new folder whose name becomes the plugin's.
///
/// Throws InvalidArgument for a language without a template, a name that is none of a plugin, and a folder that is
/// there.
void write_template(std::string_view language, const std::filesystem::path& folder);

}  // namespace opshap::peers
