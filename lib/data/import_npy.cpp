#include "data/import_npy.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "data/npy.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

using Shape = std::vector<std::int64_t>;

/// The fields of one file, rounded to float32 as data sets hold them.
struct Fields {
  std::string file;
  Shape shape;
  std::vector<float> values;

  static Fields read(const std::filesystem::path& path) {
    require<DataError>(is_file(path), "data import: file=", path.string(), " (is not a file). Name a .npy file.");
    const NpyArray array = read_npy(path);
    const std::vector<double>& reals = array.reals("data import: file=" + path.string());
    require<DataError>(array.shape.size() >= 2 && array.shape.size() <= 4 &&
                           std::ranges::all_of(array.shape, [](std::int64_t size) { return size >= 1; }),
                       "data import: file=", path.string(), ", shape=", shape_text(array.shape),
                       " (takes [N,n], [N,C,n], [N,nx,ny] or [N,C,nx,ny]). Save an array of such a shape.");
    return {path.string(), array.shape, {reals.begin(), reals.end()}};
  }

  /// Axes of the grid when the shape alone tells; 0 for [N,a,b] that could be either.
  int dimension() const {
    if (shape.size() != 3) return shape.size() == 2 ? 1 : 2;
    constexpr std::int64_t most_channels = 8;
    if (shape[1] == shape[2]) return 2;
    return shape[1] <= most_channels && shape[1] < shape[2] ? 1 : 0;
  }
  bool can_have(int dimension) const {
    const auto axes = static_cast<std::size_t>(dimension);
    return shape.size() == axes + 1 || shape.size() == axes + 2;
  }
  int channels(int dimension) const {
    return shape.size() == static_cast<std::size_t>(dimension) + 2 ? static_cast<int>(shape[1]) : 1;
  }
  Shape grid(int dimension) const { return {shape.end() - dimension, shape.end()}; }
};

/// A file alone tells its dimension unless it is [N,a,b]: then the other one of the pair may.
int dimension_of(const Fields& input, const Fields& target, int asked) {
  int dimension = asked;
  for (const Fields* fields : {&input, &target}) {
    if (dimension == 0 && fields->shape.size() != 3) dimension = fields->dimension();
  }
  if (dimension == 0) dimension = input.dimension();
  require(dimension != 0, "data import: file=", input.file, ", shape=", shape_text(input.shape),
          " (could be [N,C,n] or [N,nx,ny]). Say which with --dimension 1 or --dimension 2.");
  for (const Fields* fields : {&input, &target}) {
    require<DataError>(fields->can_have(dimension), "data import: file=", fields->file,
                       ", shape=", shape_text(fields->shape), " (is not a set of fields in ", dimension,
                       dimension == 1 ? " dimension). " : " dimensions). ", "Give two arrays of one grid.");
  }
  return dimension;
}

/// One number an axis.
std::vector<double> per_axis(const char* option, const std::vector<double>& given, double otherwise, int dimension) {
  const auto axes = static_cast<std::size_t>(dimension);
  for (const double number : given) {
    require(std::isfinite(number), "data import: ", option, "=", number, " (is not finite). Give a number.");
  }
  if (given.empty()) return std::vector<double>(axes, otherwise);
  require(given.size() == 1 || given.size() == axes, "data import: ", option, "=", given.size(),
          " numbers (the grid has ", dimension, dimension == 1 ? " axis" : " axes", "). Give one number for each.");
  return given.size() == axes ? given : std::vector<double>(axes, given[0]);
}

Axis asked_axis(const NpyOptions& options, int points, double extent, double origin) {
  if (options.centring == Centring::cell) return Axis::cells(points, extent, origin, options.periodic);
  return options.periodic ? Axis::ring(points, extent, origin) : Axis::closed(points, extent, origin);
}

std::vector<pde::Channel> numbered_channels(const char* letter, int count) {
  if (count == 1) return {{letter, "1"}};
  std::vector<pde::Channel> channels;
  for (int i = 0; i < count; ++i) channels.push_back({letter + std::to_string(i), "1"});
  return channels;
}

