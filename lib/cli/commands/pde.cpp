#include <CLI/CLI.hpp>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "cli/commands.hpp"
#include "cli/operator_game.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "data/npy.hpp"
#include "pde/fields.hpp"
#include "pde/registry.hpp"

namespace opshap::cli {

namespace {

struct SolveOptions {
  std::string name, initial;
  std::optional<double> time;
  std::vector<std::string> settings;
  int frames = 0;  ///< of a flow on a mesh; 0: those of the data sets
  bool steady = false;
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

using Json = nlohmann::ordered_json;

/// [{"name","value","data_limit","holds"},..].
Json invariants_in_json(const pde::Equation& equation, const std::vector<double>& departures) {
  Json json = Json::array();
  const std::vector<pde::Invariant> invariants = equation.invariants();
  for (std::size_t i = 0; i < invariants.size(); ++i) {
    json.push_back({{"name", invariants[i].name},
                    {"value", departures[i]},
                    {"data_limit", invariants[i].limit},
                    {"holds", invariants[i].allows(departures[i])}});
  }
  return json;
}

void print_invariants(const Json& invariants) {
  for (const Json& invariant : invariants) {
    std::cout << (invariant["holds"] ? "ok      " : "EXCEEDS ") << invariant["name"].get<std::string>() << " "
              << invariant["value"].get<double>() << " (data sets allow " << invariant["data_limit"].get<double>()
              << ")\n";
  }
}

/// The times of so many frames from 0 to `end`; those of the data sets where nobody says.
std::vector<double> frame_times(const pde::Trajectories& of, const SolveOptions& options) {
  if (!options.time && options.frames == 0) return of.times();
  const double end = options.time.value_or(of.times().back());
  const int frames = options.frames == 0 ? 2 : options.frames;
  require(frames >= 2 && end > 0 && std::isfinite(end), "pde solve: --frames=", frames, ", --time=", end,
          " (frames go from time 0 to a later one). Give 2 frames or more, and a positive time.");
  std::vector<double> times;
  for (int frame = 0; frame < frames; ++frame) times.push_back(end * frame / (frames - 1));
  return times;
}

/// Arrays as the MeshGraphNets release has them: mesh_pos [N,2], cells [C,3], node_type [N,1], and for each field of a
/// frame [T,N,its channels]; and `times` [T].
std::vector<std::pair<std::string, data::NpyArray>> arrays_of(const pde::Trajectories& of,
                                                              const pde::Trajectory& flow) {
  const Mesh& mesh = flow.domain.as_mesh();
  const std::size_t frames = flow.times.size();
  std::vector<std::int64_t> types;
  for (const pde::NodeType type : flow.node_types) types.push_back(static_cast<std::int64_t>(type));
  const auto rows = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  std::vector<std::pair<std::string, data::NpyArray>> arrays = {
      {"mesh_pos", {{flow.nodes(), 2}, data::Dtype::float64, mesh.points}},
      {"cells", {{rows(mesh.cells.size() / 3), 3}, data::Dtype::int32, mesh.cells}},
      {"node_type", {{flow.nodes(), 1}, data::Dtype::int32, types}},
      {"times", {{rows(frames)}, data::Dtype::float64, flow.times}}};
  const std::vector<pde::Channel> channels = of.state();
  for (std::size_t first = 0; first < channels.size();) {
    const bool vector = channels[first].name.ends_with("_x");  // and the next one is its y
    const std::size_t width = vector ? 2 : 1;
    const std::vector<float> values = flow.nodes_first(first, width);
    const std::string& name = channels[first].name;
    arrays.push_back({vector ? name.substr(0, name.size() - 2) : name,
                      {{rows(frames), flow.nodes(), rows(width)},
                       data::Dtype::float32,
                       std::vector<double>(values.begin(), values.end())}});
    first += width;
  }
  return arrays;
}

/// A flow on a mesh: geometry and numbers are among the settings.
void run_flow(const SolveOptions& options, const Globals& globals) {
  require(options.initial.empty(), "pde solve: --initial (", options.name,
          " begins at rest or with its free stream). Leave it out.");
  require(globals.out.extension() == ".npz", "pde solve: --out=", globals.out.string(),
          " (a flow has several arrays). Give a file that ends in .npz.");
  require(!options.steady || (!options.time && options.frames == 0),
          "pde solve: --steady, --time, --frames (a steady flow has no times). Give one or the other.");
  pde::ParameterValues parameters = pde::parse_parameters(options.settings), drawn;
  const pde::Trajectories& usual = pde::find_trajectories(options.name);
  for (const pde::Parameter& number : usual.numbers())
    if (const auto found = parameters.find(number.name); found != parameters.end())
      drawn.insert(parameters.extract(found));
  const std::unique_ptr<pde::Trajectories> of = usual.with(parameters);
  const std::vector<pde::Parameter> numbers = pde::changed(options.name, of->numbers(), drawn);
  const pde::Trajectory flow = options.steady ? of->steady(numbers) : of->run(numbers, frame_times(*of, options));
  write_file(globals.out, data::format_npz(arrays_of(*of, flow)));

  Json json = {{"pde", options.name},       {"steady", options.steady},
               {"times", flow.times},       {"nodes", flow.nodes()},
               {"dt", flow.step},           {"steps", flow.steps},
               {"numbers", Json::object()}, {"invariants", invariants_in_json(*of, flow.departures)}};
  for (const pde::Parameter& number : numbers) json["numbers"][number.name] = number.value;
  for (const pde::Recorded& recorded : flow.recorded) json[recorded.name] = recorded.values;
  if (globals.json) return print_json(json);
  std::cout << globals.out.string() << ": " << options.name << " on " << flow.domain.describe() << ", "
            << flow.times.size() << (flow.times.size() == 1 ? " frame, " : " frames, ") << flow.steps << " steps\n";
  for (const pde::Recorded& recorded : flow.recorded)
    std::cout << recorded.name << " " << recorded.values.back() << " at the end\n";
  print_invariants(json["invariants"]);
}

void run_solve(const SolveOptions& options, const Globals& globals) {
  require(!globals.out.empty(), "pde solve: --out (the solution needs a file). Give --out OUT.npy.");
  if (pde::has_trajectories(options.name)) return run_flow(options, globals);
  require(!options.steady && options.frames == 0, "pde solve: --steady, --frames (", options.name,
          " is no flow on a mesh). Leave them out.");
  require(!options.initial.empty(), "pde solve: --initial (the input field is not said). Give --initial IN.npy.");
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

  Json json = {{"pde", options.name}};
  if (problem->evolution() != nullptr) json["time"] = options.time.value_or(problem->evolution()->target_time());
  json["steps"] = solution.steps;
  if (const Json invariants = invariants_in_json(*problem, solution.departures); !invariants.empty())
    json["invariants"] = invariants;
  if (globals.json) return print_json(json);
  std::cout << globals.out.string() << ": " << options.name;
  if (json.contains("time")) std::cout << " at t = " << json["time"];
  std::cout << ", " << solution.steps << " steps\n";
  print_invariants(invariants_in_json(*problem, solution.departures));
}

}  // namespace

void add_pde(CLI::App& app, const Globals& globals) {
  CLI::App* pde = app.add_subcommand("pde", "Solve a problem of the data sets for your own input field");
  pde->require_subcommand(1);
  const auto [solve, options] = add_command<SolveOptions>(
      *pde, "solve",
      "From an input field to the output field on the same grid; for an evolution, from time 0 to another time; a flow "
      "on a mesh from its geometry and numbers",
      run_solve, globals);
  solve->add_option("name", options.name, "Which PDE (`opshap list pdes`)")->required();
  solve->add_option("--initial", options.initial,
                    "Input field, .npy, float64 or float32: [N] or [C,N] in 1D, [nx,ny] or [C,nx,ny] in 2D; axis 0 is "
                    "x. A flow on a mesh has none");
  solve->add_option("--time", options.time, "When, for an evolution (default: the target time of the data sets)");
  solve
      ->add_option("--frames", options.frames,
                   "Frames of a flow on a mesh, from time 0 to --time (default: those of the data sets)")
      ->check(CLI::Range(2, 1'000'000));
  solve->add_flag("--steady", options.steady, "The steady flow, by local time steps (airfoil)");
  solve
      ->add_option("--set", options.settings,
                   "A parameter of the PDE, name=value, or of a flow a number that data sets draw; may be repeated")
      ->allow_extra_args(false);
}

}  // namespace opshap::cli
