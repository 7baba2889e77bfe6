#include "data/import_pdebench.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/process.hpp"
#include "data/hdf5.hpp"
#include "data/npy.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

/// What is known of one of PDEBench's problems without its files.
struct Known {
  std::string name;  ///< of the set, behind "pdebench_"
  std::string equation;
  int dimension = 1;
  double begin = 0, end = 1;  ///< of each axis
  bool periodic = false;
  std::vector<pde::Channel> input = {{"u", "1"}}, output = input;
  /// Of the target: the time that the paper takes for its problem of this kind, and the step of that time in the
  /// published files, for files without times. Nothing: half of all times.
  std::optional<double> time = {};
  std::int64_t time_index = 0;
  std::string note = {};  ///< what to know before the data are used
};

const std::vector<Known>& known_problems() {
  static const std::vector<Known> problems = {
      {.name = "advection1d",
       .equation = "u_t + beta u_x = 0, periodic on [0, 1]",
       .periodic = true,
       .time = 0.3,
       .time_index = 30,
       .note = "An upwind scheme of second order made the targets. They are smoothed by its numerical diffusion, and "
               "are not the exact shifts of the inputs."},
      {.name = "burgers1d",
       .equation = "u_t + u u_x = (Nu/pi) u_xx, periodic on [0, 1]",
       .periodic = true,
       .time = 0.5,
       .time_index = 50,
       .note = "The viscosity of the equation is Nu/pi. The number in the name of the file is Nu."},
      {.name = "tensor1d",
       .equation = "an equation in one dimension that the file does not name, periodic on [0, 1]",
       .periodic = true,
       .note = "The attributes of the file say neither advection nor Burgers. The grid is taken as periodic, as in "
               "all files of this layout that PDEBench published."},
      {.name = "diffusion_sorption1d",
       .equation = "u_t = D/R(u) u_xx on [0, 1]",
       .time = 250,
       .time_index = 50,
       .note =
           "Each input is a constant field, so it carries a single number. The coefficients of R are PDEBench's and "
           "not those of the paper."},
      {.name = "darcy2d",
       .equation = "-div(a grad u) = beta on [0, 1]^2",
       .dimension = 2,
       .input = {{"a", "1"}},
       .output = {{"u", "1"}},
       .note = "The coefficient has the values 0.1 and 1. PDEBench sets u to 0 half a cell outside of the domain, and "
               "calls that a Neumann condition."},
      {.name = "shallow_water2d",
       .equation = "shallow water equations with g = 1, radial dam break on [-2.5, 2.5]^2",
       .dimension = 2,
       .begin = -2.5,
       .end = 2.5,
       .input = {{"h", "1"}},
       .time = 0.25,
       .time_index = 25},
      {.name = "diffusion_reaction2d",
       .equation = "u_t = Du Laplace u + u - u^3 - k - v, v_t = Dv Laplace v + u - v on [-1, 1]^2",
       .dimension = 2,
       .begin = -1,
       .input = {{"u", "1"}, {"v", "1"}},
       .note =
           "The equations are of FitzHugh-Nagumo type with white noise as initial field. They are not those of Gray "
           "and Scott."}};
  return problems;
}

const Known& known(const std::string& name) { return *std::ranges::find(known_problems(), name, &Known::name); }

/// An array and those of its axes that count: the first one, and all with more than one entry.
struct Array {
  std::string path;
  std::vector<std::int64_t> sizes;  ///< of all axes
  std::vector<std::size_t> axes;    ///< those that count

  static Array open(const Hdf5Source& file, const std::string& path) {
    Array array{path, file.shape(path), {}};
    for (std::size_t axis = 0; axis < array.sizes.size(); ++axis) {
      if (axis == 0 || array.sizes[axis] != 1) array.axes.push_back(axis);
    }
    return array;
  }

  std::size_t rank() const { return axes.size(); }
  std::int64_t size(std::size_t axis) const { return sizes[axes.at(axis)]; }

  struct Range {
    std::int64_t first, count;
  };
  /// Appends a block: `ranges` is for the first of the axes that count, the others are taken whole.
  void read(const Hdf5Source& file, const std::vector<Range>& ranges, std::vector<float>& values) const {
    std::vector<std::int64_t> start(sizes.size(), 0), count = sizes;
    for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
      start[axes[axis]] = ranges[axis].first;
      count[axes[axis]] = ranges[axis].count;
    }
    file.read(path, start, count, values);
  }
};

