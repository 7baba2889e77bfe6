#include "data/import_pdebench.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
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

class Pdebench : public ImportSource {
 public:
  Pdebench(std::unique_ptr<Hdf5Source> file, const Known& problem, const char* layout)
      : file_(std::move(file)), problem_(problem), layout_(layout) {}

  std::string name() const final { return "pdebench_" + problem_.name; }
  std::string equation() const final { return problem_.equation + ", of PDEBench"; }
  pde::Space input() const final { return {problem_.input, domain_}; }
  pde::Space output() const final { return {problem_.output, domain_}; }
  std::int64_t samples() const final { return samples_; }
  std::vector<std::string> files() const final { return {file_->name()}; }
  Json options() const final {
    Json options = Json::object();
    if (target_.index > 0) options["time_index"] = target_.index;
    return options;
  }
  Json facts() const final {
    Json facts = {{"format", "PDEBench"}, {"layout", layout_}, {"parameters", parameters()}};
    if (target_.time) facts["target_time"] = *target_.time;
    if (!problem_.note.empty()) facts["notes"] = {problem_.note};
    return facts;
  }

 protected:
  /// Numbers of the equation that the file names.
  virtual Json parameters() const { return Json::object(); }

  Json attributes(std::initializer_list<const char*> names) const {
    Json found = Json::object();
    for (const char* name : names) {
      if (const auto value = file_->number_attribute("/", name)) found[name] = *value;
    }
    return found;
  }

  std::unique_ptr<Hdf5Source> file_;
  const Known& problem_;
  const char* layout_;
  Domain domain_;
  std::int64_t samples_ = 0;
  TargetStep target_;
};

/// `tensor` [samples, times, points].
class Series final : public Pdebench {
 public:
  Series(std::unique_ptr<Hdf5Source> file, const Known& problem, Array tensor, const PdebenchOptions& options)
      : Pdebench(std::move(file), problem, "tensor"), tensor_(std::move(tensor)) {
    domain_ = Domain::grid({stored_axis(*file_, "/x-coordinate", tensor_.size(2), problem_)});
    target_ = target_step(*file_, "/t-coordinate", tensor_.size(1), problem_, options.time_index);
    samples_ = tensor_.size(0);
  }

  void read(std::int64_t first, std::int64_t count, Pairs& pairs) const override {
    tensor_.read(*file_, {{first, count}, {0, 1}}, pairs.inputs);
    tensor_.read(*file_, {{first, count}, {target_.index, 1}}, pairs.targets);
  }

 private:
  Json parameters() const override {
    Json found = attributes({"beta", "Nu", "rho"});
    if (problem_.name == "burgers1d" && found.contains("Nu"))
      found["viscosity"] = found["Nu"].get<double>() / std::numbers::pi;
    return found;
  }

  Array tensor_;
};

/// `nu` [samples, x, y] and `tensor` of the same size: coefficient and solution.
class Darcy final : public Pdebench {
 public:
  Darcy(std::unique_ptr<Hdf5Source> file, Array tensor)
      : Pdebench(std::move(file), known("darcy2d"), "tensor and nu"),
        solution_(std::move(tensor)),
        coefficient_(Array::open(*file_, "/nu")) {
    require<DataError>(coefficient_.rank() == 3 && coefficient_.size(0) == solution_.size(0) &&
                           coefficient_.size(1) == solution_.size(1) && coefficient_.size(2) == solution_.size(2),
                       "data import: file=", file_->name(), ", nu=", shape_text(coefficient_.sizes), " (tensor is ",
                       shape_text(solution_.sizes), "). Get the file again.");
    domain_ = Domain::grid({stored_axis(*file_, "/x-coordinate", solution_.size(1), problem_),
                            stored_axis(*file_, "/y-coordinate", solution_.size(2), problem_)});
    samples_ = solution_.size(0);
  }

  void read(std::int64_t first, std::int64_t count, Pairs& pairs) const override {
    coefficient_.read(*file_, {{first, count}}, pairs.inputs);
    solution_.read(*file_, {{first, count}}, pairs.targets);
  }

 private:
  Json parameters() const override { return attributes({"beta"}); }

  Array solution_, coefficient_;
};

