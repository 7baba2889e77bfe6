// `opshap study references`: the references of a run computed again, for a run that has not kept their values.

#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/globals.hpp"
#include "cli/profile.hpp"
#include "cli/studied_run.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "evaluation/evaluate.hpp"
#include "networks/networks.hpp"
#include "reporting/study_evidence.hpp"
#include "runs/manifest.hpp"
#include "runs/run.hpp"

namespace opshap::cli {

namespace fs = std::filesystem;

namespace {

struct ReferencesOptions {
  fs::path run, operator_file, data;
  std::string shard = "0/1";
};

/// The data set of the run: the file that is named, that of the run's folder, or one that is generated into --out with
/// the run's settings and seed.
data::Dataset data_of(const ReferencesOptions& options, const Profile& profile, std::uint64_t seed,
                      const fs::path& out) {
  fs::path file = options.data.empty() ? data_file_of(options.run, profile) : options.data;
  if (options.data.empty() && !profile.data.file && !is_there(file)) {
    file = data_file_of(out, profile);
    data::generate(data_request(profile, seed), file);
  }
  return read_data_for(profile, file);
}

/// What the run was evaluated by, with its references alone.
evaluation::EvaluationSettings references_of(evaluation::EvaluationSettings settings) {
  settings.methods.clear();
  settings.curves.clear();
  settings.faithfulness_coalitions = 1;  // of R², which says nothing about a reference
  return settings;
}

/// The largest difference of the backbone's errors from those of the run. Throws DataError when it is another backbone
/// or another data set.
double require_backbone(const evaluation::Evaluation& evaluation, const runs::Run& run) {
  // Rounding in another order changes a relative error by some thousandths of itself at the most, where the error is
  // near the rounding of float32.
  constexpr double limit = 0.01;
  const double difference =
      reporting::largest_difference_of_backbones(run.results.operators, evaluation::backbone_errors(evaluation));
  require<DataError>(difference <= limit, "study: --run=", run.folder.string(), ", backbone=", difference,
                     " (its relative errors on the test inputs differ so much from those of the run, of themselves, "
                     "so operator or data set are others). Give those of the run.");
  return difference;
}

void run(const ReferencesOptions& options, const Globals& globals) {
  require(!globals.out.empty(), "study: --out (is missing: the study needs a folder). Give --out FOLDER.");
  networks::library().require_device(globals.device);
  networks::library().require_fast_blas();
  const runs::Part part = runs::Part::parse("study", options.shard);
  const Profile profile = profile_of_run(options.run, {});
  const runs::Run studied = runs::read_run(options.run);
  const fs::path weights =
      options.operator_file.empty() ? options.run / "backbone" / "model.safetensors" : options.operator_file;
  const auto backbone =
      networks::library().load_operator(weights, globals.device, networks::Precision::float32, globals.engine);
  const data::Dataset data = data_of(options, profile, studied.seed, globals.out);
  const evaluation::EvaluationSettings settings = references_of(profile.evaluation);

  const nlohmann::ordered_json decides = {
      {"toml", identity(profile)}, {"data", data.content_hash}, {"operator", xxh64(read_file(weights))}};
  const evaluation::Evaluation evaluation{.backbone = *backbone,
                                          .explainers = {},
                                          .data = data,
                                          .settings = settings,
                                          .seed = studied.seed,
                                          .identity = message(decides.dump(), "seed=", studied.seed)};
  const double difference = require_backbone(evaluation, studied);
  runs::Beginning start = study_beginning(globals, profile.data.pde, decides);
  start.seed = studied.seed;
  runs::Manifest manifest(globals.out, part, start);
  const fs::path folder = part.folder(globals.out);
  manifest.stage("references", [&] {
    evaluation::evaluate(evaluation, folder, part);
    if (part.whole()) runs::keep_references(runs::read_results(folder), folder);
  });
  manifest.finish();
  if (!part.whole()) return print_path(globals, "references", folder);

  const reporting::Evidence evidence = reporting::evidence_of_references(
      reporting::agreement_of_references(studied.results, runs::read_results(folder)), difference,
      message(profile.data.pde, ", profile ", studied.profile, ", ", backbone->describe()));
  reporting::write(evidence, folder);
  if (!globals.json) std::cout << evidence.markdown() << '\n';
  print_path(globals, "references", folder / "references.jsonl.gz");
}

}  // namespace

void add_reference_study(CLI::App& study, const Globals& globals) {
  const auto [command, options] = add_command<ReferencesOptions>(
      study, "references",
      "The references of a run computed again with its seed, and whether they agree with its rows; --out FOLDER gets "
      "references.jsonl.gz, which belongs into the folder of the run",
      run, globals);
  command->add_option("--run", options.run, "Folder of a run: manifest.json, config.resolved.toml, rows")->required();
  command->add_option("--operator", options.operator_file,
                      "The run's backbone (.safetensors); default: backbone/model.safetensors of the run");
  command->add_option("--data", options.data,
                      "The run's data set (.h5); default: that of the run's folder, or one that is generated");
  add_shard(*command, options.shard);
}

}  // namespace opshap::cli
