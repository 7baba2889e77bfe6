#include "data/import_meshgraphnets.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/scenario.hpp"
#include "core/threads.hpp"
#include "data/generate.hpp"
#include "data/import.hpp"
#include "data/maker.hpp"
#include "data/meshgraphnets.hpp"
#include "data/trajectory_file.hpp"
#include "pde/registry.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

constexpr const char* importing = "data import meshgraphnets";

/// The windows of another data set: the times at which those of each trajectory begin.
struct GivenWindows {
  double lead = 0;
  std::vector<std::vector<double>> starts;  ///< of each trajectory

  explicit GivenWindows(const fs::path& path) {
    const Hdf5Contents file(read_file(path), path.string());
    const Json metadata = Json::parse(file.metadata());
    require(metadata.contains("windows") && metadata.contains("lead"), importing, ": --windows-like=", path.string(),
            " (is no finished data set of trajectories). Name one.");
    lead = metadata["lead"].get<double>();
    const TrajectoryTable table = TrajectoryTable::of(file);
    starts.resize(static_cast<std::size_t>(table.trajectories()));
    for (std::size_t sample = 0; sample < table.t0.size(); ++sample)
      starts[static_cast<std::size_t>(table.trajectory[sample])].push_back(table.t0[sample]);
  }
};

/// A frame number of a time. Throws InvalidArgument for a time between frames.
std::int64_t frame_at(double time, double start, double step) {
  const double frame = (time - start) / step;
  require(std::abs(frame - std::round(frame)) < 1e-3 && frame > -0.5, importing, ": t0=", time,
          " (is the time of no frame, which lie ", step, " apart from ", start,
          " on). Give the data set that these frames belong to.");
  return std::llround(frame);
}

/// The flows of a folder with the windows that a request wants.
class Import {
 public:
  explicit Import(const MeshgraphnetsRequest& request)
      : request_(request),
        folder_(request.folder),
        flows_(pde::find_trajectories(std::ranges::count(folder_.channels(), "density") > 0 ? "airfoil"
                                                                                            : "cylinder_flow")),
        given_(request.windows_like.empty() ? std::nullopt : std::optional<GivenWindows>(request.windows_like)) {
    for (const Split part : all_parts) {
      require<DataError>(std::ranges::count(folder_.parts(), part) > 0, importing, ": folder=", request.folder.string(),
                         ", part=", meshgraphnets_name(part), " (is not there, and a data set has all three). Get it.");
    }
    if (given_) {
      windows_ = static_cast<std::int64_t>(given_->starts.front().size());
      lead_ = std::llround(given_->lead / folder_.time_step());
    } else {
      windows_ = request.windows;
      lead_ = request.lead;
    }
    require(lead_ >= 1, importing, ": lead=", lead_,
            " (the target comes behind the input). Give --lead 1 or more frames.");
    require(windows_ >= 1, importing, ": windows=", windows_,
            " (a trajectory gives one sample or more). Give --windows.");
  }

  /// What decides the samples.
  Json decisions() const {
    Json files = Json::array();
    for (const Split part : all_parts)
      for (const fs::path& file : folder_.files(part)) files.push_back(fingerprint(file));
    Json json = {{"pde", name()},       {"schema_version", TrajectoryTable::schema_version}, {"lead_frames", lead_},
                 {"windows", windows_}, {"most_trajectories", request_.trajectories},        {"seed", request_.seed},
                 {"files", files}};
    if (given_) json["windows_like"] = fingerprint(request_.windows_like);
    return json;
  }

  std::string name() const { return message(imported_flows, flows_.name()); }

  std::string bytes(const Json& decisions) {
    TrajectoryTable table;
    std::array<std::int64_t, 3> counts{};
    for (const Split part : all_parts) add(part, table, counts[static_cast<std::size_t>(part)]);
    Json request = decisions;
    request.update({{"samples", table.samples()},
                    {"trajectories", table.trajectories()},
                    {"train", counts[0]},
                    {"validation", counts[1]},
                    {"test", counts[2]},
                    {"resolutions", std::vector{Resolution::own()}}});
    Json notes = {"The set is imported. It is none of the paper's data sets."};
    for (const std::string& note : folder_.notes()) notes.push_back(note);
    if (at_walls_ > 0)
      notes.push_back(message(at_walls_, at_walls_ == 1 ? " test trajectory has" : " test trajectories have",
                              " a node of a wall nearest to the query, where nothing is to be explained. An "
                              "evaluation passes ",
                              at_walls_ == 1 ? "it" : "them", " by."));
    if (players_.size() > 1 || (players_.size() == 1 && *players_.begin() != flows_.default_rule().blocks))
      notes.push_back(message("Of ", flows_.default_rule().blocks, " blocks, ", *players_.begin(),
                              players_.size() > 1 ? message(" to ", *players_.rbegin()) : "",
                              " hold nodes and play. The others are empty."));
    const Json channels = to_json(flows_.channels());
    Json facts = {{"origin", imported_origin},
                  {"pde", name()},
                  {"equation", message(flows_.summary(), " (what the files are thought to hold)")},
                  {"parameters", Json::object()},
                  {"input", {{"channels", channels}}},
                  {"output", {{"channels", channels}}},
                  {"lead", static_cast<double>(lead_) * folder_.time_step()},
                  {"windows", windows_},
                  {"frame", in_words(flows_.frame())},
                  {"imported",
                   {{"format", "MeshGraphNets"},
                    {"layout", to_string(folder_.format())},
                    {"simulator", folder_.simulator()},
                    {"time_step", folder_.time_step()},
                    {"notes", notes},
                    {"files", decisions["files"]},
                    {"options", {{"lead", lead_}, {"windows", windows_}, {"seed", request_.seed}}}}},
                  {"seed", request_.seed},
                  {"request", request},
                  {"request_xxh64", xxh64(request.dump())},
                  {"compiler", __VERSION__},
                  {"hdf5", H5_VERS_INFO}};
    return trajectory_bytes(table, facts);
  }

