#include "data/verify.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "core/domain.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "data/generate.hpp"
#include "data/hdf5.hpp"
#include "data/import.hpp"
#include "data/trajectory_file.hpp"
#include "data/verify_trajectories.hpp"
#include "pde/problem.hpp"

namespace opshap::data {

namespace {

/// Numbers of the drawn points of a grid, ascending.
std::vector<int> drawn_points(const Domain& grid, int points) {
  std::vector<int> all(static_cast<std::size_t>(grid.points()));
  std::iota(all.begin(), all.end(), 0);
  Rng(0, "scattered points").shuffle(all);
  all.resize(static_cast<std::size_t>(points));
  std::ranges::sort(all);
  return all;
}

Domain cloud_of(const Domain& grid, const std::vector<int>& points) {
  std::vector<double> positions;
  for (const int point : points) {
    for (const double coordinate : grid.position(point)) positions.push_back(coordinate);
  }
  return Domain::mesh(point_cloud(grid.dimension(), std::move(positions)));
}

FieldBatch taken(const FieldBatch& fields, const std::vector<int>& points, const Domain& cloud) {
  FieldBatch some = FieldBatch::zeros(cloud, fields.batch, fields.channels);
  const auto all = static_cast<std::size_t>(fields.domain.points());
  for (std::size_t i = 0; i < some.values.size(); ++i)
    some.values[i] = fields.values[i / points.size() * all + static_cast<std::size_t>(points[i % points.size()])];
  return some;
}

}  // namespace

Dataset scattered(Dataset data, int points) {
  const Domain grid = data.inputs.domain();
  require(grid == data.targets.domain(), "scattered data: pde=", data.pde,
          ", targets=", data.targets.domain().describe(), " (the inputs are on ", grid.describe(),
          "). Use a data set with both on one grid.");
  require(points >= 4 && points <= grid.points(), "scattered data: pde=", data.pde, ", points=", points,
          " (its grid has ", grid.points(), ", and a cloud needs 4). Give a number between.");
  const std::vector<int> drawn = drawn_points(grid, points);
  const Domain cloud = cloud_of(grid, drawn);
  data.inputs = taken(data.inputs.batch(), drawn, cloud);
  data.targets = taken(data.targets.batch(), drawn, cloud);
  data.resolutions = {points};
  std::ranges::fill(data.resolution_slot, std::uint8_t{0});
  data.content_hash += message(" at ", points, " scattered points");
  return data;
}

using Json = nlohmann::ordered_json;

namespace {

/// Samples made again may differ by rounding when another compiler, library or processor made the file.
constexpr double other_machine = 1e-6;

template <typename T>
const std::vector<T>& held(const Column& column) {
  const auto* values = std::get_if<std::vector<T>>(&column.values);
  require<DataError>(values != nullptr, "data verify: column=", column.name,
                     " (has another type than a data set's). Generate the set again.");
  return *values;
}

class Verification {
 public:
  Verification(std::string bytes, const std::string& name)
      : file_(std::move(bytes), name),
        metadata_(Json::parse(file_.metadata())),
        request_(metadata_.at("request")),
        u0_(file_.column("/u0")),
        target_(file_.column("/target")) {
    samples_ = request_.at("samples").get<std::int64_t>();
    const Column checksums = file_.column("/crc32c");
    require<DataError>(
        samples_ >= 1 && u0_.shape[0] == samples_ && target_.shape[0] == samples_ && checksums.shape[0] == samples_,
        "data verify: file=", name, ", samples=", samples_, " (its columns have other sizes). Generate the set again.");
    stored_checksums_ = held<std::uint32_t>(checksums);
    inputs_ = held<float>(u0_);
    targets_ = held<float>(target_);
    if (!imported()) problem_ = problem_of(request_, "data verify");
    input_space_ = problem_ ? problem_->input() : space_from_json(metadata_.at("input"), "data verify");
    output_space_ = problem_ ? problem_->output() : space_from_json(metadata_.at("output"), "data verify");
  }

  /// All checks; those of a solver's data set, or those of an imported one.
  std::vector<DataCheck> checks() const {
    if (imported()) return {checksums(), content(), finite(), layout(), description(), origin()};
    return {checksums(), content(), finite(), layout(), description(), invariants(), pairs(), regenerated()};
  }

