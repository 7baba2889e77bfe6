// `opshap evaluate`: score an explainer and estimators on the test inputs of a data set.

#include <memory>

#include "cli/commands.hpp"
#include "cli/profile.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "evaluation/evaluate.hpp"
#include "explainers/operator_shap.hpp"
#include "operators/weights.hpp"

namespace opshap::cli {

namespace {

struct Options {
  std::filesystem::path data, operator_file, explainer_file;
  std::string profile = "smoke";
};

}  // namespace

void add_network_evaluate(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "evaluate", "Score an explainer and estimators on the test inputs against a reference; --out gets results.jsonl");
  const auto options = std::make_shared<Options>();
  command->add_option("--data", options->data, "Data set (.h5)")->required();
  command->add_option("--operator", options->operator_file, "Backbone (.safetensors)")->required();
  command->add_option("--explainer", options->explainer_file, "Explainer (.safetensors)")->required();
  command->add_option("--profile", options->profile, "Profile whose [evaluation] is used")->capture_default_str();
  command->callback([options, &globals] {
    require(!globals.out.empty(), "evaluate: --out (is missing: the rows need a folder). Give --out FOLDER.");
    const Profile profile = load_profile(options->profile, globals.config);
    const data::Dataset data = data::read_dataset(options->data);
    const auto backbone =
        operators::load_operator(options->operator_file, globals.device, operators::Precision::float32, globals.engine);
    const auto explainer = explainers::load_explainer(options->explainer_file, globals.device);
    const auto explained = methods::of_explainer(*explainer);
    make_folder(globals.out);
    evaluation::evaluate({.backbone = *backbone,
                          .explainers = {explained.get()},
                          .data = data,
                          .settings = profile.evaluation,
                          .seed = globals.seed},
                         globals.out);
    std::cout << (globals.out / "results.jsonl").string() << '\n';
  });
}

}  // namespace opshap::cli
