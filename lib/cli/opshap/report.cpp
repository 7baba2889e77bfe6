// `opshap report`: rebuild report.html, figures, tables and claims of a run from its rows alone.

#include "reporting/report.hpp"

#include <iostream>
#include <memory>
#include <optional>

#include "cli/commands.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/folder_lock.hpp"

namespace opshap::cli {

void add_report(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "report",
      "Rebuild report.html, claims.json, figures/ and tables/ of a run folder, or of a folder of runs on several "
      "problems and the page over them; --out FILE puts the page elsewhere");
  const auto run = std::make_shared<std::filesystem::path>();
  command->add_option("RUN", *run, "Folder that `opshap reproduce` wrote")->required();
  const auto check = std::make_shared<bool>(false);
  command->add_flag("--check", *check, "Exit code 1 when a claim that holds in every correct run was not reproduced");
  command->callback([run, check, &globals] {
    require(!(globals.json && globals.out == "-"),
            "report: --out=- with --json (both would write to standard output). Name a file for the page.");
    std::optional<FolderLock> lock;
    if (is_folder(*run)) lock.emplace(*run, "report");
    const reporting::WrittenReport report = reporting::write_report(*run, globals.out);
    if (globals.json) {
      print_json({{"report", report.page.string()},
                  {"claims", (*run / "claims.json").string()},
                  {"broken_checks", report.broken_checks}});
    } else if (globals.out != "-") {
      std::cout << report.page.string() << '\n';
    }
    for (const std::string& id : report.broken_checks)
      std::cerr << "report: claim=" << id << " (holds in every correct run, but not in this one). See claims.json.\n";
    if (*check && !report.broken_checks.empty()) throw CheckFailed{};
  });
}

}  // namespace opshap::cli
