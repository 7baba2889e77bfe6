#include "data/generate.hpp"

#include <hdf5.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/strict_json.hpp"
#include "core/threads.hpp"
#include "data/hdf5.hpp"
#include "pde/fourier.hpp"
#include "pde/registry.hpp"
#include "pde/sundials.hpp"

namespace opshap::data {

std::vector<std::vector<pde::Drawn>> read_drawn(const std::filesystem::path& path) {
  const Hdf5Contents file(read_file(path), path.string());
  std::vector<std::vector<pde::Drawn>> drawn(static_cast<std::size_t>(file.column("/crc32c").shape[0]));
  constexpr std::string_view folder = "/params/";
  for (const std::string& name : file.columns()) {
    if (!name.starts_with(folder)) continue;
    const Column column = file.column(name);
    const auto* values = std::get_if<std::vector<double>>(&column.values);
    require<DataError>(
        values != nullptr && values->size() == drawn.size() * static_cast<std::size_t>(column.row_size()),
        "data set: file=", path.string(), ", column=", name,
        " (has another type or size than the data set says). Generate it again.");
    const auto width = static_cast<std::ptrdiff_t>(column.row_size());
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      const auto row = values->begin() + static_cast<std::ptrdiff_t>(i) * width;
      drawn[i].push_back({name.substr(folder.size()), {row, row + width}});
    }
  }
  return drawn;
}

namespace fs = std::filesystem;

bool already_made(std::string_view who, const fs::path& path,
                  const std::function<bool(const nlohmann::ordered_json& metadata)>& same) {
  if (!is_there(path)) return false;
  const std::string bytes = is_file(path) ? read_file(path) : "";
  require(is_sealed(bytes), who, ": --out=", path.string(), " (exists and is not a data set). Choose another path.");
  const auto found =
      nlohmann::ordered_json::parse(Hdf5Contents(bytes, path.string()).metadata(), nullptr, /*allow_exceptions=*/false);
  require(found.is_object() && same(found), who, ": --out=", path.string(),
          " (exists and was made by another request). Choose another path, or remove it.");
  return true;
}

