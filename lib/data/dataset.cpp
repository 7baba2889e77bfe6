#include "data/dataset.hpp"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/strict_json.hpp"
#include "data/trajectory_file.hpp"
#include "pde/registry.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t most_samples = 10'000'000;

const char* centring_in_words(Centring centring) { return centring == Centring::node ? "node" : "cell"; }

Centring centring_of(const Json& json) {
  const auto text = json.at("centring").get<std::string>();
  require<DataError>(text == "node" || text == "cell", "domain: centring=", text,
                     " (points are at nodes or in the middle of cells). Write node or cell.");
  return text == "node" ? Centring::node : Centring::cell;
}

Axis axis_of(const Json& json) {
  const Axis axis{.points = json.at("points").get<int>(),
                  .origin = json.at("origin").get<double>(),
                  .extent = json.at("extent").get<double>(),
                  .intervals = json.at("intervals").get<double>(),
                  .offset = json.at("offset").get<double>(),
                  .centring = centring_of(json),
                  .periodic = json.at("periodic").get<bool>(),
                  .keeps_ends = json.value("keeps_ends", false)};
  require<DataError>(axis.points >= 1 && axis.extent > 0 && axis.intervals > 0, "domain: points=", axis.points,
                     ", extent=", axis.extent, ", intervals=", axis.intervals,
                     " (an axis needs positive ones). Write the file again.");
  return axis;
}

/// Of files from before "axes": one centring and one periodicity, and the first point at the origin.
std::vector<Axis> uniform_axes(const Json& json) {
  const auto shape = json.at("shape").get<std::vector<int>>();
  const auto extents = json.at("extents").get<std::vector<double>>();
  require<DataError>(shape.size() == extents.size(), "domain: extents=", extents.size(), " (there are ", shape.size(),
                     " axes). Write one for each axis.");
  const bool periodic = json.at("periodic").get<bool>();
  const Centring centring = centring_of(json);
  std::vector<Axis> axes;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    axes.push_back(centring == Centring::cell ? Axis::cells(shape[axis], extents[axis], 0, periodic)
                   : periodic                 ? Axis::ring(shape[axis], extents[axis])
                                              : Axis::nodes(shape[axis], extents[axis]));
  }
  return axes;
}

}  // namespace

Json to_json(const Domain& domain) {
  std::vector<double> extents;
  Json axes = Json::array();
  for (const Axis& axis : domain.axes()) {
    extents.push_back(axis.extent);
    axes.push_back({{"points", axis.points},
                    {"origin", axis.origin},
                    {"extent", axis.extent},
                    {"intervals", axis.intervals},
                    {"offset", axis.offset},
                    {"centring", centring_in_words(axis.centring)},
                    {"periodic", axis.periodic}});
    if (axis.keeps_ends) axes.back()["keeps_ends"] = true;  // files of before do not know it
  }
  return {{"shape", domain.shape()},
          {"extents", extents},
          {"centring", centring_in_words(domain.axes().front().centring)},
          {"periodic", domain.periodic()},
          {"axes", axes}};
}

Json to_json(const std::vector<pde::Channel>& channels) {
  Json json = Json::array();
  for (const pde::Channel& channel : channels) json.push_back({{"name", channel.name}, {"unit", channel.unit}});
  return json;
}

Json to_json(const pde::Space& space) {
  return {{"channels", to_json(space.channels)}, {"domain", to_json(space.domain)}};
}

Json to_json(const std::vector<pde::Parameter>& parameters) {
  Json json = Json::object();
  for (const auto& [name, value, meaning, choices] : parameters)
    json[name] = choices.empty() ? Json(value) : Json(pde::choice(parameters, name));
  return json;
}

Domain domain_from_json(const Json& json, std::string_view who) try {
  if (!json.contains("axes")) return Domain::grid(uniform_axes(json));
  std::vector<Axis> axes;
  for (const Json& axis : json.at("axes")) axes.push_back(axis_of(axis));
  return Domain::grid(std::move(axes));
} catch (const Json::exception& error) {
  throw DataError(message(who, ": domain=", json.dump(), " (", error.what(), "). Make the file again."));
}

