#include <hdf5.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/error.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "data/maker.hpp"
#include "data/meshgraphnets_writer.hpp"
#include "data/trajectory_file.hpp"
#include "pde/registry.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

constexpr const char* generating = "data generate";

enum Purpose : std::uint32_t { windows_of_trajectory };

/// From the input of a sample to its target, in frames.
std::int64_t lead_in_frames(const pde::Trajectories& of) {
  const std::vector<double> times = of.times();
  const double spacing = (times.back() - times.front()) / static_cast<double>(times.size() - 1);
  return std::llround(of.lead() / spacing);
}

void append_number(std::vector<Column>& columns, const std::string& name, double value) {
  columns.push_back({name, {1}, std::vector<double>{value}});
}

std::vector<pde::Parameter> drawn_numbers(const pde::Trajectories& of, std::uint64_t seed, std::uint64_t trajectory) {
  return of.draw(Rng(seed, message(of.name(), "/", TrajectoryTable::schema_version)), trajectory);
}

}  // namespace

TrajectoryTable made_trajectory(const pde::Trajectories& of, const Json& request, std::int64_t item) {
  const auto seed = request.at("seed").get<std::uint64_t>();
  const auto number = static_cast<std::uint64_t>(item);
  const std::vector<pde::Parameter> drawn = drawn_numbers(of, seed, number);
  pde::Trajectory flow = of.run(drawn, of.times());
  const std::vector<pde::Invariant> invariants = of.invariants();
  for (std::size_t i = 0; i < invariants.size(); ++i) {
    require<NumericalError>(invariants[i].allows(flow.departures[i]), generating, ": pde=", of.name(),
                            ", trajectory=", item, ", ", invariants[i].name, "=", flow.departures[i], " (more than ",
                            invariants[i].limit, ": the solution is not good enough to be learned from). ",
                            invariants[i].remedy);
  }
  if (const auto box = of.frame()) flow = pde::cropped(flow, *box);
  const Split part = part_of(request, item);
  const std::int64_t lead = lead_in_frames(of);
  const std::vector<std::int64_t> starts = window_starts(
      generating, static_cast<std::int64_t>(flow.times.size()), lead, request.at("windows").get<std::int64_t>(), part,
      Rng(seed, message(of.name(), " windows")).stream(windows_of_trajectory, number));
  TrajectoryTable table;
  std::vector<FrameWindow> windows;
  for (const std::int64_t start : starts) windows.push_back({start, start + lead});
  table.add(of, flow, windows, part);
  for (const pde::Parameter& parameter : drawn)
    append_number(table.numbers, "/params/" + parameter.name, parameter.value);
  for (std::size_t i = 0; i < invariants.size(); ++i)
    append_number(table.numbers, "/qc/" + invariants[i].name, flow.departures[i]);
  append_number(table.numbers, "/qc/steps", static_cast<double>(flow.steps));
  return table;
}

namespace {

class TrajectoryRows final : public GatheredRows {
 public:
  explicit TrajectoryRows(const pde::Trajectories& of) : of_(of) {}
  void add(const Hdf5Contents& unit) override { table_.append(TrajectoryTable::of(unit)); }
  std::string part(const Json& metadata) const override { return hdf5_bytes(table_.columns(), metadata.dump()); }
  std::string finished(const Json& request) const override {
    Json facts = {{"origin", "in-house generator"},
                  {"pde", of_.name()},
                  {"equation", of_.summary()},
                  {"parameters", request["parameters"]},
                  {"input", {{"channels", to_json(of_.channels())}}},
                  {"output", {{"channels", to_json(of_.channels())}}},
                  {"lead", of_.lead()},
                  {"windows", request["windows"]},
                  {"frame", in_words(of_.frame())},
                  {"solver", of_.scheme()}};
    facts.update(provenance(request));
    facts["hdf5"] = H5_VERS_INFO;
    return trajectory_bytes(table_, facts);
  }

 private:
  const pde::Trajectories& of_;
  TrajectoryTable table_;
};

class TrajectoryMaker final : public DatasetMaker {
 public:
  explicit TrajectoryMaker(std::unique_ptr<pde::Trajectories> of) : of_(std::move(of)) {}