/// Middles of equal cells as an axis, or nodes from end to end; without coordinates the cells of the known interval.
Axis stored_axis(const Hdf5Source& file, const std::string& path, std::int64_t points, const Known& problem) {
  constexpr std::int64_t most = 1 << 24;
  require<DataError>(points >= 2 && points <= most, "data import: file=", file.name(), ", points=", points,
                     " (an axis has 2 to ", most, "). Get the file again.");
  const Axis expected =
      Axis::cells(static_cast<int>(points), problem.end - problem.begin, problem.begin, problem.periodic);
  if (!file.has_array(path)) return expected;
  const std::vector<double> coordinates = file.numbers(path);
  require<DataError>(std::ssize(coordinates) == points, "data import: file=", file.name(), ", ", path, "=",
                     coordinates.size(), " (the fields have ", points, " points on that axis). Get the file again.");
  const double spacing = (coordinates.back() - coordinates.front()) / static_cast<double>(points - 1);
  const Axis found = Axis::cells(static_cast<int>(points), std::max(spacing, 1e-300) * static_cast<double>(points),
                                 coordinates.front() - spacing / 2, problem.periodic);
  // Coordinates are stored as float32, whose rounding is up to a ten-thousandth of the spacing of a thousand points.
  const auto on = [&](const Axis& axis) {
    const auto near = [&](double stored, double exact) { return std::abs(stored - exact) <= 1e-3 * spacing; };
    return std::ranges::equal(coordinates, axis.coordinates(), near);
  };
  if (on(expected)) return expected;
  const Axis nodes = Axis::closed(static_cast<int>(points), problem.end - problem.begin, problem.begin);
  if (!problem.periodic && on(nodes)) return nodes;
  require<DataError>(spacing > 0 && on(found), "data import: file=", file.name(), ", ", path,
                     " (is not ascending in equal steps). Get the file again.");
  return found;
}

/// The time step of the target and its time, if the file has times.
struct TargetStep {
  std::int64_t index = 0;
  std::optional<double> time = {};
};

TargetStep target_step(const Hdf5Source& file, const std::string& path, std::int64_t steps, const Known& problem,
                       std::optional<std::int64_t> asked) {
  require<DataError>(steps >= 2, "data import: file=", file.name(), ", times=", steps,
                     " (there are input and target only with 2 or more). Get the file again.");
  const std::vector<double> times = file.has_array(path) ? file.numbers(path) : std::vector<double>{};
  require<DataError>(times.empty() || std::ssize(times) == steps || std::ssize(times) == steps + 1,
                     "data import: file=", file.name(), ", ", path, "=", times.size(), " (the fields have ", steps,
                     " times). Get the file again.");
  TargetStep target{std::max<std::int64_t>(problem.time ? problem.time_index : (steps - 1) / 2, 1)};
  if (asked) {
    target.index = *asked;
  } else if (problem.time && !times.empty()) {
    const double step = (times[static_cast<std::size_t>(steps - 1)] - times[0]) / static_cast<double>(steps - 1);
    const auto end = times.begin() + steps;
    const auto found =
        std::find_if(times.begin(), end, [&](double time) { return std::abs(time - *problem.time) <= 1e-3 * step; });
    require(found != end, "data import: file=", file.name(), ", ", path, " (its times are ", times[0], " to ",
            *(end - 1), " in steps of ", step, ", and none is ", *problem.time,
            "). Choose the step of the target with --time-index.");
    target.index = found - times.begin();
  }
  require(target.index >= 1 && target.index < steps, "data import: file=", file.name(), ", time_index=", target.index,
          " (the times are counted from 0, which is the input, to ", steps - 1,
          "). Choose one of them with --time-index.");
  if (!times.empty()) target.time = times[static_cast<std::size_t>(target.index)];
  return target;
}

/// Those of the file's attributes that are numbers.
Json attributes(const Hdf5Source& file, std::initializer_list<const char*> names) {
  Json found = Json::object();
  for (const char* name : names) {
    if (const auto value = file.number_attribute("/", name)) found[name] = *value;
  }
  return found;
}

/// A source without its samples. `parameters` are the numbers of the equation that the file names.
ImportSource source_of(const Hdf5Source& file, const Known& problem, const char* layout, const Domain& domain,
                       const TargetStep& target, const Json& parameters) {
  ImportSource source;
  source.name = "pdebench_" + problem.name;
  source.equation = problem.equation + ", of PDEBench";
  source.input = {problem.input, domain};
  source.output = {problem.output, domain};
  source.files = {file.name()};
  source.options = Json::object();
  if (target.index > 0) source.options["time_index"] = target.index;
  source.facts = {{"format", "PDEBench"}, {"layout", layout}, {"parameters", parameters}};
  if (target.time) source.facts["target_time"] = *target.time;
  if (!problem.note.empty()) source.facts["notes"] = {problem.note};
  return source;
}

using File = std::shared_ptr<const Hdf5Source>;