 private:
  /// The trajectories of one part.
  void add(Split part, TrajectoryTable& table, std::int64_t& count) {
    const std::int64_t there = folder_.trajectories(part),
                       wanted = request_.trajectories == 0 ? there : std::min(there, request_.trajectories);
    std::vector<std::int64_t> starts, begins;
    const auto keep = [&](std::int64_t, std::int64_t frames) {
      std::set<std::int64_t> kept;
      starts = starts_of(part, frames);
      for (const std::int64_t start : starts) {
        require(start + lead_ < frames, importing, ": windows: start=", start, ", lead=", lead_, " (a trajectory has ",
                frames, " frames). Give a smaller lead, or the windows of these flows.");
        kept.insert({start, start + lead_});
      }
      return std::vector<std::int64_t>(kept.begin(), kept.end());
    };
    TrajectoryStream stream = folder_.read(part, keep);
    Progress progress(message(importing, " ", meshgraphnets_name(part)), wanted, "trajectories");
    for (std::int64_t item = 0; item < wanted; ++item) {
      throw_if_stopped(importing);
      std::optional<pde::Trajectory> flow = stream.next();
      require<DataError>(flow.has_value(), importing, ": part=", meshgraphnets_name(part), " (ends after ", item,
                         " of ", there, " trajectories). Get it again.");
      progress.advance(1);
      ++read_;
      if (const auto box = flows_.frame()) flow = pde::cropped(*flow, *box);
      if (part == Split::test && explains_a_wall(*flow)) ++at_walls_;
      add(table, part, *flow, starts);
      ++count;
    }
  }

  /// One trajectory, of which the frames that its windows need were kept.
  void add(TrajectoryTable& table, Split part, const pde::Trajectory& flow, const std::vector<std::int64_t>& starts) {
    std::set<std::int64_t> kept;
    for (const std::int64_t start : starts) kept.insert({start, start + lead_});
    const auto place = [&kept](std::int64_t frame) {
      return static_cast<std::int64_t>(std::distance(kept.begin(), kept.find(frame)));
    };
    std::vector<FrameWindow> windows;
    for (const std::int64_t start : starts) windows.push_back({place(start), place(start + lead_)});
    table.add(flows_, flow, windows, part);
    players_.insert(
        static_cast<int>(mesh_blocks(flow.domain.as_mesh(), flows_.default_rule().blocks).of_player.size()));
  }

  std::vector<std::int64_t> starts_of(Split part, std::int64_t frames) const {
    const auto number = static_cast<std::size_t>(read_);
    if (!given_)
      return window_starts(importing, frames, lead_, windows_, part,
                           Rng(request_.seed, importing).stream(0, static_cast<std::uint64_t>(number)));
    require(number < given_->starts.size(), importing, ": --windows-like=", request_.windows_like.string(),
            ", trajectory=", number, " (it has ", given_->starts.size(),
            "). Give the data set that these frames belong to.");
    std::vector<std::int64_t> starts;
    for (const double time : given_->starts[number])
      starts.push_back(frame_at(time, folder_.start_time(), folder_.time_step()));
    return starts;
  }

  bool explains_a_wall(const pde::Trajectory& flow) const {
    const ScenarioRule rule = flows_.default_rule();
    return pde::is_wall(flow.node_types[static_cast<std::size_t>(flow.domain.nearest(rule.position))]);
  }

  const MeshgraphnetsRequest& request_;
  MeshgraphnetsFolder folder_;
  const pde::Trajectories& flows_;
  std::optional<GivenWindows> given_;
  std::int64_t lead_ = 0, windows_ = 0;
  std::int64_t read_ = 0, at_walls_ = 0;
  std::set<int> players_;
};

}  // namespace

namespace {

void import_from(const MeshgraphnetsRequest& request, const fs::path& path) {
  Import import(request);
  const Json decisions = import.decisions();
  const auto same = [&decisions](const Json& metadata) {
    const Json made = metadata.value("request", Json());
    return made.is_object() && std::ranges::all_of(decisions.items(), [&](const auto& entry) {
             return made.value(entry.key(), Json()) == entry.value();
           });
  };
  if (already_made(importing, path, same)) return;
  write_file(path, import.bytes(decisions));
}

}  // namespace

void import_meshgraphnets(const MeshgraphnetsRequest& request, const fs::path& path) {
  in_own_process([&] { import_from(request, path); },
                 message(importing, ": folder=", request.folder.string(),
                         " (has a file so damaged that the HDF5 library crashed on it). Get it again."));
}

}  // namespace opshap::data
