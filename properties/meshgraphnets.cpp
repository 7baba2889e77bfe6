// Flows on meshes in the format of the MeshGraphNets release and in what people made of it: what is written is read
// back, four ways of keeping the same flows give the same, and what cannot be a flow on a mesh is refused by name.

#include "data/meshgraphnets.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "data/meshgraphnets_writer.hpp"
#include "data/npy.hpp"
#include "support/flow_files.hpp"
#include "support/for_all.hpp"
#include "support/small_trajectories.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

using data::Split;
using Channels = std::vector<std::string>;

const Channels cylinder = {"velocity_x", "velocity_y", "pressure"};
const Channels airfoil = {"velocity_x", "velocity_y", "density", "pressure"};

class Meshgraphnets : public FlowFolder {
 protected:
  static std::vector<pde::Trajectory> some_flows(Rng& rng, std::size_t count, const Channels& channels,
                                                 std::size_t frames = 5) {
    std::vector<pde::Trajectory> flows;
    for (std::size_t i = 0; i < count; ++i) flows.push_back(small_trajectory(rng, channels.size(), frames));
    return flows;
  }
  static void write(const fs::path& folder, const std::vector<pde::Trajectory>& flows, const Channels& channels) {
    data::MeshgraphnetsWriter writer(folder, "test", channels);
    for (const pde::Trajectory& flow : flows) writer.add(Split::train, flow);
    writer.finish();
  }
  /// What is said of a folder whose part `train` is read.
  static std::string said_of(const fs::path& folder) {
    return refusal<DataError>([&] { read_train(folder); });
  }
};

// The sums are those of another reader (reference_data/meshgraphnets.md), in six digits: half a unit of the last one.
TEST_F(Meshgraphnets, TheReleasesFormatIsReadAsAnotherReaderReadsIt) {
  const data::MeshgraphnetsFolder folder(fixture());
  EXPECT_EQ(data::FlowFormat::tfrecord, folder.format());
  EXPECT_EQ("comsol", folder.simulator());
  EXPECT_EQ(0.01, folder.time_step());
  EXPECT_EQ(cylinder, folder.channels());
  EXPECT_TRUE(folder.notes().empty());
  EXPECT_EQ((std::vector{Split::train, Split::validation, Split::test}), folder.parts());
  EXPECT_EQ(3, folder.trajectories(Split::train));
  EXPECT_EQ(1, folder.trajectories(Split::validation));
  EXPECT_EQ(2, folder.trajectories(Split::test));
  struct Sums {
    Split part;
    std::int64_t nodes, cells;
    double velocity;
    std::int64_t types, corners;
  };
  std::map<Split, std::size_t> place;
  for (const Sums& expected : {Sums{Split::train, 28, 34, 18.2773, 126, 1389},
                               {Split::train, 32, 40, 21.3271, 138, 1884},
                               {Split::train, 36, 46, 23.597, 150, 2451},
                               {Split::validation, 40, 52, 25.0504, 162, 3090},
                               {Split::test, 44, 58, 25.6587, 174, 3801},
                               {Split::test, 48, 64, 25.405, 186, 4584}}) {
    const pde::Trajectory flow = all_of(folder, expected.part)[place[expected.part]++];
    const Mesh& mesh = flow.domain.as_mesh();
    EXPECT_EQ(expected.nodes, mesh.size());
    EXPECT_EQ(3 * expected.cells, std::ssize(mesh.cells));
    EXPECT_EQ(expected.corners, std::accumulate(mesh.cells.begin(), mesh.cells.end(), std::int64_t{0}));
    std::int64_t types = 0;
    for (const pde::NodeType type : flow.node_types) types += static_cast<std::int64_t>(type);
    EXPECT_EQ(expected.types, types);
    EXPECT_EQ((std::vector{0.0, 0.01, 0.02, 0.03, 0.04}), flow.times);
    double velocity = 0;
    for (std::int64_t frame = 0; frame < 5; ++frame) {
      for (const float value : flow.frame(frame).first(static_cast<std::size_t>(2 * expected.nodes))) velocity += value;
    }
    EXPECT_NEAR(expected.velocity, velocity, 5e-5);
  }
}

