#include "data/meshgraphnets_sources.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "data/hdf5.hpp"
#include "data/npy.hpp"
#include "data/tfrecord.hpp"

namespace opshap::data {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse_kind(const std::string& place, const std::string& array, bool reals) {
  throw DataError(
      message("meshgraphnets: file=", place, ", field=", array, " (holds ",
              reals ? "floating-point numbers where whole ones are" : "whole numbers where floating-point ones are",
              " needed). Get the file again."));
}

/// A record: every array is one value of bytes.
class RecordArrays final : public TrajectoryArrays {
 public:
  RecordArrays(std::string_view record, const MeshgraphnetsMeta& meta, const std::string& place)
      : TrajectoryArrays(place) {
    const auto features = parse_example(record, place);
    for (const std::string& name : MeshgraphnetsMeta::known_fields()) {
      const auto field = meta.fields.find(name);
      if (field == meta.fields.end()) continue;
      const auto feature = features.find(name);
      if (feature == features.end()) refuse_field(name, "is not in the record");
      add(name, field->second, feature->second);
    }
  }

  std::optional<std::vector<std::int64_t>> shape(const std::string& array) const override {
    const auto found = held_.find(array);
    return found == held_.end() ? std::nullopt : std::optional(found->second.shape);
  }
  void read(const std::string& array, const Block& block, std::vector<float>& values) const override {
    const Held& held = held_.at(array);
    if (held.dtype == Dtype::float32) return append<float>(held, block, values);
    if (held.dtype == Dtype::float64) return append<double>(held, block, values);
    refuse_kind(place(), array, false);
  }
  void read(const std::string& array, const Block& block, std::vector<std::int64_t>& values) const override {
    const Held& held = held_.at(array);
    if (held.dtype == Dtype::int32) return append<std::int32_t>(held, block, values);
    if (held.dtype == Dtype::int64) return append<std::int64_t>(held, block, values);
    refuse_kind(place(), array, true);
  }

 private:
  struct Held {
    std::vector<std::int64_t> shape;
    Dtype dtype = Dtype::float32;
    std::string_view bytes;
  };

  [[noreturn]] void refuse_field(const std::string& name, const std::string& why) const {
    throw DataError(message("meshgraphnets: file=", place(), ", field=", name, " (", why, "). Get the file again."));
  }

  void add(const std::string& name, const MeshgraphnetsMeta::Field& field, const ExampleFeature& feature) {
    using Kind = ExampleFeature::Kind;
    if (feature.kind == Kind::floats || feature.kind == Kind::integers)
      refuse_field(name, message("is a ", feature.kind == Kind::floats ? "float_list" : "int64_list",
                                 "; the release has one value of bytes for each array"));
    if (feature.values.size() == 1) {
      held_[name] = {field.shape, field.dtype, feature.values.front()};
    } else {
      held_[name] = {field.shape, field.dtype, parts_.emplace(name, feature.joined()).first->second};
    }
    Held& held = held_[name];
    std::size_t row = field.dtype == Dtype::float32 || field.dtype == Dtype::int32 ? 4 : 8;
    bool possible = held.bytes.size() >= row;
    for (const std::int64_t size : field.shape) {
      if (size == -1 || !possible) continue;
      possible = static_cast<std::size_t>(size) <= held.bytes.size() / row;  // so that no product overflows
      if (possible) row *= static_cast<std::size_t>(size);
    }
    if (!possible || held.bytes.size() % row != 0)
      refuse_field(name, message("has ", held.bytes.size(), " bytes, which no array of the shape ",
                                 shape_text(field.shape), " and the type ", to_string(field.dtype), " has"));
    held.shape[field.open_axis] = static_cast<std::int64_t>(held.bytes.size() / row);
  }

  template <typename Stored, typename Number>
  static void append(const Held& held, const Block& block, std::vector<Number>& values) {
    const auto at = [bytes = held.bytes.data()](std::int64_t i) {
      Stored number;
      std::memcpy(&number, bytes + static_cast<std::size_t>(i) * sizeof number, sizeof number);
      return number;
    };
    append_block(held.shape, block, at, values);
  }

