#include "peers/sandbox.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <set>
#include <sstream>

#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::peers {

namespace fs = std::filesystem;

namespace {

std::atomic<bool> in_sandbox{false};

/// The file that a command of this name starts, as execvp() finds it; empty when there is none.
fs::path found_in_path(const std::string& program, const fs::path& folder) {
  if (program.find('/') != std::string::npos) return (folder / program).lexically_normal();
  const char* path = std::getenv("PATH");
  std::istringstream places(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string place; std::getline(places, place, ':');) {
    const fs::path file = fs::path(place) / program;
    if (is_file(file) && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// What a program needs that lies beside its own file: the prefix of bin/python3 has its lib/ as well.
fs::path prefix_of(const fs::path& program) {
  const fs::path folder = program.parent_path();
  return folder.filename() == "bin" ? folder.parent_path() : folder;
}

/// Where the host's programs and libraries are. None of them is somebody's own.
constexpr const char* system_folders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"};

bool is_in_system(const fs::path& path) {
  for (const char* folder : system_folders) {
    if (path == folder || path.string().starts_with(std::string(folder) + '/')) return true;
  }
  return path == "/";
}

std::set<fs::path> readable_of(const Plugin& plugin) {
  std::set<fs::path> paths(plugin.readable.begin(), plugin.readable.end());
  const fs::path program = found_in_path(plugin.command.front(), plugin.folder);
  require<EnvironmentError>(is_file(program), "peer: command=", plugin.command.front(), " (is not there, in ",
                            plugin.folder.string(), "). Install it, or correct the command in plugin.toml.");
  std::error_code unknown;
  // An interpreter of a virtual environment is a link, and both ends have a part of it.
  for (const fs::path& file : {program, fs::canonical(program, unknown)}) {
    if (!file.empty() && !is_in_system(file)) paths.insert(prefix_of(file));
  }
  return paths;
}

std::vector<std::string> sandboxed(const std::set<fs::path>& readable, const fs::path& folder,
                                   const std::vector<std::string>& command) {
  std::vector<std::string> all = {"bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--proc",   "/proc",
                                  "--dev", "/dev",          "--tmpfs",           "/tmp",          "--setenv", "TMPDIR",
                                  "/tmp"};
  const auto bind = [&all](const char* how, const fs::path& path) {
    for (const std::string& word : {std::string(how), path.string(), path.string()}) all.push_back(word);
  };
  for (const char* system : system_folders) bind("--ro-bind-try", system);
  for (const fs::path& path : readable) bind("--ro-bind-try", path);
  if (!folder.empty()) bind("--bind", folder);
  all.insert(all.end(), {"--chdir", folder.empty() ? "/tmp" : folder.string(), "--"});
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

/// Whether the system lets bubblewrap start a program at all.
bool is_allowed() {
  std::vector<std::string> command = sandboxed({}, "/usr", {"true"});
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const ::pid_t probe = ::fork();
  if (probe == 0) {
    ::close(STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = -1;
  return probe > 0 && ::waitpid(probe, &status, 0) == probe && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

void set_sandbox(bool on) {
  if (on) {
    require<EnvironmentError>(!found_in_path("bwrap", "/").empty(),
                              "peer: --sandbox (bubblewrap is not installed). Run: apt-get install -y bubblewrap");
    require<EnvironmentError>(is_allowed(),
                              "peer: --sandbox (the system does not let bubblewrap make a sandbox). Allow user "
                              "namespaces, or leave --sandbox out.");
  }
  in_sandbox = on;
}

bool uses_sandbox() { return in_sandbox; }

std::vector<std::string> command_of(const Plugin& plugin) {
  return in_sandbox ? sandboxed(readable_of(plugin), plugin.folder, plugin.command) : plugin.command;
}

}  // namespace opshap::peers