// The fixture's generator shares no code with the writer.
TEST_F(Meshgraphnets, TheReleasesFormatIsWrittenToTheByte) {
  const data::MeshgraphnetsFolder folder(fixture());
  data::MeshgraphnetsWriter writer(folder_ / "again", folder.simulator(), folder.channels());
  for (const Split part : folder.parts()) {
    for (const pde::Trajectory& flow : all_of(folder, part)) writer.add(part, flow);
  }
  writer.finish();
  for (const char* name : {"train.tfrecord", "valid.tfrecord", "test.tfrecord"})
    EXPECT_EQ(read_file(fixture() / name), read_file(folder_ / "again" / name)) << name;
  EXPECT_EQ(nlohmann::ordered_json::parse(read_file(fixture() / "meta.json")),
            nlohmann::ordered_json::parse(read_file(folder_ / "again/meta.json")));
}

TEST_F(Meshgraphnets, FlowsAreReadBackAsTheyWereWritten) {
  for_all_streams([this](Rng& rng) {
    const Channels channels = rng.below(3) == 0   ? Channels{"velocity_x", "velocity_y"}
                              : rng.below(2) == 0 ? cylinder
                                                  : airfoil;
    const double start = rng.below(2) == 0 ? 0 : rng.uniform(-1, 1), step = std::exp(rng.uniform(-9, 3));
    const std::size_t frames = 2 + rng.below(5);
    std::map<Split, std::vector<pde::Trajectory>> written;
    fs::remove_all(folder_ / "flows");
    data::MeshgraphnetsWriter writer(folder_ / "flows", "a \"program\"", channels);
    const std::vector<double> times = small_trajectory(rng, 2, frames, start, step).times;
    for (std::uint64_t count = 1 + rng.below(4); count > 0; --count) {
      const auto part = static_cast<Split>(rng.below(3));
      written[part].push_back(small_trajectory(rng, channels.size(), frames, start, step));
      writer.add(part, written[part].back());
    }
    RC_ASSERT(!is_there(folder_ / "flows/meta.json"));
    writer.finish();
    RC_ASSERT(names_in(folder_ / "flows") ==
              (std::set<std::string>{"meta.json", "train.tfrecord", "valid.tfrecord", "test.tfrecord"}));
    const data::MeshgraphnetsFolder folder(folder_ / "flows");
    RC_ASSERT(folder.channels() == channels);
    RC_ASSERT(folder.simulator() == "a \"program\"");
    for (const Split part : {Split::train, Split::validation, Split::test}) {
      const std::vector<pde::Trajectory> read = all_of(folder, part);
      RC_ASSERT(read.size() == written[part].size());
      RC_ASSERT(folder.trajectories(part) == std::ssize(read));
      for (std::size_t i = 0; i < read.size(); ++i) {
        pde::Trajectory expected = written[part][i];
        // The step in meta.json has twelve digits, and the last of them may be lost to a larger time.
        const double largest = std::max(std::abs(expected.times.front()), std::abs(expected.times.back()));
        for (std::size_t frame = 0; frame < frames; ++frame)
          RC_ASSERT(std::abs(read[i].times[frame] - expected.times[frame]) <= 1e-11 * largest);
        expected.times = read[i].times;
        RC_ASSERT(same_flow(expected, read[i]));
      }
    }
  });
}

// Files of NumPy and h5py, by another reader of the records (reference_data/generate/meshgraphnets_files.py).
TEST_F(Meshgraphnets, FilesOfNumpyAndH5pyHoldTheFlowsOfTheRecords) {
  const data::MeshgraphnetsFolder records(fixture());
  for (const char* name : {"tiled", "nodes_first", "groups"}) {
    const data::MeshgraphnetsFolder folder(fixture().parent_path() / name);
    EXPECT_EQ(records.time_step(), folder.time_step());
    EXPECT_EQ(records.channels(), folder.channels());
    EXPECT_FALSE(folder.parts().empty());
    for (const Split part : folder.parts()) {
      const std::vector<pde::Trajectory> expected = all_of(records, part), read = all_of(folder, part);
      EXPECT_EQ(records.trajectories(part), folder.trajectories(part));
      ASSERT_EQ(expected.size(), read.size());
      for (std::size_t i = 0; i < read.size(); ++i) EXPECT_TRUE(same_flow(expected[i], read[i])) << name << ", " << i;
    }
  }
  EXPECT_TRUE(
      has(said_of(fixture().parent_path() / "pickled"),
          {"array=velocity", "descr=|O", "Take meta.json and the .tfrecord files of the MeshGraphNets release"}));
}

