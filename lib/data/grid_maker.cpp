#include <hdf5.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"
#include "data/maker.hpp"
#include "pde/fourier.hpp"
#include "pde/sundials.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

Json resolved_request(const DatasetRequest& request, const pde::Problem& problem) {
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
  metadata["solver"] = problem.scheme();
  metadata.update(provenance(request));
  metadata.update({{"fft", pde::fft_library()},
                   {"ode", pde::ode_library()},
                   {"hdf5", H5_VERS_INFO},
                   {"content_xxh64", content_hash(inputs, targets, columns[0].shape[0])}});
  return metadata.dump();
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

class GridRows final : public GatheredRows {
 public:
  explicit GridRows(const pde::Problem& problem) : problem_(problem) {}
  void add(const Hdf5Contents& unit) override { append_columns(columns_, unit); }
  std::string part(const Json& metadata) const override { return hdf5_bytes(columns_, metadata.dump()); }
  std::string finished(const Json& request) const override {
    std::vector<Column> columns = columns_;
    append_layout(columns, request, problem_.input().domain);
    return hdf5_bytes(columns, written_metadata(request, problem_, columns));
  }

 private:
  const pde::Problem& problem_;
  std::vector<Column> columns_;
};

class GridMaker final : public DatasetMaker {
 public:
  explicit GridMaker(std::unique_ptr<pde::Problem> problem) : problem_(std::move(problem)) {}
  Json resolved(const DatasetRequest& request) const override { return resolved_request(request, *problem_); }
  std::string_view items() const override { return "samples"; }
  std::string made(const Json& request, std::int64_t first, std::int64_t count) const override {
    const auto seed = request.at("seed").get<std::uint64_t>();
    std::vector<GeneratedSample> samples(static_cast<std::size_t>(count));
    parallel_for(samples.size(), [&](std::size_t i) {
      samples[i] = generate_sample(*problem_, seed, static_cast<std::uint64_t>(first) + i);
    });
    return hdf5_bytes(columns_of(samples, *problem_), request.dump());
  }
  std::unique_ptr<GatheredRows> gathered() const override { return std::make_unique<GridRows>(*problem_); }
  Cost measured_cost(const DatasetRequest& request) const override;

 private:
  std::unique_ptr<pde::Problem> problem_;
};

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

Cost GridMaker::measured_cost(const DatasetRequest& request) const {
  using Clock = std::chrono::steady_clock;
  generate_sample(*problem_, request.seed, 0);  // the first one plans transforms and fills caches
  const auto begin = Clock::now();
  std::int64_t made = 0;
  double elapsed = 0;
  do {
    generate_sample(*problem_, request.seed, static_cast<std::uint64_t>(made++ % request.layout.samples));
    elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  } while (elapsed < 0.05);
  const double seconds = elapsed / static_cast<double>(made);
  const std::int64_t numbers = problem_->input().field_size() + problem_->output().field_size();
  const auto samples = static_cast<double>(request.layout.samples);
  return {.seconds_per_sample = seconds,
          .seconds = seconds * samples / static_cast<double>(threads()),
          .bytes = static_cast<double>(numbers) * sizeof(float) * samples};
}

std::unique_ptr<DatasetMaker> grid_maker(std::unique_ptr<pde::Problem> problem) {
  return std::make_unique<GridMaker>(std::move(problem));
}

}  // namespace opshap::data
