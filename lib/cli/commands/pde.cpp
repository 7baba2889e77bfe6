#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/commands.hpp"
#include "cli/operator_game.hpp"
#include "core/error.hpp"
#include "data/npy.hpp"
#include "pde/fields.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

struct SolveOptions {
  std::string name, initial;
  std::optional<double> time;
  std::vector<std::string> settings;
};

/// The input field of a problem, or the state of an evolution, from an array, on a grid of the array's size over the
/// problem's domain.
FieldBatch problem_input(const data::NpyArray& array, const pde::Problem& problem) {
  pde::Space space = problem.input();
  if (problem.evolution() != nullptr && array.shape.size() == 1 + space.domain.axes().size()) {
    const pde::Space state = problem.evolution()->state();
    if (array.shape[0] == state.channel_count()) space = state;
  }
  FieldBatch field = input_field(array.shape, array.reals("pde solve"), space.domain.dimension(), space.channel_count(),
                                 message("pde solve ", problem.name()));
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < space.domain.axes().size(); ++axis)
    axes.push_back(space.domain.axes()[axis].resampled(field.domain.shape()[axis]));
  field.domain = Domain::grid(std::move(axes));
  return field;
}

/// [C, n..]; without the channel axis when the input had none and one channel came out.
std::vector<std::int64_t> output_shape(const FieldBatch& output, std::size_t input_axes) {
  std::vector<std::int64_t> shape(output.domain.shape().begin(), output.domain.shape().end());
  if (output.channels > 1 || input_axes > shape.size()) shape.insert(shape.begin(), output.channels);
  return shape;
}

pde::Solution solution_of(const pde::Problem& problem, const FieldBatch& input, std::optional<double> time) {
  if (!time) return problem.solve(input);
  const pde::Evolution* evolution = problem.evolution();
  require(evolution != nullptr, "pde solve: --time=", *time, " (", problem.name(),
          " does not depend on time). Leave it out.");
  return evolution->solve(input, *time);
}

void run_solve(const SolveOptions& options, const Globals& globals) {
  require(!globals.out.empty(), "pde solve: --out (the solution needs a file). Give --out OUT.npy.");
  const bool piped = globals.out == "-";
  require(!(piped && globals.json),
          "pde solve: --out - --json (both want standard output). Write the solution to a file.");
  const std::unique_ptr<pde::Problem> problem = pde::find(options.name).with(pde::parse_parameters(options.settings));
  const data::NpyArray initial = data::read_npy(options.initial);
  const FieldBatch input = problem_input(initial, *problem);
  if (const std::string remark = pde::seam_remark(input); !remark.empty())
    std::cerr << "pde solve: note: " << remark << '\n';
  const pde::Solution solution = solution_of(*problem, input, options.time);
  data::write_npy(globals.out,
                  {output_shape(solution.output, initial.shape.size()), data::Dtype::float64, solution.output.values});
  if (piped) return;

  nlohmann::ordered_json json = {{"pde", options.name}};
  if (problem->evolution() != nullptr) json["time"] = options.time.value_or(problem->evolution()->target_time());
  json["steps"] = solution.steps;
  const std::vector<pde::Invariant> invariants = problem->invariants();
  for (std::size_t i = 0; i < invariants.size(); ++i) {
    json["invariants"].push_back({{"name", invariants[i].name},
                                  {"value", solution.departures[i]},
                                  {"data_limit", invariants[i].limit},
                                  {"holds", invariants[i].allows(solution.departures[i])}});
  }
  if (globals.json) return print_json(json);
  std::cout << globals.out.string() << ": " << options.name;
  if (json.contains("time")) std::cout << " at t = " << json["time"];
  std::cout << ", " << solution.steps << " steps\n";
  for (std::size_t i = 0; i < invariants.size(); ++i) {
    std::cout << (invariants[i].allows(solution.departures[i]) ? "ok      " : "EXCEEDS ") << invariants[i].name << " "
              << solution.departures[i] << " (data sets allow " << invariants[i].limit << ")\n";
  }
}

}  // namespace

void add_pde(CLI::App& app, const Globals& globals) {
  CLI::App* pde = app.add_subcommand("pde", "Solve a problem of the data sets for your own input field");
  pde->require_subcommand(1);
  const auto [solve, options] = add_command<SolveOptions>(
      *pde, "solve",
      "From an input field to the output field on the same grid; for an evolution, from time 0 to another time",
      run_solve, globals);
  solve->add_option("name", options.name, "Which PDE (`opshap list pdes`)")->required();
  solve
      ->add_option("--initial", options.initial,
                   "Input field, .npy, float64 or float32: [N] or [C,N] in 1D, [nx,ny] or [C,nx,ny] in 2D; axis 0 is x")
      ->required();
  solve->add_option("--time", options.time, "When, for an evolution (default: the target time of the data sets)");
  solve->add_option("--set", options.settings, "A parameter of the PDE, name=value; may be repeated")
      ->allow_extra_args(false);
}

}  // namespace opshap::cli