// Tiled as medav's archives and echowve's groups, [N,T,C] as shijiasheng's archives; the groups' order is not that of
// their letters.
TEST_F(Meshgraphnets, FourWaysOfKeepingAFlowGiveTheSame) {
  Rng rng(test_seed());
  SCOPED_TRACE(replay());
  for (const Channels& channels : {cylinder, airfoil}) {
    const std::vector<pde::Trajectory> flows = some_flows(rng, 11, channels);
    for (const char* name : {"records", "tiled/train", "plain/train", "groups"}) {
      fs::remove_all(folder_ / name);
      fs::create_directories(folder_ / name);
    }
    write(folder_ / "records", flows, channels);
    std::map<std::string, Arrays> groups;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      put(folder_ / "tiled/train" / message("ex", i, ".npz"), npz_bytes(arrays_of(flows[i], 5)));
      put(folder_ / "plain/train" / message(i, ".npz"), npz_bytes(arrays_of(flows[i], 1, true)));
      groups[message(i)] = renamed(arrays_of(flows[i], 5), "mesh_pos", "pos");
    }
    put(folder_ / "groups/train.h5", h5_bytes(groups));
    for (const auto& [name, format] :
         {std::pair("records", "TFRecord"), {"tiled", "npz"}, {"plain", "npz"}, {"groups", "HDF5"}}) {
      if (format != std::string("TFRecord"))
        put(folder_ / name / "meta.json", read_file(folder_ / "records/meta.json"));
      const data::MeshgraphnetsFolder folder(folder_ / name);
      EXPECT_EQ(format, to_string(folder.format()));
      EXPECT_EQ(0.01, folder.time_step());
      EXPECT_EQ("test", folder.simulator());
      EXPECT_EQ(channels, folder.channels());
      EXPECT_EQ(11, folder.trajectories(Split::train));
      const std::vector<pde::Trajectory> read = all_of(folder, Split::train);
      ASSERT_EQ(flows.size(), read.size());
      for (std::size_t i = 0; i < flows.size(); ++i) EXPECT_TRUE(same_flow(flows[i], read[i])) << name << ", " << i;
    }
  }
}

// Axes that may be left out, wider numbers, and frames with all three numbers in one array.
TEST_F(Meshgraphnets, OtherShapesOfTheSameFlowAreTheSame) {
  Rng rng(test_seed());
  SCOPED_TRACE(replay());
  const pde::Trajectory flow = some_flows(rng, 1, cylinder).front();
  const Arrays plain = arrays_of(flow, 1);
  const auto read = [&](const Arrays& arrays) {
    fs::remove_all(folder_ / "one");
    fs::create_directories(folder_ / "one");
    put(folder_ / "one/train.h5", h5_bytes({{"trajectory_0000", arrays}}));
    const data::MeshgraphnetsFolder folder(folder_ / "one");
    EXPECT_EQ(1u, folder.notes().size()) << "of the time step";
    std::vector<pde::Trajectory> found = all_of(folder, Split::train);
    for (std::size_t frame = 0; frame < 5; ++frame) {
      EXPECT_EQ(static_cast<double>(frame) * folder.time_step(), found.front().times[frame]);
      found.front().times[frame] = flow.times[frame];
    }
    return found.front();
  };
  EXPECT_TRUE(same_flow(flow, read(plain)));
  Arrays bare = plain;
  for (const char* name : {"mesh_pos", "cells", "node_type"}) bare[name].shape.erase(bare[name].shape.begin());
  EXPECT_TRUE(same_flow(flow, read(bare)));
  bare["node_type"].shape.pop_back();
  bare["pressure"].shape.pop_back();
  EXPECT_TRUE(same_flow(flow, read(bare)));
  bare["node_type"] = arrays_of(flow, 5).at("node_type");
  bare["node_type"].shape.pop_back();
  EXPECT_TRUE(same_flow(flow, read(bare)));
  bare.erase("velocity");
  bare.erase("pressure");
  bare["uvp"] = dynamic_array(flow, 0, 3, false);
  EXPECT_TRUE(same_flow(flow, read(bare)));
  EXPECT_EQ(0.08, data::MeshgraphnetsFolder(folder_ / "one").time_step());
  Arrays alone = plain;
  alone.erase("pressure");
  put(folder_ / "one/train.h5", h5_bytes({{"0", alone}}));
  const data::MeshgraphnetsFolder folder(folder_ / "one");
  EXPECT_EQ((Channels{"velocity_x", "velocity_y"}), folder.channels());
  EXPECT_TRUE(has(joined(folder.notes(), " "), {"There is no pressure", "0.01 s, which cylinder_flow"}));
  put(folder_ / "one/train.h5", h5_bytes({{"0", arrays_of(some_flows(rng, 1, airfoil).front(), 1)}}));
  EXPECT_EQ(0.0002, data::MeshgraphnetsFolder(folder_ / "one").time_step());
}

