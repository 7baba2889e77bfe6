#include "reporting/report_files.hpp"

#include <utility>

#include "core/file.hpp"
#include "reporting/gnuplot.hpp"

namespace opshap::reporting {

namespace fs = std::filesystem;

DrawnFigure drawn(std::string name, Figure figure) {
  DrawnFigure drawn{.name = std::move(name), .figure = std::move(figure)};
  for (const Panel& panel : drawn.figure.panels) drawn.panels.push_back(draw(panel));
  return drawn;
}

void write_figure(const fs::path& folder, const DrawnFigure& drawn) {
  const fs::path svg = folder / (drawn.name + ".svg"), csv = folder / (drawn.name + ".csv");
  if (drawn.panels.empty()) {  // one of an earlier report of this folder would be stale
    fs::remove(svg);
    fs::remove(csv);
    return;
  }
  write_file(svg, compose(drawn.figure.title, drawn.figure.finding, drawn.panels, drawn.figure.legend));
  write_file(csv, drawn.figure.numbers.csv());
}

void write_table(const fs::path& folder, const Table& table) {
  write_file(folder / (table.name + ".csv"), table.csv());
  write_file(folder / (table.name + ".md"), table.markdown());
}

}  // namespace opshap::reporting
