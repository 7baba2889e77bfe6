// `opshap report`: rebuild report.html, figures, tables and claims of a run from its rows alone.

#include "reporting/report.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/commands.hpp"
#include "cli/suite_run.hpp"
#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::cli {

namespace {

/// Whether every method has kept its promises.
bool report_leaderboard(const std::filesystem::path& folder, const std::filesystem::path& keep,
                        const Globals& globals) {
  const WrittenBoard written =
      keep.empty() ? rebuild_leaderboard(folder, globals.out) : keep_leaderboard(folder, keep, globals.out);
  if (globals.json) {
    print_json(written.object);
  } else if (globals.out != "-") {
    std::cout << written.page.string() << '\n';
  }
  return written.object.at("less_exact_than_declared").empty();
}

}  // namespace

void add_report(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "report",
      "Rebuild report.html, claims.json, figures/ and tables/ of a run folder, or of a folder of runs on several "
      "problems and the page over them, or the leaderboard of a suite; --out FILE puts the page elsewhere");
  const auto run = std::make_shared<std::filesystem::path>();
  command->add_option("RUN", *run, "Folder that `opshap reproduce` or `opshap compare --suite` wrote")->required();
  const auto keep = std::make_shared<std::filesystem::path>();
  command->add_option("--keep", *keep,
                      "A folder that gets what a repository keeps of the run: manifest, settings, packed rows and "
                      "references, claims, tables and figures, no weights and, of one run, no page");
  const auto check = std::make_shared<bool>(false);
  command->add_flag("--check", *check,
                    "Exit code 1 when a claim that holds in every correct run was not reproduced, or a method of a "
                    "suite has broken its promise to be exact");
  command->callback([run, keep, check, &globals] {
    require(!(globals.json && globals.out == "-"),
            "report: --out=- with --json (both would write to standard output). Name a file for the page.");
    std::optional<FolderLock> lock;
    if (is_folder(*run)) lock.emplace(*run, "report");
    if (is_leaderboard(*run)) {
      const bool sound = report_leaderboard(*run, *keep, globals);
      if (*check && !sound) throw CheckFailed{};
      return;
    }
    const reporting::WrittenReport report =
        keep->empty() ? reporting::write_report(*run, globals.out) : reporting::keep_report(*run, *keep, globals.out);
    const std::filesystem::path& folder = keep->empty() ? *run : *keep;
    if (globals.json) {
      nlohmann::ordered_json written;
      if (!report.page.empty()) written["report"] = report.page.string();
      if (!keep->empty()) written["kept"] = keep->string();
      written.update({{"claims", (folder / "claims.json").string()}, {"broken_checks", report.broken_checks}});
      print_json(written);
    } else if (globals.out != "-") {
      std::cout << (report.page.empty() ? folder : report.page).string() << '\n';
    }
    for (const std::string& id : report.broken_checks)
      std::cerr << "report: claim=" << id << " (holds in every correct run, but not in this one). See claims.json.\n";
    if (*check && !report.broken_checks.empty()) throw CheckFailed{};
  });
}

}  // namespace opshap::cli
