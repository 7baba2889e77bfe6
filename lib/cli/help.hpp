#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace opshap::cli {

/// The words of a text in lines of at most `width` letters; lines that the text begins itself stay. A word that is
/// longer has a line of its own. Width: at least 1.
std::string wrapped(std::string_view text, std::size_t width);

/// Gives --help of the application and of all subcommands that are added from now on lines that fit the terminal (the
/// environment variable COLUMNS, or else what the terminal says, or else 100), the options of every command that apply
/// to this one, and examples.
void shape_help(CLI::App& app);

}  // namespace opshap::cli
