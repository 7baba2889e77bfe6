#include "data/dataset.hpp"

#include <nlohmann/json.hpp>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/strict_json.hpp"
#include "data/hdf5.hpp"
#include "data/space_json.hpp"
#include "pde/registry.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

/// The metadata of a finished data set of today's schema; shards of one have none.
Json metadata_of(const Hdf5Contents& file) {
  const Json metadata = strict_json<Json>(file.metadata(), "data set: file=" + file.name());
  require<DataError>(!metadata.is_object() || !metadata.contains("part"), "data set: file=", file.name(),
                     " (is a part of a data set). Merge all parts with `opshap data merge`.");
  require<DataError>(metadata.is_object() && metadata.contains("schema_version") && metadata.contains("content_xxh64"),
                     "data set: file=", file.name(), " (is not a finished data set). Generate it again.");
  require<DataError>(metadata.at("schema_version") == Dataset::schema_version, "data set: file=", file.name(),
                     ", schema_version=", metadata.at("schema_version").dump(), " (this program reads version ",
                     Dataset::schema_version, "). Generate it again.");
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
  const auto problem =
      pde::find(metadata.at("pde").get<std::string>()).with(parameters_from_json(metadata.at("parameters"), name));
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

std::int64_t field_size(const pde::Space& space) { return space.channel_count() * space.domain.points(); }

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

Dataset served_at(Dataset data, const std::vector<Resolution>& resolutions) {
  for (const Resolution& resolution : resolutions) {
    require(has_resolution(data.inputs.domain, resolution), "data set: pde=", data.pde, ", resolution=", resolution,
            " (no stride of its ", data.inputs.domain.describe(),
            " has so many points). Give others, for example `resolutions` by --config.");
  }
  data.resolutions = resolutions;
  for (std::size_t i = 0; i < data.resolution_slot.size(); ++i)
    data.resolution_slot[i] = static_cast<std::uint8_t>(i % resolutions.size());
  return data;
}

ScenarioRule rule_for(ScenarioRule rule, const Dataset& data) {
  if (rule.baseline != ScenarioRule::Hidden::mean || !rule.means.empty()) return rule;
  require(!data.input_mean.empty(), "data set: pde=", data.pde,
          ", baseline=mean (there are no training samples to take a mean of). Use the baseline zero.");
  rule.means = data.input_mean;
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
  const Spaces spaces = spaces_of(metadata, path.string());
  const auto samples = metadata.at("request").at("samples").get<std::int64_t>();

  Dataset set;
  set.pde = metadata.at("pde").get<std::string>();
  if (metadata.contains("parameters")) set.parameters = metadata["parameters"].dump();
  set.resolutions = metadata.at("request").at("resolutions").get<std::vector<Resolution>>();
  const auto inputs = values<float>(file, "/u0", samples * field_size(spaces.input));
  const auto targets = values<float>(file, "/target", samples * field_size(spaces.output));
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
  require_finite(set.inputs, path.c_str());
  require_finite(set.targets, path.c_str());

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
