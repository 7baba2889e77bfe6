#include "data/import.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/field.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "data/generate.hpp"
#include "data/npy.hpp"

namespace opshap::data {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// Fields of so many samples are read at once.
constexpr std::int64_t block_samples = 64;

}  // namespace

Json fingerprint(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  require<DataError>(in.good(), "data import: file=", path.string(), " (cannot be read). Name the file to read.");
  Xxh64 hash;
  std::vector<char> block(1 << 20);
  std::uint64_t bytes = 0;
  while (in) {
    throw_if_stopped("data import");
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    hash.add(std::as_bytes(std::span(block).first(static_cast<std::size_t>(in.gcount()))));
    bytes += static_cast<std::uint64_t>(in.gcount());
  }
  require<DataError>(in.eof(), "data import: file=", path.string(), " (cannot be read to its end). Get it again.");
  return {{"file", path.filename().string()}, {"bytes", bytes}, {"xxh64", hash.digits()}};
}

namespace {

/// The samples to take, in their parts.
Json settled_layout(const ImportSource& source, LayoutRequest layout) {
  const bool counts = layout.train + layout.validation + layout.test > 0;
  if (layout.samples == 0) layout.samples = counts ? layout.train + layout.validation + layout.test : source.samples;
  require<DataError>(layout.samples <= source.samples, "data import: file=", joined(source.files),
                     ", samples=", source.samples, " (", layout.samples,
                     " are asked for). Ask for fewer, or import a larger file.");
  const std::int64_t fewest = layout.division.fewest_test + 2;
  require<DataError>(counts || layout.samples >= fewest, "data import: file=", joined(source.files),
                     ", samples=", layout.samples, " (at least ", fewest,
                     " can be divided into parts). Import a larger file, or give --train, --validation and --test.");
  return resolved_layout("data import", layout, source.input.domain);
}

void require_finite(const ImportSource& source, const char* what, const std::vector<float>& values, std::size_t from,
                    std::int64_t field_size) {
  const auto bad = std::find_if_not(values.begin() + static_cast<std::ptrdiff_t>(from), values.end(),
                                    [](float value) { return std::isfinite(value); });
  require<DataError>(
      bad == values.end(), "data import: file=", joined(source.files), ", sample=", (bad - values.begin()) / field_size,
      ", ", what, "=", bad == values.end() ? 0 : *bad,
      " (an operator cannot learn from it). Correct the file, or leave such samples out with --skip-nonfinite.");
}

Pairs read_pairs(const ImportSource& source, std::int64_t samples) {
  const std::int64_t input_size = source.input.field_size(), target_size = source.output.field_size();
  Pairs pairs;
  pairs.inputs.reserve(static_cast<std::size_t>(samples * input_size));
  pairs.targets.reserve(static_cast<std::size_t>(samples * target_size));
  Progress progress("data import " + source.name, samples, "samples");
  for (std::int64_t first = 0; first < samples; first += block_samples) {
    throw_if_stopped("data import");
    const std::int64_t count = std::min(block_samples, samples - first);
    const std::size_t inputs = pairs.inputs.size(), targets = pairs.targets.size();
    source.read(first, count, pairs);
    require_finite(source, "input", pairs.inputs, inputs, input_size);
    require_finite(source, "target", pairs.targets, targets, target_size);
    progress.advance(count);
  }
  return pairs;
}

/// The samples of a source whose values are all finite, in their order. The numbers of the others are the option
/// `skip_nonfinite`, and a note. Reads all samples once. Throws DataError where no sample is left.
ImportSource finite_samples(ImportSource source) {
  std::vector<std::int64_t> kept, skipped;
  for (std::int64_t sample = 0; sample < source.samples; ++sample) {
    throw_if_stopped("data import");
    Pairs pair;
    source.read(sample, 1, pair);
    const auto finite = [](float value) { return std::isfinite(value); };
    const bool whole = std::ranges::all_of(pair.inputs, finite) && std::ranges::all_of(pair.targets, finite);
    (whole ? kept : skipped).push_back(sample);
  }
  require<DataError>(!kept.empty(), "data import: file=", source.files.front(), ", samples=", source.samples,
                     " (each has values that are not finite). Correct the file.");
  source.samples = std::ssize(kept);
  source.options["skip_nonfinite"] = skipped;
  if (const bool one = skipped.size() == 1; !skipped.empty()) {
    source.facts["notes"].push_back(message(one ? "Sample " : "Samples ", joined(skipped), " of the source ",
                                            one ? "has" : "have", " values that are not finite. ",
                                            one ? "It is" : "They are", " left out."));
  }
  source.read = [read = std::move(source.read), kept](std::int64_t first, std::int64_t count, Pairs& pairs) {
    for (std::int64_t sample = first; sample < first + count; ++sample)
      read(kept[static_cast<std::size_t>(sample)], 1, pairs);
  };
  return source;
}

/// A source on another grid of the same domain (core/field.hpp), which is the option `interpolate`, and a note.
/// Throws InvalidArgument for another number of axes, and for an axis of fewer than two points.
ImportSource on_grid(ImportSource source, const Resolution& grid) {
  const std::vector<int> shape = grid.shape(source.input.domain.dimension());
  require(grid.fewest() >= 2, "data import: --interpolate=", grid, " (an axis has 2 points or more). Give more.");
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    axes.push_back(source.input.domain.axes()[axis].resampled(shape[axis]));
  const Domain from = std::exchange(source.input.domain, Domain::grid(std::move(axes)));
  source.output.domain = source.input.domain;
  source.options["interpolate"] = grid;
  source.facts["notes"].push_back(message("The fields are interpolated from a ", from.describe(), "."));
  source.read = [read = std::move(source.read), from, shape, inputs = source.input.channel_count(),
                 targets = source.output.channel_count()](std::int64_t first, std::int64_t count, Pairs& pairs) {
    const auto append = [&](const std::vector<float>& old, int channels, std::vector<float>& values) {
      const FieldBatch found = interpolated({from, count, channels, {old.begin(), old.end()}}, shape);
      for (const double value : found.values) values.push_back(static_cast<float>(value));
    };
    Pairs old;
    read(first, count, old);
    append(old.inputs, inputs, pairs.inputs);
    append(old.targets, targets, pairs.targets);
  };
  return source;
}

}  // namespace