  std::map<std::string, Held> held_;
  std::map<std::string, std::string> parts_;  ///< bytes that came in several values
};

class Records final : public TrajectorySource {
 public:
  Records(const fs::path& file, const MeshgraphnetsMeta& meta) : reader_(file), meta_(meta) {}
  const TrajectoryArrays* next() override {
    arrays_.reset();
    if (!reader_.next(record_)) return nullptr;
    return &arrays_.emplace(record_, meta_, reader_.place());
  }

 private:
  TfRecordReader reader_;
  const MeshgraphnetsMeta& meta_;
  std::string record_;
  std::optional<RecordArrays> arrays_;
};

constexpr std::string_view take_the_records =
    "Take meta.json and the .tfrecord files of the MeshGraphNets release instead.";

class ArchiveArrays final : public TrajectoryArrays {
 public:
  explicit ArchiveArrays(const fs::path& file) : TrajectoryArrays(file.string()), archive_(read_file(file), place()) {}

  std::optional<std::vector<std::int64_t>> shape(const std::string& array) const override {
    return archive_.contains(array) ? std::optional(held(array).shape) : std::nullopt;
  }
  void read(const std::string& array, const Block& block, std::vector<float>& values) const override {
    append(array, block, values, std::get_if<std::vector<double>>(&held(array).values));
  }
  void read(const std::string& array, const Block& block, std::vector<std::int64_t>& values) const override {
    append(array, block, values, std::get_if<std::vector<std::int64_t>>(&held(array).values));
  }

 private:
  const NpyArray& held(const std::string& array) const {
    const auto found = held_.find(array);
    if (found != held_.end()) return found->second;
    try {
      return held_.emplace(array, archive_.array(array)).first->second;
    } catch (const InvalidArgument& error) {  // a type of elements that is not read, objects among them
      throw DataError(message(error.what(), " ", take_the_records));
    }
  }
  template <typename Number, typename Stored>
  void append(const std::string& array, const Block& block, std::vector<Number>& values, const Stored* stored) const {
    if (stored == nullptr) refuse_kind(place(), array, std::is_same_v<Number, std::int64_t>);
    append_block(
        held(array).shape, block, [&](std::int64_t i) { return (*stored)[static_cast<std::size_t>(i)]; }, values);
  }

  NpzFile archive_;
  mutable std::map<std::string, NpyArray> held_;
};

class Archives final : public TrajectorySource {
 public:
  explicit Archives(std::vector<fs::path> files) : files_(std::move(files)) {}
  const TrajectoryArrays* next() override {
    arrays_.reset();
    if (done_ == files_.size()) return nullptr;
    return &arrays_.emplace(files_[done_++]);
  }

 private:
  std::vector<fs::path> files_;
  std::size_t done_ = 0;
  std::optional<ArchiveArrays> arrays_;
};

class GroupArrays final : public TrajectoryArrays {
 public:
  GroupArrays(const Hdf5Source& file, std::uint64_t bytes, const std::string& group)
      : TrajectoryArrays(message(file.name(), ", group=", group)), file_(file), bytes_(bytes), group_(group) {}

  std::optional<std::vector<std::int64_t>> shape(const std::string& array) const override {
    const std::string path = group_ + "/" + array;
    if (!file_.has_array(path)) return std::nullopt;
    const std::vector<std::int64_t> sizes = file_.sizes(path);
    // Deflate makes at most 1032 bytes of one: more is a lie, and would be allocated.
    std::uint64_t most = 1032 * bytes_;
    for (const std::int64_t size : sizes) {
      most /= static_cast<std::uint64_t>(std::max<std::int64_t>(size, 1));
      require<DataError>(most > 0, "meshgraphnets: file=", place(), ", field=", array, " (has the shape ",
                         shape_text(sizes), ", more than a file of ", bytes_, " bytes can hold). Get the file again.");
    }
    return sizes;
  }
  void read(const std::string& array, const Block& block, std::vector<float>& values) const override {
    read_block(array, block, values, true);
  }
  void read(const std::string& array, const Block& block, std::vector<std::int64_t>& values) const override {
    read_block(array, block, values, false);
  }

