// Data sets of flows on meshes: what a window holds, the same bytes whatever happened on the way, and no damage that
// goes unnoticed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "data/import_meshgraphnets.hpp"
#include "data/maker.hpp"
#include "data/meshgraphnets.hpp"
#include "data/npy.hpp"
#include "data/trajectory_file.hpp"
#include "data/verify.hpp"
#include "pde/registry.hpp"
#include "support/for_all.hpp"
#include "support/opened_dataset.hpp"
#include "support/refusal.hpp"
#include "support/run_folder.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

/// Six short flows around discs on coarse meshes, some tenths of a second each; the first four are for training.
data::DatasetRequest six_flows() {
  data::DatasetRequest request;
  request.pde = "cylinder_flow";
  request.parameters = pde::find_trajectories(request.pde).quick();
  request.layout = {.samples = 6, .train = 4, .validation = 1, .test = 1};
  request.windows = 2;
  return request;
}

class TrajectoryData : public RunFolder {
 protected:
  TrajectoryData() { set_verbosity(Verbosity::quiet); }
  ~TrajectoryData() override { set_threads(2); }

  fs::path file(const std::string& name) const { return folder_ / name; }
  /// The data set of six_flows(), made once for all tests of this process.
  const std::string& bytes() const {
    static const std::string made = [this] {
      data::generate(six_flows(), file("first.h5"));
      return read_file(file("first.h5"));
    }();
    return made;
  }
  fs::path set() const {
    write_file(file("set.h5"), bytes());
    return file("set.h5");
  }
};

TEST_F(TrajectoryData, TheFileIsTheSameForEveryNumberOfThreadsAndParts) {
  for (const int count : {1, 7}) {
    set_threads(count);
    const fs::path again = file("threads" + std::to_string(count) + ".h5");
    data::generate(six_flows(), again);
    EXPECT_TRUE(bytes() == read_file(again)) << count << " threads";
  }
  std::vector<fs::path> parts;
  for (const std::int64_t index : {2, 0, 1}) {
    parts.push_back(file("part" + std::to_string(index) + ".h5"));
    data::generate(six_flows(), parts.back(), {.index = index, .of = 3});
  }
  data::merge(parts, file("merged.h5"));
  EXPECT_TRUE(bytes() == read_file(file("merged.h5"))) << "three parts";
}

TEST_F(TrajectoryData, AUnitThatIsThereIsNotMadeAgain) {
  const auto maker = data::maker_of("cylinder_flow", six_flows().parameters);
  const nlohmann::ordered_json settled = maker->resolved(six_flows());
  set_threads(2);
  {
    runs::Units units(file("set.h5.shards"), "data generate", settled.dump());
    units.store("00001.h5", maker->made(settled, 2, 2));
  }
  data::generate(six_flows(), file("set.h5"));
  EXPECT_TRUE(bytes() == read_file(file("set.h5")));
  EXPECT_FALSE(fs::exists(file("set.h5.shards")));
}

TEST_F(TrajectoryData, GoesOnWhereItWasAfterAKill) {
  set_threads(1);
  EXPECT_TRUE(WIFSIGNALED(interrupted(six_flows(), file("set.h5"), SIGKILL)));
  EXPECT_FALSE(fs::exists(file("set.h5")));
  EXPECT_TRUE(fs::exists(file("set.h5.shards/00000.h5"))) << "what is not made again";
  data::generate(six_flows(), file("set.h5"));
  EXPECT_TRUE(bytes() == read_file(file("set.h5")));
}