void import_dataset(ImportSource source, const ImportRequest& asked, const fs::path& path) {
  const std::int64_t samples_in_file = source.samples;
  if (asked.skip_nonfinite) source = finite_samples(std::move(source));
  if (asked.interpolate) source = on_grid(std::move(source), *asked.interpolate);
  const Json settled = settled_layout(source, asked.layout);
  Json request = {{"pde", source.name}, {"schema_version", Dataset::schema_version}}, files = Json::array();
  request.update(settled);
  request["options"] = source.options;
  for (const std::string& file : source.files) files.push_back(fingerprint(file));
  request["files"] = files;
  const auto same = [&request](const Json& metadata) { return metadata.value("request", Json()) == request; };
  if (already_made("data import", path, same)) return;

  const auto samples = settled["samples"].get<std::int64_t>();
  Pairs pairs = read_pairs(source, samples);
  Json imported = source.facts;
  Json& notes = imported["notes"];
  if (notes.is_null()) notes = Json::array();
  notes.insert(notes.begin(), "The set is imported. It is none of the paper's data sets.");
  imported["files"] = files;
  imported["options"] = source.options;
  imported["samples_in_file"] = samples_in_file;
  Json metadata = {
      {"schema_version", Dataset::schema_version},
      {"origin", imported_origin},
      {"pde", source.name},
      {"equation", source.equation},
      {"parameters", imported.value("parameters", Json::object())},
      {"input", to_json(source.input)},
      {"output", to_json(source.output)},
      {"input_mean", channel_means(source.input, pairs.inputs, settled["train"].get<std::int64_t>())},
  };
  if (imported.contains("target_time")) metadata["target_time"] = imported["target_time"];
  imported.erase("parameters");
  imported.erase("target_time");
  metadata.update({{"imported", imported},
                   {"request", request},
                   {"request_xxh64", xxh64(request.dump())},
                   {"compiler", __VERSION__},
                   {"hdf5", H5_VERS_INFO},
                   {"content_xxh64", content_hash(pairs.inputs, pairs.targets, samples)}});

  std::vector<std::uint32_t> checksums = sample_checksums(pairs.inputs, pairs.targets, samples);
  std::vector<Column> columns = {{"/u0", field_shape(source.input, samples), std::move(pairs.inputs)},
                                 {"/target", field_shape(source.output, samples), std::move(pairs.targets)},
                                 {"/crc32c", {samples}, std::move(checksums)}};
  append_layout(columns, settled, source.input.domain);
  write_file(path, hdf5_bytes(columns, metadata.dump()));
}

