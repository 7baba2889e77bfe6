// `opshap report`: rebuild report.html, figures, tables and claims of a run from its rows alone.

#include "reporting/report.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/suite_run.hpp"
#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::cli {

namespace {

struct ReportOptions {
  std::filesystem::path run, keep;
  bool check = false;
};

void report_leaderboard(const ReportOptions& options, const Globals& globals) {
  const WrittenBoard written = options.keep.empty() ? rebuild_leaderboard(options.run, globals.out)
                                                    : keep_leaderboard(options.run, options.keep, globals.out);
  if (globals.json) {
    print_json(written.object);
  } else if (globals.out != "-") {
    std::cout << written.page.string() << '\n';
  }
  if (options.check && !written.object.at("less_exact_than_declared").empty()) throw CheckFailed{};
}

void run_report(const ReportOptions& options, const Globals& globals) {
  const auto& [run, keep, check] = options;
  require(!(globals.json && globals.out == "-"),
          "report: --out=- with --json (both would write to standard output). Name a file for the page.");
  std::optional<FolderLock> lock;
  if (is_folder(run)) lock.emplace(run, "report");
  if (is_leaderboard(run)) return report_leaderboard(options, globals);
  const reporting::WrittenReport report =
      keep.empty() ? reporting::write_report(run, globals.out) : reporting::keep_report(run, keep, globals.out);
  const std::filesystem::path& folder = keep.empty() ? run : keep;
  if (globals.json) {
    nlohmann::ordered_json written;
    if (!report.page.empty()) written["report"] = report.page.string();
    if (!keep.empty()) written["kept"] = keep.string();
    written.update({{"claims", (folder / "claims.json").string()}, {"broken_checks", report.broken_checks}});
    print_json(written);
  } else if (globals.out != "-") {
    std::cout << (report.page.empty() ? folder : report.page).string() << '\n';
  }
  for (const std::string& id : report.broken_checks)
    std::cerr << "report: claim=" << id << " (holds in every correct run, but not in this one). See claims.json.\n";
  if (check && !report.broken_checks.empty()) throw CheckFailed{};
}

}  // namespace

void add_report(CLI::App& app, const Globals& globals) {
  const auto [command, options] = add_command<ReportOptions>(
      app, "report",
      "Rebuild report.html, claims.json, figures/ and tables/ of a run folder, or of a folder of runs on several "
      "problems and the page over them, or the leaderboard of a suite; --out FILE puts the page elsewhere",
      run_report, globals);
  command->add_option("RUN", options.run, "Folder that `opshap reproduce` or `opshap compare --suite` wrote")
      ->required();
  command->add_option("--keep", options.keep,
                      "A folder that gets what a repository keeps of the run: manifest, settings, packed rows and "
                      "references, claims, tables and figures, no weights and, of one run, no page");
  command->add_flag("--check", options.check,
                    "Exit code 1 when a claim that holds in every correct run was not reproduced, or a method of a "
                    "suite has broken its promise to be exact");
}

}  // namespace opshap::cli
