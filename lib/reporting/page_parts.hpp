#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "metrics/registry.hpp"
#include "reporting/claims.hpp"
#include "reporting/comparison.hpp"
#include "reporting/figures.hpp"
#include "reporting/html.hpp"
#include "reporting/table.hpp"
#include "runs/run.hpp"

namespace opshap::reporting {

/// What the pages of reports have in common.

/// A figure with its panels drawn.
struct DrawnFigure {
  std::string name;
  Figure figure;
  std::vector<std::string> panels;                      ///< one `<svg>` each
  std::string numbers_in = "figures/" + name + ".csv";  ///< file of its numbers, as seen from the page
  /// Of a figure whose rows are not kept: the file that an earlier report left, as seen from the page; empty without
  /// one.
  std::string earlier_drawing = {};
};

using NamedFigure = std::pair<std::string, Figure>;

/// The figures with their panels drawn, in their order, all by one process of gnuplot.
std::vector<DrawnFigure> drawn(std::vector<NamedFigure> figures);

/// Of each figure `<name>.svg` and the same for print as `<name>.pdf`, its numbers as `<name>.csv`, and of several
/// panels `<name>_narrow.svg`, in which they stand below each other. A figure without panels leaves none of these, not
/// even those of an earlier report, unless it is missing since its rows are not kept: then the earlier ones stay.
void write_figures(const std::filesystem::path& folder, const std::vector<DrawnFigure>& figures);

/// The table as CSV, Markdown and LaTeX. Where a manifest stands beside the folder, LaTeX begins with a comment: the
/// command, the seed and the commit of the run. So a table that was copied into a paper still says where it is from.
void write_table(const std::filesystem::path& folder, const Table& table);

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// Sentences below their headings; one without words is left out.
Html sentence_list(const Pairs& sentences);

/// A list of facts; one without a value is left out.
Html fact_list(const Pairs& facts);

/// A part of a page that links lead to, below its heading.
Html section(std::string_view id, std::string_view heading, const Html& content);

/// The commit that each sitting ran, in the order of time: a run that was resumed may have been finished by another
/// one.
std::string commits_in_words(const runs::Run& run);

/// Panels, legend and numbers, or the reason why there are none. Of more than 300 rows of numbers the page says which
/// file has them.
Html figure_html(const DrawnFigure& drawn);

/// Drawn panels in rows of columns_of() on a wide page, one below the other on a narrow one.
Html panels_html(const std::vector<std::string>& panels);

/// Two columns; a value of several lines stands as it is.
Html key_value_table(const Pairs& pairs);

/// Subjects and what is said of them.
Html difference_list(const Pairs& differences);

/// The class of the style that a verdict has: "yes", "no" or "open".
std::string verdict_class(Verdict verdict);
/// A sign that tells verdicts apart without colour.
std::string_view sign(Verdict verdict);
/// to_string(), without what a page says already.
std::string verdict_in_words(Verdict verdict);

/// Every sentence that the rows say something about in a line: verdict, number, interval, and what the number had to
/// be. Each leads to its evidence on the same page.
Html verdict_table(const std::vector<JudgedClaim>& claims);
/// Every claim with its rule, its verdict and its evidence.
Html claims_section(const std::vector<JudgedClaim>& claims, const runs::Run& run);

/// Cells of the paper beside those of a run, of one problem.
struct ComparedProblem {
  std::string heading = {};  ///< above its rows; none where the page is about one problem
  const std::vector<Comparison>& comparisons;
  bool with_verdicts = true;
};

/// One metric of the paper's table: for every problem and n the paper's cells, ours and the verdicts. A problem without
/// a cell of this metric is left out.
Html comparison_table(const std::vector<ComparedProblem>& problems, const metrics::Metric& metric);

/// The metrics of the paper's table, errors first: R² and correlations hide them at large n.
std::vector<metrics::Metric> compared_metrics(const std::vector<Comparison>& comparisons);

}  // namespace opshap::reporting