 private:
  DataCheck checksums() const {
    const auto found = sample_checksums(inputs_, targets_, samples_);
    const auto [stored, computed] = std::mismatch(stored_checksums_.begin(), stored_checksums_.end(), found.begin());
    if (stored != stored_checksums_.end())
      return {"sample_checksums", false, message("sample ", stored - stored_checksums_.begin(), " does not match")};
    return {"sample_checksums", true, message(samples_, " match")};
  }

  DataCheck content() const {
    const std::string hash = content_hash(inputs_, targets_, samples_), expected = metadata_.at("content_xxh64");
    return {"content_hash", hash == expected,
            message("xxh64 ", hash, hash == expected ? "" : ", recorded " + expected)};
  }

  DataCheck finite() const {
    for (const auto* values : {&inputs_, &targets_}) {
      const auto bad = std::ranges::find_if_not(*values, [](float value) { return std::isfinite(value); });
      if (bad != values->end()) {
        const auto row = (bad - values->begin()) / (static_cast<std::ptrdiff_t>(values->size()) / samples_);
        return {"finite", false, message("sample ", row, " holds ", *bad)};
      }
    }
    return {"finite", true, message(inputs_.size() + targets_.size(), " numbers are finite")};
  }

  DataCheck layout() const {
    const Column split = file_.column("/split"), slot = file_.column("/resolution_slot");
    std::vector<std::int64_t> parts(3, 0);
    for (const std::uint8_t part : held<std::uint8_t>(split)) ++parts.at(std::min<std::size_t>(part, 2));
    const std::vector<std::int64_t> wanted = {request_.at("train"), request_.at("validation"), request_.at("test")};
    if (parts != wanted || !std::ranges::is_sorted(held<std::uint8_t>(split))) {
      return {"layout", false, "the split is not train, validation, test in the numbers asked for"};
    }
    const std::size_t slots = request_.at("resolutions").size();
    for (std::size_t i = 0; i < static_cast<std::size_t>(samples_); ++i) {
      if (slot.shape[0] != samples_ || held<std::uint8_t>(slot)[i] != i % slots)
        return {"layout", false, "the resolution slots are not taken in turn"};
    }
    const Domain& domain = input_space_.domain;
    for (int axis = 0; axis < domain.dimension(); ++axis) {
      const Column column = file_.column(axis == 0 ? "/x" : "/y");
      if (held<double>(column) != domain.axes()[static_cast<std::size_t>(axis)].coordinates())
        return {"layout", false, message(column.name, " does not hold the coordinates of the grid")};
    }
    return {"layout", true,
            message(parts[0], " train, ", parts[1], " validation, ", parts[2], " test; ", slots, " resolution slots")};
  }

  /// What the file says of its spaces and of the mean input.
  DataCheck description() const {
    const pde::Space &input = input_space_, &output = output_space_;
    if (!metadata_.contains("input"))
      return {"description", true, "made before data sets described their spaces: the problem's own hold"};
    if (u0_.shape != field_shape(input, samples_)) return {"description", false, "/u0 is not of the input space"};
    if (target_.shape != field_shape(output, samples_))
      return {"description", false, "/target is not of the output space"};
    if (metadata_.at("input") != to_json(input)) return {"description", false, "the input space is not the problem's"};
    if (metadata_.at("output") != to_json(output))
      return {"description", false, "the output space is not the problem's"};
    const std::vector<double> means = channel_means(input, inputs_, request_.at("train").get<std::int64_t>());
    if (metadata_.at("input_mean") != means)
      return {"description", false, "input_mean is not the mean of the training inputs"};
    return {"description", true, message(input.channel_count(), " channels in, ", output.channel_count(), " out")};
  }

  /// What the solver watched, as stored, against the limits of today.
  DataCheck invariants() const {
    std::string worst;
    for (const pde::Invariant& invariant : problem_->invariants()) {
      const Column column = file_.column("/qc/" + invariant.name);
      const std::vector<double>& values = held<double>(column);
      const auto bad = std::ranges::find_if_not(values, [&](double value) { return invariant.allows(value); });
      if (bad != values.end()) {
        return {
            "invariants", false,
            message("sample ", bad - values.begin(), " has ", invariant.name, " ", *bad, ", limit ", invariant.limit)};
      }
      worst += message(worst.empty() ? "" : ", ", invariant.name, " <= ", std::ranges::max(values));
    }
    return {"invariants", true, worst};
  }

