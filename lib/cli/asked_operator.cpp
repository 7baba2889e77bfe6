#include "cli/asked_operator.hpp"

#include <link.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/kept_program.hpp"
#include "cli/program_folder.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/threads.hpp"
#include "networks/networks.hpp"
#include "peers/peer_operator.hpp"
#include "peers/process.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

namespace {

/// Folders of the shared libraries of this process: LibTorch may lie anywhere.
std::set<fs::path> library_folders() {
  std::set<fs::path> folders;
  ::dl_iterate_phdr(
      [](::dl_phdr_info* info, std::size_t, void* into) {
        const fs::path file = info->dlpi_name;
        if (file.is_absolute()) static_cast<std::set<fs::path>*>(into)->insert(file.parent_path());
        return 0;
      },
      &folders);
  return folders;
}

/// Our own program, which serves the archive from inside the sandbox. It has no folder there.
peers::Plugin server_of(const fs::path& archive, const Globals& globals, networks::Precision precision,
                        const std::vector<std::int64_t>& input) {
  const fs::path file = fs::absolute(archive);
  require(globals.device == "cpu", "operator: --sandbox, --device=", globals.device,
          " (a sandbox has no devices). Leave one of them out.");
  peers::Plugin plugin;
  plugin.name = "archive";
  plugin.role = peers::Role::op;
  plugin.command = {(program_folder() / "opshap").string(), "operator", "serve", file.string(), "--trust"};
  if (precision == networks::Precision::float64) plugin.command.insert(plugin.command.end(), {"--dtype", "float64"});
  if (!input.empty()) {
    std::string shape;
    for (const std::int64_t size : input) shape += message(shape.empty() ? "" : ",", size);
    plugin.command.insert(plugin.command.end(), {"--input-shape", shape});
  }
  plugin.threads = threads();
  const std::set<fs::path> libraries = library_folders();
  plugin.readable.assign(libraries.begin(), libraries.end());
  plugin.readable.push_back(file);
  plugin.checksum = xxh64(read_file(file));
  return plugin;
}

std::unique_ptr<Operator> loaded(const fs::path& op, const Globals& globals, networks::Precision precision,
                                 const std::vector<std::int64_t>& input) {
  constexpr std::string_view prefix = "peer:";
  if (op.string().starts_with(prefix)) return peers::peer_operator(op.string().substr(prefix.size()));
  if (peers::uses_sandbox() && networks::library().is_torch_script(op))
    return peers::peer_operator(server_of(op, globals, precision, input));
  return networks::library().load_operator(op, globals.device, precision, globals.engine, input);
}

/// What tells a file from what it was: device, inode, size, and time of the last change.
std::vector<std::int64_t> stamp_of(const fs::path& file) {
  struct ::stat found = {};
  if (::stat(file.c_str(), &found) != 0) return {};
  return {static_cast<std::int64_t>(found.st_dev), static_cast<std::int64_t>(found.st_ino), found.st_size,
          found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

/// An operator that is kept.
struct Known {
  std::string question;
  std::vector<std::int64_t> file;
  std::shared_ptr<const Operator> found;
};

}  // namespace

std::shared_ptr<const Operator> asked_operator(const fs::path& op, const Globals& globals,
                                               networks::Precision precision, const std::vector<std::int64_t>& input) {
  if (!is_kept()) return loaded(op, globals, precision, input);
  // An archive is taken for what the axes of its first input say.
  Known wanted{.question = message(op.string(), " ", globals.device, " ", globals.engine, " ",
                                   static_cast<int>(precision), " ", peers::uses_sandbox(), " ", input.size()),
               .file = stamp_of(op),
               .found = nullptr};
  static std::vector<Known> all;
  const auto known = std::ranges::find(all, wanted.question, &Known::question);
  if (known != all.end() && known->file == wanted.file) return known->found;
  wanted.found = loaded(op, globals, precision, input);
  if (known != all.end()) all.erase(known);
  all.push_back(std::move(wanted));
  return all.back().found;
}

}  // namespace opshap::cli
