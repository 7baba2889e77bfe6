// Data set files: the same bytes from the same request, whatever happened on the way; and no damage goes unnoticed.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/rng.hpp"
#include "core/threads.hpp"
#include "data/dataset.hpp"
#include "data/generate.hpp"
#include "data/hdf5.hpp"
#include "data/verify.hpp"
#include "pde/registry.hpp"
#include "support/opened_dataset.hpp"
#include "support/run_folder.hpp"
#include "support/text.hpp"

namespace opshap {
namespace {

/// Long steps and a large viscosity: a sample in two milliseconds that still holds all invariants.
data::DatasetRequest quick(std::int64_t samples) {
  data::DatasetRequest request;
  request.pde = "burgers1d";
  request.parameters = {{"dt", 4e-3}, {"nu", 0.02}};
  request.layout.samples = samples;
  return request;
}

class DatasetStore : public RunFolder {
 protected:
  DatasetStore() { set_verbosity(Verbosity::quiet); }

  fs::path file(const std::string& name) const { return folder_ / name; }
  fs::path shards(const std::string& name) const { return folder_ / (name + ".shards"); }

  /// The bytes of the data set of a request, made without interruption.
  std::string bytes_of(const data::DatasetRequest& request, const std::string& name = "reference.h5") const {
    data::generate(request, file(name));
    return read_file(file(name));
  }
};

TEST_F(DatasetStore, TheFileIsTheSameForEveryNumberOfThreads) {
  set_threads(1);
  const std::string one = bytes_of(quick(130), "one.h5");
  for (const int count : {2, 7}) {
    set_threads(count);
    EXPECT_EQ(one, bytes_of(quick(130), "threads" + std::to_string(count) + ".h5")) << count;
  }
}

TEST_F(DatasetStore, ASampleMadeAloneIsTheOneInTheSet) {
  data::generate(quick(70), file("set.h5"));
  const data::Dataset set = data::read_dataset(file("set.h5"));
  const auto problem = pde::find("burgers1d").with(quick(70).parameters);
  for (const std::int64_t sample : {69, 3, 64}) {
    const data::GeneratedSample alone = data::generate_sample(*problem, 42, static_cast<std::uint64_t>(sample));
    EXPECT_TRUE(std::equal(alone.input.begin(), alone.input.end(), set.inputs.field(sample).begin())) << sample;
    EXPECT_TRUE(std::equal(alone.target.begin(), alone.target.end(), set.targets.field(sample).begin())) << sample;
  }
}

TEST_F(DatasetStore, TargetsAreTheSolutionsOfTheStoredInputs) {
  data::generate(quick(6), file("set.h5"));
  const data::Dataset set = data::read_dataset(file("set.h5"));
  const auto problem = pde::find("burgers1d").with(quick(6).parameters);
  for (std::int64_t sample = 0; sample < 6; ++sample) {
    const pde::Solution solution = problem->solve(set.inputs.one(sample));
    for (std::size_t j = 0; j < 1024; ++j)
      ASSERT_EQ(static_cast<float>(solution.output.values[j]), static_cast<float>(set.targets.field(sample)[j]));
  }
}

TEST_F(DatasetStore, SamplesOfASmallerSetAreTheFirstOfALargerOne) {
  data::generate(quick(6), file("small.h5"));
  data::generate(quick(20), file("large.h5"));
  const data::Dataset small = data::read_dataset(file("small.h5")), large = data::read_dataset(file("large.h5"));
  EXPECT_TRUE(std::equal(small.targets.batch().values.begin(), small.targets.batch().values.end(),
                         large.targets.batch().values.begin()));
}

TEST_F(DatasetStore, IsSplitInOrderAndServedAtResolutionsInTurn) {
  data::DatasetRequest request = quick(10);
  request.layout.train = 5;
  request.layout.validation = 3;
  request.layout.test = 2;
  request.layout.resolutions = {16, 64, 1024};
  data::generate(request, file("set.h5"));
  const data::Dataset set = data::read_dataset(file("set.h5"));
  EXPECT_EQ("burgers1d", set.pde);
  EXPECT_EQ(10, set.samples());
  EXPECT_EQ((std::vector<std::int64_t>{0, 1, 2, 3, 4}), set.indices(data::Split::train));
  EXPECT_EQ((std::vector<std::int64_t>{5, 6, 7}), set.indices(data::Split::validation));
  EXPECT_EQ((std::vector<std::int64_t>{8, 9}), set.indices(data::Split::test));
  EXPECT_EQ((std::vector<Resolution>{16, 64, 1024}), set.resolutions);
  EXPECT_EQ((std::vector<std::uint8_t>{0, 1, 2, 0, 1, 2, 0, 1, 2, 0}), set.resolution_slot);
}

TEST_F(DatasetStore, ScalesThePaperSplitAndKeepsFourTestSamples) {
  const auto counts = [](std::int64_t samples) {
    const auto json = nlohmann::json::parse(data::resolved(quick(samples)));
    return std::vector<std::int64_t>{json["train"], json["validation"], json["test"]};
  };
  EXPECT_EQ((std::vector<std::int64_t>{4220, 750, 30}), counts(5000));
  EXPECT_EQ((std::vector<std::int64_t>{844, 150, 6}), counts(1000));
  EXPECT_EQ((std::vector<std::int64_t>{81, 15, 4}), counts(100));
  EXPECT_EQ((std::vector<std::int64_t>{1, 1, 4}), counts(6));
}

TEST_F(DatasetStore, RefusesRequestsThatCannotBeMet) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t samples : {std::int64_t{0}, std::int64_t{-5}, most, std::int64_t{5}})
    EXPECT_THROW(data::resolved(quick(samples)), InvalidArgument) << samples;
  const std::vector<void (*)(data::DatasetRequest&)> changes = {
      [](auto& request) { request.layout.train = 9; },
      [](auto& request) { request.layout = {.samples = 10, .train = 9, .validation = most, .test = most}; },
      [](auto& request) { request.layout.resolutions = {48}; }, [](auto& request) { request.pde = "burger1d"; },
      [](auto& request) { request.parameters["mu"] = 1.0; }};
  for (const auto change : changes) {
    data::DatasetRequest request = quick(10);
    change(request);
    EXPECT_THROW(data::resolved(request), InvalidArgument);
  }
  // A viscosity whose shocks 1024 points cannot hold: the first sample with a shock ends the generation.
  data::DatasetRequest request = quick(10);
  request.parameters = {{"nu", 3e-4}};
  EXPECT_THROW(data::generate(request, file("set.h5")), NumericalError);
  EXPECT_FALSE(fs::exists(file("set.h5")));
  EXPECT_FALSE(fs::exists(shards("set.h5")));
}

