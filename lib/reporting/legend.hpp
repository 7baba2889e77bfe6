#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reporting/methods.hpp"

namespace opshap::reporting {

/// A line of a legend: the sample that is drawn, and what it stands for.
struct LegendEntry {
  std::string label;
  std::string color;  ///< "#0072B2"; "#000000" is the colour of the surrounding text
  std::string dash;   ///< "" solid, else lengths of strokes and gaps: "6,3"
  int marker = 0;     ///< gnuplot's pointtype; 0 none
  bool bar = false;   ///< a filled box instead of a line
  bool line = true;   ///< false: the marker alone
};

/// Of a method.
LegendEntry legend_of(const MethodStyle& style);

/// `<ul class="legend">` that wraps with the page.
std::string legend_html(const std::vector<LegendEntry>& entries);

/// The same as SVG rows of `columns` entries in a box of this width; `height` gets the rows' height.
std::string legend_svg(const std::vector<LegendEntry>& entries, int width, int& height);

}  // namespace opshap::reporting
