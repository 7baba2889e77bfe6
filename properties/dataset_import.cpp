// Imported data: every value is where the source has it, the origin is told everywhere, and bad sources leave no file.

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/profile.hpp"
#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "data/dataset.hpp"
#include "data/hdf5.hpp"
#include "data/import.hpp"
#include "data/import_pdebench.hpp"
#include "data/npy.hpp"
#include "data/verify.hpp"
#include "support/expressions.hpp"
#include "support/program.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

/// The entry that reference_data/generate/pdebench_files.py writes at a place.
double entry(std::int64_t sample, std::int64_t time, std::int64_t row, std::int64_t point, std::int64_t channel) {
  const std::int64_t code = (((sample * 8 + time) * 16 + row) * 16 + point) * 2 + channel;
  if (sample % 2 == 0) return static_cast<double>(code) / 1024;
  return static_cast<double>(static_cast<std::uint32_t>(code * 2654435761) >> 8) / (1 << 24);
}

std::string source(const std::string& name) {
  return std::string(OPSHAP_SOURCE_DIR) + "/reference_data/pdebench/" + name;
}

void expect_good(const std::string& path) {
  for (const auto& check : data::verify_dataset(path)) EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
}

/// A file of PDEBench's kind, what it is imported as, and where its fields are.
struct Layout {
  std::string file, name;
  int channels = 1, target_time = 0;
  Domain domain;
  std::string told;  ///< what `data info` must say of it
  std::string options = {};
};

const std::vector<Layout>& layouts() {
  const Axis circle = Axis::cells(16, 1, 0, true), line = Axis::cells(16), unit = Axis::cells(8),
             dam = Axis::cells(8, 5, -2.5), square = Axis::cells(8, 2, -1);
  static const std::vector<Layout> all = {
      {"1D_Advection_Sols_beta1.0.hdf5", "advection1d", 1, 3, Domain::grid({circle}),
       "parameters   {\"beta\":1.0}, target at t = 0.3\n"},
      {"1D_Burgers_Sols_Nu0.01.hdf5", "burgers1d", 1, 2, Domain::grid({circle}),
       "The viscosity of the equation is Nu/pi"},
      {"1D_diff-sorp_NA_NA.h5", "diffusion_sorption1d", 1, 2, Domain::grid({line}), "Each input is a constant field"},
      {"2D_DarcyFlow_beta1.0_Train.hdf5", "darcy2d", 1, 1, Domain::grid({unit, unit}), "input        a [1]"},
      {"2D_rdb_NA_NA.h5", "shallow_water2d", 1, 2, Domain::grid({dam, dam}), "8 points on [-2.5, 2.5]"},
      {"2D_diff-react_NA_NA.h5", "diffusion_reaction2d", 2, 2, Domain::grid({square, square}),
       "They are not those of Gray and Scott"},
      // The same layouts with other axes of one entry, and without attributes and coordinates.
      {"variant_tensor.hdf5", "tensor1d", 1, 1, Domain::grid({circle}), "say neither advection nor Burgers"},
      {"variant_tensor.hdf5", "burgers1d", 1, 2, Domain::grid({circle}), "{\"time_index\":2}",
       " --problem burgers1d --time-index 2"},
      {"variant_groups.h5", "shallow_water2d", 1, 1, Domain::grid({dam, dam}), "{\"time_index\":1}",
       " --time-index 1"}};
  return all;
}

void expect_fields(const FieldBatch& fields, std::int64_t time, const Layout& layout) {
  ASSERT_EQ(layout.channels, fields.channels);
  const bool plane = layout.domain.dimension() == 2;
  const std::int64_t line = layout.domain.shape().back();
  for (std::int64_t sample = 0; sample < fields.batch; ++sample) {
    const auto values = fields.field(sample);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto place = static_cast<std::int64_t>(i);
      const std::int64_t channel = place / layout.domain.points(), point = place % layout.domain.points();
      ASSERT_EQ(entry(sample, time, plane ? point / line : 0, point % line, channel), values[i])
          << layout.file << ", sample " << sample << ", value " << i;
    }
  }
}