TEST_F(TrajectoryData, AWindowIsTwoFramesOfItsFlowOnItsMesh) {
  const data::Dataset data = data::read_dataset(set());
  const auto flows = pde::find_trajectories("cylinder_flow").with(six_flows().parameters);
  ASSERT_EQ(12, data.samples());
  ASSERT_EQ(2, data.windows);
  EXPECT_EQ(flows->channels(), data.input_channels);
  EXPECT_EQ(flows->channels(), data.target_channels);
  EXPECT_TRUE(data.inputs.has_domains_of(data.targets));
  const std::vector<double> times = flows->times();
  const auto lead = static_cast<std::int64_t>(std::llround(flows->lead() / (times[1] - times[0])));
  for (const std::int64_t trajectory : {0, 5}) {
    const pde::Trajectory flow =
        flows->run(flows->draw(Rng(42, "cylinder_flow/2"), static_cast<std::uint64_t>(trajectory)), times);
    for (const std::int64_t sample : {2 * trajectory, 2 * trajectory + 1}) {
      EXPECT_EQ(flow.domain, data.inputs.one(sample).domain);
      EXPECT_EQ(flow.node_types, data.node_types[data.inputs.domain_of(sample)]);
      bool found = false;  // at one of the frames, with its target behind it
      for (std::int64_t frame = 0; frame + lead < std::ssize(flow.times); ++frame) {
        const std::vector<float> input = flows->observed(flow.frame(frame)),
                                 target = flows->observed(flow.frame(frame + lead));
        found = found || (std::ranges::equal(input, data.inputs.field(sample)) &&
                          std::ranges::equal(target, data.targets.field(sample)));
      }
      EXPECT_TRUE(found) << sample;
    }
  }
}

TEST_F(TrajectoryData, TheMeanInputIsThatOfTheTrainingWindowsByArea) {
  const data::Dataset data = data::read_dataset(set());
  ASSERT_EQ(2u, data.input_mean.size());
  ASSERT_EQ(8u, data.indices(data::Split::train).size());
  for (std::size_t channel = 0; channel < 2; ++channel) {
    double mean = 0;
    for (const std::int64_t sample : data.indices(data::Split::train)) {
      const FieldBatch field = data.inputs.one(sample);
      const auto points = static_cast<std::size_t>(field.domain.points());
      for (std::size_t point = 0; point < points; ++point)
        mean += field.values[channel * points + point] * field.domain.volume(static_cast<std::int64_t>(point)) /
                field.domain.volume() / 8;
    }
    // Sums of some thousand numbers near 1, in another order.
    EXPECT_NEAR(mean, data.input_mean[channel], 1e-12);
  }
}

TEST_F(TrajectoryData, OneWindowOfEachTrajectoryIsExplained) {
  const data::Dataset data = data::read_dataset(set());
  EXPECT_EQ((std::vector<std::int64_t>{10, 11}), data.indices(data::Split::test));
  ScenarioRule rule = pde::find_equation("cylinder_flow").default_rule();
  EXPECT_EQ((std::vector<std::int64_t>{11}), data.explained(data::Split::test, rule));
  EXPECT_EQ((std::vector<std::int64_t>{1, 3, 5, 7}), data.explained(data::Split::train, rule));
  rule.position = {0.3, 0};  // a node of the wall
  EXPECT_TRUE(data.explained(data::Split::test, rule).empty());
}

TEST_F(TrajectoryData, AMeanOfEachNodeIsThatOfTheTrainingWindowsOnOneMesh) {
  data::DatasetRequest request{.pde = "airfoil", .parameters = pde::find_trajectories("airfoil").quick()};
  request.layout = {.samples = 4, .train = 2, .validation = 1, .test = 1};
  request.windows = 2;
  data::generate(request, file("airfoil.h5"));
  const data::Dataset data = data::read_dataset(file("airfoil.h5"));
  ASSERT_TRUE(data.inputs.on_one_domain()) << "all flows are around one airfoil";
  const ScenarioRule rule = data::rule_for({.baseline = ScenarioRule::Hidden::node_mean}, data);
  const FieldBatch hidden = make_scenario(rule, data.inputs.one(7)).baseline;
  for (std::size_t node = 0; node < hidden.values.size(); ++node) {
    double mean = 0;
    for (const std::int64_t sample : {0, 1, 2, 3}) mean += data.inputs.field(sample)[node] / 4;
    ASSERT_NEAR(mean, hidden.values[node], 1e-15 * std::abs(mean)) << "a sum of four in another order";
  }
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] {
                    data::rule_for({.baseline = ScenarioRule::Hidden::node_mean}, data::read_dataset(set()));
                  }),
                  "meshes of their own"));
}

