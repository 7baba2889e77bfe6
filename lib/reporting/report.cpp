#include "reporting/report.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "reporting/claims.hpp"
#include "reporting/methods.hpp"
#include "reporting/pages.hpp"
#include "reporting/paper.hpp"
#include "reporting/report_tables.hpp"
#include "runs/row_files.hpp"
#include "runs/run.hpp"

namespace opshap::reporting {

namespace fs = std::filesystem;

namespace {

/// The folders in `folder` that hold a run of their own name's problem, in the paper's order, others behind. None where
/// it is that of a run itself.
std::vector<fs::path> runs_in(const fs::path& folder) {
  std::vector<fs::path> found;
  if (!is_folder(folder) || is_there(folder / "manifest.json")) return found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_there(entry.path() / "manifest.json")) found.push_back(entry.path());
  }
  const std::vector<std::string> papers = paper_problems();
  const auto rank = [&papers](const fs::path& run) {
    const std::string name = run.filename().string();
    return std::pair(std::find(papers.begin(), papers.end(), name) - papers.begin(), name);
  };
  std::sort(found.begin(), found.end(), [&](const fs::path& a, const fs::path& b) { return rank(a) < rank(b); });
  return found;
}

/// "figures/example.svg" where an earlier report of the folder left it.
std::string earlier_drawing(const fs::path& folder, const std::string& figure) {
  const std::string svg = "figures/" + figure + ".svg";
  return is_there(folder / svg) ? svg : "";
}

/// Writes what the report of the run in `folder` has into `keep`, beside what is kept of the run, or into its own
/// folder where `keep` is empty. Its page is written where there is a file for it.
Chapter write_run_report(const fs::path& folder, const fs::path& keep, const fs::path& page_file) {
  Chapter chapter{.run = std::make_unique<runs::Run>(runs::read_run(folder)), .page_beside = !page_file.empty()};
  if (!keep.empty()) runs::keep_run(*chapter.run, keep);
  const fs::path& target = keep.empty() ? folder : keep;
  chapter.scores = std::make_unique<Scoreboard>(*chapter.run);
  const Scoreboard& scores = *chapter.scores;
  chapter.claims = judge(scores);
  chapter.comparisons = compare_with_paper(scores);
  ReportContents contents{.run = chapter,
                          .methods = tables::methods(scores),
                          .backbone = tables::backbone(scores),
                          .outliers = tables::outliers(scores),
                          .reference = tables::reference(scores),
                          .games = tables::games(scores),
                          .net = tables::net_of_the_reference(scores),
                          .drift = tables::drift(scores),
                          .cost = tables::cost(scores),
                          .training = tables::training(scores)};
  std::vector<NamedFigure> figures;
  for (const FigureKind& kind : figures::all()) figures.emplace_back(kind.name, kind.make(scores));
  contents.figures = drawn(std::move(figures));
  for (DrawnFigure& drawn : contents.figures)
    if (!drawn.figure.rows_kept) drawn.earlier_drawing = earlier_drawing(target, drawn.name);
  write_figures(target / "figures", contents.figures);
  for (const Table* table : {&contents.methods, &contents.backbone, &contents.outliers, &contents.reference,
                             &contents.games, &contents.net, &contents.drift, &contents.cost, &contents.training})
    write_table(target / "tables", *table);
  write_table(target / "tables", tables::paper_comparison(chapter.comparisons));
  write_table(target / "tables", tables::quality(scores));
  write_file(target / "claims.json", claims_json(chapter.claims, *chapter.run));
  if (!page_file.empty()) write_file(page_file, page(contents));
  return chapter;
}

/// The example figure with ids that no other problem's figure on the same page has. `run` is the folder of the problem.
DrawnFigure draw_example(const Scoreboard& scores, const fs::path& run) {
  const std::string& pde = scores.run().pde;
  Figure figure = figures::example(scores);
  figure.title = pde_label(pde);
  for (Panel& panel : figure.panels) panel.id = pde + "-" + panel.id;
  DrawnFigure example = std::move(drawn({{pde, std::move(figure)}}).front());
  example.numbers_in = pde + "/figures/example.csv";
  if (!example.figure.rows_kept && !earlier_drawing(run, "example").empty())
    example.earlier_drawing = pde + "/" + earlier_drawing(run, "example");
  return example;
}