class DatasetImport : public Program {
 protected:
  std::string command(const std::string& file) const { return "data import pdebench " + file + " --out " + set_; }
  void import(const Layout& layout, const std::string& more = "") const {
    done(command(source(layout.file)) + layout.options + more);
  }
  const std::string set_ = path("set.h5");
  /// The data set that was imported.
  data::Dataset imported() const { return data::read_dataset(set_); }
  /// A source with some of its bytes replaced, wherever they occur first.
  std::string damaged(const std::string& name, const std::string& from, const std::string& to) const {
    std::string bytes = read_file(source(name));
    const std::size_t at = bytes.find(from);
    EXPECT_NE(std::string::npos, at) << name;
    return file("damaged.hdf5", bytes.replace(at, from.size(), to));
  }
  std::string array(const std::string& name, const std::vector<std::int64_t>& shape, double first = 0) const {
    std::size_t count = 1;
    for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = first + static_cast<double>(i) / 8;
    data::write_npy(path(name), {shape, data::Dtype::float64, values});
    return path(name);
  }
  /// On a periodic grid, where the further options do not say another one.
  std::string pair(const std::vector<std::int64_t>& inputs, const std::vector<std::int64_t>& targets,
                   const std::string& more = "") const {
    return "data import npy --input " + array("u.npy", inputs) + " --target " + array("v.npy", targets, 1000) +
           " --out " + set_ + (more.find("--periodic") == std::string::npos ? " --periodic true" : "") + more;
  }
};