TEST_F(DatasetStore, AFinishedSetIsLeftAlone) {
  const std::string bytes = bytes_of(quick(6), "set.h5");
  const auto written = fs::last_write_time(file("set.h5"));
  data::generate(quick(6), file("set.h5"));
  EXPECT_EQ(written, fs::last_write_time(file("set.h5")));
  EXPECT_FALSE(fs::exists(shards("set.h5")));

  data::DatasetRequest other = quick(6);
  other.seed = 43;
  EXPECT_THROW(data::generate(other, file("set.h5")), InvalidArgument);
  write_file(file("notes.txt"), std::string_view("mine"));
  EXPECT_THROW(data::generate(quick(6), file("notes.txt")), InvalidArgument);
  EXPECT_THROW(data::generate(quick(6), folder_), InvalidArgument);
  EXPECT_EQ(bytes, read_file(file("set.h5")));
  EXPECT_EQ("mine", read_file(file("notes.txt")));
}

TEST_F(DatasetStore, AGenerationThatNobodyWaitsForStopsAndIsContinuedToTheSameFile) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(data::generate(quick(6), file("set.h5"), {}, stop.get_token()), Stopped);
  EXPECT_FALSE(fs::exists(file("set.h5")));
  EXPECT_EQ(bytes_of(quick(6), "set.h5"), bytes_of(quick(6), "whole.h5"));
}