TEST_F(Meshgraphnets, OnlyTheFramesAskedForAreKept) {
  const data::MeshgraphnetsFolder folder(fixture());
  const std::vector<pde::Trajectory> all = all_of(folder, Split::train);
  std::vector<std::int64_t> asked;
  const auto some = all_of(folder, Split::train, [&](std::int64_t trajectory, std::int64_t frames) {
    asked.push_back(trajectory);
    EXPECT_EQ(5, frames);
    return std::vector<std::int64_t>{1, 4};
  });
  EXPECT_EQ((std::vector<std::int64_t>{0, 1, 2}), asked);
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ((std::vector{0.01, 0.04}), some[i].times);
    EXPECT_EQ(all[i].domain, some[i].domain);
    EXPECT_TRUE(std::ranges::equal(all[i].frame(1), some[i].frame(0)));
    EXPECT_TRUE(std::ranges::equal(all[i].frame(4), some[i].frame(1)));
  }
  for (const std::vector<std::int64_t>& wrong : {std::vector<std::int64_t>{5}, {-1}, {2, 2}, {3, 1}}) {
    EXPECT_TRUE(has(refusal<InvalidArgument>(
                        [&] { all_of(folder, Split::train, [&](std::int64_t, std::int64_t) { return wrong; }); }),
                    "(frames to keep ascend from 0 to 4)"));
  }
}

TEST_F(Meshgraphnets, DamagedRecordsAreRefusedByName) {
  EXPECT_TRUE(
      has(said_of(with_records(flipped(train(), 500, 1))), {"record=0 (its bytes do not match their checksum"}));
  EXPECT_TRUE(has(said_of(with_records(train().substr(0, 3000))), {"record=1 (", "the file ends in a record"}));
  EXPECT_TRUE(has(refusal<DataError>([&] {
                    const data::MeshgraphnetsFolder cut(with_records(train().substr(0, 3000)));
                    cut.trajectories(Split::train);
                  }),
                  "the file ends in a record"));
}

