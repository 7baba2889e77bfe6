#include <iostream>
#include <optional>

#include "cli/commands.hpp"
#include "core/error.hpp"
#include "data/npy.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

struct SolveOptions {
  std::string name, initial;
  std::optional<double> time;
  std::vector<std::string> settings;
};

/// An array of the PDE's dimension, or one more axis in front for the channels.
FieldBatch field_of(const data::NpyArray& array, const pde::Pde& pde) {
  const auto dimension = static_cast<std::size_t>(pde.native_domain().dimension());
  const std::vector<double>& values = array.reals("pde solve");
  const std::size_t axes = array.shape.size();
  require(axes == dimension || axes == dimension + 1, "pde solve: --initial has ", axes, " axes (", pde.name(),
          " needs ", dimension, ", or ", dimension + 1, " with channels in front). Reshape the array.");
  Domain domain = pde.native_domain();
  for (std::size_t axis = 0; axis < dimension; ++axis) {
    const std::int64_t points = array.shape[axes - dimension + axis];
    require(points >= 1 && points <= 1 << 24, "pde solve: --initial has ", points, " points on axis ", axis,
            " (1 to 2^24 can be solved). Give another grid.");
    domain.shape[axis] = static_cast<int>(points);
  }
  const std::int64_t channels = axes == dimension ? 1 : array.shape[0];
  require(channels == pde.channels(), "pde solve: --initial has ", channels, " channels (", pde.name(), " has ",
          pde.channels(), "). Reshape the array.");
  FieldBatch field{domain, 1, pde.channels(), values};
  require_finite(field, "pde solve");
  return field;
}

void run_solve(const Globals& globals, const SolveOptions& options) {
  require(!globals.out.empty(), "pde solve: --out (the solution needs a file). Give --out OUT.npy.");
  const bool piped = globals.out == "-";
  require(!(piped && globals.json),
          "pde solve: --out - --json (both want standard output). Write the solution to a file.");
  const std::unique_ptr<pde::Pde> pde = pde::find(options.name).with(pde::parse_parameters(options.settings));
  const double time = options.time.value_or(pde->target_time());
  const data::NpyArray initial = data::read_npy(options.initial);
  const pde::Solution solution = pde->solve(field_of(initial, *pde), time);
  data::write_npy(globals.out, {initial.shape, data::Dtype::float64, solution.field.values});
  if (piped) return;

  nlohmann::ordered_json json = {{"pde", options.name},
                                 {"time", time},
                                 {"steps", solution.steps},
                                 {"invariants", nlohmann::ordered_json::array()}};
  for (const pde::Invariant& invariant : solution.invariants) {
    json["invariants"].push_back({{"name", invariant.name},
                                  {"value", invariant.value},
                                  {"data_limit", invariant.limit},
                                  {"holds", invariant.holds()}});
  }
  if (globals.json) return print_json(json);
  std::cout << globals.out.string() << ": " << options.name << " at t = " << time << ", " << solution.steps
            << " steps\n";
  for (const pde::Invariant& invariant : solution.invariants) {
    std::cout << (invariant.holds() ? "ok      " : "EXCEEDS ") << invariant.name << " " << invariant.value
              << " (data sets allow " << invariant.limit << ")\n";
  }
}

}  // namespace

void add_pde(CLI::App& app, const Globals& globals) {
  CLI::App* pde = app.add_subcommand("pde", "Solve a partial differential equation from your own initial field");
  pde->require_subcommand(1);
  auto options = std::make_shared<SolveOptions>();
  CLI::App* solve = pde->add_subcommand(
      "solve", "From an initial field at time 0 to the field at another time, on the grid of the input");
  solve->add_option("name", options->name, "Which PDE (`opshap list pdes`)")->required();
  solve->add_option("--initial", options->initial, "Initial field, .npy, float64 or float32: [N] in 1D; axis 0 is x")
      ->required();
  solve->add_option("--time", options->time, "When (default: the target time of the data sets)");
  solve->add_option("--set", options->settings, "A parameter of the PDE, name=value; may be repeated")
      ->allow_extra_args(false);
  solve->callback([&globals, options] { run_solve(globals, *options); });
}

}  // namespace opshap::cli
