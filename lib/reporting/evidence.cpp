#include "reporting/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "core/file.hpp"
#include "reporting/axes.hpp"
#include "reporting/figures.hpp"
#include "reporting/gnuplot.hpp"

namespace opshap::reporting {

namespace {

/// Studies with the same axes share a panel.
using Axes = std::pair<std::string, std::string>;

std::vector<Axes> axes_of(const std::vector<statistics::Study>& studies) {
  std::vector<Axes> all;
  for (const statistics::Study& study : studies) {
    const Axes axes{study.effort(), study.error()};
    if (std::ranges::find(all, axes) == all.end()) all.push_back(axes);
  }
  return all;
}

/// The colours of Okabe and Ito (2008), which the colour-blind can tell apart; then the same with strokes.
LegendEntry curve(const std::string& title, std::size_t index) {
  static constexpr std::array<const char*, 7> colors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                        "#E69F00", "#56B4E9", "#000000"};
  static constexpr std::array<const char*, 3> dashes = {"", "8,4", "2,3"};
  static constexpr std::array<int, 4> markers = {7, 5, 9, 13};
  return {.label = title,
          .color = colors[index % colors.size()],
          .dash = dashes[index / colors.size() % dashes.size()],
          .marker = markers[index % markers.size()]};
}

/// One entry a title: studies of one thing look the same in all panels.
std::vector<LegendEntry> studies_legend(const std::vector<statistics::Study>& studies) {
  std::vector<LegendEntry> legend;
  for (const statistics::Study& study : studies) {
    const bool known = std::ranges::find(legend, study.title(), &LegendEntry::label) != legend.end();
    if (!known) legend.push_back(curve(study.title(), legend.size()));
  }
  return legend;
}

bool has_band(const statistics::Study& study) {
  return std::ranges::any_of(study.points(), [](const auto& point) { return point.low < point.high; });
}

/// In quotation marks, since titles are free text.
std::string quoted_cell(const std::string& text) {
  std::string cell = "\"";
  for (const char letter : text) cell += letter == '"' ? "\"\"" : std::string(1, letter);
  return cell + "\"";
}

}  // namespace

std::string Evidence::markdown() const {
  std::string text = fmt::format("# {}\n\n{}\n", title, finding);
  if (!studies.empty()) text += fmt::format("\n![{}]({}.svg)\n", title, name);
  for (const Table& table : tables) text += "\n" + table.markdown();
  if (!study_tables) return text;
  for (const statistics::Study& study : studies) text += "\n" + study.markdown();
  return text;
}

std::string Evidence::csv() const {
  const bool bands = std::ranges::any_of(studies, has_band);
  std::string text =
      bands ? "study,effort,effort_name,error,error_name,low,high\n" : "study,effort,effort_name,error,error_name\n";
  for (const statistics::Study& study : studies) {
    for (const statistics::Study::Point& point : study.points()) {
      text += fmt::format("{},{:.4g},{},{:.4g},{}", quoted_cell(study.title()), point.effort,
                          quoted_cell(study.effort()), point.error, quoted_cell(study.error()));
      text += bands ? fmt::format(",{:.4g},{:.4g}\n", point.low, point.high) : "\n";
    }
  }
  return text;
}

std::string Evidence::svg() const {
  std::vector<Panel> panels;
  const std::vector<LegendEntry> legend = studies_legend(studies);
  for (const Axes& axes : axes_of(studies)) {
    LogRange efforts, errors;
    std::string data, plots;
    for (std::size_t i = 0; i < studies.size(); ++i) {
      if (Axes{studies[i].effort(), studies[i].error()} != axes || studies[i].size() == 0) continue;
      data += fmt::format("$s{} << EOD\n", i);
      for (const statistics::Study::Point& point : studies[i].points()) {
        efforts.include(point.effort);
        for (const double error : {point.low, point.high}) errors.include(error);
        data += fmt::format("{:.7g} {:.7g} {:.7g} {:.7g}\n", point.effort, point.error, point.low, point.high);
      }
      data += "EOD\n";
      const auto entry = std::ranges::find(legend, studies[i].title(), &LegendEntry::label);
      if (has_band(studies[i])) {
        plots += fmt::format("{}$s{} using 1:3:4 with filledcurves lc rgb '{}' fs transparent solid 0.2 noborder",
                             plots.empty() ? "" : ", ", i, entry->color);
      }
      plots += fmt::format("{}$s{} using 1:2 with linespoints lc rgb '{}' {} pt {} ps 0.7 lw 1.8",
                           plots.empty() ? "" : ", ", i, entry->color, figures::dash_style(entry->dash), entry->marker);
    }
    if (plots.empty()) continue;
    panels.push_back(
        {.id = fmt::format("{}-{}", name, panels.size()),
         .title = fmt::format("{} against {}", axes.second, axes.first),
         .description = finding,
         .script = data + (linear_efforts ? linear_axis("x", efforts.low(), efforts.high()) : log_axis('x', efforts)) +
                   log_axis('y', errors) + "set xlabel " + quote_for_gnuplot(axes.first) + "\nset ylabel " +
                   quote_for_gnuplot(axes.second) + "\nplot " + plots + "\n"});
  }
  return compose(title, finding, draw(panels), legend);
}

void write(const Evidence& evidence, const std::filesystem::path& folder) {
  if (!evidence.studies.empty()) {
    write_file(folder / (evidence.name + ".svg"), evidence.svg());  // first: it is what can fail
    write_file(folder / (evidence.name + ".csv"), evidence.csv());
  }
  for (const Table& table : evidence.tables)
    write_file(folder / (evidence.name + "_" + table.name + ".csv"), table.csv());
  write_file(folder / (evidence.name + ".md"), evidence.markdown());
}

void publish(const Evidence& evidence) {
  std::printf("%s\n", evidence.markdown().c_str());
  const char* folder = std::getenv("OPSHAP_REPORTS");
  if (folder != nullptr && *folder != '\0') write(evidence, folder);
}

}  // namespace opshap::reporting
