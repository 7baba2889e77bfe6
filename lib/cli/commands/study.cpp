// `opshap study`: studies of a finished run.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/profile.hpp"
#include "cli/studied_run.hpp"
#include "cli/trained_explainer.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/dataset.hpp"
#include "evaluation/certified_reference.hpp"
#include "networks/networks.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

evaluation::HeldOutPlan StudiedRun::plan(int inputs, double reference_error, std::uint64_t seed) const {
  const std::size_t tests = data.indices(data::Split::test).size();
  require(static_cast<std::size_t>(inputs) <= tests, "study: --inputs=", inputs, " (the data set has ", tests,
          " test samples). Lower it.");
  return {.op = *op,
          .inputs = test_inputs(data, inputs),
          .rule = data::rule_for(profile.explainer.scenario, data),
          .resolutions = profile.resolutions,
          .reference = {.relative_error = reference_error,
                        .max_evaluations = profile.evaluation.reference_budget,
                        .exact_players = profile.evaluation.exact_players},
          .seed = seed};
}

std::string StudiedRun::identity(int inputs, double reference_error, std::uint64_t seed) const {
  return nlohmann::ordered_json{{"data", data.content_hash},
                                {"operator", op_checksum},
                                {"scenario", profile.explainer.scenario.describe()},
                                {"resolutions", profile.resolutions},
                                {"inputs", inputs},
                                {"reference_error", reference_error},
                                {"references", evaluation::reference_recipe},
                                {"seed", seed}}
      .dump();
}

std::string StudiedRun::subject() const { return message(profile.data.pde, ", ", op->describe()); }

StudiedRun read_studied_run(const fs::path& run, const fs::path& overrides, const Globals& globals) {
  StudiedRun studied{.profile = load_profile((run / "config.resolved.toml").string(), overrides)};
  const fs::path weights = run / "backbone" / "model.safetensors";
  studied.data = at_points_of(studied.profile, data::read_dataset(run / "data" / (studied.profile.data.pde + ".h5")));
  if (studied.data.resolutions != studied.profile.resolutions)  // the study has fewer of them, or others
    studied.data = data::served_at(std::move(studied.data), studied.profile.resolutions);
  studied.op = networks::library().load_operator(weights, "cpu", networks::Precision::float32, globals.engine);
  studied.op_checksum = xxh64(read_file(weights));
  return studied;
}

void require_study(const Globals& globals) {
  require(!globals.out.empty(), "study: --out (is missing: the study needs a folder). Give --out FOLDER.");
  require(globals.device == "cpu", "study: --device=", globals.device, " (studies run on the CPU). Leave it out.");
  networks::library().require_fast_blas();
}

void add_study(CLI::App& app, const Globals& globals) {
  auto* study = app.add_subcommand("study", "A study of a finished run; --out FOLDER gets rows and reports");
  study->require_subcommand(1);
  add_amortisation_study(*study, globals);
  add_query_study(*study, globals);
  add_reference_study(*study, globals);
}

}  // namespace opshap::cli
