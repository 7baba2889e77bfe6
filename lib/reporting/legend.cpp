#include "reporting/legend.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reporting/methods.hpp"
#include "reporting/table.hpp"

namespace opshap::reporting {

namespace {

/// The shapes of gnuplot's pointtypes that styles use, around the origin.
std::string marker_svg(int marker, const std::string& color) {
  const bool filled = marker == 5 || marker == 7 || marker == 9 || marker == 11 || marker == 13;
  const std::string paint =
      fmt::format("fill=\"{}\" stroke=\"{}\" stroke-width=\"1.2\"", filled ? color : "none", color);
  switch (marker) {
    case 2:
      return fmt::format("<path d=\"M-3.5-3.5 3.5 3.5M3.5-3.5-3.5 3.5\" {}/>", paint);
    case 3:
      return fmt::format("<path d=\"M-3.5-3.5 3.5 3.5M3.5-3.5-3.5 3.5M0-4.4V4.4M-4.4 0H4.4\" {}/>", paint);
    case 4:
    case 5:
      return fmt::format("<rect x=\"-3.5\" y=\"-3.5\" width=\"7\" height=\"7\" {}/>", paint);
    case 6:
    case 7:
      return fmt::format("<circle r=\"3.6\" {}/>", paint);
    case 8:
    case 9:
      return fmt::format("<path d=\"M0-4.4 4.4 2.6-4.4 2.6z\" {}/>", paint);
    case 10:
    case 11:
      return fmt::format("<path d=\"M0 4.4 4.4-2.6-4.4-2.6z\" {}/>", paint);
    case 12:
    case 13:
      return fmt::format("<path d=\"M0-4.8 4.8 0 0 4.8-4.8 0z\" {}/>", paint);
    default:
      return "";
  }
}

/// 36 wide, around y = 0.
std::string sample_svg(const LegendEntry& entry) {
  const std::string color = entry.color == "#000000" ? "currentColor" : entry.color;
  if (entry.bar)
    return fmt::format("<rect x=\"6\" y=\"-6\" width=\"24\" height=\"12\" fill=\"{}\" fill-opacity=\"0.45\"/>", color);
  const std::string dash = entry.dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", entry.dash);
  const std::string line =
      entry.line ? fmt::format("<path d=\"M1 0H35\" stroke=\"{}\" stroke-width=\"2\"{}/>", color, dash) : "";
  return fmt::format("{}<g transform=\"translate(18,0)\">{}</g>", line, marker_svg(entry.marker, color));
}

}  // namespace

LegendEntry legend_of(const MethodStyle& style) {
  return {.label = style.label, .color = style.color, .dash = style.dash, .marker = style.marker};
}

std::string legend_html(const std::vector<LegendEntry>& entries) {
  std::string text = "<ul class=\"legend\">";
  for (const LegendEntry& entry : entries) {
    text +=
        fmt::format("<li><svg viewBox=\"0 -8 36 16\" width=\"36\" height=\"16\" aria-hidden=\"true\">{}</svg>{}</li>",
                    sample_svg(entry), escape_markup(entry.label));
  }
  return text + "</ul>\n";
}

std::string legend_svg(const std::vector<LegendEntry>& entries, int width, int& height) {
  constexpr int row = 22;
  constexpr double letter = 7.2;  // in width, of font size 13
  std::size_t longest = 0;
  for (const LegendEntry& entry : entries) longest = std::max(longest, entry.label.size());
  const int column = std::max(220, 60 + static_cast<int>(letter * static_cast<double>(longest)));
  const std::size_t columns = static_cast<std::size_t>(std::max(1, width / column));
  height = row * static_cast<int>((entries.size() + columns - 1) / columns) + 10;
  std::string text = "<g font-family=\"sans-serif\" font-size=\"13\" fill=\"none\">\n";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    text += fmt::format(
        "<g transform=\"translate({},{})\">{}<text x=\"44\" y=\"4.5\" fill=\"currentColor\">{}</text></g>\n",
        20 + column * static_cast<int>(i % columns), 14 + row * static_cast<int>(i / columns), sample_svg(entries[i]),
        escape_markup(entries[i].label));
  }
  return text + "</g>\n";
}

}  // namespace opshap::reporting
