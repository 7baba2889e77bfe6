#include "data/generate.hpp"

#include <algorithm>
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
#include "data/maker.hpp"
#include "pde/registry.hpp"

namespace opshap::data {

std::vector<std::vector<pde::Drawn>> read_drawn(const std::filesystem::path& path) {
  const Hdf5Contents file(read_file(path), path.string());
  const auto metadata = nlohmann::ordered_json::parse(file.metadata());
  std::vector<std::vector<pde::Drawn>> drawn;
  if (metadata.contains("windows"))
    drawn.resize(metadata.at("request").at("trajectories").get<std::size_t>());
  else
    drawn.resize(static_cast<std::size_t>(file.column("/crc32c").shape[0]));
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

using Json = nlohmann::ordered_json;

namespace {

/// The items first, .., end − 1 in groups, each a unit of work.
struct Shards {
  std::int64_t begin, end, shard_items;

  std::int64_t count() const { return (end - begin + shard_items - 1) / shard_items; }
  std::int64_t first(std::int64_t shard) const { return begin + shard * shard_items; }
  std::int64_t size(std::int64_t shard) const { return std::min(shard_items, end - first(shard)); }
  std::string name(std::int64_t shard) const {
    char name[32];
    std::snprintf(name, sizeof name, "%05lld.h5", static_cast<long long>(shard));
    return name;
  }
};

/// A request as today's generator writes it: a parameter that the equation has got since then has its default.
Json renewed(Json request) try {
  request["parameters"] = to_json(equation_of(request, "data generate")->parameters());
  return request;
} catch (const std::exception&) {
  return {};  // of an equation that is not there any more
}

constexpr std::int64_t fewest = 10;  ///< one for testing, one for validation, and some to learn from
constexpr std::size_t most_resolutions = 7;

}  // namespace

std::unique_ptr<DatasetMaker> maker_of(std::string_view pde, const pde::ParameterValues& parameters) {
  if (pde::has_trajectories(pde)) return trajectory_maker(pde::find_trajectories(pde).with(parameters));
  return grid_maker(pde::find(pde).with(parameters));
}

std::unique_ptr<DatasetMaker> maker_of(const Json& request, std::string_view who) {
  return maker_of(request.at("pde").get<std::string>(), parameters_from_json(request.at("parameters"), who));
}

Json provenance(const Json& request) {
  return {{"rng", "philox4x32-10"},
          {"seed", request["seed"]},
          {"request", request},
          {"request_xxh64", xxh64(request.dump())},
          {"compiler", __VERSION__}};
}

Cost measured_cost(const DatasetRequest& request) {
  return maker_of(request.pde, request.parameters)->measured_cost(request);
}

namespace {

Json settled_request(const DatasetRequest& request, const DatasetMaker& maker) {
  require(request.shard_samples >= 1, "data generate: shard_samples=", request.shard_samples,
          " (a unit of work has at least one sample). Give a positive number.");
  return maker.resolved(request);
}

}  // namespace

std::string resolved(const DatasetRequest& request) {
  return settled_request(request, *maker_of(request.pde, request.parameters)).dump();
}

void generate(const DatasetRequest& request, const fs::path& path, const runs::Part& part,
              const std::stop_token& stop) {
  const std::unique_ptr<DatasetMaker> maker = maker_of(request.pde, request.parameters);
  const Json settled = settled_request(request, *maker);
  const std::int64_t items = request.layout.samples;
  require(part.of <= items, "data generate: --shard=", part.index, "/", part.of, ", --samples=", items,
          " (some parts would be empty). Give fewer parts.");
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
  const Shards shards{part.index * items / part.of, (part.index + 1) * items / part.of,
                      std::min(request.shard_samples, maker->most_in_unit())};
  const std::string identity = part.whole() ? settled.dump() : settled.dump() + to_json(part).dump();
  runs::Units units(folder, "data generate", identity);
  Progress progress(message("data ", request.pde), shards.end - shards.begin, std::string(maker->items()));
  for (std::int64_t shard = 0; shard < shards.count(); ++shard) {
    throw_if_stopped("data generate");
    if (stop.stop_requested())
      throw Stopped(
          "data generate: stopped (nobody waits for the data; what is finished is on disk). Run the same "
          "command again to go on.");
    if (!units.bytes(shards.name(shard)).empty()) {
      progress.skip(shards.size(shard));
      continue;
    }
    units.store(shards.name(shard), maker->made(settled, shards.first(shard), shards.size(shard)));
    progress.advance(shards.size(shard));
    throw_if_over_after_piece("data generate");
  }

  const std::unique_ptr<GatheredRows> rows = maker->gathered();
  for (std::int64_t shard = 0; shard < shards.count(); ++shard) {
    std::string bytes = units.bytes(shards.name(shard));
    require<DataError>(!bytes.empty(), "data generate: shard=", shard,
                       " (changed on disk while the data set was made). Run the same command again.");
    rows->add(Hdf5Contents(std::move(bytes), folder.string()));
  }
  write_file(path,
             part.whole() ? rows->finished(settled) : rows->part(Json{{"part", to_json(part)}, {"request", settled}}));
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
  const std::unique_ptr<DatasetMaker> maker = maker_of(request, "data merge");
  const std::unique_ptr<GatheredRows> rows = maker->gathered();
  for (const auto& [index, i] : order) rows->add(*opened(i));
  write_file(path, rows->finished(request));
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
  require(data.pde == problem.name() && data.inputs.domain() == problem.input().domain,
          "unlabelled: problem=", problem.name(), " (the data set is of ", data.pde, " on ",
          data.inputs.domain().describe(), "). Give the problem with the parameters of the data set.");
  const std::int64_t before = data.samples();
  FieldBatch inputs = at_resolution(data.inputs.batch(), wanted.grid);
  inputs.batch += wanted.count;
  inputs.values.resize(static_cast<std::size_t>(inputs.batch) * inputs.field_size());
  parallel_for(static_cast<std::size_t>(wanted.count), [&](std::size_t item) {
    const std::int64_t sample = before + static_cast<std::int64_t>(item);
    const FieldBatch drawn =
        at_resolution(generated_input(problem, seed, static_cast<std::uint64_t>(sample)), wanted.grid);
    std::ranges::copy(drawn.values, inputs.field(sample).begin());
  });
  data.inputs = std::move(inputs);
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
  for (std::int64_t sample = 0; sample < set.inputs.count(); ++sample) {
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