Cost measured_cost(const DatasetRequest& request) {
  using Clock = std::chrono::steady_clock;
  const auto problem = pde::find(request.pde).with(request.parameters);
  generate_sample(*problem, request.seed, 0);  // the first one plans transforms and fills caches
  const auto begin = Clock::now();
  std::int64_t made = 0;
  double elapsed = 0;
  do {
    generate_sample(*problem, request.seed, static_cast<std::uint64_t>(made++ % request.layout.samples));
    elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (elapsed < 0.05);
  const double seconds = elapsed / static_cast<double>(made);
  const std::int64_t numbers = problem->input().field_size() + problem->output().field_size();
  const auto samples = static_cast<double>(request.layout.samples);
  return {.seconds_per_sample = seconds,
          .seconds = seconds * samples / static_cast<double>(threads()),
          .bytes = static_cast<double>(numbers) * sizeof(float) * samples};
}

using Json = nlohmann::ordered_json;

namespace {

Json resolved_request(const DatasetRequest& request, const pde::Problem& problem) {
  require(request.shard_samples >= 1, "data generate: shard_samples=", request.shard_samples,
          " (a unit of work has at least one sample). Give a positive number.");
  Json json = {
      {"pde", request.pde}, {"schema_version", Dataset::schema_version}, {"parameters", to_json(problem.parameters())}};
  json.update(resolved_layout("data generate", request.layout, problem.input().domain));
  json["seed"] = request.seed;
  return json;
}

/// One row a sample: what a shard holds, u0 and target first.
std::vector<Column> columns_of(const std::vector<GeneratedSample>& samples, const pde::Problem& problem) {
  const auto rows = static_cast<std::int64_t>(samples.size());
  const std::vector<pde::Invariant> invariants = problem.invariants();

  std::vector<float> inputs, targets;
  std::map<std::string, std::vector<double>> numbers;
  for (const GeneratedSample& sample : samples) {
    inputs.insert(inputs.end(), sample.input.begin(), sample.input.end());
    targets.insert(targets.end(), sample.target.begin(), sample.target.end());
    for (const pde::Drawn& drawn : sample.drawn) {
      auto& column = numbers["/params/" + drawn.name];
      column.insert(column.end(), drawn.values.begin(), drawn.values.end());
    }
    for (std::size_t i = 0; i < invariants.size(); ++i)
      numbers["/qc/" + invariants[i].name].push_back(sample.departures[i]);
    numbers["/qc/steps"].push_back(static_cast<double>(sample.steps));
  }
  std::vector<Column> columns = {{"/u0", field_shape(problem.input(), rows), inputs},
                                 {"/target", field_shape(problem.output(), rows), targets},
                                 {"/crc32c", {rows}, sample_checksums(inputs, targets, rows)}};
  for (auto& [name, values] : numbers) {
    const auto width = static_cast<std::int64_t>(values.size()) / rows;
    columns.push_back({name, width == 1 ? std::vector<std::int64_t>{rows} : std::vector<std::int64_t>{rows, width},
                       std::move(values)});
  }
  return columns;
}

std::string written_metadata(const Json& request, const pde::Problem& problem, const std::vector<Column>& columns) {
  const auto& inputs = std::get<std::vector<float>>(columns[0].values);
  const auto& targets = std::get<std::vector<float>>(columns[1].values);

  Json metadata = {{"schema_version", Dataset::schema_version},
                   {"origin", "in-house generator"},
                   {"pde", problem.name()},
                   {"equation", problem.summary()},
                   {"parameters", request["parameters"]},
                   {"input", to_json(problem.input())},
                   {"output", to_json(problem.output())},
                   {"input_mean", channel_means(problem.input(), inputs, request["train"].get<std::int64_t>())}};
  if (const pde::Evolution* evolution = problem.evolution()) metadata["target_time"] = evolution->target_time();
  metadata.update({{"solver", problem.scheme()},
                   {"rng", "philox4x32-10"},
                   {"seed", request["seed"]},
                   {"request", request},
                   {"request_xxh64", xxh64(request.dump())},
                   {"compiler", __VERSION__},
                   {"fft", pde::fft_library()},
                   {"ode", pde::ode_library()},
                   {"hdf5", H5_VERS_INFO},
                   {"content_xxh64", content_hash(inputs, targets, columns[0].shape[0])}});
  return metadata.dump();
}

/// The samples first, .., end − 1 in groups, each a unit of work.
struct Shards {
  std::int64_t begin, end, shard_samples;

  std::int64_t count() const { return (end - begin + shard_samples - 1) / shard_samples; }
  std::int64_t first(std::int64_t shard) const { return begin + shard * shard_samples; }
  std::int64_t size(std::int64_t shard) const { return std::min(shard_samples, end - first(shard)); }
  std::string name(std::int64_t shard) const {
    char name[32];
    std::snprintf(name, sizeof name, "%05lld.h5", static_cast<long long>(shard));
    return name;
  }
};

/// A request as today's generator writes it: a parameter that the problem has got since then has its default.
Json renewed(Json request) try {
  request["parameters"] = to_json(problem_of(request, "data generate")->parameters());
  return request;
} catch (const std::exception&) {
  return {};  // of a problem that is not there any more
}

/// The input of a sample as a file holds it: rounded to float32.
pde::Sample drawn_sample(const pde::Problem& problem, std::uint64_t seed, std::uint64_t sample) {
  pde::Sample drawn = problem.draw(Rng(seed, message(problem.name(), "/", Dataset::schema_version)), sample);
  for (double& value : drawn.input.values) value = static_cast<float>(value);
  return drawn;
}

/// Adds the rows of a file to the columns, u0 and target first.
void append_columns(std::vector<Column>& columns, const Hdf5Contents& file) {
  if (columns.empty()) {
    for (const char* name : {"/u0", "/target"}) columns.push_back(file.column(name));
    for (const std::string& name : file.columns()) {
      if (name != "/u0" && name != "/target") columns.push_back(file.column(name));
    }
  } else {
    for (Column& column : columns) column.append(file.column(column.name));
  }
}

/// Writes the data set with these rows.
void complete(std::vector<Column> columns, const Json& request, const pde::Problem& problem, const fs::path& path) {
  append_layout(columns, request, problem.input().domain);
  write_file(path, hdf5_bytes(columns, written_metadata(request, problem, columns)));
}

constexpr std::int64_t fewest = 10;  ///< one for testing, one for validation, and some to learn from
constexpr std::size_t most_resolutions = 7;

}  // namespace

FieldBatch generated_input(const pde::Problem& problem, std::uint64_t seed, std::uint64_t sample) {
  return drawn_sample(problem, seed, sample).input;
}

GeneratedSample generate_sample(const pde::Problem& problem, std::uint64_t seed, std::uint64_t sample) {
  pde::Sample drawn = drawn_sample(problem, seed, sample);
  GeneratedSample made{{drawn.input.values.begin(), drawn.input.values.end()}, {}, std::move(drawn.drawn), 0, {}};
  pde::Solution solution = problem.solve(drawn.input);
  const std::vector<pde::Invariant> invariants = problem.invariants();
  for (std::size_t i = 0; i < invariants.size(); ++i) {
    require<NumericalError>(invariants[i].allows(solution.departures[i]), "data generate: pde=", problem.name(),
                            ", sample=", sample, ", ", invariants[i].name, "=", solution.departures[i], " (more than ",
                            invariants[i].limit, ": the solution is not good enough to be learned from). ",
                            invariants[i].remedy);
  }
  made.target.assign(solution.output.values.begin(), solution.output.values.end());
  made.steps = solution.steps;
  made.departures = std::move(solution.departures);
  return made;
}

std::string resolved(const DatasetRequest& request) {
  return resolved_request(request, *pde::find(request.pde).with(request.parameters)).dump();
}

void generate(const DatasetRequest& request, const fs::path& path, const runs::Part& part) {
  const std::unique_ptr<pde::Problem> problem = pde::find(request.pde).with(request.parameters);
  const Json settled = resolved_request(request, *problem);
  require(part.of <= request.layout.samples, "data generate: --shard=", part.index, "/", part.of,
          ", --samples=", request.layout.samples, " (some parts would be empty). Give fewer parts.");
  const fs::path folder = path.string() + ".shards";
  const auto same = [&](const Json& metadata) {
    return renewed(metadata.value("request", Json())) == settled &&
           metadata.value("part", to_json(runs::Part{})) == to_json(part);
  };
  if (already_made("data generate", path, same)) {
    std::error_code ignored;  // of removing shards that are no longer needed
    fs::remove_all(folder, ignored);
    return;
  }
  const Shards shards{part.index * request.layout.samples / part.of,
                      (part.index + 1) * request.layout.samples / part.of, request.shard_samples};
  const std::string identity = part.whole() ? settled.dump() : settled.dump() + to_json(part).dump();
  runs::Units units(folder, "data generate", identity);
  Progress progress(message("data ", request.pde), shards.end - shards.begin, "samples");
  for (std::int64_t shard = 0; shard < shards.count(); ++shard) {
    throw_if_stopped("data generate");
    if (!units.bytes(shards.name(shard)).empty()) {
      progress.skip(shards.size(shard));
      continue;
    }
    std::vector<GeneratedSample> samples(static_cast<std::size_t>(shards.size(shard)));
    parallel_for(samples.size(), [&](std::size_t i) {
      samples[i] = generate_sample(*problem, request.seed, static_cast<std::uint64_t>(shards.first(shard)) + i);
    });
    units.store(shards.name(shard), hdf5_bytes(columns_of(samples, *problem), settled.dump()));
    progress.advance(shards.size(shard));
  }

  std::vector<Column> columns;
  for (std::int64_t shard = 0; shard < shards.count(); ++shard) {
    std::string bytes = units.bytes(shards.name(shard));
    require<DataError>(!bytes.empty(), "data generate: shard=", shard,
                       " (changed on disk while the data set was made). Run the same command again.");
    append_columns(columns, Hdf5Contents(std::move(bytes), folder.string()));
  }
  if (part.whole()) {
    complete(std::move(columns), settled, *problem, path);
  } else {
    write_file(path, hdf5_bytes(columns, Json{{"part", to_json(part)}, {"request", settled}}.dump()));
  }
  units.finish();
}

void merge(const std::vector<fs::path>& parts, const fs::path& path) {
  require(!parts.empty(), "data merge: files=0 (nothing to merge). Name the files of all parts.");
  std::map<std::int64_t, std::size_t> order;  // of each index, which of the files
  Json request;
  std::int64_t of = 0;
  const auto opened = [&](std::size_t i) {
    return std::make_unique<Hdf5Contents>(read_file(parts[i]), parts[i].string());
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Json metadata = strict_json<Json>(opened(i)->metadata(), "data merge: file=" + parts[i].string());
    const auto is_whole = [&metadata](const char* key) {
      return metadata["part"].contains(key) && metadata["part"][key].is_number_integer();
    };
    require<DataError>(metadata.is_object() && metadata.contains("part") && metadata.contains("request") &&
                           metadata["part"].is_object() && is_whole("of") && is_whole("index"),
                       "data merge: file=", parts[i].string(),
                       " (is not a part of a data set). Generate it with --shard.");
    if (i == 0) request = metadata["request"];
    if (i == 0) of = metadata["part"]["of"].get<std::int64_t>();
    require(metadata["request"] == request && metadata["part"]["of"] == of, "data merge: file=", parts[i].string(),
            " (is a part of another data set than ", parts[0].string(), "). Leave it out.");
    const auto [known, added] = order.emplace(metadata["part"]["index"].get<std::int64_t>(), i);
    require(added, "data merge: file=", parts[i].string(), " (holds the same samples as ",
            parts[known->second].string(), "). Leave one of them out.");
  }
  for (std::int64_t index = 0; index < of; ++index) {
    require(order.contains(index), "data merge: part=", index, " of ", of, " (is missing). Generate it with --shard ",
            index, "/", of, ".");
  }
  const auto problem = problem_of(request, "data merge");
  std::vector<Column> columns;
  for (const auto& [index, i] : order) append_columns(columns, *opened(i));
  complete(std::move(columns), request, *problem, path);
}

namespace {

/// The resolution of each further input: always the one that is farthest behind its share.
std::vector<std::uint8_t> slots(const Dataset& data, const Unlabelled& wanted) {
  const std::size_t resolutions = std::max<std::size_t>(1, data.resolutions.size());
  const std::vector<double> shares = wanted.shares.empty() ? std::vector<double>(resolutions, 1.0) : wanted.shares;
  require(shares.size() == resolutions, "unlabelled: shares=", shares.size(), " (there are ", resolutions,
          " resolutions). Give one for each.");
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::int64_t> given(shares.size(), 0);
  std::vector<std::uint8_t> slots;
  for (std::int64_t item = 0; item < wanted.count; ++item) {
    std::size_t next = 0;
    for (std::size_t slot = 0; slot < shares.size(); ++slot) {
      const auto behind = [&](std::size_t at) {
        return shares[at] / sum * static_cast<double>(item + 1) - static_cast<double>(given[at]);
      };
      if (behind(slot) > behind(next)) next = slot;
    }
    ++given[next];
    slots.push_back(static_cast<std::uint8_t>(next));
  }
  return slots;
}

}  // namespace

Dataset with_unlabelled(Dataset data, const pde::Problem& problem, std::uint64_t seed, const Unlabelled& wanted) {
  require(data.pde == problem.name() && data.inputs.domain == problem.input().domain,
          "unlabelled: problem=", problem.name(), " (the data set is of ", data.pde, " on ",
          data.inputs.domain.describe(), "). Give the problem with the parameters of the data set.");
  const std::int64_t before = data.samples();
  data.inputs = at_resolution(data.inputs, wanted.grid);
  data.inputs.batch += wanted.count;
  data.inputs.values.resize(static_cast<std::size_t>(data.inputs.batch) * data.inputs.field_size());
  parallel_for(static_cast<std::size_t>(wanted.count), [&](std::size_t item) {
    const std::int64_t sample = before + static_cast<std::int64_t>(item);
    const FieldBatch drawn =
        at_resolution(generated_input(problem, seed, static_cast<std::uint64_t>(sample)), wanted.grid);
    std::ranges::copy(drawn.values, data.inputs.field(sample).begin());
  });
  for (const std::uint8_t slot : slots(data, wanted)) {
    data.split.push_back(Split::train);
    data.resolution_slot.push_back(slot);
  }
  data.content_hash += message("+", wanted.count, wanted.shares.empty() ? "" : " shared as ",
                               joined(wanted.shares, ":"), " seed ", seed);
  return data;
}

std::vector<Resolution> usual_resolutions(const Domain& domain) {
  std::vector<Resolution> all = halved_resolutions(domain, 16);
  if (all.size() > most_resolutions) all.erase(all.begin(), all.end() - most_resolutions);
  return all;
}

Dataset of_inputs(const FieldBatch& inputs, const std::vector<Resolution>& resolutions, std::int64_t samples) {
  require(inputs.batch >= fewest, "inputs: fields=", inputs.batch,
          " (some are held out, and the rest is learned from). Give ", fewest, " or more, better some hundreds.");
  const std::int64_t tests = std::min<std::int64_t>(30, inputs.batch / 10),
                     validations = std::min<std::int64_t>(100, inputs.batch / 10),
                     own = inputs.batch - tests - validations, trained = std::max(own, samples);
  Dataset set{.pde = "inputs",
              .inputs = FieldBatch::zeros(inputs.domain, trained + validations + tests, inputs.channels)};
  set.resolutions = resolutions;
  const auto slots = static_cast<std::int64_t>(resolutions.size());
  for (std::int64_t sample = 0; sample < set.inputs.batch; ++sample) {
    const bool training = sample < trained;
    const std::int64_t from = training ? sample % own : own + sample - trained;
    std::ranges::copy(inputs.field(from), set.inputs.field(sample).begin());
    set.split.push_back(training ? Split::train : sample < trained + validations ? Split::validation : Split::test);
    const std::int64_t round = training ? sample / own : 0;
    set.resolution_slot.push_back(static_cast<std::uint8_t>((sample + round) % slots));
  }
  Xxh64 hash;
  hash.add(std::as_bytes(std::span(inputs.values)));
  set.content_hash = message(hash.digits(), "x", trained);
  return set;
}

}  // namespace opshap::data