/// A group for each sample, with `data` [times, points.., channels].
class Groups final : public Pdebench {
 public:
  Groups(std::unique_ptr<Hdf5Source> file, const Known& problem, std::vector<std::string> names, Array first,
         const PdebenchOptions& options)
      : Pdebench(std::move(file), problem, "numbered groups"), names_(std::move(names)), first_(std::move(first)) {
    const std::string grid = "/" + names_.front() + "/grid/";
    std::vector<Axis> axes = {stored_axis(*file_, grid + "x", first_.size(1), problem_)};
    if (problem_.dimension == 2) axes.push_back(stored_axis(*file_, grid + "y", first_.size(2), problem_));
    domain_ = Domain::grid(std::move(axes));
    target_ = target_step(*file_, grid + "t", first_.size(0), problem_, options.time_index);
    samples_ = std::ssize(names_);
  }

  void read(std::int64_t first, std::int64_t count, Pairs& pairs) const override {
    for (std::int64_t sample = first; sample < first + count; ++sample) {
      const Array data = Array::open(*file_, "/" + names_[static_cast<std::size_t>(sample)] + "/data");
      require<DataError>(data.sizes == first_.sizes, "data import: file=", file_->name(), ", ", data.path, "=",
                         shape_text(data.sizes), " (", first_.path, " is ", shape_text(first_.sizes),
                         "). Get the file again.");
      append_step(data, 0, pairs.inputs);
      append_step(data, target_.index, pairs.targets);
    }
  }

 private:
  /// The channels are the fastest axis of the file and the slowest of ours.
  void append_step(const Array& data, std::int64_t step, std::vector<float>& values) const {
    std::vector<float> block;
    data.read(*file_, {{step, 1}}, block);
    const std::size_t channels = problem_.input.size();
    for (std::size_t channel = 0; channel < channels; ++channel) {
      for (std::size_t i = channel; i < block.size(); i += channels) values.push_back(block[i]);
    }
  }

  std::vector<std::string> names_;
  Array first_;
};

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

std::unique_ptr<ImportSource> open_pdebench(const PdebenchOptions& options) {
  auto file = std::make_unique<Hdf5Source>(options.file);
  if (file->has_array("/tensor")) {
    Array tensor = Array::open(*file, "/tensor");
    const bool darcy = file->has_array("/nu");
    if (tensor.rank() != 3) throw_other_layout(*file, "its tensor is " + shape_text(tensor.sizes));
    require(!darcy || (!options.time_index && options.problem.empty()), "data import: file=", options.file.string(),
            " (holds Darcy flow, which has no times and is no other problem). Leave --time-index and --problem out.");
    if (darcy) return std::make_unique<Darcy>(std::move(file), std::move(tensor));
    const Known& problem = problem_of_series(*file, options.problem);
    return std::make_unique<Series>(std::move(file), problem, std::move(tensor), options);
  }
  std::vector<std::string> names = file->members();
  const std::string others = joined(names);
  std::erase_if(names, [](const std::string& name) { return !is_number(name); });
  if (names.empty() || !file->has_array("/" + names.front() + "/data"))
    throw_other_layout(*file, others.empty() ? "it is empty" : "it holds " + others.substr(0, 200));
  require(options.problem.empty(), "data import: --problem=", options.problem, ", file=", options.file.string(),
          " (its shape says which problem it holds). Leave the option out.");
  Array first = Array::open(*file, "/" + names.front() + "/data");
  const bool channels = first.rank() == 4 && first.size(3) == 2;
  if (first.rank() != 2 && first.rank() != 3 && !channels)
    throw_other_layout(*file, "the data of its first group are " + shape_text(first.sizes));
  const Known& problem = known(first.rank() == 2 ? "diffusion_sorption1d"
                               : channels        ? "diffusion_reaction2d"
                                                 : "shallow_water2d");
  return std::make_unique<Groups>(std::move(file), problem, std::move(names), std::move(first), options);
}

}  // namespace

void import_pdebench(const PdebenchOptions& options, const ImportRequest& request, const std::filesystem::path& path) {
  in_own_process([&] { import_dataset(*open_pdebench(options), request, path); },
                 message("data import: file=", options.file.string(),
                         " (is so damaged that the HDF5 library crashed on it). Get the file again."));
}

}  // namespace opshap::data
