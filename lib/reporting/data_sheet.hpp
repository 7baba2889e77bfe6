#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runs/results.hpp"

namespace opshap::reporting {

/// One sample of a data set as a sheet shows it.
struct SheetSample {
  std::string heading;     ///< "sample 12, training"
  runs::FieldsRow fields;  ///< input and solution on a grid of one or two axes; no prediction, no query
  std::vector<std::pair<std::string, std::string>> drawn;  ///< name and value of what was drawn for it
};

/// Samples of one data set, side by side.
struct DataSheet {
  std::string pde;
  std::vector<std::pair<std::string, std::string>> facts;  ///< how the set was made
  std::vector<SheetSample> samples;
};

/// A page that needs nothing else. Each sample has its input and its target, as curves or as heat maps, and the numbers
/// that were drawn for it. Throws InvalidArgument for a grid of more than two axes, EnvironmentError without gnuplot.
std::string sheet_html(const DataSheet& sheet);

/// The drawings alone, as one SVG. Throws as sheet_html.
std::string sheet_svg(const DataSheet& sheet);

}  // namespace opshap::reporting
