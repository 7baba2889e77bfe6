#pragma once

#include <filesystem>

#include "reporting/page_parts.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// The figure with its panels drawn by gnuplot.
DrawnFigure drawn(std::string name, Figure figure);

/// `<name>.svg` and its numbers as `<name>.csv`. A figure without panels leaves neither, not even those of an earlier
/// report.
void write_figure(const std::filesystem::path& folder, const DrawnFigure& drawn);

/// The table as CSV and as Markdown.
void write_table(const std::filesystem::path& folder, const Table& table);

}  // namespace opshap::reporting
