// `opshap report`: rebuild report.html, figures, tables and claims of a run from its rows alone.

#include <iostream>
#include <memory>

#include "cli/commands.hpp"
#include "core/error.hpp"
#include "reporting/report.hpp"

namespace opshap {

void add_report(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "report",
      "Rebuild report.html, claims.json, figures/ and tables/ of a run folder; --out FILE puts the page elsewhere");
  const auto run = std::make_shared<std::filesystem::path>();
  command->add_option("RUN", *run, "Folder that `opshap reproduce` wrote")->required();
  command->callback([run, &globals] {
    require(!(globals.json && globals.out == "-"),
            "report: --out=- with --json (both would write to standard output). Name a file for the page.");
    const std::filesystem::path page = write_report(*run, globals.out);
    if (globals.json) {
      print_json({{"report", page.string()}, {"claims", (*run / "claims.json").string()}});
    } else if (globals.out != "-") {
      std::cout << page.string() << '\n';
    }
  });
}

}  // namespace opshap