TEST_F(Meshgraphnets, WhatMetaSaysMustFit) {
  const auto said = [&](const char* from, const char* to) { return said_of(with_records(train(), from, to)); };
  EXPECT_TRUE(has(said("[5, -1, 2]", "[-1, -1, 2]"), {"features.velocity.shape=[-1,-1,2] (one size is -1"}));
  EXPECT_TRUE(has(said("[5, -1, 2]", "[5, 28, 2]"), "shape=[5,28,2] (one size is -1"));
  EXPECT_TRUE(has(said("[5, -1, 2]", "[4, -1, 2]"), "shape=[4,-1,2] (a dynamic array has 5"));
  EXPECT_TRUE(has(said("[1, -1, 3]", "[2, -1, 3]"), "shape=[2,-1,3] (a static array has 1"));
  EXPECT_TRUE(has(said("[1, -1, 3]", "[1, -1, 0]"), "needs three sizes"));
  EXPECT_TRUE(has(said("[1, -1, 3]", "[-1, 3]"), "needs three sizes"));
  EXPECT_TRUE(has(said("[1, -1, 3]", "[1, -1, 4]"), "field=cells (has 408 bytes, which no array"));
  EXPECT_TRUE(has(said("[1, -1, 3]", "[1, -1, 2]"), "field=cells (has the shape [1,51,2]"));
  EXPECT_TRUE(has(said("[1, -1, 3]", "[1, -1, 1000000000000]"), "field=cells (has 408 bytes, which no array"));
  // 4 bytes times these two sizes are 2^64, and this array is as large as the first product.
  const std::string large = framed(data::format_example({{"cells", std::string(1 << 24, '\0')}}));
  EXPECT_TRUE(has(said_of(with_records(large, "[1, -1, 3]", "[-1, 4194304, 1099511627776]")),
                  "field=cells (has 16777216 bytes, which no array"));
  EXPECT_TRUE(has(said("\"static\"", "\"dynamic_varlen\""), "type=dynamic_varlen (an array whose length changes"));
  EXPECT_TRUE(has(said("\"static\"", "\"other\""), "type=other (not one of static, dynamic)"));
  EXPECT_TRUE(has(said("\"int32\"", "\"uint8\""), "dtype=uint8 (not one of float32"));
  EXPECT_TRUE(has(said("\"int32\"", "\"float32\""), "field=cells (holds floating-point numbers where whole ones"));
  EXPECT_TRUE(has(said("\"trajectory_length\": 5", "\"trajectory_length\": 6"), "a dynamic array has 6"));
  EXPECT_TRUE(has(said("\"trajectory_length\": 5", "\"length\": 5"), "trajectory_length (is missing)"));
  EXPECT_TRUE(has(said("\"dt\": 0.01", "\"dt\": 0"), "dt=0 (needs a positive number)"));
  EXPECT_TRUE(has(said("\"dt\"", "\"dT\""), "dt (is missing)"));
  EXPECT_TRUE(has(said("\"velocity\", \"pressure\"]", "\"pressure\"]"), "field_names (have no velocity"));
  EXPECT_TRUE(has(said("\"velocity\", \"pressure\"]", "\"velocity\", \"stress\"]"), "features.stress (is missing)"));
  EXPECT_TRUE(has(said("{\"simulator\"", "{{\"simulator\""), "json"));
  EXPECT_EQ("", said("\"float32\"", "\"<dtype: 'float32'>\"")) << "two files of the release have this";
}

/// The arrays of a small flow with one of them changed.
template <typename Change>
Arrays changed(const Change& change) {
  Rng rng(test_seed());
  Arrays arrays = arrays_of(small_trajectory(rng, 3, 5), 1);
  change(arrays);
  return arrays;
}
std::vector<std::int64_t>& whole(Arrays& arrays, const char* name) {
  return std::get<std::vector<std::int64_t>>(arrays[name].values);
}
std::vector<float>& reals(Arrays& arrays, const char* name) {
  return std::get<std::vector<float>>(arrays[name].values);
}

