#include "data/import.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "data/already_made.hpp"
#include "data/dataset.hpp"
#include "data/import_adapters.hpp"
#include "data/space_json.hpp"

namespace opshap::data {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// Fields of so many samples are read at once.
constexpr std::int64_t block_samples = 64;

/// Name, size and xxh64 of a file that may be larger than the memory.
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

std::string names_of(const ImportSource& source) {
  std::string names;
  for (const fs::path& file : source.files()) names += (names.empty() ? "" : ", ") + file.string();
  return names;
}

/// The samples to take, in their parts.
Json settled_layout(const ImportSource& source, LayoutRequest layout) {
  const bool counts = layout.train + layout.validation + layout.test > 0;
  if (layout.samples == 0) layout.samples = counts ? layout.train + layout.validation + layout.test : source.samples();
  require<DataError>(layout.samples <= source.samples(), "data import: file=", names_of(source),
                     ", samples=", source.samples(), " (", layout.samples,
                     " are asked for). Ask for fewer, or import a larger file.");
  const std::int64_t fewest = layout.division.fewest_test + 2;
  require<DataError>(counts || layout.samples >= fewest, "data import: file=", names_of(source),
                     ", samples=", layout.samples, " (at least ", fewest,
                     " can be divided into parts). Import a larger file, or give --train, --validation and --test.");
  return resolved_layout("data import", layout, source.input().domain);
}

void require_finite(const ImportSource& source, const char* what, const std::vector<float>& values, std::size_t from,
                    std::int64_t field_size) {
  const auto bad = std::find_if_not(values.begin() + static_cast<std::ptrdiff_t>(from), values.end(),
                                    [](float value) { return std::isfinite(value); });
  require<DataError>(
      bad == values.end(), "data import: file=", names_of(source), ", sample=", (bad - values.begin()) / field_size,
      ", ", what, "=", bad == values.end() ? 0 : *bad,
      " (an operator cannot learn from it). Correct the file, or leave such samples out with --skip-nonfinite.");
}

struct Pairs {
  std::vector<float> inputs, targets;
};

Pairs read_pairs(const ImportSource& source, std::int64_t samples) {
  const pde::Space input = source.input(), output = source.output();
  const std::int64_t input_size = input.channel_count() * input.domain.points(),
                     target_size = output.channel_count() * output.domain.points();
  Pairs pairs;
  pairs.inputs.reserve(static_cast<std::size_t>(samples * input_size));
  pairs.targets.reserve(static_cast<std::size_t>(samples * target_size));
  Progress progress("data import " + source.name(), samples, "samples");
  for (std::int64_t first = 0; first < samples; first += block_samples) {
    throw_if_stopped("data import");
    const std::int64_t count = std::min(block_samples, samples - first);
    const std::size_t inputs = pairs.inputs.size(), targets = pairs.targets.size();
    source.read(first, count, pairs.inputs, pairs.targets);
    require_finite(source, "input", pairs.inputs, inputs, input_size);
    require_finite(source, "target", pairs.targets, targets, target_size);
    progress.advance(count);
  }
  return pairs;
}

}  // namespace

void import_dataset(const ImportSource& original, const ImportRequest& asked, const fs::path& path) {
  std::unique_ptr<ImportSource> finite, interpolated;
  if (asked.skip_nonfinite) finite = finite_samples(original);
  const ImportSource& kept = finite ? *finite : original;
  if (asked.interpolate) interpolated = interpolated_source(kept, *asked.interpolate);
  const ImportSource& source = interpolated ? *interpolated : kept;
  const pde::Space input = source.input(), output = source.output();
  const Json settled = settled_layout(source, asked.layout);
  Json request = {{"pde", source.name()}, {"schema_version", Dataset::schema_version}}, files = Json::array();
  request.update(settled);
  request["options"] = source.options();
  for (const fs::path& file : source.files()) files.push_back(fingerprint(file));
  request["files"] = files;
  const auto same = [&request](const Json& metadata) { return metadata.value("request", Json()) == request; };
  if (already_made("data import", path, same)) return;

  const auto samples = settled["samples"].get<std::int64_t>();
  Pairs pairs = read_pairs(source, samples);
  Json imported = source.facts();
  Json& notes = imported["notes"];
  if (notes.is_null()) notes = Json::array();
  notes.insert(notes.begin(), "The set is imported. It is none of the paper's data sets.");
  imported["files"] = files;
  imported["options"] = source.options();
  imported["samples_in_file"] = original.samples();
  Json metadata = {
      {"schema_version", Dataset::schema_version},
      {"origin", imported_origin},
      {"pde", source.name()},
      {"equation", source.equation()},
      {"parameters", imported.value("parameters", Json::object())},
      {"input", to_json(input)},
      {"output", to_json(output)},
      {"input_mean", channel_means(input, pairs.inputs, settled["train"].get<std::int64_t>())},
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
  std::vector<Column> columns = {{"/u0", field_shape(input, samples), std::move(pairs.inputs)},
                                 {"/target", field_shape(output, samples), std::move(pairs.targets)},
                                 {"/crc32c", {samples}, std::move(checksums)}};
  append_layout(columns, settled, input.domain);
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

}  // namespace opshap::data