  /// The laws that tie each target to its input, without the solver.
  DataCheck pairs() const {
    std::map<std::string, double> worst;
    for (std::int64_t sample = 0; sample < samples_; ++sample) {
      for (const pde::PairLaw& law :
           problem_->pair_laws(field(input_space_, inputs_, sample), field(output_space_, targets_, sample))) {
        if (!law.holds()) {
          return {"pairs", false,
                  message("sample ", sample, " departs from ", law.name, " by ", law.departure, ", limit ", law.limit)};
        }
        double& departure = worst.try_emplace(law.name, law.departure).first->second;
        departure = std::max(departure, law.departure);
      }
    }
    std::string text;
    for (const auto& [name, departure] : worst) text += message(text.empty() ? "" : ", ", name, " <= ", departure);
    return {"pairs", true, text};
  }

  bool imported() const { return !imported_from(metadata_).empty(); }

  /// Where the pairs are from, in place of checks that need a solver.
  DataCheck origin() const {
    return {"origin", true,
            "imported from " + imported_from(metadata_) +
                "; there is no solver to compare with, so nothing ties a target to its input"};
  }

  DataCheck regenerated() const {
    const std::size_t in = inputs_.size() / static_cast<std::size_t>(samples_),
                      out = targets_.size() / static_cast<std::size_t>(samples_);
    Rng rng(42, content_hash(inputs_, targets_, samples_));
    std::set<std::uint64_t> chosen;
    while (chosen.size() < std::min<std::size_t>(5, static_cast<std::size_t>(samples_)))
      chosen.insert(rng.below(static_cast<std::uint64_t>(samples_)));
    double difference = 0;
    for (const std::uint64_t sample : chosen) {
      const GeneratedSample again = generate_sample(*problem_, request_.at("seed").get<std::uint64_t>(), sample);
      if (again.input.size() != in || again.target.size() != out)
        return {"regenerated", false, message("sample ", sample, " has another size when made again")};
      double largest = 0, apart = 0;
      for (std::size_t j = 0; j < in + out; ++j) {
        const double stored = j < in ? inputs_[sample * in + j] : targets_[sample * out + j - in],
                     made = j < in ? again.input[j] : again.target[j - in];
        largest = std::max(largest, std::abs(made));
        apart =
            std::isfinite(stored) ? std::max(apart, std::abs(stored - made)) : std::numeric_limits<double>::infinity();
        if (std::isinf(apart)) break;
      }
      difference = std::max(difference, apart / largest);
      if (difference > other_machine) {
        return {"regenerated", false,
                message("sample ", sample, " differs by ", difference, " of its largest value when made again")};
      }
    }
    return {"regenerated", true,
            message(chosen.size(), " samples come out ",
                    difference == 0 ? "bit for bit the same"
                                    : message("the same up to ", difference, ", as on another machine"))};
  }

  static FieldBatch field(const pde::Space& space, const std::vector<float>& values, std::int64_t sample) {
    const std::int64_t size = space.field_size();
    return {
        space.domain, 1, space.channel_count(), {values.begin() + sample * size, values.begin() + (sample + 1) * size}};
  }

  Hdf5Contents file_;
  Json metadata_, request_;
  Column u0_, target_;
  std::int64_t samples_ = 0;
  std::vector<std::uint32_t> stored_checksums_;
  std::vector<float> inputs_, targets_;
  std::unique_ptr<pde::Problem> problem_;  ///< null for imported data
  pde::Space input_space_, output_space_;  ///< those of the problem; of imported data those that the file names
};

}  // namespace

std::vector<DataCheck> verify_dataset(const std::filesystem::path& path) try {
  std::string bytes = read_file(path);
  require<DataError>(is_sealed(bytes), "data verify: file=", path.string(),
                     " (is not a data set of opshap). Name one.");
  const std::string broken = broken_seal(bytes);
  std::vector<DataCheck> checks = {
      {"file", broken.empty(),
       broken.empty() ? message(bytes.size(), " bytes match their checksum") : "the file " + broken}};
  if (!broken.empty()) return checks;
  const Json metadata = Json::parse(read_dataset_metadata(path));
  if (metadata.at("schema_version") == TrajectoryTable::schema_version) {
    const Hdf5Contents file(std::move(bytes), path.string());
    std::ranges::move(trajectory_checks(file, metadata), std::back_inserter(checks));
  } else {
    std::ranges::move(Verification(std::move(bytes), path.string()).checks(), std::back_inserter(checks));
  }
  return checks;
} catch (const Json::exception& error) {
  throw DataError(
      message("data verify: file=", path.string(), " (", error.what(), " in its metadata). Generate it again."));
}

}  // namespace opshap::data