/// What a folder can be called everywhere.
bool is_plain(const std::string& name) {
  return !name.empty() && name.size() <= 64 && std::ranges::all_of(name, [](unsigned char letter) {
    return letter < 128 && (std::isalnum(letter) != 0 || letter == '_' || letter == '-');
  });
}

std::string name_of(const NpyOptions& options) {
  std::string name = options.name;
  if (name.empty()) {
    name = options.input.stem().string().substr(0, 64);
    for (char& letter : name) {
      if (!is_plain(std::string(1, letter))) letter = '_';
    }
  }
  require(is_plain(name), "data import: --name=", name,
          " (a name has 1 to 64 letters, digits, '_' and '-'). Give another one.");
  return name;
}

class NpyPair final : public ImportSource {
 public:
  NpyPair(const NpyOptions& options)
      : options_(options),
        name_(name_of(options)),
        input_(Fields::read(options.input)),
        target_(Fields::read(options.target)) {
    const int dimension = dimension_of(input_, target_, options.dimension);
    require<DataError>(input_.shape[0] == target_.shape[0] && input_.grid(dimension) == target_.grid(dimension),
                       "data import: input=", shape_text(input_.shape), ", target=", shape_text(target_.shape),
                       " (a pair has the same number of samples and the same grid). Give two arrays that belong "
                       "together.");
    const std::vector<double> extent = per_axis("--extent", options.extent, 1, dimension),
                              origin = per_axis("--origin", options.origin, 0, dimension);
    std::vector<Axis> axes;
    for (std::size_t axis = 0; axis < extent.size(); ++axis) {
      constexpr std::int64_t most = 1 << 24;
      const std::int64_t points = input_.grid(dimension)[axis];
      require<DataError>(points >= 2 && points <= most, "data import: file=", input_.file, ", points=", points,
                         " (an axis has 2 to ", most, "). Give fields on a finer grid.");
      axes.push_back(asked_axis(options, static_cast<int>(points), extent[axis], origin[axis]));
    }
    domain_ = Domain::grid(std::move(axes));
  }

  std::string name() const override { return "npy_" + name_; }
  std::string equation() const override { return "a pair of arrays; nothing is known of an equation"; }
  pde::Space input() const override { return {numbered_channels("u", input_.channels(domain_.dimension())), domain_}; }
  pde::Space output() const override {
    return {numbered_channels("v", target_.channels(domain_.dimension())), domain_};
  }
  std::int64_t samples() const override { return input_.shape[0]; }
  void read(std::int64_t first, std::int64_t count, std::vector<float>& inputs,
            std::vector<float>& targets) const override {
    const auto append = [&](const Fields& fields, std::vector<float>& values) {
      const auto size = static_cast<std::ptrdiff_t>(fields.values.size()) / fields.shape[0];
      values.insert(values.end(), fields.values.begin() + first * size, fields.values.begin() + (first + count) * size);
    };
    append(input_, inputs);
    append(target_, targets);
  }

  std::vector<std::filesystem::path> files() const override { return {options_.input, options_.target}; }
  Json options() const override {
    Json options = {{"dimension", domain_.dimension()},
                    {"periodic", options_.periodic},
                    {"centring", options_.centring == Centring::node ? "node" : "cell"}};
    Json extent = Json::array(), origin = Json::array();
    for (const Axis& axis : domain_.axes()) {
      extent.push_back(axis.extent);
      origin.push_back(axis.origin);
    }
    options["extent"] = extent;
    options["origin"] = origin;
    return options;
  }
  Json facts() const override { return {{"format", "npy"}, {"layout", "a pair of arrays"}}; }

 private:
  NpyOptions options_;
  std::string name_;
  Fields input_, target_;
  Domain domain_;
};

}  // namespace

std::unique_ptr<ImportSource> open_npy(const NpyOptions& options) { return std::make_unique<NpyPair>(options); }

}  // namespace opshap::data
