// `opshap operator`: run an operator on fields, look at it, make a file of one, or print its golden values.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/kept_program.hpp"
#include "cli/operator_game.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/scenario.hpp"
#include "data/npy.hpp"
#include "networks/networks.hpp"

namespace opshap::cli {

namespace {

/// What the commands can be told, each of them some of it.
struct OperatorOptions {
  std::filesystem::path file;  ///< weights; or a configuration, or tensors without one
  std::filesystem::path input, mesh;
  std::string config;  ///< JSON text, or the name of a file of it
  std::vector<std::int64_t> input_shape;
  std::string dtype = "float32";
};

networks::Precision parse_precision(const std::string& dtype) {
  return dtype == "float64" ? networks::Precision::float64 : networks::Precision::float32;
}

void golden(const OperatorOptions& options, const Globals& globals) {
  const networks::NetworkConfig config{read_file(options.file)};
  const networks::GoldenValues values =
      networks::library().golden_values(config, options.input_shape, parse_precision(options.dtype), globals.device);
  const nlohmann::ordered_json object = {{"first", values.first},
                                         {"middle", values.middle},
                                         {"last", values.last},
                                         {"mean", values.mean},
                                         {"l2", values.l2}};
  if (globals.json) return print_json(object);
  for (const auto& [key, value] : object.items()) std::cout << key << ' ' << value.dump() << '\n';
}

void run_operator(const OperatorOptions& options, const Globals& globals) {
  require(!globals.out.empty(), "operator run: --out (is missing: the output needs a file). Give --out Y.npy.");
  const data::NpyArray input = data::read_npy(options.input);
  const auto op = asked_operator(options.file, globals, parse_precision(options.dtype),
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
  const std::vector<int> points = shape_of(mesh ? *mesh : outputs.domain);
  output.shape.insert(output.shape.end(), points.begin(), points.end());
  data::write_npy(globals.out, output);
}

void inspect(const OperatorOptions& options, const Globals& globals) {
  // Only a model of which nothing is known asks what it is to get.
  const bool asks = !options.input.empty() && networks::library().is_torch_script(options.file);
  const nlohmann::ordered_json object = networks::library().inspected(
      options.file, asks ? data::read_npy(options.input).shape : std::vector<std::int64_t>{}, globals.device);
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

void serve_file(const OperatorOptions& options, const Globals& globals) {
  serve_operator(*networks::library().load_operator(options.file, globals.device, parse_precision(options.dtype),
                                                    globals.engine, options.input_shape));
}

void import_file(const OperatorOptions& options, const Globals& globals) {
  require(!globals.out.empty(),
          "operator import: --out (is missing: the operator needs a file). Give --out F.safetensors.");
  std::optional<networks::NetworkConfig> config;
  if (!options.config.empty())
    config = {options.config.find('{') == std::string::npos ? read_file(options.config) : options.config};
  networks::library().import_weights(options.file, config, globals.out);
  inspect({.file = globals.out}, globals);
}

CLI::Option* add_dtype(CLI::App& command, OperatorOptions& options) {
  const std::vector<std::string> precisions = {"float32", "float64"};
  return command.add_option("--dtype", options.dtype, "Precision of the computation")->check(CLI::IsMember(precisions));
}

}  // namespace

void add_operator(CLI::App& app, const Globals& globals) {
  auto* command = app.add_subcommand(
      "operator", "Run an operator on fields, look at it, make a file of one, or print its golden values");
  command->require_subcommand(1);

  const auto [golden_command, golden_options] = add_command<OperatorOptions>(
      *command, "golden", "Values of the operator of a config with prescribed weights, to compare implementations",
      golden, globals);
  golden_options.dtype = "float64";
  golden_command->add_option("config", golden_options.file, "CONFIG.json")->required();
  golden_command->add_option("--input-shape", golden_options.input_shape, "B,C,n or B,C,n0,n1")
      ->required()
      ->delimiter(',');
  add_dtype(*golden_command, golden_options)->capture_default_str();

  const auto [run_command, run_options] =
      add_command<OperatorOptions>(*command, "run", "Output fields of an operator; --out Y.npy", run_operator, globals);
  run_command->add_option("weights", run_options.file, "Operator (.safetensors)")->required();
  run_command->add_option("--input", run_options.input, "Fields [B, C, n] or [B, C, n0, n1], or one without B (.npy)")
      ->required();
  run_command->add_option("--mesh", run_options.mesh,
                          "The mesh that the fields [B, C, N] live on: .npy, .npz or .msh, as attribute takes it");
  add_dtype(*run_command, run_options)->capture_default_str();

  const auto [inspect_command, inspect_options] = add_command<OperatorOptions>(
      *command, "inspect", "What a file of weights holds; of a TorchScript archive also which grids its model takes",
      inspect, globals);
  inspect_command->add_option("weights", inspect_options.file, "Operator (.safetensors, or a TorchScript archive)")
      ->required();
  inspect_command->add_option("--input", inspect_options.input,
                              "With a TorchScript archive: a field that it takes (.npy), which says axes and channels");

  // Our own side of asked_operator(): no command for people, so no help names it.
  const auto [serve_command, serve_options] = add_command<OperatorOptions>(
      *command, "serve", "Answer questions about an operator as a program", serve_file, globals);
  serve_command->group("");
  serve_command->add_option("weights", serve_options.file, "Operator")->required();
  serve_command->add_option("--input-shape", serve_options.input_shape, "Of an array that it is to get")
      ->delimiter(',');
  add_dtype(*serve_command, serve_options);

  const auto [import_command, import_options] = add_command<OperatorOptions>(
      *command, "import",
      "Make an operator of a state_dict in safetensors, checked against its configuration; --out F.safetensors",
      import_file, globals);
  import_command->add_option("tensors", import_options.file, "Tensors of a state_dict (.safetensors)")->required();
  import_command->add_option("--config", import_options.config,
                             "CONFIG of the model, as JSON text or a file of it, for tensors that come without one");
}

}  // namespace opshap::cli
