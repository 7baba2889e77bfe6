#pragma once

#include "cli/globals.hpp"

namespace opshap::cli {

/// `opshap data preview`, a command below `data`.
void add_data_preview(CLI::App& data, const Globals& globals);

}  // namespace opshap::cli
