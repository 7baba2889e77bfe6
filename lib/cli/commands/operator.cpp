// `opshap operator`: run an operator on fields, look at it, make a file of one, or print its golden values.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/kept_program.hpp"
#include "cli/operator_game.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/npy.hpp"
#include "networks/networks.hpp"

namespace opshap::cli {

namespace {

struct GoldenOptions {
  std::filesystem::path config;
  std::vector<std::int64_t> input_shape;
  std::string dtype = "float64";
};

struct ServeOptions {
  std::filesystem::path weights;
  std::vector<std::int64_t> input_shape;
  std::string dtype = "float32";
};

struct RunOptions {
  std::filesystem::path weights, input, mesh;
  std::string dtype = "float32";
};

struct InspectOptions {
  std::filesystem::path weights, input;
};

struct ImportOptions {
  std::filesystem::path tensors;
  std::string config;  ///< JSON text, or the name of a file of it
};

networks::Precision parse_precision(const std::string& dtype) {
  return dtype == "float64" ? networks::Precision::float64 : networks::Precision::float32;
}

void golden(const GoldenOptions& options, const Globals& globals) {
  const networks::NetworkConfig config{read_file(options.config)};
  const networks::GoldenValues values =
      networks::library().golden_values(config, options.input_shape, parse_precision(options.dtype), globals.device);
  const nlohmann::ordered_json object = {{"first", values.first},
                                         {"middle", values.middle},
                                         {"last", values.last},
                                         {"mean", values.mean},
                                         {"l2", values.l2}};
  if (globals.json) {
    print_json(object);
  } else {
    for (const auto& [key, value] : object.items()) std::cout << key << ' ' << value.dump() << '\n';
  }
}

void run_operator(const RunOptions& options, const Globals& globals) {
  const data::NpyArray input = data::read_npy(options.input);
  const auto op = asked_operator(options.weights, globals, parse_precision(options.dtype),
                                 options.mesh.empty() ? input.shape : std::vector<std::int64_t>{});
  const std::optional<Domain> mesh = wanted_mesh(options.mesh, *op);
  FieldBatch outputs = op->apply(fields_of(input, options.input.string(), *op, Several::allowed, mesh));
  const auto bad = std::ranges::find_if(outputs.values, [](double value) { return !std::isfinite(value); });
  require<NumericalError>(bad == outputs.values.end(), "operator run: output=", bad == outputs.values.end() ? 0 : *bad,
                          " (", op->describe(), " gives it at entry ", bad - outputs.values.begin(), " for ",
                          options.input.string(), "). Check the weights, and whether the input is of their size.");
  data::NpyArray output{.shape = {outputs.batch, outputs.channels},
                        .dtype = options.dtype == "float64" ? data::Dtype::float64 : data::Dtype::float32,
                        .values = std::move(outputs.values)};
  if (mesh) {
    output.shape.push_back(mesh->points());
  } else {
    const std::vector<int>& points = outputs.domain.shape();
    output.shape.insert(output.shape.end(), points.begin(), points.end());
  }
  data::write_npy(globals.out, output);
}

void inspect(const InspectOptions& options, const Globals& globals) {
  // Only a model of which nothing is known asks what it is to get.
  const bool asks = !options.input.empty() && networks::library().is_torch_script(options.weights);
  const nlohmann::ordered_json object = networks::library().inspected(
      options.weights, asks ? data::read_npy(options.input).shape : std::vector<std::int64_t>{}, globals.device);
  if (globals.json) return print_json(object);
  for (const auto& [key, value] : object.items()) {
    if (key != "grids") {
      std::cout << key << ": " << (value.is_string() ? value.get<std::string>() : value.dump()) << '\n';
      continue;
    }
    for (const auto& row : value) {
      std::cout << "grid " << row["shape"].dump() << ": ";
      if (row.contains("failure")) {
        std::cout << "not taken (" << row["failure"].get<std::string>() << ")\n";
      } else {
        std::cout << "taken";
        if (row.contains("change_to_twice_as_many"))
          std::cout << fmt::format(", changes by {:.2g} on twice as many points",
                                   row["change_to_twice_as_many"].get<double>());
        std::cout << '\n';
      }
    }
  }
}

void import_file(const ImportOptions& options, const Globals& globals) {
  std::optional<networks::NetworkConfig> config;
  if (!options.config.empty())
    config = {options.config.find('{') == std::string::npos ? read_file(options.config) : options.config};
  networks::library().import_weights(options.tensors, config, globals.out);
  inspect({.weights = globals.out, .input = {}}, globals);
}

}  // namespace

void add_operator(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "operator", "Run an operator on fields, look at it, make a file of one, or print its golden values");
  command->require_subcommand(1);
  const std::vector<std::string> precisions = {"float32", "float64"};

