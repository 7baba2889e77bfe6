#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reporting/figures.hpp"
#include "runs/run.hpp"

namespace opshap::reporting {

/// What the pages of a report have in common. Every text that is not ours is escaped.

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

/// From the first byte to `<body>`, with the style in it.
std::string page_head(const std::string& title);

/// A term of a list of facts; nothing without a value.
std::string fact(const std::string& name, const std::string& value);

/// The commit that each sitting ran, in the order of time: a run that was resumed may have been finished by another
/// one.
std::string commits_in_words(const runs::Run& run);

/// Panels, legend and numbers, or the reason why there are none. Of more than 300 rows of numbers the page says which
/// file has them.
std::string figure_html(const DrawnFigure& drawn);

/// Drawn panels in rows of columns_of() on a wide page, one below the other on a narrow one.
std::string panels_html(const std::vector<std::string>& panels);

/// Two columns; a value of several lines stands as it is.
std::string key_value_table(const std::vector<std::pair<std::string, std::string>>& pairs);

}  // namespace opshap::reporting
