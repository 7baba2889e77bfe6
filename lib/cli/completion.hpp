#pragma once

#include <string>

#include "cli/command_table.hpp"

namespace opshap::cli {

/// A script that teaches a shell to complete commands, options and the values that are known; everything else is a
/// file. `source <(opshap completion bash)` in ~/.bashrc, the same for zsh in ~/.zshrc after compinit, and `opshap
/// completion fish | source` in ~/.config/fish/config.fish.
std::string bash_completion(const CommandTable& table);
/// The same function, by zsh's own door to those of bash.
std::string zsh_completion(const CommandTable& table);
std::string fish_completion(const CommandTable& table);

}  // namespace opshap::cli