std::vector<pde::Channel> channels_from_json(const Json& json, std::string_view who) try {
  std::vector<pde::Channel> channels;
  for (const Json& channel : json)
    channels.push_back({channel.at("name").get<std::string>(), channel.at("unit").get<std::string>()});
  return channels;
} catch (const Json::exception& error) {
  throw DataError(message(who, ": channels=", json.dump(), " (", error.what(), "). Make the file again."));
}

pde::Space space_from_json(const Json& json, std::string_view who) try {
  return {.channels = channels_from_json(json.at("channels"), who), .domain = domain_from_json(json.at("domain"), who)};
} catch (const Json::exception& error) {
  throw DataError(message(who, ": space=", json.dump(), " (", error.what(), "). Make the file again."));
}

pde::ParameterValues parameters_from_json(const Json& json, std::string_view who) try {
  pde::ParameterValues values;
  for (const auto& [name, value] : json.items())
    values[name] = value.is_string() ? pde::ParameterValue(value.get<std::string>()) : value.get<double>();
  return values;
} catch (const Json::exception& error) {
  throw DataError(message(who, ": parameters=", json.dump(), " (", error.what(), "). Make the file again."));
}

std::unique_ptr<pde::Problem> problem_of(const Json& json, std::string_view who) {
  return pde::find(json.at("pde").get<std::string>()).with(parameters_from_json(json.at("parameters"), who));
}

std::unique_ptr<pde::Equation> equation_of(const Json& json, std::string_view who) {
  return pde::equation_with(json.at("pde").get<std::string>(), parameters_from_json(json.at("parameters"), who));
}

Json resolved_layout(std::string_view who, const LayoutRequest& request, const Domain& domain) {
  require(request.samples >= 1 && request.samples <= most_samples, who, ": --samples=", request.samples,
          " (a data set has 1 to ", most_samples, "). Give another number.");
  std::int64_t train = request.train, validation = request.validation, test = request.test;
  if (train == 0 && validation == 0 && test == 0) {
    const LayoutRequest::Division& division = request.division;
    const double whole = division.train + division.validation + division.test;
    const auto share = [&](double part) { return std::llround(part / whole * static_cast<double>(request.samples)); };
    test = std::max<std::int64_t>(division.fewest_test, share(division.test));
    validation = std::max<std::int64_t>(1, share(division.validation));
    train = request.samples - validation - test;
    require(train >= 1, who, ": --samples=", request.samples, " (no sample is left for training after ", validation,
            " for validation and ", test, " for testing). Give at least ", division.fewest_test + 2,
            ", or the three counts.");
  }
  const auto possible = [&](std::int64_t count) { return count >= 0 && count <= request.samples; };
  require(possible(train) && possible(validation) && possible(test) && train + validation + test == request.samples,
          who, ": --train=", train, ", --validation=", validation, ", --test=", test,
          " (must add up to --samples=", request.samples, "). Correct one of them.");

  const std::vector<Resolution> resolutions =
      request.resolutions.empty() ? halved_resolutions(domain, request.fewest_points) : request.resolutions;
  require(resolutions.size() >= 1 && resolutions.size() <= 255, who, ": resolutions=", resolutions.size(),
          " (a data set has 1 to 255). Name them with --resolutions.");
  for (const Resolution& resolution : resolutions) {
    require(has_resolution(domain, resolution), who, ": resolution=", resolution, " (no stride of the native ",
            domain.describe(), " has so many points). Give others",
            std::ranges::any_of(domain.axes(), &Axis::keeps_ends)
                ? ": on an axis with both ends one more than a divisor of its intervals."
                : ": divisors of its points.");
  }
  return {{"samples", request.samples},
          {"train", train},
          {"validation", validation},
          {"test", test},
          {"resolutions", resolutions}};
}

std::vector<std::int64_t> field_shape(const pde::Space& space, std::int64_t samples) {
  std::vector<std::int64_t> shape = {samples};
  if (space.channel_count() > 1) shape.push_back(space.channel_count());
  shape.insert(shape.end(), space.domain.shape().begin(), space.domain.shape().end());
  return shape;
}

