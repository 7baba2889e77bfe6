#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli11_fwd.hpp"

namespace opshap::cli {

/// The words of a text in lines of at most `width` letters; lines that the text begins itself stay. A word that is
/// longer has a line of its own. Width: at least 1.
std::string wrapped(std::string_view text, std::size_t width);

/// The options of every command that the command of this path ("data import npy") uses, with and without further
/// options of its own, as words: "--out --json --threads -q -v". Empty for a path that uses none.
std::string shared_options(std::string_view path);

/// Command lines of the command of this path, for its help.
std::vector<std::string_view> examples_of(std::string_view path);

/// "data import npy"; empty for the application itself.
std::string command_path(const CLI::App& command);

/// Gives --help of the application and of all subcommands that are added from now on lines that fit the terminal (the
/// environment variable COLUMNS, or else what the terminal says, or else 100), the options of every command that apply
/// to this one, and examples.
void shape_help(CLI::App& app);

}  // namespace opshap::cli