std::string bytes_of(float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

TEST_F(DatasetImport, EveryValueOfEveryLayoutIsWhereTheFileHasIt) {
  for (const Layout& layout : layouts()) {
    import(layout);
    const data::Dataset set = imported();
    EXPECT_EQ("pdebench_" + layout.name, set.pde);
    EXPECT_EQ(layout.domain, set.inputs.domain()) << set.inputs.domain().describe();
    EXPECT_EQ(layout.domain, set.targets.domain());
    EXPECT_EQ(6, set.samples());
    // Darcy's coefficient is at place 0 of the generator's times, its solution at place 1.
    expect_fields(set.inputs.batch(), 0, layout);
    expect_fields(set.targets.batch(), layout.target_time, layout);
    std::filesystem::remove(set_);
  }
}

TEST_F(DatasetImport, TheOriginIsToldByTheFileAndItsChecks) {
  for (const Layout& layout : layouts()) {
    import(layout);
    const std::string info = output("data info " + set_);
    EXPECT_TRUE(has(info, {"samples of pdebench_" + layout.name, "imported     from PDEBench, layout ", layout.file,
                           "It is none of the paper's data sets.", layout.told}));
    const Json json = answer("data info " + set_);
    EXPECT_EQ("imported", json["origin"]);
    const std::string bytes = read_file(source(layout.file));
    EXPECT_TRUE(holds(json["imported"]["files"][0], {{"xxh64", xxh64(bytes)}, {"bytes", bytes.size()}}));
    const std::vector<data::DataCheck> checks = data::verify_dataset(set_);
    EXPECT_EQ(7u, checks.size());
    expect_good(set_);
    EXPECT_EQ("origin", checks.back().name);
    EXPECT_TRUE(has(checks.back().detail, "there is no solver to compare with"));
    std::filesystem::remove(set_);
  }
}

TEST_F(DatasetImport, TheViscosityOfBurgersIsNuOverPi) {
  import(layouts()[1]);
  const Json metadata = Json::parse(data::read_dataset_metadata(set_));
  EXPECT_TRUE(holds(metadata["parameters"], {{"Nu", 0.01}, {"viscosity", 0.01 / 3.141592653589793}}));
}

TEST_F(DatasetImport, CountsAndResolutionsAreThoseAskedFor) {
  import(layouts()[0], " --train 2 --validation 2 --test 1 --resolutions 4,8 --time-index 1");
  const data::Dataset set = imported();
  EXPECT_EQ((std::vector<Resolution>{4, 8}), set.resolutions);
  EXPECT_EQ((std::vector<std::int64_t>{2, 3}), set.indices(data::Split::validation));
  EXPECT_EQ((std::vector<std::int64_t>{4}), set.indices(data::Split::test));
  expect_fields(set.targets.batch(), 1, layouts()[0]);
  const data::Dataset served = data::served_at(set, {2, 4, 16});
  EXPECT_EQ((std::vector<std::uint8_t>{0, 1, 2, 0, 1}), served.resolution_slot);
  EXPECT_EQ(set.content_hash, served.content_hash);
  EXPECT_THROW(data::served_at(set, {3}), InvalidArgument);
}

TEST_F(DatasetImport, TheSameImportIsDoneOnce) {
  import(layouts()[0]);
  const auto written = std::filesystem::last_write_time(set_);
  import(layouts()[0]);
  EXPECT_EQ(written, std::filesystem::last_write_time(set_));
  for (const std::string& other :
       {command(source(layouts()[1].file)), "data generate --pde heat1d --samples 6 --out " + set_})
    expect_refusal(other, 2, "(exists and was made by another request). Choose another path, or remove it.");
}

TEST_F(DatasetImport, BadFilesAreRefusedByName) {
  expect_refusal(command(source("wrong_layout.hdf5")), 3,
                 "wrong_layout.hdf5 (is compressible flow of PDEBench (CFD): fields such as density");
  expect_refusal(command(source("wrong_grid.hdf5")), 3,
                 "/x-coordinate=15 (the fields have 16 points on that axis). Get the file again.");
  expect_refusal(command(file("text.h5", "not HDF5 at all")), 3, "(is not an HDF5 file, whatever its name says)");
  expect_refusal(command(path("absent.h5")), 3, "absent.h5 (is not a file)");
  expect_refusal(command(folder_.string()), 3, "(is not a file)");
  const std::string whole = read_file(source(layouts()[0].file));
  expect_refusal(command(file("half.hdf5", whole.substr(0, whole.size() / 2))), 3,
                 "half.hdf5 (is cut off or damaged). Get the file again.");
  const std::string nan = bytes_of(std::numeric_limits<float>::quiet_NaN());
  // The entry of sample 1, time 3, point 5.
  const std::string bad = damaged(layouts()[0].file, bytes_of(static_cast<float>(entry(1, 3, 0, 5, 0))), nan);
  expect_refusal(command(bad), 3,
                 "sample=1, target=nan (an operator cannot learn from it). Correct the file, or leave such samples out "
                 "with --skip-nonfinite.");
  // The paper's time is not among the times of this file without coordinates.
  expect_refusal(command(source("variant_groups.h5")), 2,
                 "time_index=25 (the times are counted from 0, which is the input, to 2)");
}

// Flipped bits of the format are refused by the library, those of a chunk by LZF. A value of a field may be any number.
TEST_F(DatasetImport, DamagedBytesGiveAnErrorOrADataSet) {
  set_verbosity(Verbosity::quiet);
  for (const int layout : {2, 5}) {
    const std::string clean = read_file(source(layouts()[static_cast<std::size_t>(layout)].file));
    int refused = 0, imported = 0;
    for (std::size_t at = 0; at < clean.size(); at += 251) {
      const std::string spoiled = file("flipped.h5", flipped(clean, at, 0x5a));
      const bool made = refusal([&] { data::import_pdebench({.file = spoiled}, {}, set_); }).empty();
      EXPECT_EQ(made, std::filesystem::remove(set_)) << at;
      ++(made ? imported : refused);
    }
    EXPECT_GT(refused, 0);
    EXPECT_GT(imported, 0);
  }
}

TEST_F(DatasetImport, ACrashOfTheLibraryIsAnError) {
  const auto ended = [](const std::function<void()>& work) -> std::string {
    try {
      in_own_process(work, "it crashed");
    } catch (const DataError& error) {
      return message("data ", error.what());
    } catch (const InvalidArgument& error) {
      return message("argument ", error.what());
    } catch (const Stopped& error) {
      return message("stopped ", error.what());
    }
    return "done";
  };
  EXPECT_EQ("done", ended([] {}));
  EXPECT_EQ("data it crashed", ended([] { ::raise(SIGSEGV); }));
  EXPECT_EQ("data it crashed", ended([] { ::_exit(1); }));
  EXPECT_EQ("data of the work", ended([] { throw DataError("of the work"); }));
  EXPECT_EQ("argument of the work", ended([] { throw InvalidArgument("of the work"); }));
  EXPECT_EQ("stopped of the work", ended([] { throw Stopped("of the work"); }));
  const std::string wide(100'000, 'w');  // more than a pipe holds at once
  EXPECT_EQ("data " + wide, ended([&] { throw DataError(wide); }));
  EXPECT_THROW(in_own_process([] { throw std::bad_alloc(); }, ""), std::bad_alloc);
}

TEST_F(DatasetImport, TooFewSamplesAndOptionsThatDoNotFitAreRefused) {
  const std::string advection = command(source(layouts()[0].file)), darcy = command(source(layouts()[3].file));
  expect_refusal(advection + " --samples 7", 3, "samples=6 (7 are asked for). Ask for fewer, or import a larger file.");
  expect_refusal(advection + " --train 4 --validation 2 --test 2", 3, "samples=6 (8 are asked for)");
  expect_refusal(advection + " --samples 5", 3, "samples=5 (at least 6 can be divided into parts)");
  expect_refusal(advection + " --time-index 4", 2,
                 "time_index=4 (the times are counted from 0, which is the input, to 3)");
  expect_refusal(advection + " --time-index 0", 2, "time_index=0 (the times are counted from 0");
  expect_refusal(advection + " --problem burgers1d", 2, "(its attributes say advection1d). Leave the option out.");
  expect_refusal(advection + " --problem heat1d", 2, "--problem=heat1d (not one of advection1d, burgers1d)");
  expect_refusal(advection + " --resolutions 5", 2,
                 "resolution=5 (no stride of the native grid 16: x: 16 points on [0, 1)");
  expect_refusal(darcy + " --time-index 1", 2, "(holds Darcy flow, which has no times and is no other problem)");
  expect_refusal("data import pdebench " + source(layouts()[0].file), 2, "--out (a data set needs a file)");
}

TEST_F(DatasetImport, APairOfArraysBecomesADataSet) {
  struct Case {
    std::vector<std::int64_t> inputs, targets;
    int in, out;
    Domain domain;
    std::string options = {};
  };
  const Domain cells = Domain::grid({Axis::cells(8, 2), Axis::cells(8, 3)});
  const std::vector<Case> cases = {
      {{6, 16}, {6, 16}, 1, 1, Domain::unit({16})},
      {{6, 2, 16}, {6, 16}, 2, 1, Domain::unit({16})},
      {{6, 1, 16}, {6, 3, 16}, 1, 3, Domain::unit({16})},
      {{6, 8, 8}, {6, 2, 8, 8}, 1, 2, Domain::unit({8, 8})},
      {{6, 4, 8}, {6, 1, 4, 8}, 1, 1, Domain::unit({4, 8}), " --resolutions 2,4"},
      {{6, 4, 8}, {6, 4, 8}, 1, 1, Domain::unit({4, 8}), " --resolutions 2,4 --dimension 2"},
      {{6, 16}, {6, 16}, 1, 1, Domain::grid({Axis::closed(16, 3, -1)}), " --periodic false --extent 3 --origin -1"},
      {{6, 8, 8}, {6, 8, 8}, 1, 1, cells, " --periodic false --centring cell --extent 2,3"}};
  for (const Case& made : cases) {
    output(pair(made.inputs, made.targets, " --name waves" + made.options));
    const data::Dataset set = imported();
    EXPECT_EQ("npy_waves", set.pde);
    EXPECT_EQ(made.domain, set.inputs.domain()) << set.inputs.domain().describe();
    EXPECT_EQ(made.in, set.inputs.channels());
    EXPECT_EQ(made.out, set.targets.channels());
    for (std::size_t i = 0; i < set.inputs.batch().values.size(); ++i)
      ASSERT_EQ(static_cast<double>(i) / 8, set.inputs.batch().values[i]);
    for (std::size_t i = 0; i < set.targets.batch().values.size(); ++i)
      ASSERT_EQ(1000 + static_cast<double>(i) / 8, set.targets.batch().values[i]);
    expect_good(set_);
    EXPECT_TRUE(has(output("data info " + set_), "imported     from npy, layout a pair of arrays: u.npy, v.npy"));
    std::filesystem::remove(set_);
  }
}

// A grid is served as it is, and at its halves. Nothing is thinned out without a word.
TEST_F(DatasetImport, TheNativeGridOfArraysIsAlwaysServed) {
  const auto resolutions = [&](const std::vector<std::int64_t>& shape, const std::string& more = "") {
    output(pair(shape, shape, " --name waves" + more));
    const std::vector<Resolution> found = imported().resolutions;
    std::filesystem::remove(set_);
    return found;
  };
  EXPECT_EQ((std::vector<Resolution>{125, 250, 500, 1000, 2000}), resolutions({6, 2000}));
  EXPECT_EQ((std::vector<Resolution>{63}), resolutions({6, 63}));
  EXPECT_EQ((std::vector<Resolution>{421}), resolutions({6, 421}));
  EXPECT_EQ((std::vector<Resolution>{16, 32, 64}), resolutions({6, 64}));
  EXPECT_EQ((std::vector<Resolution>{25, 50, 100}), resolutions({6, 1, 100, 100}));
  const std::string ends = " --periodic false";
  EXPECT_EQ((std::vector<Resolution>{106, 211, 421}), resolutions({6, 421}, ends)) << "both ends are kept";
  EXPECT_EQ((std::vector<Resolution>{61, 141, 421}), resolutions({6, 421}, ends + " --resolutions 61,141,421"));
  EXPECT_EQ((std::vector<Resolution>{64}), resolutions({6, 64}, ends));
  EXPECT_EQ((std::vector<Resolution>{Resolution({6, 10}), Resolution({12, 20}), Resolution({24, 40})}),
            resolutions({6, 1, 24, 40}));
  EXPECT_EQ((std::vector<Resolution>{Resolution({4, 16}), Resolution({8, 32})}),
            resolutions({6, 1, 32, 128}, " --resolutions 4x16,8x32"));
  EXPECT_EQ((std::vector<Resolution>{8}), resolutions({6, 1, 24, 40}, " --resolutions 8")) << "on each axis";
  const std::string nodes = pair({6, 421}, {6, 421}, ends);
  expect_refusal(nodes + " --resolutions 210", 2, "resolution=210 (no stride of the native grid 421: x: 421 points");
  expect_refusal(nodes + " --resolutions 3x", 2, "--resolutions: resolution=3x (is neither");
  expect_refusal(
      "data import npy --input " + array("u.npy", {6, 16}) + " --target " + array("v.npy", {6, 16}) + " --out " + set_,
      2, "--periodic");
}

TEST_F(DatasetImport, FieldsAreInterpolatedWhereItIsAskedForAndTheSetSaysSo) {
  std::vector<double> squares;
  for (int i = 0; i < 6 * 21; ++i) squares.push_back(std::pow(i % 21 / 20.0, 2));
  data::write_npy(path("u.npy"), {{6, 21}, data::Dtype::float64, squares});
  const std::string start =
      "data import npy --input " + path("u.npy") + " --target " + path("u.npy") + " --periodic false --out ";
  const std::string outcome = output(start + set_ + " --interpolate 33");
  EXPECT_TRUE(has(outcome, {"33 points on [0, 1], with both ends", "The fields are interpolated from a grid 21"}));
  const data::Dataset set = imported();
  EXPECT_EQ(Domain::grid({Axis::closed(33)}), set.targets.domain());
  EXPECT_EQ((std::vector<Resolution>{17, 33}), set.resolutions);
  // A square is a cubic: what is left is the rounding of stored numbers of at most 1 to float32, and that of the input
  // times weights that add up to 1.25 in absolute value between four points, and 1.63 beside an end.
  for (int i = 0; i < 33; ++i)
    EXPECT_NEAR(std::pow(i / 32.0, 2), set.targets.batch().values[static_cast<std::size_t>(i)], 3 * std::pow(2.0, -25));
  expect_refusal(start + path("other.h5") + " --interpolate 1", 2, "--interpolate=1 (an axis has 2 points or more)");
  expect_refusal(start + path("other.h5") + " --interpolate 8x9", 2, "points=8x9 (the grid has 1 axis)");
}

TEST_F(DatasetImport, SamplesThatAreNotFiniteAreLeftOutWhereItIsAskedForAndNamed) {
  std::vector<double> inputs(8 * 16), targets(8 * 16);
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = targets[i] = static_cast<double>(i);
  inputs[1 * 16 + 3] = std::numeric_limits<double>::quiet_NaN();
  targets[6 * 16] = std::numeric_limits<double>::infinity();
  data::write_npy(path("u.npy"), {{8, 16}, data::Dtype::float64, inputs});
  data::write_npy(path("v.npy"), {{8, 16}, data::Dtype::float64, targets});
  const std::string start =
      "data import npy --input " + path("u.npy") + " --target " + path("v.npy") + " --periodic true --out " + set_;
  expect_refusal(start, 3,
                 "sample=1, input=nan (an operator cannot learn from it). Correct the file, or leave such "
                 "samples out with --skip-nonfinite.");
  EXPECT_TRUE(has(output(start + " --skip-nonfinite"), "Samples 1, 6 of the source have values that are not finite."));
  const data::Dataset set = imported();
  ASSERT_EQ(6, set.samples());
  EXPECT_EQ(0, set.inputs.field(0)[0]);
  EXPECT_EQ(2 * 16, set.inputs.field(1)[0]);
  EXPECT_EQ(7 * 16, set.targets.field(5)[0]);
  const Json origin = Json::parse(data::read_dataset_metadata(set_))["imported"];
  EXPECT_EQ((Json{1, 6}), origin["options"]["skip_nonfinite"]);
  EXPECT_EQ(8, origin["samples_in_file"]);
  done("data verify " + set_);
}

// Darcy flow on nodes, as its 421 x 421 points are: the coordinates say it.
TEST_F(DatasetImport, CoordinatesFromEndToEndAreNodes) {
  std::vector<double> coordinates;
  for (int i = 0; i < 21; ++i) coordinates.push_back(i / 20.0);
  const std::vector<float> values(6 * 21 * 21, 1.5f);
  write_file(path("nodes.h5"), data::hdf5_bytes({{"/tensor", {6, 1, 21, 21}, values},
                                                 {"/nu", {6, 21, 21}, values},
                                                 {"/x-coordinate", {21}, coordinates},
                                                 {"/y-coordinate", {21}, coordinates}},
                                                "{}"));
  done(command(path("nodes.h5")));
  const data::Dataset set = imported();
  EXPECT_EQ(Domain::grid({Axis::closed(21), Axis::closed(21)}), set.inputs.domain()) << set.inputs.domain().describe();
  EXPECT_EQ((std::vector<Resolution>{6, 11, 21}), set.resolutions);
}

TEST_F(DatasetImport, FilesOfFlowsAndOfTheWellAreNamedWithTheWayThatWorks) {
  const std::vector<float> values(2 * 3 * 4, 1.0f);
  const auto refuse = [&](const std::vector<std::string>& arrays, const std::string& what) {
    std::vector<data::Column> columns;
    for (const std::string& name : arrays) columns.push_back({name, {2, 3, 4}, values});
    write_file(path("flow.h5"), data::hdf5_bytes(columns, "{}"));
    for (const std::string& told : {what, std::string("Then `opshap data import npy --input u.npy")})
      expect_refusal(command(path("flow.h5")), 3, told);
  };
  refuse({"/density", "/pressure", "/Vx"}, "flow.h5 (is compressible flow of PDEBench (CFD)");
  refuse({"/velocity", "/particles", "/force"}, "flow.h5 (is incompressible flow of PDEBench (NS)");
  write_file(path("odd.h5"), data::hdf5_bytes({{"/a", {2, 3, 4}, values}, {"/u", {2, 3, 4}, values}}, "{}"));
  expect_refusal(command(path("odd.h5")), 3, "(it holds a, u, which is none of the layouts of PDEBench that are read");
  refuse({"/t0_fields/density", "/t1_fields/velocity", "/dimensions/x"}, "flow.h5 (is a data set of the Well");
}

TEST_F(DatasetImport, AFileThatIsBeingWrittenIsNamed) {
  std::filesystem::copy_file(source(layouts()[0].file), path("open.h5"));
  const int writer = ::open(path("open.h5").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(0, ::flock(writer, LOCK_EX | LOCK_NB));
  expect_refusal(command(path("open.h5")), 3,
                 "open.h5 (another program has it open for writing). Wait until that has closed it.");
  ::close(writer);
  done(command(path("open.h5")));
}

TEST_F(DatasetImport, ArraysThatAreNoPairAreRefused) {
  const auto refused = [this](const std::vector<std::int64_t>& inputs, const std::vector<std::int64_t>& targets,
                              const std::string& options, int code,
                              const std::string& why) { expect_refusal(pair(inputs, targets, options), code, why); };
  refused({6, 16}, {5, 16}, "", 3,
          "input=[6,16], target=[5,16] (a pair has the same number of samples and the same grid)");
  refused({6, 16}, {6, 32}, "", 3, "input=[6,16], target=[6,32] (a pair has");
  refused({6, 16}, {6, 1, 4, 4}, "", 3, "shape=[6,1,4,4] (is not a set of fields in 1 dimension)");
  refused({6, 16, 12}, {6, 16, 12}, "", 2, "shape=[6,16,12] (could be [N,C,n] or [N,nx,ny])");
  refused({96}, {96}, "", 3, "shape=[96] (takes [N,n], [N,C,n], [N,nx,ny] or [N,C,nx,ny])");
  refused({5, 16}, {5, 16}, "", 3, "samples=5 (at least 6 can be divided into parts)");
  refused({6, 16}, {6, 16}, " --name a/b", 2, "--name=a/b (a name has 1 to 64 letters, digits, '_' and '-')");
  refused({6, 16}, {6, 16}, " --extent 1,2", 2, "--extent=2 numbers (the grid has 1 axis)");
  refused({6, 16}, {6, 16}, " --extent 0", 2, "extent=0");
  std::vector<double> values(96, 1.0);
  values[40] = 1e300;  // more than a float32 can hold
  const std::string good = array("u.npy", {6, 16});
  data::write_npy(path("w.npy"), {{6, 16}, data::Dtype::float64, values});
  expect_refusal("data import npy --input " + good + " --target " + path("w.npy") + " --periodic true --out " + set_, 3,
                 "sample=2, target=inf (an operator cannot learn from it)");
  expect_refusal("data import npy --input " + good + " --target " + good + ".absent --periodic true --out " + set_, 3,
                 "(is not a file)");
}

TEST_F(DatasetImport, AProfileTakesADataSetInPlaceOfAProblem) {
  import(layouts()[5]);
  const cli::Profile profile = cli::load_profile("smoke", {}, cli::settings_of_file(set_));
  EXPECT_EQ("pdebench_diffusion_reaction2d", profile.data.pde);
  EXPECT_EQ(1, profile.data.train);
  EXPECT_EQ(4, profile.evaluation.inputs) << "as many as the file has for testing";
  EXPECT_EQ((std::vector<Resolution>{4, 8}), profile.resolutions) << "the profile's for planes";
  EXPECT_EQ(cli::to_toml(profile), cli::to_toml(cli::parse_profile(cli::to_toml(profile), "stored.toml")));
  cli::Profile moved = profile, other = profile;
  moved.data.file->path = "elsewhere.h5";
  other.data.file->content_hash = "0123456789abcdef";
  EXPECT_EQ(cli::identity(profile), cli::identity(moved));
  EXPECT_NE(cli::identity(profile), cli::identity(other));
  const std::vector<std::string> departures = cli::departures(profile);
  EXPECT_EQ("data: imported from PDEBench, layout numbered groups: 2D_diff-react_NA_NA.h5; not the paper's",
            departures.front());
  EXPECT_NE(departures.end(), std::ranges::find(departures, "training samples: 1 instead of the paper's 4220"));

  // No stride leaves the profile's 4 and 8 points of 41.
  std::filesystem::remove(set_);
  done(pair({20, 1, 24, 41}, {20, 1, 24, 41}, " --periodic false --centring cell"));
  const cli::Profile own = cli::load_profile("smoke", {}, cli::settings_of_file(set_));
  EXPECT_EQ((std::vector<Resolution>{Resolution({24, 41})}), own.resolutions) << "those of the file";
  EXPECT_EQ(cli::to_toml(own), cli::to_toml(cli::parse_profile(cli::to_toml(own), "stored.toml")));
  EXPECT_THROW(cli::parse_profile(substituted(cli::to_toml(own), "24, 41", "24, 41, 5"), "x.toml"), InvalidArgument);

  // A set of our own generator keeps the rule and the parameters of its problem.
  done("data generate --pde heat1d --samples 6 --set kappa=0.02 --out " + path("heat.h5"));
  const cli::Profile heat = cli::load_profile("smoke", {}, cli::settings_of_file(path("heat.h5")));
  EXPECT_EQ(0.02, std::get<double>(heat.data.parameters.at("kappa")));
  EXPECT_EQ(cli::to_toml(heat), cli::to_toml(cli::parse_profile(cli::to_toml(heat), "stored.toml")));
}

}  // namespace
}  // namespace opshap
