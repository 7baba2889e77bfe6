#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "reporting/table.hpp"
#include "statistics/study.hpp"

namespace opshap::reporting {

/// What a convergence study leaves behind for its readers.
struct Evidence {
  std::string name;                        ///< file name without extension; a word of letters, digits and underscores
  std::string title;                       ///< what was studied
  std::string finding;                     ///< what came out, in a sentence or two
  std::vector<statistics::Study> studies;  ///< a section, a curve of the figure and rows of the CSV each; titles of up
                                           ///< to 25 letters fit the legend
  std::vector<Table> tables = {};          ///< what is not a curve; in the Markdown, and a CSV each
  bool linear_efforts = false;             ///< whether the figure's efforts are on a linear axis
  bool study_tables = true;                ///< whether the Markdown has a table of each study; the CSV always has them

  /// A heading, the finding, the figure, and the tables of all studies.
  std::string markdown() const;
  /// The numbers of the figure, one row a point: study, effort, error.
  std::string csv() const;
  /// A logarithmic panel for each pair of axes that the studies have; studies of the same title look the same in all of
  /// them. Throws EnvironmentError when gnuplot is not installed.
  std::string svg() const;
};

/// Writes `<folder>/<name>.md`, for studies .csv and .svg, and `<name>_<table>.csv` for each table. Throws as
/// write_file and Evidence::svg.
void write(const Evidence& evidence, const std::filesystem::path& folder);

/// Prints the Markdown on standard output, and writes the files when the environment variable OPSHAP_REPORTS names a
/// folder.
void publish(const Evidence& evidence);

}  // namespace opshap::reporting