/// The page over the runs in `folder`, and their own reports. With `keep` all goes there, in place of `folder`.
WrittenReport write_overview(const fs::path& folder, const std::vector<fs::path>& found, const fs::path& page_file,
                             const fs::path& keep = {}) {
  Overview overview;
  WrittenReport written{.page = page_file, .broken_checks = {}};
  for (const fs::path& run : found) {
    if (!runs::has_rows(run, "results.jsonl")) {
      overview.unfinished.push_back(run.filename().string());
      continue;
    }
    // A run whose rows are packed is kept in a repository, which holds no page that can be drawn in a second.
    const bool kept = !keep.empty() || runs::file_of_rows(run, "results.jsonl").extension() == runs::packed_ending;
    Chapter chapter =
        write_run_report(run, keep.empty() ? keep : keep / run.filename(), kept ? fs::path() : run / "report.html");
    const std::string& profile = chapter.run->profile;
    if (overview.chapters.empty()) overview.profile = profile;
    require<DataError>(
        profile == overview.profile, "report: folder=", folder.string(), " (has runs of profile ", overview.profile,
        " and of profile ", profile,
        ", which one page cannot show side by side). Keep the runs of a profile in a folder of its own.");
    for (const std::string& id : broken_checks(chapter.claims))
      written.broken_checks.push_back(chapter.run->pde + ": " + id);
    chapter.example = draw_example(*chapter.scores, run);
    overview.chapters.push_back(std::move(chapter));
  }
  require<DataError>(
      !overview.chapters.empty(), "report: folder=", folder.string(),
      " (no run in it has attributions yet). Let `opshap reproduce` finish; the same command resumes it.");
  std::vector<ClaimsOfRun> claims;
  tables::Problems problems;
  for (const Chapter& chapter : overview.chapters) {
    claims.push_back({chapter.run.get(), &chapter.claims});
    problems.push_back(chapter.scores.get());
  }
  for (const metrics::Metric& metric : compared_metrics(overview.chapters.front().comparisons))
    overview.medians.push_back(tables::medians(problems, metric));
  overview.stages = tables::stages(problems);
  const fs::path& target = keep.empty() ? folder : keep;
  const std::vector<DrawnFigure> amortisation = drawn({{"amortisation", figures::amortisation_of_all(problems)}});
  write_figures(target / "figures", amortisation);
  overview.amortisation = amortisation.front();
  for (const Table& table : overview.medians) write_table(target / "tables", table);
  write_table(target / "tables", overview.stages);
  write_file(target / "claims.json", claims_json(claims));
  write_file(page_file, overview_page(overview));
  return written;
}

}  // namespace

WrittenReport write_report(const fs::path& folder, const fs::path& page_file) {
  const fs::path target = page_file.empty() ? folder / "report.html" : page_file;
  if (const std::vector<fs::path> found = runs_in(folder); !found.empty()) return write_overview(folder, found, target);
  if (is_folder(folder) && !is_there(folder / "manifest.json") && has_studies(folder)) {
    write_file(folder / "claims.json", study_claims_json(judge_studies(folder)));
    return {.page = folder / "claims.json", .broken_checks = {}};
  }
  return {.page = target, .broken_checks = broken_checks(write_run_report(folder, {}, target).claims)};
}

WrittenReport keep_report(const fs::path& folder, const fs::path& keep, const fs::path& page_file) {
  require(!keep.empty(), "report: --keep (is empty). Name a folder.");
  if (const std::vector<fs::path> found = runs_in(folder); !found.empty())
    return write_overview(folder, found, page_file.empty() ? keep / "report.html" : page_file, keep);
  return {.page = page_file, .broken_checks = broken_checks(write_run_report(folder, keep, page_file).claims)};
}

}  // namespace opshap::reporting