TEST_F(Meshgraphnets, WhatIsNoFlowOnAMeshIsRefusedByName) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  using Change = void (*)(Arrays&);
  const std::vector<std::pair<Change, std::string>> table = {
      {[](Arrays& a) { whole(a, "cells")[4] = 1000; }, "point=1000 (in cell 1"},
      {[](Arrays& a) { whole(a, "cells")[4] = -1; }, "point=-1 (in cell 1"},
      {[](Arrays& a) { whole(a, "cells")[1] = whole(a, "cells")[0]; }, "cell=0 (its corners lie on one line"},
      {[](Arrays& a) { std::copy_n(whole(a, "cells").begin(), 3, whole(a, "cells").begin() + 3); }, ""},
      {[](Arrays& a) {
         a["cells"] = {{1, 1, 3}, std::vector<std::int64_t>{0, 1, 7}};
       },
       "is a corner of no cell"},
      {[](Arrays& a) { std::copy_n(reals(a, "mesh_pos").begin(), 2, reals(a, "mesh_pos").begin() + 2); },
       "lies where point 0 does"},
      {[](Arrays& a) { reals(a, "mesh_pos")[3] = nan; }, "coordinate=nan"},
      {[](Arrays& a) { reals(a, "mesh_pos")[2] -= 0.35F; }, "overlap)"},
      {[](Arrays& a) { whole(a, "node_type")[2] = 7; }, "field=node_type (has the number 7"},
      {[](Arrays& a) { whole(a, "node_type")[2] = -1; }, "field=node_type (has the number -1"},
      {[](Arrays& a) { reals(a, "velocity").back() = nan; },
       "field=velocity (holds a value that is not finite, in frame 4"},
      {[](Arrays& a) { reals(a, "pressure")[0] = HUGE_VALF; },
       "field=pressure (holds a value that is not finite, in frame 0"},
      {[](Arrays& a) { a.erase("cells"); }, "field=cells (is not "},
      {[](Arrays& a) { a.erase("mesh_pos"); }, "field=mesh_pos (is not "},
      {[](Arrays& a) {
         reals(a, "velocity").pop_back();
         reals(a, "velocity").pop_back();
         a["velocity"].shape = {1, 1, std::ssize(reals(a, "velocity"))};
       },
       "field=velocity (has "},
      {[](Arrays& a) {
         whole(a, "node_type").pop_back();
         a["node_type"].shape[1] -= 1;
       },
       "field=node_type (has the shape"}};
  for (std::size_t row = 0; row < table.size(); ++row) {
    const Arrays arrays = changed(table[row].first);
    const std::string of_record = said_of(with_records(framed(record_of(arrays))));
    EXPECT_TRUE(!of_record.empty() && has(of_record, {"changed/train.tfrecord, record=0", table[row].second})) << row;
    fs::remove_all(folder_ / "archives");
    fs::create_directories(folder_ / "archives/train");
    put(folder_ / "archives/train/0.npz", npz_bytes(arrays));
    const std::string of_archive = said_of(folder_ / "archives");
    EXPECT_TRUE(!of_archive.empty() && has(of_archive, {"train/0.npz", table[row].second})) << row;
  }
}

TEST_F(Meshgraphnets, OtherListsThanThoseOfBytesAreRefusedByName) {
  // Feature{field: list{1: "1234"}} in place of the velocity's.
  const auto with_list = [&](char field) {
    Arrays arrays = changed([](Arrays&) {});
    arrays.erase("velocity");
    const std::string rest = record_of(arrays);
    const std::string feature = std::string{field, 6, 0x0a, 4} + "1234";
    const std::string entry = std::string("\x0a\x08velocity\x12\x08") + feature;
    const std::string entries = std::string("\x0a") + static_cast<char>(entry.size()) + entry;
    return framed(rest + "\x0a" + static_cast<char>(entries.size()) + entries);
  };
  EXPECT_TRUE(has(said_of(with_records(with_list(0x12))), "field=velocity (is a float_list"));
  EXPECT_TRUE(has(said_of(with_records(with_list(0x1a))), "field=velocity (is a int64_list"));
}

TEST_F(Meshgraphnets, FilesOfOneSplitMustFitEachOther) {
  const Arrays plain = changed([](Arrays&) {});
  Arrays without = plain, moving = changed([](Arrays&) {}), many;
  without.erase("pressure");
  const auto groups = [&](const std::map<std::string, Arrays>& held) {
    fs::remove_all(folder_ / "groups");
    fs::create_directories(folder_ / "groups");
    put(folder_ / "groups/train.h5", h5_bytes(held));
    return said_of(folder_ / "groups");
  };
  EXPECT_EQ("", groups({{"0", plain}, {"1", plain}}));
  EXPECT_TRUE(
      has(groups({{"0", plain}, {"1", without}}),
          {"group=1, channels=velocity_x, velocity_y (the first trajectory has velocity_x, velocity_y, pressure)"}));
  EXPECT_TRUE(has(groups({{"1", plain}, {"trajectory_01", plain}}), "(has the number of 1)"));
  EXPECT_TRUE(has(groups({{"a", plain}}), "has no group with a number in its name"));
  Rng rng(test_seed());
  moving = arrays_of(small_trajectory(rng, 3, 5), 5);
  std::get<std::vector<float>>(moving["mesh_pos"].values).back() += 0.01F;
  EXPECT_TRUE(has(groups({{"0", moving}}), "field=mesh_pos (is another one in frame 4, and meshes do not change"));
  many = plain;
  many["pressure"] = {{4, plain.at("mesh_pos").shape[1], 1},
                      std::vector<float>(static_cast<std::size_t>(4 * plain.at("mesh_pos").shape[1]), 1.0F)};
  EXPECT_TRUE(has(groups({{"0", many}}), "field=pressure (has 4 frames, and velocity has 5"));
}