void append_layout(std::vector<Column>& columns, const nlohmann::ordered_json& layout, const Domain& domain) {
  for (int axis = 0; axis < domain.dimension(); ++axis) {
    std::vector<double> coordinates = domain.axes()[static_cast<std::size_t>(axis)].coordinates();
    columns.push_back(
        {axis == 0 ? "/x" : "/y", {static_cast<std::int64_t>(coordinates.size())}, std::move(coordinates)});
  }
  const auto samples = layout["samples"].get<std::int64_t>(), train = layout["train"].get<std::int64_t>();
  const std::int64_t before_test = train + layout["validation"].get<std::int64_t>();
  std::vector<std::uint8_t> split, slot;
  for (std::int64_t i = 0; i < samples; ++i) {
    split.push_back(static_cast<std::uint8_t>(i < train         ? Split::train
                                              : i < before_test ? Split::validation
                                                                : Split::test));
    slot.push_back(static_cast<std::uint8_t>(static_cast<std::size_t>(i) % layout["resolutions"].size()));
  }
  columns.push_back({"/split", {samples}, std::move(split)});
  columns.push_back({"/resolution_slot", {samples}, std::move(slot)});
}

namespace {

/// The metadata of a finished data set of today's schema; shards of one have none.
Json metadata_of(const Hdf5Contents& file) {
  const Json metadata = strict_json<Json>(file.metadata(), "data set: file=" + file.name());
  require<DataError>(!metadata.is_object() || !metadata.contains("part"), "data set: file=", file.name(),
                     " (is a part of a data set). Merge all parts with `opshap data merge`.");
  require<DataError>(metadata.is_object() && metadata.contains("schema_version") && metadata.contains("content_xxh64"),
                     "data set: file=", file.name(), " (is not a finished data set). Generate it again.");
  require<DataError>(metadata.at("schema_version") == Dataset::schema_version ||
                         metadata.at("schema_version") == TrajectoryTable::schema_version,
                     "data set: file=", file.name(), ", schema_version=", metadata.at("schema_version").dump(),
                     " (this program reads version ", Dataset::schema_version, ", and ",
                     TrajectoryTable::schema_version, " of trajectories). Generate it again.");
  // The name of the problem becomes that of a folder.
  require<DataError>(
      metadata.contains("pde") && metadata["pde"].is_string() && is_plain_name(metadata["pde"].get<std::string>()),
      "data set: file=", file.name(), ", pde (is no name that a folder can have). Generate it again.");
  return metadata;
}

struct Spaces {
  pde::Space input, output;
};

/// Files of the first generators name no spaces: theirs are those of the problem.
Spaces spaces_of(const Json& metadata, const std::string& name) {
  if (metadata.contains("input")) {
    return {space_from_json(metadata.at("input"), name), space_from_json(metadata.at("output"), name)};
  }
  const auto problem = problem_of(metadata, name);
  return {problem->input(), problem->output()};
}

template <typename T>
std::vector<T> values(const Hdf5Contents& file, const std::string& path, std::int64_t size) {
  Column column = file.column(path);
  auto* held = std::get_if<std::vector<T>>(&column.values);
  require<DataError>(held != nullptr && static_cast<std::int64_t>(held->size()) == size, "data set: file=", file.name(),
                     ", column=", path, " (has another type or size than the data set says). Generate it again.");
  return std::move(*held);
}

FieldBatch fields(const pde::Space& space, std::int64_t samples, const std::vector<float>& stored) {
  return {space.domain, samples, space.channel_count(), {stored.begin(), stored.end()}};
}

}  // namespace

std::vector<std::int64_t> Dataset::indices(Split part) const {
  std::vector<std::int64_t> found;
  for (std::size_t i = 0; i < split.size(); ++i) {
    if (split[i] == part) found.push_back(static_cast<std::int64_t>(i));
  }
  return found;
}

