#pragma once

#include <string>

#include "cli/command_table.hpp"

namespace opshap::cli {

/// "opshap-data-import-npy" of the path "data import npy": the name of a page without its section, 1.
std::string page_name(const std::string& path);

/// The man page of one command, in roff with the macros of man(7): name, synopsis, description, commands, options,
/// examples and exit status. Throws InvalidArgument for a path that is no command of the table.
std::string man_page(const CommandTable& table, const std::string& path);

}  // namespace opshap::cli