std::string imported_from(const Json& metadata) {
  if (metadata.value("origin", "") != imported_origin) return "";
  const Json& imported = metadata.at("imported");
  std::string text = imported.at("format").get<std::string>() + ", layout " + imported.at("layout").get<std::string>();
  for (const Json& file : imported.at("files"))
    text += (&file == &imported.at("files").front() ? ": " : ", ") + file.at("file").get<std::string>();
  return text;
}

std::vector<std::string> import_notes(const Json& metadata) {
  if (metadata.value("origin", "") != imported_origin) return {};
  return metadata.at("imported").at("notes").get<std::vector<std::string>>();
}

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

}  // namespace

ImportSource open_npy(const NpyOptions& options) {
  ImportSource source;
  source.name = "npy_" + name_of(options);
  Fields input = Fields::read(options.input), target = Fields::read(options.target);
  const int dimension = dimension_of(input, target, options.dimension);
  require<DataError>(input.shape[0] == target.shape[0] && input.grid(dimension) == target.grid(dimension),
                     "data import: input=", shape_text(input.shape), ", target=", shape_text(target.shape),
                     " (a pair has the same number of samples and the same grid). Give two arrays that belong "
                     "together.");
  const std::vector<double> extent = per_axis("--extent", options.extent, 1, dimension),
                            origin = per_axis("--origin", options.origin, 0, dimension);
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < extent.size(); ++axis) {
    constexpr std::int64_t most = 1 << 24;
    const std::int64_t points = input.grid(dimension)[axis];
    require<DataError>(points >= 2 && points <= most, "data import: file=", input.file, ", points=", points,
                       " (an axis has 2 to ", most, "). Give fields on a finer grid.");
    axes.push_back(asked_axis(options, static_cast<int>(points), extent[axis], origin[axis]));
  }
  const Domain domain = Domain::grid(std::move(axes));
  source.equation = "a pair of arrays; nothing is known of an equation";
  source.input = {numbered_channels("u", input.channels(dimension)), domain};
  source.output = {numbered_channels("v", target.channels(dimension)), domain};
  source.samples = input.shape[0];
  source.files = {options.input.string(), options.target.string()};
  source.options = {{"dimension", dimension},
                    {"periodic", options.periodic},
                    {"centring", options.centring == Centring::node ? "node" : "cell"},
                    {"extent", extent},
                    {"origin", origin}};
  source.facts = {{"format", "npy"}, {"layout", "a pair of arrays"}};
  source.read = [input = std::move(input), target = std::move(target)](std::int64_t first, std::int64_t count,
                                                                       Pairs& pairs) {
    const auto append = [&](const Fields& fields, std::vector<float>& values) {
      const auto size = static_cast<std::ptrdiff_t>(fields.values.size()) / fields.shape[0];
      values.insert(values.end(), fields.values.begin() + first * size, fields.values.begin() + (first + count) * size);
    };
    append(input, pairs.inputs);
    append(target, pairs.targets);
  };
  return source;
}

}  // namespace opshap::data