TEST_F(TrajectoryData, WindowsBeginInEqualPartsOfWhatIsPossible) {
  for_all_streams([](Rng& rng) {
    const auto frames = static_cast<std::int64_t>(2 + rng.below(60)),
               lead = static_cast<std::int64_t>(1 + rng.below(static_cast<std::uint64_t>(frames - 1)));
    const std::int64_t possible = frames - lead,
                       windows = static_cast<std::int64_t>(1 + rng.below(static_cast<std::uint64_t>(possible)));
    const auto part = static_cast<data::Split>(rng.below(3));
    const std::vector<std::int64_t> starts = data::window_starts("test", frames, lead, windows, part, rng.stream(1, 2));
    RC_ASSERT(std::ssize(starts) == windows);
    for (std::int64_t window = 0; window < windows; ++window) {
      const std::int64_t start = starts[static_cast<std::size_t>(window)];
      RC_ASSERT(start >= window * possible / windows && start < (window + 1) * possible / windows);
    }
    const std::int64_t middle = starts[static_cast<std::size_t>(windows / 2)];
    if (part == data::Split::test) RC_ASSERT(std::abs(middle - possible / 2) <= 1);
    RC_ASSERT(starts == data::window_starts("test", frames, lead, windows, part, rng.stream(1, 2)));
  });
  expect_refusals<InvalidArgument>(
      Refusals<std::pair<int, int>>{{{5, 1}, "lead=5 frames"}, {{2, 4}, "windows=4"}, {{2, 0}, "windows=0"}},
      [](const std::pair<int, int>& given) {
        data::window_starts("test", 5, given.first, given.second, data::Split::train, Rng(1, "test"));
      });
}

TEST_F(TrajectoryData, RefusesRequestsThatCannotBeMet) {
  data::DatasetRequest many = six_flows(), coarse = six_flows(), twice = six_flows(), alone = six_flows();
  many.windows = 9;
  coarse.layout.resolutions = {16};
  twice.layout.resolutions = {Resolution::own(), Resolution::own()};
  alone.layout.test = 0;
  expect_refusals<InvalidArgument>(
      Refusals<data::DatasetRequest>{
          {many, "windows=9"}, {coarse, "own mesh"}, {twice, "once"}, {alone, "must add up"}},
      [this](const data::DatasetRequest& request) { data::generate(request, file("none.h5")); });
  EXPECT_FALSE(fs::exists(file("none.h5")));
}

TEST_F(TrajectoryData, AWholeFilePassesItsChecks) {
  const std::vector<data::DataCheck> checks = data::verify_dataset(set());
  EXPECT_EQ("", failed(set()));
  std::set<std::string> names;
  for (const data::DataCheck& check : checks) names.insert(check.name);
  EXPECT_EQ((std::set<std::string>{"file", "sample_checksums", "content_hash", "finite", "layout", "description",
                                   "invariants", "regenerated"}),
            names);
}

TEST_F(TrajectoryData, EachDamageIsFoundByItsCheck) {
  const fs::path good = set();
  EXPECT_TRUE(has(failed(spoiled(good, [](Opened& set) { set.values<float>("/u0")[5] += 1; })), "sample_checksums"));
  EXPECT_TRUE(has(failed(spoiled(good, [](Opened& set) { set.values<double>("/mesh/points")[5] += 1e-9; })),
                  "sample_checksums"));
  EXPECT_TRUE(has(failed(spoiled(good, [](Opened& set) { set.values<float>("/target")[9] = NAN; })), "finite"));
  EXPECT_TRUE(
      has(failed(spoiled(good, [](Opened& set) { set.values<std::uint8_t>("/sample/split")[0] = 2; })), "layout"));
  EXPECT_TRUE(has(failed(spoiled(good,
                                 [](Opened& set) {
                                   std::swap(set.values<double>("/sample/t0")[0], set.values<double>("/sample/t0")[1]);
                                 })),
                  "layout"));
  EXPECT_TRUE(
      has(failed(spoiled(good, [](Opened& set) { set.values<double>("/qc/divergence")[1] = 9; })), "invariants"));
  EXPECT_TRUE(has(failed(spoiled(good,
                                 [](Opened& set) {
                                   set.describe([](auto& metadata) { metadata["input_mean"] = {0.0, 0.0}; });
                                 })),
                  "description"));
  EXPECT_TRUE(has(
      failed(spoiled(good, [](Opened& set) { set.describe([](auto& metadata) { metadata["request"]["seed"] = 7; }); })),
      "regenerated"));
}