TEST_F(DatasetStore, AKilledGenerationIsContinuedToTheSameFile) {
  const data::DatasetRequest request = quick(64 * 4);
  const std::string reference = bytes_of(request);
  const int status = interrupted(request, file("killed.h5"), SIGKILL);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_FALSE(fs::exists(file("killed.h5")));
  ASSERT_TRUE(fs::exists(shards("killed.h5") / "00000.h5"));
  const auto kept = fs::last_write_time(shards("killed.h5") / "00000.h5");

  // A second kill in the middle, and the first shard is still the one of the first run.
  interrupted(request, file("killed.h5"), SIGKILL);
  EXPECT_EQ(kept, fs::last_write_time(shards("killed.h5") / "00000.h5"));

  EXPECT_EQ(reference, bytes_of(request, "killed.h5"));
  EXPECT_FALSE(fs::exists(shards("killed.h5")));
}

TEST_F(DatasetStore, AStoppedGenerationSaysSoAndIsContinued) {
  const data::DatasetRequest request = quick(64 * 3);
  const int status = interrupted(request, file("stopped.h5"), SIGTERM);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(6, WEXITSTATUS(status));
  EXPECT_FALSE(fs::exists(file("stopped.h5")));
  EXPECT_EQ(bytes_of(request), bytes_of(request, "stopped.h5"));
}

TEST_F(DatasetStore, DamagedAndForeignShardsAreMadeAgain) {
  const data::DatasetRequest request = quick(64 * 3);
  const std::string reference = bytes_of(request);
  using Damage = std::function<void(const fs::path&)>;
  const std::vector<Damage> damages = {
      [](const fs::path& shard) { fs::remove(shard); },
      [](const fs::path& shard) { fs::resize_file(shard, 1000); },
      [](const fs::path& shard) {
        const std::string bytes = read_file(shard);
        write_file(shard, flipped(bytes, bytes.size() / 2, 1));
      },
      [](const fs::path& shard) {
        write_file(shard.parent_path() / "manifest.jsonl",
                   std::string_view("{\"shard\":0,\"xxh64\":\"0\"}\nnonsense\n[]\n{\"request_xxh64\":7}\n"));
      },
      [](const fs::path& shard) { write_file(shard.parent_path() / "00000.h5.tmp", std::string_view("half a shard")); },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    const std::string name = "damaged" + std::to_string(i) + ".h5";
    interrupted(request, file(name), SIGKILL);
    ASSERT_TRUE(fs::exists(shards(name) / "00000.h5"));
    damages[i](shards(name) / "00000.h5");
    EXPECT_EQ(reference, bytes_of(request, name)) << i;
  }

  data::DatasetRequest other = request;
  other.seed = 43;
  interrupted(other, file("foreign.h5"), SIGKILL);
  EXPECT_EQ(reference, bytes_of(request, "foreign.h5"));
}

TEST_F(DatasetStore, PartsMergeToTheFileOfOneRun) {
  const std::string whole = bytes_of(quick(11));
  for (const std::int64_t of : {2, 3, 11}) {
    std::vector<fs::path> parts;
    for (std::int64_t index = of - 1; index >= 0; --index) {
      data::DatasetRequest request = quick(11);
      request.shard_samples = 2;
      parts.push_back(file(std::to_string(index) + ".part"));
      data::generate(request, parts.back(), {.index = index, .of = of});
      const std::string made = read_file(parts.back());
      data::generate(request, parts.back(), {.index = index, .of = of});  // done already
      EXPECT_EQ(made, read_file(parts.back()));
      EXPECT_THROW(data::generate(request, parts.back(), {.index = (index + 1) % of, .of = of}), InvalidArgument);
    }
    data::merge(parts, file("merged.h5"));
    EXPECT_EQ(whole, read_file(file("merged.h5"))) << of;
    for (const fs::path& part : parts) fs::remove(part);
  }
}

