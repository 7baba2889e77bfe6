#include "reporting/report.hpp"

#include "core/file.hpp"
#include "reporting/page.hpp"
#include "reporting/report_tables.hpp"

namespace opshap::reporting {

namespace {

namespace fs = std::filesystem;

DrawnFigure draw_figure(const FigureKind& kind, const Scoreboard& scores) {
  DrawnFigure drawn{.name = std::string(kind.name), .figure = kind.make(scores)};
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

}  // namespace

WrittenReport write_report(const fs::path& folder, const fs::path& page_file) {
  const runs::Run run = runs::read_run(folder);
  const Scoreboard scores(run);
  ReportContents contents{.scores = scores,
                          .claims = judge(scores),
                          .comparisons = compare_with_paper(scores),
                          .methods = tables::methods(scores),
                          .backbone = tables::backbone(scores),
                          .outliers = tables::outliers(scores),
                          .reference = tables::reference(scores),
                          .net = tables::net_of_the_reference(scores),
                          .cost = tables::cost(scores),
                          .training = tables::training(scores)};
  for (const FigureKind& kind : figures::all()) contents.figures.push_back(draw_figure(kind, scores));

  for (const DrawnFigure& drawn : contents.figures) write_figure(folder / "figures", drawn);
  for (const Table* table : {&contents.methods, &contents.backbone, &contents.outliers, &contents.reference,
                             &contents.net, &contents.cost, &contents.training})
    write_table(folder / "tables", *table);
  write_table(folder / "tables", tables::paper_comparison(contents.comparisons));
  write_table(folder / "tables", tables::quality(scores));
  write_file(folder / "claims.json", claims_json(contents.claims, run));
  const fs::path target = page_file.empty() ? folder / "report.html" : page_file;
  write_file(target, page(contents));
  return {.page = target, .broken_checks = broken_checks(contents.claims)};
}

}  // namespace opshap::reporting