/// `tensor` [samples, times, points].
ImportSource series(const File& file, const Known& problem, const Array& tensor, const PdebenchOptions& options) {
  const Domain domain = Domain::grid({stored_axis(*file, "/x-coordinate", tensor.size(2), problem)});
  const TargetStep target = target_step(*file, "/t-coordinate", tensor.size(1), problem, options.time_index);
  Json parameters = attributes(*file, {"beta", "Nu", "rho"});
  if (problem.name == "burgers1d" && parameters.contains("Nu"))
    parameters["viscosity"] = parameters["Nu"].get<double>() / std::numbers::pi;
  ImportSource source = source_of(*file, problem, "tensor", domain, target, parameters);
  source.samples = tensor.size(0);
  source.read = [file, tensor, step = target.index](std::int64_t first, std::int64_t count, Pairs& pairs) {
    tensor.read(*file, {{first, count}, {0, 1}}, pairs.inputs);
    tensor.read(*file, {{first, count}, {step, 1}}, pairs.targets);
  };
  return source;
}

/// `nu` [samples, x, y] and `tensor` of the same size: coefficient and solution.
ImportSource darcy_flow(const File& file, const Array& solution) {
  const Known& problem = known("darcy2d");
  const Array coefficient = Array::open(*file, "/nu");
  require<DataError>(coefficient.rank() == 3 && coefficient.size(0) == solution.size(0) &&
                         coefficient.size(1) == solution.size(1) && coefficient.size(2) == solution.size(2),
                     "data import: file=", file->name(), ", nu=", shape_text(coefficient.sizes), " (tensor is ",
                     shape_text(solution.sizes), "). Get the file again.");
  const Domain domain = Domain::grid({stored_axis(*file, "/x-coordinate", solution.size(1), problem),
                                      stored_axis(*file, "/y-coordinate", solution.size(2), problem)});
  ImportSource source = source_of(*file, problem, "tensor and nu", domain, {}, attributes(*file, {"beta"}));
  source.samples = solution.size(0);
  source.read = [file, coefficient, solution](std::int64_t first, std::int64_t count, Pairs& pairs) {
    coefficient.read(*file, {{first, count}}, pairs.inputs);
    solution.read(*file, {{first, count}}, pairs.targets);
  };
  return source;
}

/// A group for each sample, with `data` [times, points.., channels].
ImportSource groups(const File& file, const Known& problem, const std::vector<std::string>& names, const Array& whole,
                    const PdebenchOptions& options) {
  const std::string grid = "/" + names.front() + "/grid/";
  std::vector<Axis> axes = {stored_axis(*file, grid + "x", whole.size(1), problem)};
  if (problem.dimension == 2) axes.push_back(stored_axis(*file, grid + "y", whole.size(2), problem));
  const Domain domain = Domain::grid(std::move(axes));
  const TargetStep target = target_step(*file, grid + "t", whole.size(0), problem, options.time_index);
  ImportSource source = source_of(*file, problem, "numbered groups", domain, target, Json::object());
  source.samples = std::ssize(names);
  source.read = [file, names, whole, step = target.index, channels = problem.input.size()](
                    std::int64_t first, std::int64_t count, Pairs& pairs) {
    for (std::int64_t sample = first; sample < first + count; ++sample) {
      const Array data = Array::open(*file, "/" + names[static_cast<std::size_t>(sample)] + "/data");
      require<DataError>(data.sizes == whole.sizes, "data import: file=", file->name(), ", ", data.path, "=",
                         shape_text(data.sizes), " (", whole.path, " is ", shape_text(whole.sizes),
                         "). Get the file again.");
      // The channels are the fastest axis of the file and the slowest of ours.
      const auto append_step = [&](std::int64_t at, std::vector<float>& values) {
        std::vector<float> block;
        data.read(*file, {{at, 1}}, block);
        for (std::size_t channel = 0; channel < channels; ++channel) {
          for (std::size_t i = channel; i < block.size(); i += channels) values.push_back(block[i]);
        }
      };
      append_step(0, pairs.inputs);
      append_step(step, pairs.targets);
    }
  };
  return source;
}

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// What is known of a file that is not read, and how its fields become two arrays; empty where nothing is known.
std::string known_elsewhere(const Hdf5Source& file) {
  const auto has = [&](const char* name) { return file.has_array(name); };
  const std::vector<std::string> members = file.members();
  const auto contains = [&](const char* name) { return std::ranges::count(members, name) > 0; };
  std::string what, input, target;
  if (has("/density") && has("/pressure") && has("/Vx")) {
    what = "compressible flow of PDEBench (CFD): fields such as density and Vx [N,T,n..]";
    input = "f['density'][:, 0]", target = "f['density'][:, 20]";
  } else if (has("/velocity") && has("/particles")) {
    what = "incompressible flow of PDEBench (NS): velocity and force [N,T,nx,ny,2], particles [N,T,nx,ny,1]";
    input = "f['particles'][:, 0, :, :, 0]", target = "f['particles'][:, 20, :, :, 0]";
  } else if (contains("t0_fields") && contains("dimensions")) {
    what = "a data set of the Well: scalar fields in t0_fields [N,T,..], vector fields in t1_fields [N,T,..,D]";
    input = "f['t0_fields/NAME'][:, 0]", target = "f['t0_fields/NAME'][:, 20]";
  }
  if (what.empty()) return "";
  return message("is ", what,
                 "; which of them is the input and which the target is yours to say). In Python with f = h5py"
                 ".File(FILE): np.save('u.npy', ",
                 input, "); np.save('v.npy', ", target,
                 "). Then `opshap data import npy --input u.npy --target v.npy --periodic true|false`.");
}