TEST_F(DatasetStore, PartsThatDoNotMakeASetAreRefused) {
  const auto part = [&](std::int64_t index, std::int64_t samples) {
    const fs::path made = file(message(index, "_of_", samples, ".part"));
    data::generate(quick(samples), made, {.index = index, .of = 3});
    return made;
  };
  const fs::path a = part(0, 9), b = part(1, 9), c = part(2, 9), foreign = part(2, 10);
  const auto refused = [&](const std::vector<fs::path>& parts) {
    return refusal([&] { data::merge(parts, file("merged.h5")); });
  };
  EXPECT_TRUE(has(refused({a, c}), "part=1 of 3 (is missing). Generate it with --shard 1/3."));
  EXPECT_TRUE(has(refused({a, b, c, b}), "(holds the same samples as " + b.string()));
  EXPECT_TRUE(has(refused({a, b, foreign}), "(is a part of another data set than " + a.string()));
  fs::copy_file(a, file("cut.part"));
  fs::resize_file(file("cut.part"), fs::file_size(a) - 7);
  EXPECT_NE("", refused({file("cut.part"), b, c}));
  data::generate(quick(9), file("whole.h5"));
  EXPECT_TRUE(has(refused({file("whole.h5")}), "(is not a part of a data set)"));
  EXPECT_FALSE(fs::exists(file("merged.h5"))) << "nothing half-written";
  EXPECT_THROW(data::read_dataset(a), DataError);
  EXPECT_THROW(data::generate(quick(9), file("x.part"), {.index = 0, .of = 10}), InvalidArgument);
  for (const char* wrong : {"", "1", "1/", "/3", "3/3", "-1/3", "0/0", "1/3x", "a/b"})
    EXPECT_THROW(runs::Part::parse("test", wrong), InvalidArgument) << wrong;
  EXPECT_EQ(2, runs::Part::parse("test", "2/3").index);
}