std::vector<std::int64_t> Dataset::explained(Split part, const ScenarioRule& rule) const {
  std::vector<std::int64_t> found = indices(part);
  std::erase_if(found, [this](std::int64_t sample) { return sample % windows != windows / 2; });
  if (node_types.empty() || rule.query != ScenarioRule::Where::position) return found;
  std::erase_if(found, [&](std::int64_t sample) {
    const std::size_t mesh = inputs.domain_of(sample);
    return pde::is_wall(node_types[mesh][static_cast<std::size_t>(inputs.domain(mesh).nearest(rule.position))]);
  });
  return found;
}

Dataset served_at(Dataset data, const std::vector<Resolution>& resolutions) {
  for (const Resolution& resolution : resolutions) {
    require(has_resolution(data.inputs.domain(0), resolution) && (data.inputs.on_one_domain() || resolution.is_own()),
            "data set: pde=", data.pde, ", resolution=", resolution, " (no stride of its ",
            data.inputs.domain(0).describe(),
            " has so many points). Give others, for example `resolutions` by --config.");
  }
  data.resolutions = resolutions;
  for (std::size_t i = 0; i < data.resolution_slot.size(); ++i)
    data.resolution_slot[i] = static_cast<std::uint8_t>(i % resolutions.size());
  return data;
}

std::string Dataset::problem() const { return parameters.empty() ? pde : message(pde, " ", parameters); }

pde::Rest rest_of(const Dataset& data) {
  if (std::ranges::count(pde::names(), data.pde) == 0 || data.parameters.empty())
    return {.state = {}, .reason = "nothing here knows the problem of these data"};
  try {
    return pde::equation_with(data.pde, parameters_from_json(Json::parse(data.parameters), data.pde))->rest();
  } catch (const Error& error) {  // the data may be of a time when the problem had others
    return {.state = {}, .reason = message("its parameters are not those of today's problem: ", error.what())};
  }
}

namespace {

/// The mean of the training inputs at each point.
FieldBatch mean_input(const Dataset& data) {
  require(data.inputs.on_one_domain(), "data set: pde=", data.pde,
          ", baseline=node_mean (its samples are on meshes of their own, so that no node is in two of them). Use the "
          "baseline mean.");
  const std::vector<std::int64_t> training = data.indices(Split::train);
  require(!training.empty(), "data set: pde=", data.pde,
          ", baseline=node_mean (there are no training samples to take a mean of). Use the baseline zero.");
  FieldBatch mean = FieldBatch::zeros(data.inputs.domain(), 1, data.inputs.channels());
  for (const std::int64_t sample : training) {
    const std::span<const double> field = data.inputs.field(sample);
    for (std::size_t i = 0; i < field.size(); ++i) mean.values[i] += field[i] / static_cast<double>(training.size());
  }
  return mean;
}

}  // namespace

ScenarioRule rule_for(ScenarioRule rule, const Dataset& data) {
  using Hidden = ScenarioRule::Hidden;
  if (!rule.constants.empty()) return rule;
  if (rule.baseline == Hidden::rest) {
    const pde::Rest rest = rest_of(data);
    require(static_cast<bool>(rest), "data set: pde=", data.pde,
            ", baseline=rest (there is no state at rest: ", rest.reason,
            "). Give a number for each channel, or the mean.");
    rule.constants = rest.state;
  }
  if (rule.baseline == Hidden::node_mean && rule.hidden.values.empty()) rule.hidden = mean_input(data);
  if (rule.baseline == Hidden::mean) {
    require(!data.input_mean.empty(), "data set: pde=", data.pde,
            ", baseline=mean (there are no training samples to take a mean of). Use the baseline zero.");
    rule.constants = data.input_mean;
  }
  return rule;
}

std::vector<double> channel_means(const pde::Space& space, std::span<const float> fields, std::int64_t samples) {
  if (samples == 0) return {};
  const auto points = static_cast<std::size_t>(space.domain.points());
  std::vector<double> shares;
  for (std::size_t p = 0; p < points; ++p)
    shares.push_back(space.domain.volume(static_cast<std::int64_t>(p)) / space.domain.volume());
  std::vector<double> means(space.channels.size(), 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(samples) * means.size(); ++row) {
    for (std::size_t p = 0; p < points; ++p)
      means[row % means.size()] += shares[p] * static_cast<double>(fields[row * points + p]);
  }
  for (double& mean : means) mean /= static_cast<double>(samples);
  return means;
}

