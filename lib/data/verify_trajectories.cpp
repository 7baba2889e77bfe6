#include "data/verify_trajectories.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/error.hpp"
#include "core/rng.hpp"
#include "data/import.hpp"
#include "data/trajectory_file.hpp"
#include "pde/registry.hpp"

namespace opshap::data {

using Json = nlohmann::ordered_json;

namespace {

/// Rounding of another compiler, library or processor grows in a wake. This is far below what a model learns, and far
/// above what the same program makes of it.
constexpr double another_machine_for_flows = 1e-3;
constexpr std::size_t made_again = 2;

class TrajectoryVerification {
 public:
  TrajectoryVerification(const Hdf5Contents& file, const Json& metadata)
      : file_(file), metadata_(metadata), request_(metadata.at("request")), table_(TrajectoryTable::of(file)) {}

  std::vector<DataCheck> checks() const {
    std::vector<DataCheck> all = {checksums(), content(), finite(), layout(), description()};
    if (const std::string origin = imported_from(metadata_); !origin.empty()) {
      all.push_back(
          {"origin", true,
           "imported from " + origin + "; there is no solver to compare with, so nothing ties a target to its input"});
      return all;
    }
    const auto trajectories = pde::find_trajectories(metadata_.at("pde").get<std::string>())
                                  .with(parameters_from_json(request_.at("parameters"), "data verify"));
    all.push_back(invariants(*trajectories));
    all.push_back(regenerated(*trajectories));
    return all;
  }

 private:
  DataCheck checksums() const {
    const Column stored = file_.column("/sample/crc32c");
    const auto* expected = std::get_if<std::vector<std::uint32_t>>(&stored.values);
    const std::vector<std::uint32_t> found = table_.checksums();
    if (expected == nullptr || expected->size() != found.size())
      return {"sample_checksums", false, "the column has another type or size"};
    const auto [at, computed] = std::ranges::mismatch(*expected, found);
    if (at != expected->end())
      return {"sample_checksums", false, message("sample ", at - expected->begin(), " does not match")};
    return {"sample_checksums", true, message(found.size(), " match, each with its mesh")};
  }

  DataCheck content() const {
    const std::string hash = table_.content_hash(), expected = metadata_.at("content_xxh64");
    return {"content_hash", hash == expected,
            message("xxh64 ", hash, hash == expected ? "" : ", recorded " + expected)};
  }

  DataCheck finite() const {
    for (const auto* values : {&table_.u0, &table_.target}) {
      const auto bad = std::ranges::find_if_not(*values, [](float value) { return std::isfinite(value); });
      if (bad != values->end()) return {"finite", false, message("row ", bad - values->begin(), " holds ", *bad)};
    }
    return {"finite", true, message(table_.u0.size() + table_.target.size(), " numbers are finite")};
  }

  DataCheck layout() const {
    const auto windows = metadata_.at("windows").get<std::int64_t>();
    if (table_.samples() != request_.at("samples").get<std::int64_t>() ||
        table_.samples() != table_.trajectories() * windows)
      return {"layout", false, "the samples are not as many windows of each trajectory as the file says"};
    for (std::int64_t sample = 0; sample < table_.samples(); ++sample) {
      const auto at = static_cast<std::size_t>(sample);
      if (table_.trajectory[at] != sample / windows)
        return {"layout", false, message("sample ", sample, " is of another trajectory than its place says")};
      if (sample % windows > 0 && (table_.t0[at] <= table_.t0[at - 1] || table_.mesh[at] != table_.mesh[at - 1]))
        return {"layout", false, message("sample ", sample, " does not follow its trajectory's window before")};
      if (table_.split[at] != part_of(request_, sample / windows))
        return {"layout", false, "the split is not train, validation, test in the numbers asked for"};
    }
    return {"layout", true,
            message(table_.trajectories(), " trajectories of ", windows, " windows on ", table_.meshes.size(),
                    table_.meshes.size() == 1 ? " mesh" : " meshes")};
  }