TEST_F(TrajectoryData, ColumnsThatDoNotFitEachOtherAreRefused) {
  const fs::path good = set();
  const std::vector<std::function<void(Opened&)>> damages = {
      [](Opened& set) { set.values<std::int64_t>("/mesh/point_splits")[1] += 1; },
      [](Opened& set) { set.values<std::int64_t>("/mesh/cell_splits").back() -= 1; },
      [](Opened& set) { set.values<std::int64_t>("/sample/value_splits")[1] = -4; },
      [](Opened& set) { set.values<std::int32_t>("/mesh/cells")[0] = 1'000'000; },
      [](Opened& set) { set.values<std::int32_t>("/sample/mesh")[3] = 77; },
      [](Opened& set) { set.values<std::int32_t>("/sample/trajectory")[3] = 5; },
      [](Opened& set) { set.values<std::uint8_t>("/mesh/node_type")[3] = 9; },
      [](Opened& set) { set.values<std::uint8_t>("/sample/split")[3] = 3; },
      [](Opened& set) { std::erase_if(set.columns, [](const auto& column) { return column.name == "/mesh/cells"; }); },
      [](Opened& set) { set.describe([](auto& metadata) { metadata["windows"] = 5; }); },
      [](Opened& set) { set.describe([](auto& metadata) { metadata.erase("windows"); }); },
      [](Opened& set) { set.describe([](auto& metadata) { metadata["content_xxh64"] = "0"; }); }};
  for (std::size_t i = 0; i < damages.size(); ++i)
    EXPECT_NE("", refusal<DataError>([&] { data::read_dataset(spoiled(good, damages[i])); })) << "damage " << i;
}

TEST_F(TrajectoryData, FramesThatWereWrittenAreImportedAsTheSameSamples) {
  const fs::path good = set();
  data::write_frames(six_flows(), file("frames"));
  data::import_meshgraphnets({.folder = file("frames"), .windows_like = good}, file("imported.h5"));
  const data::Dataset ours = data::read_dataset(good), theirs = data::read_dataset(file("imported.h5"));
  EXPECT_EQ("meshgraphnets_cylinder_flow", theirs.pde);
  ASSERT_EQ(ours.samples(), theirs.samples());
  EXPECT_EQ(ours.windows, theirs.windows);
  EXPECT_EQ(ours.split, theirs.split);
  EXPECT_EQ(ours.node_types, theirs.node_types);
  for (std::int64_t sample = 0; sample < ours.samples(); ++sample) {
    EXPECT_TRUE(std::ranges::equal(ours.inputs.field(sample), theirs.inputs.field(sample))) << sample;
    EXPECT_TRUE(std::ranges::equal(ours.targets.field(sample), theirs.targets.field(sample))) << sample;
  }
  EXPECT_EQ("", failed(file("imported.h5")));
  // Windows of one's own: as many, each a lead apart.
  data::import_meshgraphnets({.folder = file("frames"), .lead = 1, .windows = 1, .trajectories = 1}, file("own.h5"));
  const data::Dataset own = data::read_dataset(file("own.h5"));
  EXPECT_EQ(3, own.samples());
  EXPECT_EQ(1, own.windows);
  expect_refusals<InvalidArgument>(
      Refusals<data::MeshgraphnetsRequest>{{{.folder = file("frames"), .lead = 0, .windows = 1}, "lead=0"},
                                           {{.folder = file("frames"), .lead = 3, .windows = 1}, "lead=3"},
                                           {{.folder = file("frames"), .lead = 1, .windows = 5}, "windows=5"}},
      [this](const data::MeshgraphnetsRequest& request) { data::import_meshgraphnets(request, file("none.h5")); });
  EXPECT_FALSE(fs::exists(file("none.h5")));
}