  Json resolved(const DatasetRequest& request) const override {
    const LayoutRequest& layout = request.layout;
    if (!layout.resolutions.empty())
      require(layout.resolutions == std::vector{Resolution::own()}, generating,
              ": resolutions=", layout.resolutions.back(), " (flows on meshes are served on their own mesh, once). ",
              "Leave the resolutions out.");
    Json json = {{"pde", of_->name()},
                 {"schema_version", TrajectoryTable::schema_version},
                 {"parameters", to_json(of_->parameters())}};
    LayoutRequest counts = layout;
    counts.resolutions = {Resolution::own()};
    json.update(resolved_layout(generating, counts, Domain::unit({1})));
    json["trajectories"] = json["samples"];
    json["windows"] = request.windows;
    json["samples"] = layout.samples * request.windows;
    json["seed"] = request.seed;
    window_starts(generating, static_cast<std::int64_t>(of_->times().size()), lead_in_frames(*of_), request.windows,
                  Split::train, Rng(request.seed, generating));
    return json;
  }
  std::string_view items() const override { return "trajectories"; }
  std::int64_t most_in_unit() const override { return threads(); }

  std::string made(const Json& request, std::int64_t first, std::int64_t count) const override {
    std::vector<TrajectoryTable> each(static_cast<std::size_t>(count));
    parallel_for(each.size(), [&](std::size_t i) {
      each[i] = made_trajectory(*of_, request, first + static_cast<std::int64_t>(i));
    });
    TrajectoryTable all;
    for (const TrajectoryTable& one : each) all.append(one);
    return hdf5_bytes(all.columns(), request.dump());
  }

  std::unique_ptr<GatheredRows> gathered() const override { return std::make_unique<TrajectoryRows>(*of_); }

  /// One trajectory is run.
  Cost measured_cost(const DatasetRequest& request) const override {
    const auto begin = std::chrono::steady_clock::now();
    const TrajectoryTable one = made_trajectory(*of_, resolved(request), 0);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const auto items = static_cast<double>(request.layout.samples);
    return {.seconds_per_sample = seconds,
            .seconds = seconds * items / static_cast<double>(threads()),
            .bytes = static_cast<double>(one.u0.size() + one.target.size()) * sizeof(float) * items};
  }

 private:
  std::unique_ptr<pde::Trajectories> of_;
};

}  // namespace

pde::Trajectory first_frame(const pde::Trajectories& trajectories, std::uint64_t seed) {
  const std::vector<double> times = trajectories.times();
  const pde::Trajectory flow = trajectories.run(drawn_numbers(trajectories, seed, 0), std::span(times).first(1));
  const auto box = trajectories.frame();
  return box ? pde::cropped(flow, *box) : flow;
}

void write_frames(const DatasetRequest& request, const std::filesystem::path& folder) {
  const std::unique_ptr<pde::Trajectories> flows = pde::find_trajectories(request.pde).with(request.parameters);
  const Json settled = Json::parse(resolved(request));
  std::vector<std::string> channels;
  for (const pde::Channel& channel : flows->state()) channels.push_back(channel.name);
  MeshgraphnetsWriter writer(folder, "opshap", channels);
  Progress progress(message("frames ", request.pde), request.layout.samples, "trajectories");
  for (std::int64_t first = 0; first < request.layout.samples; first += threads()) {
    throw_if_stopped(generating);
    std::vector<pde::Trajectory> some(
        static_cast<std::size_t>(std::min<std::int64_t>(threads(), request.layout.samples - first)));
    parallel_for(some.size(), [&](std::size_t i) {
      const auto number = static_cast<std::uint64_t>(first) + i;
      some[i] = flows->run(drawn_numbers(*flows, request.seed, number), flows->times());
    });
    for (std::size_t i = 0; i < some.size(); ++i)
      writer.add(part_of(settled, first + static_cast<std::int64_t>(i)), some[i]);
    progress.advance(static_cast<std::int64_t>(some.size()));
  }
  writer.finish();
}

std::unique_ptr<DatasetMaker> trajectory_maker(std::unique_ptr<pde::Trajectories> trajectories) {
  return std::make_unique<TrajectoryMaker>(std::move(trajectories));
}

}  // namespace opshap::data
