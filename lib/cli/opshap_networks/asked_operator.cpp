#include "cli/opshap_networks/asked_operator.hpp"

#include <link.h>

#include <set>
#include <string>
#include <string_view>

#include "cli/program_folder.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/threads.hpp"
#include "operators/torch_script.hpp"
#include "operators/weights.hpp"
#include "peers/peer_operator.hpp"
#include "peers/sandbox.hpp"

namespace opshap::cli {

namespace {

namespace fs = std::filesystem;

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
peers::Plugin server_of(const fs::path& archive, const Globals& globals, operators::Precision precision,
                        const std::vector<std::int64_t>& input) {
  const fs::path file = fs::absolute(archive);
  require(globals.device == "cpu", "operator: --sandbox, --device=", globals.device,
          " (a sandbox has no devices). Leave one of them out.");
  peers::Plugin plugin;
  plugin.name = "archive";
  plugin.role = peers::Role::op;
  plugin.command = {(program_folder() / "opshap-networks").string(), "operator", "serve", file.string(), "--trust"};
  if (precision == operators::Precision::float64) plugin.command.insert(plugin.command.end(), {"--dtype", "float64"});
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

}  // namespace

std::unique_ptr<Operator> asked_operator(const fs::path& op, const Globals& globals, operators::Precision precision,
                                         const std::vector<std::int64_t>& input) {
  constexpr std::string_view prefix = "peer:";
  if (op.string().starts_with(prefix)) return peers::peer_operator(op.string().substr(prefix.size()));
  if (peers::uses_sandbox() && operators::is_torch_script(op))
    return peers::peer_operator(server_of(op, globals, precision, input));
  return operators::load_operator(op, globals.device, precision, globals.engine, input);
}

}  // namespace opshap::cli