 private:
  template <typename Number>
  void read_block(const std::string& array, const Block& block, std::vector<Number>& values, bool reals) const {
    const std::string path = group_ + "/" + array;
    if (file_.holds_reals(path) != reals) refuse_kind(place(), array, !reals);
    std::vector<std::int64_t> count = file_.sizes(path), start(count.size(), 0);
    start[block.axis] = block.first;
    count[block.axis] = block.count;
    file_.read(path, start, count, values);
  }

  const Hdf5Source& file_;
  std::uint64_t bytes_;
  std::string group_;
};

/// Those names that have a number, in the order of the last one in each.
std::vector<std::string> in_order_of_numbers(const std::vector<std::string>& names, const std::string& place) {
  constexpr std::string_view digits = "0123456789";
  std::map<std::uint64_t, std::string> ordered;
  for (const std::string& name : names) {
    const std::size_t last = name.find_last_of(digits);
    if (last == std::string::npos) continue;
    const std::size_t before = name.find_last_not_of(digits, last);
    const std::size_t first = before == std::string::npos ? 0 : before + 1;
    const auto number = number_of<std::uint64_t>(std::string_view(name).substr(first, last + 1 - first));
    require<DataError>(number.has_value(), "meshgraphnets: file=", place, ", name=", name.substr(0, 60),
                       " (its number has more than 64 bits). Name trajectories by their numbers.");
    const auto [place_of, added] = ordered.emplace(*number, name);
    require<DataError>(added, "meshgraphnets: file=", place, ", name=", name.substr(0, 60), " (has the number of ",
                       place_of->second.substr(0, 60), "). Remove one of them.");
  }
  std::vector<std::string> found;
  for (const auto& [number, name] : ordered) found.push_back(name);
  return found;
}

class Groups final : public TrajectorySource {
 public:
  explicit Groups(const fs::path& file)
      : file_(file), bytes_(fs::file_size(file)), groups_(in_order_of_numbers(file_.members(), file_.name())) {}
  const TrajectoryArrays* next() override {
    arrays_.reset();
    if (done_ == groups_.size()) return nullptr;
    return &arrays_.emplace(file_, bytes_, groups_[done_++]);
  }
  const std::vector<std::string>& groups() const { return groups_; }

 private:
  Hdf5Source file_;
  std::uint64_t bytes_;
  std::vector<std::string> groups_;
  std::size_t done_ = 0;
  std::optional<GroupArrays> arrays_;
};

}  // namespace

std::unique_ptr<TrajectorySource> open_records(const fs::path& file, const MeshgraphnetsMeta& meta) {
  return std::make_unique<Records>(file, meta);
}

std::int64_t count_records(const fs::path& file) {
  TfRecordReader reader(file);
  std::int64_t records = 0;
  while (reader.skip()) ++records;
  return records;
}

std::vector<fs::path> trajectory_archives(const fs::path& folder) {
  std::vector<std::string> stems;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, failure)) {
    if (entry.path().extension() == ".npz") stems.push_back(entry.path().stem().string());
  }
  std::vector<fs::path> archives;
  for (const std::string& stem : in_order_of_numbers(stems, folder.string()))
    archives.push_back(folder / (stem + ".npz"));
  return archives;
}

std::unique_ptr<TrajectorySource> open_archives(std::vector<fs::path> archives) {
  return std::make_unique<Archives>(std::move(archives));
}

std::vector<std::string> trajectory_groups(const fs::path& file) { return Groups(file).groups(); }

std::unique_ptr<TrajectorySource> open_groups(const fs::path& file) { return std::make_unique<Groups>(file); }

}  // namespace opshap::data
