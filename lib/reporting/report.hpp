#pragma once

#include <filesystem>

namespace opshap {

/// Rebuilds from a run folder everything that is derived: figures/ (SVG and CSV), tables/ (CSV and Markdown),
/// claims.json and report.html, in that order, each file replaced in one step. The page stands alone: style and figures
/// are in it, it needs no script and no network.
///
/// Same rows and manifest, same bytes. `page` is where report.html goes; empty for the run folder, "-" for standard
/// output. Returns that path. Throws DataError for a folder that is no finished run, EnvironmentError without gnuplot.
std::filesystem::path write_report(const std::filesystem::path& run, const std::filesystem::path& page = {});

}  // namespace opshap
