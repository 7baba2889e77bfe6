#pragma once

#include <string>
#include <vector>

#include "peers/plugin.hpp"

namespace opshap::peers {

/// Set once by the command line (--sandbox): from now on programs are started by bubblewrap. Throws EnvironmentError
/// when it is not installed, or when the system does not allow it.
///
/// In the sandbox a program sees no process, network or file of the host, but its own folder, where it has one. It may
/// change what is in there.
/// System folders, the folders of its interpreter and `[sandbox] read` of plugin.toml are there to be read. Its
/// temporary folder is empty and its own.
void set_sandbox(bool on);

/// Whether it is set.
bool uses_sandbox();

/// The command that starts the program of a plugin: its own one, or in a sandbox.
std::vector<std::string> command_of(const Plugin& plugin);

}  // namespace opshap::peers
