#pragma once

#include <filesystem>

#include "reporting/page_parts.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// The figure with its panels drawn by gnuplot.
DrawnFigure drawn(std::string name, Figure figure);

/// `<name>.svg` and the same for print as `<name>.pdf`, its numbers as `<name>.csv`, and of several panels
/// `<name>_narrow.svg`, in which they stand below each other. A figure without panels leaves none of these, not even
/// those of an earlier report, unless it is missing since its rows are not kept: then the earlier ones stay.
void write_figure(const std::filesystem::path& folder, const DrawnFigure& drawn);

/// The table as CSV, Markdown and LaTeX.
void write_table(const std::filesystem::path& folder, const Table& table);

}  // namespace opshap::reporting