[[noreturn]] void throw_other_layout(const Hdf5Source& file, const std::string& found) {
  if (const std::string known = known_elsewhere(file); !known.empty())
    throw DataError(message("data import: file=", file.name(), " (", known));
  throw DataError(message("data import: file=", file.name(), " (", found,
                          ", which is none of the layouts of PDEBench that are read: `tensor` [N,T,n]; `tensor` "
                          "[N,1,nx,ny] with `nu` [N,nx,ny]; or numbered groups with `data` [T,n,1], [T,nx,ny,1] or "
                          "[T,nx,ny,2]). Name a file of one of them."));
}

/// Which equation a tensor of one dimension belongs to.
const Known& problem_of_series(const Hdf5Source& file, const std::string& asked) {
  std::string found;
  if (!file.number_attribute("/", "rho")) {  // with rho, Nu is that of a diffusion-reaction equation
    if (file.number_attribute("/", "beta")) found = "advection1d";
    if (file.number_attribute("/", "Nu")) found = "burgers1d";
  } else {
    found = "tensor1d";
  }
  require(asked.empty() || asked == "advection1d" || asked == "burgers1d", "data import: --problem=", asked,
          " (not one of advection1d, burgers1d). Correct it, or leave it out.");
  require(asked.empty() || found.empty() || asked == found, "data import: --problem=", asked, ", file=", file.name(),
          " (its attributes say ", found, "). Leave the option out.");
  if (!asked.empty()) return known(asked);
  return known(found.empty() ? "tensor1d" : found);
}

ImportSource open_pdebench(const PdebenchOptions& options) {
  const File file = std::make_shared<const Hdf5Source>(options.file);
  if (file->has_array("/tensor")) {
    const Array tensor = Array::open(*file, "/tensor");
    const bool darcy = file->has_array("/nu");
    if (tensor.rank() != 3) throw_other_layout(*file, "its tensor is " + shape_text(tensor.sizes));
    require(!darcy || (!options.time_index && options.problem.empty()), "data import: file=", options.file.string(),
            " (holds Darcy flow, which has no times and is no other problem). Leave --time-index and --problem out.");
    if (darcy) return darcy_flow(file, tensor);
    return series(file, problem_of_series(*file, options.problem), tensor, options);
  }
  std::vector<std::string> names = file->members();
  const std::string others = joined(names);
  std::erase_if(names, [](const std::string& name) { return !is_number(name); });
  if (names.empty() || !file->has_array("/" + names.front() + "/data"))
    throw_other_layout(*file, others.empty() ? "it is empty" : "it holds " + others.substr(0, 200));
  require(options.problem.empty(), "data import: --problem=", options.problem, ", file=", options.file.string(),
          " (its shape says which problem it holds). Leave the option out.");
  const Array first = Array::open(*file, "/" + names.front() + "/data");
  const bool channels = first.rank() == 4 && first.size(3) == 2;
  if (first.rank() != 2 && first.rank() != 3 && !channels)
    throw_other_layout(*file, "the data of its first group are " + shape_text(first.sizes));
  const Known& problem = known(first.rank() == 2 ? "diffusion_sorption1d"
                               : channels        ? "diffusion_reaction2d"
                                                 : "shallow_water2d");
  return groups(file, problem, names, first, options);
}

}  // namespace

void import_pdebench(const PdebenchOptions& options, const ImportRequest& request, const std::filesystem::path& path) {
  in_own_process([&] { import_dataset(open_pdebench(options), request, path); },
                 message("data import: file=", options.file.string(),
                         " (is so damaged that the HDF5 library crashed on it). Get the file again."));
}

}  // namespace opshap::data