/// One flow of the release as arrays of another layout.
class Repackaged {
 public:
  explicit Repackaged(const pde::Trajectory& flow) : flow_(flow) {}

  /// [T,N,·]: what does not change is there for each frame.
  std::vector<std::pair<std::string, data::NpyArray>> tiled() const {
    std::vector<std::pair<std::string, data::NpyArray>> arrays = still(frames());
    arrays.emplace_back("velocity", reals({frames(), nodes(), 2}, values(0, 2, /*nodes_first=*/false)));
    arrays.emplace_back("pressure", reals({frames(), nodes(), 1}, values(2, 1, false)));
    return arrays;
  }
  /// [N,T,·], and [1,N,·] of what does not change.
  std::vector<std::pair<std::string, data::NpyArray>> nodes_first() const {
    std::vector<std::pair<std::string, data::NpyArray>> arrays = still(1);
    arrays.emplace_back("velocity", reals({nodes(), frames(), 2}, values(0, 2, true)));
    arrays.emplace_back("pressure", reals({nodes(), frames(), 1}, values(2, 1, true)));
    return arrays;
  }

 private:
  std::int64_t frames() const { return std::ssize(flow_.times); }
  std::int64_t nodes() const { return flow_.nodes(); }
  static data::NpyArray reals(std::vector<std::int64_t> shape, std::vector<double> values) {
    return {std::move(shape), data::Dtype::float32, std::move(values)};
  }
  std::vector<std::pair<std::string, data::NpyArray>> still(std::int64_t copies) const {
    const Mesh& mesh = flow_.domain.as_mesh();
    std::vector<double> places;
    std::vector<std::int64_t> cells, types;
    for (std::int64_t copy = 0; copy < copies; ++copy) {
      places.insert(places.end(), mesh.points.begin(), mesh.points.end());
      cells.insert(cells.end(), mesh.cells.begin(), mesh.cells.end());
      for (const pde::NodeType type : flow_.node_types) types.push_back(static_cast<std::int64_t>(type));
    }
    return {{"mesh_pos", reals({copies, nodes(), 2}, places)},
            {"cells", {{copies, std::ssize(mesh.cells) / 3, 3}, data::Dtype::int32, cells}},
            {"node_type", {{copies, nodes(), 1}, data::Dtype::int32, types}}};
  }
  std::vector<double> values(std::int64_t first, std::int64_t channels, bool nodes_first) const {
    std::vector<double> found;
    for (std::int64_t i = 0; i < frames() * nodes(); ++i) {
      const std::int64_t frame = nodes_first ? i % frames() : i / nodes(),
                         node = nodes_first ? i / frames() : i % nodes();
      for (std::int64_t channel = first; channel < first + channels; ++channel)
        found.push_back(static_cast<double>(flow_.frame(frame)[static_cast<std::size_t>(channel * nodes() + node)]));
    }
    return found;
  }

  const pde::Trajectory& flow_;
};

/// A file of h5py: a group for each flow.
data::Column in_group(const std::string& group, const std::string& name, const data::NpyArray& array) {
  data::Column column{message("/", group, "/", name == "mesh_pos" ? "pos" : name), array.shape, {}};
  if (const auto* reals = std::get_if<std::vector<double>>(&array.values))
    column.values = std::vector<float>(reals->begin(), reals->end());
  else
    column.values = std::vector<std::int32_t>(array.integers("test").begin(), array.integers("test").end());
  return column;
}

