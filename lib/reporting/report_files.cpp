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
  const Figure& figure = drawn.figure;
  if (!figure.rows_kept) return;
  const fs::path svg = folder / (drawn.name + ".svg"), narrow = folder / (drawn.name + "_narrow.svg"),
                 pdf = folder / (drawn.name + ".pdf"), csv = folder / (drawn.name + ".csv");
  if (drawn.panels.size() < 2) fs::remove(narrow);
  if (drawn.panels.empty()) {  // those of an earlier report of this folder would be stale
    for (const fs::path& stale : {svg, pdf, csv}) fs::remove(stale);
    return;
  }
  write_file(svg, compose(figure.title, figure.finding, drawn.panels, figure.legend));
  if (drawn.panels.size() > 1)
    write_file(narrow, compose(figure.title, figure.finding, drawn.panels, figure.legend, Form::narrow));
  write_file(pdf, print(figure.title, figure.panels, figure.legend, Picture::pdf));
  write_file(csv, figure.numbers.csv());
}

void write_table(const fs::path& folder, const Table& table) {
  write_file(folder / (table.name + ".csv"), table.csv());
  write_file(folder / (table.name + ".md"), table.markdown());
  write_file(folder / (table.name + ".tex"), table.latex());
}

}  // namespace opshap::reporting