TEST_F(Meshgraphnets, FoldersOfOtherThingsAreRefusedByName) {
  EXPECT_TRUE(has(said_of(folder_ / "absent"), "(is not a folder)"));
  fs::create_directories(folder_ / "other/train");
  EXPECT_TRUE(has(said_of(folder_ / "other"), "has no train.tfrecord"));
  for (const char* name : {"train.npz", "train/first.npy", "train.pkl"}) {
    put(folder_ / "other" / name, "x");
    EXPECT_TRUE(has(said_of(folder_ / "other"), {name, "loading them runs code", ".tfrecord files"}));
    fs::remove(folder_ / "other" / name);
  }
  put(folder_ / "other/train.tfrecord", train());
  EXPECT_TRUE(has(said_of(folder_ / "other"), "meta.json (is not there"));
  EXPECT_TRUE(has(refusal<DataError>([&] { data::MeshgraphnetsFolder(with_records(train())).read(Split::test); }),
                  "part=test (is not there)"));
  // An array of objects in a file of the right name.
  fs::create_directories(folder_ / "objects/train");
  const data::NpyArray mesh{{1}, data::Dtype::int64, std::vector<std::int64_t>{0}};
  put(folder_ / "objects/train/0.npz", data::format_npz({{"simulation_trajectory_0", mesh}}));
  EXPECT_TRUE(has(said_of(folder_ / "objects"), "field=velocity (is not there)"));
}

TEST_F(Meshgraphnets, TheWriterRefusesWhatTheFormatDoesNotHave) {
  Rng rng(test_seed());
  const auto refused = [&](const Channels& channels, const std::vector<pde::Trajectory>& flows) {
    const std::string said = refusal([&] { write(folder_ / "bad", flows, channels); });
    EXPECT_TRUE(!is_folder(folder_ / "bad") || names_in(folder_ / "bad").empty()) << "nothing is left behind";
    return said;
  };
  const std::vector<pde::Trajectory> two = some_flows(rng, 2, cylinder);
  EXPECT_TRUE(has(refused({"u", "v"}, two), "channels=u, v (the format has velocity_x"));
  EXPECT_TRUE(has(refused({"pressure", "velocity_x", "velocity_y"}, two), "(the format has velocity_x"));
  EXPECT_TRUE(has(refused(airfoil, two), "numbers="));
  EXPECT_TRUE(has(refused(cylinder, {}), "no trajectory was given"));
  EXPECT_TRUE(has(refused(cylinder, some_flows(rng, 1, cylinder, 1)), "frames=1 (the time step is between two)"));
  const auto with = [&](const auto& change) {
    std::vector<pde::Trajectory> flows = two;
    change(flows[1]);
    return refused(cylinder, flows);
  };
  EXPECT_TRUE(has(with([](pde::Trajectory& flow) { flow.times[2] += 1e-4; }), "are others than those of the first"));
  EXPECT_TRUE(has(with([](pde::Trajectory& flow) { flow.frames[7] = HUGE_VALF; }), "not finite"));
  EXPECT_TRUE(has(with([](pde::Trajectory& flow) { flow.node_types.pop_back(); }), "node types="));
  std::vector<pde::Trajectory> uneven = two;
  for (pde::Trajectory& flow : uneven) flow.times[2] += 1e-4;
  EXPECT_TRUE(has(refused(cylinder, uneven), "frame=2, time=0.0201 (frames of the format are equally spaced"));
  Mesh fine = two[0].domain.as_mesh();
  fine.points[2] = fine.points[0] + 1e-12;
  fine.points[3] = fine.points[1];
  EXPECT_TRUE(has(with([&](pde::Trajectory& flow) {
                    flow = two[0];
                    flow.domain = Domain::mesh(fine);
                  }),
                  {"are rounded to float32", "lies where point 0 does"}));
  write(folder_ / "good", two, cylinder);
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { write(folder_ / "good", two, cylinder); }), "has a data set already"));
}

}  // namespace
}  // namespace opshap
