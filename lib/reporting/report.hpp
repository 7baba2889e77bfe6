#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace opshap::reporting {

struct WrittenReport {
  std::filesystem::path page;              ///< empty where none was written
  std::vector<std::string> broken_checks;  ///< ids of claims that hold in every correct run and did not here
};

/// Rebuilds from a run folder everything that is derived: figures/ (SVG, PDF and CSV), tables/ (CSV, Markdown and
/// LaTeX), claims.json and report.html, in that order, each file replaced in one step. A figure whose rows the folder
/// does not keep stays as an earlier report drew it. The page stands alone: style and figures are in it, it needs no
/// script and no network.
///
/// Of a folder of run folders, one for each problem, it rebuilds every run's report, and report.html, claims.json,
/// figures/ and tables/ over all. Runs without attributions yet are named as unfinished. A run whose rows are packed
/// (runs/run.hpp) has no page of its own there.
///
/// Same rows and manifest, same bytes. `page` is where report.html goes; empty for the folder, "-" for standard output.
/// Throws DataError for a folder that is no finished run and has none in it, and for runs of different profiles;
/// EnvironmentError without gnuplot.
WrittenReport write_report(const std::filesystem::path& folder, const std::filesystem::path& page = {});

/// Writes into `keep` what a repository keeps of a run (runs::keep_run()), and figures/, tables/ and claims.json as
/// write_report() writes them into the run's own folder, which stays as it is. The page is written only where `page`
/// names a file for it: write_report() of `keep` draws it in a second.
///
/// Of a folder of run folders it keeps each run in a folder of its name, and over all of them claims.json, tables/ and
/// report.html. Throws as write_report() and runs::keep_run().
WrittenReport keep_report(const std::filesystem::path& folder, const std::filesystem::path& keep,
                          const std::filesystem::path& page = {});

}  // namespace opshap::reporting