std::vector<std::uint32_t> sample_checksums(const std::vector<float>& inputs, const std::vector<float>& targets,
                                            std::int64_t samples) {
  const auto count = static_cast<std::size_t>(samples), input_size = inputs.size() / count,
             target_size = targets.size() / count;
  std::vector<std::uint32_t> checksums;
  std::vector<float> pair(input_size + target_size);
  for (std::size_t i = 0; i < count; ++i) {
    std::copy_n(inputs.data() + i * input_size, input_size, pair.data());
    std::copy_n(targets.data() + i * target_size, target_size, pair.data() + input_size);
    checksums.push_back(crc32c(std::as_bytes(std::span(pair))));
  }
  return checksums;
}

std::string content_hash(const std::vector<float>& inputs, const std::vector<float>& targets, std::int64_t samples) {
  const auto count = static_cast<std::size_t>(samples), input_size = inputs.size() / count,
             target_size = targets.size() / count;
  Xxh64 hash;
  for (std::size_t i = 0; i < count; ++i) {
    hash.add(std::as_bytes(std::span(inputs).subspan(i * input_size, input_size)));
    hash.add(std::as_bytes(std::span(targets).subspan(i * target_size, target_size)));
  }
  return hash.digits();
}

Dataset read_dataset(const std::filesystem::path& path) try {
  const Hdf5Contents file(read_file(path), path.string());
  const Json metadata = metadata_of(file);
  if (metadata.at("schema_version") == TrajectoryTable::schema_version) return read_trajectories(file, metadata);
  const Spaces spaces = spaces_of(metadata, path.string());
  const auto samples = metadata.at("request").at("samples").get<std::int64_t>();

  Dataset set;
  set.pde = metadata.at("pde").get<std::string>();
  if (metadata.contains("parameters")) set.parameters = metadata["parameters"].dump();
  set.resolutions = metadata.at("request").at("resolutions").get<std::vector<Resolution>>();
  const auto inputs = values<float>(file, "/u0", samples * spaces.input.field_size());
  const auto targets = values<float>(file, "/target", samples * spaces.output.field_size());
  set.inputs = fields(spaces.input, samples, inputs);
  set.targets = fields(spaces.output, samples, targets);
  set.input_channels = spaces.input.channels;
  set.target_channels = spaces.output.channels;
  for (const std::uint8_t part : values<std::uint8_t>(file, "/split", samples)) {
    require<DataError>(part <= 2, "data set: file=", path.string(), ", split=", static_cast<int>(part),
                       " (0, 1 and 2 are known). Generate it again.");
    set.split.push_back(static_cast<Split>(part));
  }
  set.resolution_slot = values<std::uint8_t>(file, "/resolution_slot", samples);
  require_finite(set.inputs.batch(), path.c_str());
  require_finite(set.targets.batch(), path.c_str());

  const auto expected = values<std::uint32_t>(file, "/crc32c", samples),
             found = sample_checksums(inputs, targets, samples);
  for (std::size_t i = 0; i < found.size(); ++i) {
    require<DataError>(expected[i] == found[i], "data set: file=", path.string(), ", sample=", i,
                       " (does not match its checksum). Generate it again.");
  }
  set.input_mean = metadata.contains("input_mean")
                       ? metadata.at("input_mean").get<std::vector<double>>()
                       : channel_means(spaces.input, inputs, std::ssize(set.indices(Split::train)));
  set.content_hash = content_hash(inputs, targets, samples);
  require<DataError>(metadata.at("content_xxh64") == set.content_hash, "data set: file=", path.string(),
                     ", content_xxh64=", set.content_hash, " (should be ", metadata.at("content_xxh64").dump(),
                     "). Generate it again.");
  return set;
} catch (const Json::exception& error) {
  throw DataError(
      message("data set: file=", path.string(), " (", error.what(), " in its metadata). Generate it again."));
}

std::string read_dataset_metadata(const std::filesystem::path& path) {
  return metadata_of(Hdf5Contents(read_file(path), path.string())).dump();
}

}  // namespace opshap::data
