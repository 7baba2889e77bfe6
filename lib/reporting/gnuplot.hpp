#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reporting/html.hpp"
#include "reporting/methods.hpp"

namespace opshap::reporting {

/// A line of a legend: the sample that is drawn, and what it stands for.
using LegendEntry = MethodStyle;

/// Of a method whose line has no markers.
LegendEntry line_legend_of(const MethodStyle& style);

/// `<ul class="legend">` that wraps with the page.
Html legend_html(const std::vector<LegendEntry>& entries);

/// One drawing: what gnuplot shall plot, and what a reader who cannot see it is told.
struct Panel {
  std::string id;           ///< unique in a page; prefixes every id of the SVG
  std::string title;        ///< what is drawn; short, since it stands above the drawing
  std::string description;  ///< the finding, in words
  /// gnuplot commands without terminal and output; plain black becomes the colour of the surrounding text
  std::string script = {};
};

/// Pixels of a panel whose letters are 13 pixels high. Three panels in a row of a page, or one on a telephone of 400
/// pixels, are drawn about 340 pixels wide, where letters are still 12 pixels high.
inline constexpr int panel_width = 360, panel_height = 250;

/// How many of so many panels stand in a row: three, as in the paper's triptychs, but four as two by two.
std::size_t columns_of(std::size_t panels);

/// Each panel as one `<svg role="img">` element with `<title>` and `<desc>`: black is currentColor, nothing has a
/// background, so it suits light, dark and print.
///
/// Same script, same bytes, whatever other panels are drawn with it. Cost: one gnuplot process for all of them, which
/// takes about 20 ms to start and 1 to 3 ms a panel. Throws EnvironmentError when gnuplot is not installed,
/// std::logic_error when a script is wrong.
std::vector<std::string> draw(const std::vector<Panel>& panels);

/// How the panels of a file stand. A picture that is scaled down to a telephone's width scales its letters too, and an
/// SVG cannot change its own proportions. So what telephones shall show has a file of its own.
enum class Form {
  wide,   ///< rows of columns_of()
  narrow  ///< a column one panel wide, at its own size: letters stay as high as they are
};

/// Panels above their legend, in one file of its own with the colours of the reader's light or dark setting.
std::string compose(const std::string& title, const std::string& description, const std::vector<std::string>& panels,
                    const std::vector<LegendEntry>& legend, Form form = Form::wide);

/// What a picture is stored as.
enum class Picture { svg, pdf, png };

/// The format of a file's ending with its dot: ".svg", ".pdf", ".png"; nothing for another one.
std::optional<Picture> picture_format(std::string_view ending);

/// Panels between a title and a legend.
struct Plate {
  std::string title;
  std::vector<Panel> panels;
  std::vector<LegendEntry> legend;
};

/// Each plate, its panels in rows of columns_of(), as the bytes of a PDF or a PNG for print: black on white. Same
/// panels, same bytes; no date is in them. Costs and throws as draw(), and throws std::logic_error for Picture::svg,
/// which compose() makes.
std::vector<std::string> print(const std::vector<Plate>& plates, Picture format);

/// A string literal of gnuplot.
std::string quote_for_gnuplot(const std::string& text);

}  // namespace opshap::reporting