  DataCheck description() const {
    if (metadata_.at("input_mean") != table_.input_mean())
      return {"description", false, "input_mean is not the mean of the training inputs"};
    const std::size_t in = metadata_.at("input").at("channels").size(),
                      out = metadata_.at("output").at("channels").size();
    if (static_cast<int>(in) != table_.in_channels || static_cast<int>(out) != table_.out_channels)
      return {"description", false, "the channels are not those of the values"};
    return {"description", true, message(in, " channels in, ", out, " out")};
  }

  DataCheck invariants(const pde::Trajectories& of) const {
    std::string worst;
    for (const pde::Invariant& invariant : of.invariants()) {
      const Column column = file_.column("/qc/" + invariant.name);
      const auto* values = std::get_if<std::vector<double>>(&column.values);
      if (values == nullptr) return {"invariants", false, "/qc/" + invariant.name + " has another type"};
      const auto bad = std::ranges::find_if_not(*values, [&](double value) { return invariant.allows(value); });
      if (bad != values->end())
        return {"invariants", false,
                message("trajectory ", bad - values->begin(), " has ", invariant.name, " ", *bad, ", limit ",
                        invariant.limit)};
      worst += message(worst.empty() ? "" : ", ", invariant.name, " <= ", std::ranges::max(*values));
    }
    return {"invariants", true, worst};
  }

  /// Some trajectories are run anew.
  DataCheck regenerated(const pde::Trajectories& of) const {
    const auto windows = metadata_.at("windows").get<std::int64_t>();
    Rng rng(42, table_.content_hash());
    std::set<std::int64_t> chosen;
    while (chosen.size() < std::min(made_again, static_cast<std::size_t>(table_.trajectories())))
      chosen.insert(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(table_.trajectories()))));
    double difference = 0;
    for (const std::int64_t trajectory : chosen) {
      const TrajectoryTable again = made_trajectory(of, request_, trajectory);
      const auto first = static_cast<std::size_t>(trajectory * windows),
                 mesh = static_cast<std::size_t>(table_.mesh[first]);
      const auto begin = table_.value_splits[first],
                 end = table_.value_splits[first + static_cast<std::size_t>(windows)];
      if (again.meshes.front().points() != table_.meshes[mesh].points() || again.value_splits.back() != end - begin)
        return {"regenerated", false, message("trajectory ", trajectory, " has another mesh when made again")};
      difference = std::max({difference, apart(table_.u0, again.u0, begin, table_.in_channels),
                             apart(table_.target, again.target, begin, table_.out_channels)});
      if (!(difference <= another_machine_for_flows))
        return {
            "regenerated", false,
            message("trajectory ", trajectory, " differs by ", difference, " of its largest value when made again")};
    }
    return {"regenerated", true,
            message(chosen.size(), " trajectories come out ",
                    difference == 0 ? "bit for bit the same"
                                    : message("the same up to ", difference, ", as on another machine"))};
  }

  /// The largest difference from the rows that begin at a node, as a part of the largest value.
  static double apart(const std::vector<float>& stored, const std::vector<float>& again, std::int64_t node,
                      int channels) {
    double largest = 0, difference = 0;
    const auto first = static_cast<std::size_t>(node * channels);
    for (std::size_t i = 0; i < again.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(again[i])));
      difference =
          std::max(difference, std::abs(static_cast<double>(stored[first + i]) - static_cast<double>(again[i])));
    }
    return difference == 0 ? 0 : difference / largest;
  }

  const Hdf5Contents& file_;
  const Json& metadata_;
  const Json& request_;
  TrajectoryTable table_;
};

}  // namespace

std::vector<DataCheck> trajectory_checks(const Hdf5Contents& file, const Json& metadata) {
  return TrajectoryVerification(file, metadata).checks();
}

}  // namespace opshap::data
