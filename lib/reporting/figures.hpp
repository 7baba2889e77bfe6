#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reporting/gnuplot.hpp"
#include "reporting/methods.hpp"
#include "reporting/scoreboard.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

/// A figure of a report: panels, the finding in words, and all its numbers as a table.
struct Figure {
  std::string title;
  std::string finding;  ///< what the figure shows of this run, one or two sentences; the caption
  std::vector<Panel> panels;
  std::vector<LegendEntry> legend;  ///< of all panels
  Table numbers;
  std::string missing;    ///< not empty: why this run has no such figure; then there are no panels
  bool rows_kept = true;  ///< false: it is missing since the rows that it needs are not kept; an earlier drawing stays
};

struct FigureKind {
  std::string_view name, summary;
  Figure (*make)(const Scoreboard& scores);
};

namespace figures {

#define FIGURE(name, summary) Figure name(const Scoreboard& scores);
#include "reporting/figures.def"
#undef FIGURE

/// In the order of figures.def. Figures are made from the run's rows alone; one whose rows are not there says so
/// instead of being empty.
const std::vector<FigureKind>& all();

/// When training pays off on several problems, a panel each: as `amortisation`, on the line of the paper's figure or
/// else on each run's finest grid. The scoreboards are of one profile.
Figure amortisation_of_all(const std::vector<const Scoreboard*>& problems);

/// A test input that may stand for the others.
struct TypicalInput {
  std::int64_t sample = 0;
  std::optional<double> backbone_error;  ///< relative error of its prediction on the grid; none where it is not stored

  /// Two sentences: how it was chosen, with the label of the explainer, and the backbone's error on it.
  std::string in_words(const std::string& explainer) const;
};

/// What an example on this grid should be: among the inputs with stored values whose backbone error is at most twice
/// the median of the grid, the one with the median NRMSE of the first trained explainer. Where the run does not say the
/// backbone errors, all inputs take part. None when no input does.
std::optional<TypicalInput> typical_input(const Scoreboard& scores, const Discretisation& on);

/// The largest absolute value; 0 of none.
double largest_size(const std::vector<double>& values);

/// A figure without panels.
Figure missing(std::string title, std::string why);

/// "with linespoints ..." of gnuplot in the method's colour, dash and marker.
std::string line_style(const MethodStyle& style);
/// gnuplot's "dt" for lengths as in LegendEntry: "dt solid" or "dt (6,3)".
std::string dash_style(std::string_view dash);

/// A number for gnuplot and for CSV: 7 significant digits.
std::string digits(double value);

}  // namespace figures

}  // namespace opshap::reporting