TEST_F(DatasetStore, OneProcessAtATimeMakesADataSet) {
  fs::create_directories(shards("set.h5"));
  const int held = ::open(shards("set.h5").c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(0, ::flock(held, LOCK_EX));
  EXPECT_THROW(data::generate(quick(6), file("set.h5")), InvalidArgument);
  ::close(held);
  EXPECT_NO_THROW(data::generate(quick(6), file("set.h5")));
}

TEST_F(DatasetStore, AGoodFilePassesAllChecks) {
  data::generate(quick(70), file("set.h5"));
  const std::vector<data::DataCheck> checks = data::verify_dataset(file("set.h5"));
  EXPECT_EQ(9u, checks.size());
  for (const data::DataCheck& check : checks) EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
}

TEST_F(DatasetStore, VerifyNamesWhatIsWrong) {
  data::generate(quick(12), file("good.h5"));
  const auto damaged = [&](const auto& damage) { return failed(spoiled(file("good.h5"), damage)); };
  EXPECT_EQ("", damaged([](Opened&) {}));
  EXPECT_EQ("sample_checksums", damaged([](Opened& set) { set.values<std::uint32_t>("/crc32c")[3] ^= 1; }));
  // Sample 5 is one of the training samples, whose mean the file states.
  EXPECT_EQ("sample_checksums content_hash description",
            damaged([](Opened& set) { set.values<float>("/u0")[5 * 1024] += 1e-7f; }));
  EXPECT_EQ("layout", damaged([](Opened& set) { set.values<std::uint8_t>("/split")[0] = 1; }));
  EXPECT_EQ("layout", damaged([](Opened& set) { set.values<std::uint8_t>("/resolution_slot")[2] = 0; }));
  EXPECT_EQ("invariants", damaged([](Opened& set) { set.values<double>("/qc/mean_drift")[2] = 1e-9; }));
  EXPECT_EQ("invariants", damaged([](Opened& set) { set.values<double>("/qc/spectral_tail")[2] = std::nan(""); }));
  EXPECT_EQ("sample_checksums content_hash finite pairs regenerated", damaged([](Opened& set) {
              for (std::size_t i = 0; i < 12; ++i)
                set.values<float>("/target")[1024 * i] = std::numeric_limits<float>::quiet_NaN();
            }));
  EXPECT_EQ("layout", damaged([](Opened& set) { set.values<double>("/x")[1] = 0.5; }));
  const auto described = [&](const std::function<void(nlohmann::ordered_json&)>& damage) {
    return damaged([&](Opened& set) { set.describe(damage); });
  };
  EXPECT_EQ("description", described([](auto& metadata) { metadata["input"]["channels"][0]["unit"] = "m"; }));
  EXPECT_EQ("description", described([](auto& metadata) { metadata["output"]["domain"]["extents"] = {2.0}; }));
  EXPECT_EQ("description", described([](auto& metadata) { metadata["input_mean"] = {0.5}; }));
  // Content that is consistent in itself, and not what the generator makes.
  EXPECT_EQ("pairs regenerated", damaged([](Opened& set) {
              std::vector<float>& inputs = set.values<float>("/u0");
              std::vector<float>& targets = set.values<float>("/target");
              for (float& value : targets) value *= 1.0001f;
              set.values<std::uint32_t>("/crc32c") = data::sample_checksums(inputs, targets, 12);
              set.describe([&](auto& json) { json["content_xxh64"] = data::content_hash(inputs, targets, 12); });
            }));
}

TEST_F(DatasetStore, ReadingChecksEverySample) {
  data::generate(quick(6), file("good.h5"));
  const auto damaged = [&](const auto& damage) { data::read_dataset(spoiled(file("good.h5"), damage)); };
  EXPECT_NO_THROW(damaged([](Opened&) {}));
  EXPECT_THROW(damaged([](Opened& set) { set.values<float>("/u0")[1024] += 1e-7f; }), DataError);
  EXPECT_THROW(damaged([](Opened& set) { set.values<float>("/u0")[0] = std::numeric_limits<float>::infinity(); }),
               DataError);
  EXPECT_THROW(damaged([](Opened& set) { set.values<std::uint32_t>("/crc32c")[0] ^= 1; }), DataError);
  EXPECT_THROW(damaged([](Opened& set) { set.values<std::uint8_t>("/split")[0] = 9; }), DataError);
  EXPECT_THROW(damaged([](Opened& set) {
                 std::erase_if(set.columns, [](const data::Column& column) { return column.name == "/split"; });
               }),
               DataError);
  EXPECT_THROW(damaged([](Opened& set) { set.metadata = "{}"; }), DataError);
  // The problem's name becomes that of a folder.
  for (const nlohmann::ordered_json& name : {nlohmann::ordered_json("../../x"), nlohmann::ordered_json("/tmp/x"),
                                             nlohmann::ordered_json(""), nlohmann::ordered_json(7)}) {
    EXPECT_THROW(damaged([&](Opened& set) { set.describe([&](auto& json) { json["pde"] = name; }); }), DataError)
        << name;
  }
  const auto described = [&](const std::function<void(nlohmann::ordered_json&)>& damage) {
    damaged([&](Opened& set) { set.describe(damage); });
  };
  EXPECT_THROW(described([](auto& json) { json["schema_version"] = 2; }), DataError);
  EXPECT_THROW(described([](auto& json) { json["request"]["samples"] = std::int64_t{1} << 40; }), DataError);
}

// Not the problem's, should the two differ.
TEST_F(DatasetStore, ASetHasTheSpacesThatItsFileNames) {
  data::generate(quick(6), file("own.h5"));
  Opened other(file("own.h5"));
  other.describe([](auto& metadata) {
    metadata["input"]["domain"]["axes"][0].update(
        {{"origin", -1.0}, {"extent", 2.0}, {"offset", 0.5}, {"centring", "cell"}, {"periodic", false}});
    metadata["output"]["channels"][0] = {{"name", "height"}, {"unit", "m"}};
    metadata["input_mean"] = {0.25};
  });
  other.write(file("other.h5"));
  const data::Dataset set = data::read_dataset(file("other.h5"));
  EXPECT_EQ(Domain::grid({Axis::cells(1024, 2, -1)}), set.inputs.domain());
  EXPECT_EQ(Domain::unit({1024}), set.targets.domain());
  EXPECT_EQ((std::vector<pde::Channel>{{"u", "1"}}), set.input_channels);
  EXPECT_EQ((std::vector<pde::Channel>{{"height", "m"}}), set.target_channels);
  EXPECT_EQ(std::vector<double>{0.25}, set.input_mean);
  other.describe([](auto& metadata) { metadata["input"]["domain"]["axes"][0]["points"] = 512; });
  other.write(file("other.h5"));
  EXPECT_THROW(data::read_dataset(file("other.h5")), DataError);
}

// The files of the first generators named neither spaces nor means.
TEST_F(DatasetStore, AFileWithoutSpacesHasThoseOfItsProblem) {
  data::generate(quick(6), file("new.h5"));
  Opened old(file("new.h5"));
  old.describe([](auto& metadata) {
    for (const char* name : {"input", "output", "input_mean"}) metadata.erase(name);
    metadata["channels"] = 1;
    metadata["domain"] = {{"shape", {1024}}, {"extents", {1.0}}, {"centring", "node"}, {"periodic", true}};
  });
  old.write(file("old.h5"));
  const data::Dataset before = data::read_dataset(file("old.h5")), now = data::read_dataset(file("new.h5"));
  EXPECT_EQ(now.inputs.domain(), before.inputs.domain());
  EXPECT_EQ(now.input_channels, before.input_channels);
  EXPECT_EQ(now.target_channels, before.target_channels);
  EXPECT_EQ(now.input_mean, before.input_mean);
  EXPECT_EQ(now.content_hash, before.content_hash);
  EXPECT_EQ("", failed(file("old.h5")));
  // A request that the old file answers makes no new one.
  data::generate(quick(6), file("old.h5"));
  EXPECT_EQ(old.metadata, data::read_dataset_metadata(file("old.h5")));
}

// The numbers of these samples are those of the first release.
TEST_F(DatasetStore, TheNumbersStayThoseOfTheFirstRelease) {
  data::DatasetRequest request = quick(8);
  request.parameters.clear();
  request.seed = 3;
  data::generate(request, file("set.h5"));
  EXPECT_EQ("09ef695307c60a43", data::read_dataset(file("set.h5")).content_hash);
}

TEST_F(DatasetStore, FilesThatAreNotDataSetsAreDataErrors) {
  EXPECT_THROW(data::read_dataset(folder_), DataError);
  write_file(file("text.h5"), std::string_view("not HDF5"));
  write_file(file("shard.h5"), data::hdf5_bytes({{"/u0", {1}, std::vector<float>{1}}}, "{\"samples\":1}"));
  write_file(file("empty.h5"), std::string_view());
  EXPECT_THROW(data::read_dataset(file("empty.h5")), DataError);
  for (const char* name : {"missing.h5", "text.h5", "shard.h5"}) {
    EXPECT_THROW(data::read_dataset(file(name)), DataError) << name;
    EXPECT_THROW(data::verify_dataset(file(name)), DataError) << name;
  }
  EXPECT_THROW(data::read_dataset_metadata(file("shard.h5")), DataError);
}

// Every byte is under the seal, so the HDF5 library never sees a damaged file.
TEST_F(DatasetStore, NoMutationIsReadOrCrashes) {
  const std::string good = bytes_of(quick(6));
  Rng rng(20261121, "dataset_store");
  for (int trial = 0; trial < 4000; ++trial) {
    std::string bytes = good;
    const std::size_t at = trial < 512 ? static_cast<std::size_t>(trial) : rng.below(bytes.size());
    switch (trial < 512 ? 0 : rng.below(4)) {
      case 0:
        bytes[at] ^= static_cast<char>(1 << rng.below(8));
        break;
      case 1:
        bytes.resize(at);
        break;
      case 2:
        bytes.insert(at, 1 + rng.below(600), '\0');
        break;
      default:
        bytes.erase(at, 1 + rng.below(600));
    }
    ASSERT_THROW(data::Hdf5Contents(bytes, "mutated"), DataError) << trial << " at " << at;
  }
  for (const std::string& bytes : {flipped(good, good.size() - 100, 16), good.substr(0, good.size() - 1)}) {
    write_file(file("bad.h5"), bytes);
    EXPECT_THROW(data::read_dataset(file("bad.h5")), DataError);
    EXPECT_EQ("file", failed(file("bad.h5")));
  }
}

}  // namespace
}  // namespace opshap
