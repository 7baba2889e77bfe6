#include "data/meshgraphnets.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap::data {

namespace fs = std::filesystem;

namespace {

/// The file or folder of a part.
fs::path path_of_part(const fs::path& folder, FlowFormat format, Split part) {
  const fs::path path = folder / meshgraphnets_name(part);
  if (format == FlowFormat::npz) return path;
  return path.string() + (format == FlowFormat::tfrecord ? ".tfrecord" : ".h5");
}

bool has_part(const fs::path& folder, FlowFormat format, Split part) {
  const fs::path path = path_of_part(folder, format, part);
  return format == FlowFormat::npz ? !trajectory_archives(path).empty() : is_file(path);
}

/// A file of Python objects of the folder or of a part's folder, as people save dictionaries of arrays; empty for none.
fs::path pickled(const fs::path& folder) {
  std::vector<fs::path> folders = {folder};
  for (const Split part : all_parts) folders.push_back(folder / meshgraphnets_name(part));
  for (const fs::path& place : folders) {
    std::error_code failure;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, failure)) {
      for (const char* ending : {".npz", ".npy", ".pkl", ".pickle", ".pt"}) {
        if (entry.path().extension() == ending) return entry.path();
      }
    }
  }
  return {};
}

FlowFormat format_of(const fs::path& folder) {
  const std::string who = message("meshgraphnets: folder=", folder.string());
  require<DataError>(is_folder(folder), who,
                     " (is not a folder). Name the folder of meta.json and the .tfrecord files.");
  for (const FlowFormat format : {FlowFormat::tfrecord, FlowFormat::npz, FlowFormat::hdf5}) {
    if (std::ranges::any_of(all_parts, [&](Split part) { return has_part(folder, format, part); })) return format;
  }
  const fs::path objects = pickled(folder);
  require<DataError>(objects.empty(), who, ", file=", objects.lexically_relative(folder).string(),
                     " (is no file of one trajectory with a number in its name, and files of Python objects are not "
                     "read, since loading them runs code). Take meta.json and the .tfrecord files of the MeshGraphNets "
                     "release instead.");
  throw DataError(who +
                  " (has no train.tfrecord, valid.tfrecord or test.tfrecord, no folders of these names with .npz "
                  "files, and no .h5 files of these names). Name a folder that has.");
}

}  // namespace

std::string meshgraphnets_name(Split part) {
  return part == Split::train ? "train" : part == Split::validation ? "valid" : "test";
}

std::string_view to_string(FlowFormat format) {
  return format == FlowFormat::tfrecord ? "TFRecord" : format == FlowFormat::npz ? "npz" : "HDF5";
}

std::optional<pde::Trajectory> TrajectoryStream::next() {
  const TrajectoryArrays* arrays = source_->next();
  if (arrays == nullptr) return std::nullopt;
  return assembler_.assemble(*arrays, done_++, keep_);
}

MeshgraphnetsFolder::MeshgraphnetsFolder(const fs::path& folder)
    : folder_(folder), format_(format_of(folder)), meta_(std::make_unique<MeshgraphnetsMeta>()) {
  const fs::path meta = folder / "meta.json";
  const bool of_records = format_ == FlowFormat::tfrecord;
  require<DataError>(!of_records || is_file(meta), "meshgraphnets: file=", meta.string(),
                     " (is not there, and a record does not say what its bytes are). Get it from the same data set.");
  if (is_file(meta)) *meta_ = parse_meshgraphnets_meta(read_file(meta), meta.string(), of_records);
  if (of_records) {
    channels_ = {"velocity_x", "velocity_y"};
    for (const char* name : {"density", "pressure"}) {
      if (meta_->fields.contains(name)) channels_.emplace_back(name);
    }
    require<DataError>(meta_->time_step > 0, "meshgraphnets: file=", meta.string(),
                       ", dt (is missing). Get the file again.");
  } else {
    const std::unique_ptr<TrajectorySource> first = source(parts().front());
    const TrajectoryArrays* arrays = first->next();
    require<DataError>(arrays != nullptr,
                       "meshgraphnets: file=", path_of_part(folder, format_, parts().front()).string(),
                       " (has no group with a number in its name, so no trajectories). Get the file again.");
    channels_ = channels_of(*arrays);
    if (meta_->time_step == 0) suppose_time_step(*arrays);
  }
  if (std::ranges::find(channels_, "pressure") == channels_.end())
    notes_.emplace_back("There is no pressure in these files.");
}

void MeshgraphnetsFolder::suppose_time_step(const TrajectoryArrays& arrays) {
  const bool airfoil = arrays.shape("density").has_value(), every_eighth = !arrays.shape("velocity");
  meta_->time_step = airfoil ? 0.0002 : every_eighth ? 0.08 : 0.01;
  notes_.push_back(message("The files do not say the time step. It is taken as ", meta_->time_step, " s, which ",
                           airfoil        ? "airfoil of the release has"
                           : every_eighth ? "every eighth frame of cylinder_flow of the release has"
                                          : "cylinder_flow of the release has",
                           "."));
}

std::vector<Split> MeshgraphnetsFolder::parts() const {
  std::vector<Split> found;
  for (const Split part : all_parts) {
    if (has_part(folder_, format_, part)) found.push_back(part);
  }
  return found;
}

std::vector<fs::path> MeshgraphnetsFolder::files(Split part) const {
  const fs::path path = path_of_part(folder_, format_, part);
  if (format_ == FlowFormat::npz) return trajectory_archives(path);
  return is_file(path) ? std::vector{path} : std::vector<fs::path>{};
}

std::int64_t MeshgraphnetsFolder::trajectories(Split part) const {
  const std::vector<fs::path> held = files(part);
  if (format_ == FlowFormat::npz || held.empty()) return std::ssize(held);
  return format_ == FlowFormat::tfrecord ? count_records(held.front()) : std::ssize(trajectory_groups(held.front()));
}

std::unique_ptr<TrajectorySource> MeshgraphnetsFolder::source(Split part) const {
  std::vector<fs::path> held = files(part);
  require<DataError>(!held.empty(), "meshgraphnets: folder=", folder_.string(), ", part=", meshgraphnets_name(part),
                     " (is not there). Get its files, or ask for another part.");
  if (format_ == FlowFormat::npz) return open_archives(std::move(held));
  return format_ == FlowFormat::tfrecord ? open_records(held.front(), *meta_) : open_groups(held.front());
}

TrajectoryStream MeshgraphnetsFolder::read(Split part, KeptFrames keep) const {
  return {source(part), TrajectoryAssembler(channels_, meta_->start, meta_->time_step), std::move(keep)};
}

}  // namespace opshap::data