  auto* golden_command = command->add_subcommand(
      "golden", "Values of the operator of a config with prescribed weights, to compare implementations");
  const auto golden_options = std::make_shared<GoldenOptions>();
  golden_command->add_option("config", golden_options->config, "CONFIG.json")->required();
  golden_command->add_option("--input-shape", golden_options->input_shape, "B,C,n or B,C,n0,n1")
      ->required()
      ->delimiter(',');
  golden_command->add_option("--dtype", golden_options->dtype, "Precision of the computation")
      ->check(CLI::IsMember(precisions))
      ->capture_default_str();
  golden_command->callback([golden_options, &globals] { golden(*golden_options, globals); });

  auto* run_command = command->add_subcommand("run", "Output fields of an operator; --out Y.npy");
  const auto run_options = std::make_shared<RunOptions>();
  run_command->add_option("weights", run_options->weights, "Operator (.safetensors)")->required();
  run_command->add_option("--input", run_options->input, "Fields [B, C, n] or [B, C, n0, n1], or one without B (.npy)")
      ->required();
  run_command->add_option("--mesh", run_options->mesh,
                          "The mesh that the fields [B, C, N] live on: .npy, .npz or .msh, as attribute takes it");
  run_command->add_option("--dtype", run_options->dtype, "Precision of the computation")
      ->check(CLI::IsMember(precisions))
      ->capture_default_str();
  run_command->callback([run_options, &globals] {
    require(!globals.out.empty(), "operator run: --out (is missing: the output needs a file). Give --out Y.npy.");
    run_operator(*run_options, globals);
  });

  auto* inspect_command = command->add_subcommand(
      "inspect", "What a file of weights holds; of a TorchScript archive also which grids its model takes");
  const auto inspect_options = std::make_shared<InspectOptions>();
  inspect_command->add_option("weights", inspect_options->weights, "Operator (.safetensors, or a TorchScript archive)")
      ->required();
  inspect_command->add_option("--input", inspect_options->input,
                              "With a TorchScript archive: a field that it takes (.npy), which says axes and channels");
  inspect_command->callback([inspect_options, &globals] { inspect(*inspect_options, globals); });

  // Our own side of asked_operator(): no command for people, so no help names it.
  auto* serve_command = command->add_subcommand("serve", "Answer questions about an operator as a program")->group("");
  const auto serve_options = std::make_shared<ServeOptions>();
  serve_command->add_option("weights", serve_options->weights, "Operator")->required();
  serve_command->add_option("--input-shape", serve_options->input_shape, "Of an array that it is to get")
      ->delimiter(',');
  serve_command->add_option("--dtype", serve_options->dtype, "Precision of the computation")
      ->check(CLI::IsMember(precisions));
  serve_command->callback([serve_options, &globals] {
    serve_operator(*networks::library().load_operator(serve_options->weights, globals.device,
                                                      parse_precision(serve_options->dtype), globals.engine,
                                                      serve_options->input_shape));
  });

  auto* import_command = command->add_subcommand(
      "import",
      "Make an operator of a state_dict in safetensors, checked against its configuration; --out F.safetensors");
  const auto import_options = std::make_shared<ImportOptions>();
  import_command->add_option("tensors", import_options->tensors, "Tensors of a state_dict (.safetensors)")->required();
  import_command->add_option("--config", import_options->config,
                             "CONFIG of the model, as JSON text or a file of it, for tensors that come without one");
  import_command->callback([import_options, &globals] {
    require(!globals.out.empty(),
            "operator import: --out (is missing: the operator needs a file). Give --out F.safetensors.");
    import_file(*import_options, globals);
  });
}

}  // namespace opshap::cli