TEST_F(TrajectoryData, TheReleaseAndItsRepackagingsAreImportedAsTheSameSet) {
  const fs::path release = fs::path(OPSHAP_SOURCE_DIR) / "reference_data/meshgraphnets/cylinder_flow";
  const data::MeshgraphnetsFolder folder(release);
  for (const data::Split part : {data::Split::train, data::Split::validation, data::Split::test}) {
    const std::string name = data::meshgraphnets_name(part);
    std::vector<data::Column> groups;
    data::TrajectoryStream flows = folder.read(part);
    for (int number = 0; const auto flow = flows.next(); ++number) {
      const Repackaged arrays(*flow);
      fs::create_directories(file("tiled") / name);
      fs::create_directories(file("nodes_first") / name);
      const std::string archive = message("ex", number, ".npz");
      write_file(file("tiled") / name / archive, data::format_npz(arrays.tiled()));
      write_file(file("nodes_first") / name / archive, data::format_npz(arrays.nodes_first()));
      for (const auto& [array, numbers] : arrays.tiled())
        groups.push_back(in_group(std::to_string(number), array, numbers));
    }
    fs::create_directories(file("groups"));
    write_file(file("groups") / (name + ".h5"), data::hdf5_bytes(groups, "{}"));
  }
  const auto columns = [this](const fs::path& from, const std::string& to) {
    data::import_meshgraphnets({.folder = from, .lead = 2, .windows = 2}, file(to));
    return Opened(file(to)).columns;
  };
  const std::vector<data::Column> first = columns(release, "release.h5");
  ASSERT_FALSE(first.empty());
  for (const char* layout : {"tiled", "nodes_first", "groups"}) {
    const std::vector<data::Column> other = columns(file(layout), message(layout, ".h5"));
    ASSERT_EQ(first.size(), other.size()) << layout;
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].name, other[i].name) << layout;
      EXPECT_EQ(first[i].shape, other[i].shape) << layout << first[i].name;
      EXPECT_EQ(first[i].values, other[i].values) << layout << first[i].name;
    }
  }
}

TEST(SampleFields, OfSeveralDomainsAreFoundByTheirNumber) {
  const std::vector<Domain> domains = {Domain::unit({3}), Domain::unit({5})};
  data::SampleFields fields(domains, {1, 0, 1}, 2);
  for (std::int64_t sample = 0; sample < 3; ++sample) {
    ASSERT_EQ(static_cast<std::size_t>(sample == 1 ? 6 : 10), fields.field(sample).size());
    std::ranges::fill(fields.field(sample), static_cast<double>(sample));
  }
  EXPECT_EQ(3, fields.count());
  EXPECT_FALSE(fields.on_one_domain());
  for (std::int64_t sample = 0; sample < 3; ++sample) {
    const FieldBatch one = fields.one(sample);
    EXPECT_EQ(domains[sample == 1 ? 0 : 1], one.domain);
    EXPECT_TRUE(std::ranges::all_of(one.values, [&](double value) { return value == static_cast<double>(sample); }));
  }
  const std::vector<std::int64_t> some = {2, 0}, middle = {1};
  const data::SampleFields few = fields.chosen(some), one_domain = fields.chosen(middle);
  ASSERT_EQ(2, few.count());
  EXPECT_EQ(domains[1], few.domain()) << "the only one that is used";
  EXPECT_EQ(2, few.field(0).front());
  EXPECT_EQ(0, few.field(1).front());
  EXPECT_EQ(domains[0], one_domain.domain());
  EXPECT_EQ(0, fields.chosen({}).count());
  EXPECT_FALSE(fields.chosen(std::vector<std::int64_t>{1, 2}).on_one_domain());
  EXPECT_TRUE(has(refusal<InvalidArgument>([&] { fields.domain(); }), "domains=2"));
  EXPECT_THROW(data::SampleFields(domains, {2}, 1), InvalidArgument);
  EXPECT_THROW(data::SampleFields({}, {}, 1), InvalidArgument);
  EXPECT_TRUE(data::SampleFields({Domain::unit({4})}, {0, 0}, 1).on_one_domain());
}

}  // namespace
}  // namespace opshap
