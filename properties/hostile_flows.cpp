// Files of flows on meshes, changed at a few places: each is taken or refused by name. No reader crashes, hangs or
// takes more memory than a file of that size can hold.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/rng.hpp"
#include "data/tfrecord.hpp"
#include "support/apart.hpp"
#include "support/flow_files.hpp"
#include "support/small_trajectories.hpp"

namespace opshap {
namespace {

class HostileFlows : public FlowFolder {};

// A mutant may be a flow: a changed number of a field is one. What is allocated beyond this process is 48 MiB: deflate
// makes at most 1032 bytes of one, the files have up to 12 kB, and a number is held twice as 8 bytes.
constexpr std::size_t most_memory = std::size_t{48} << 20;

/// The counts are in the report that --gtest_output=json:FILE writes.
void expect_survived(const ReadApart& found, std::uint64_t count, std::uint64_t crashes) {
  testing::Test::RecordProperty("taken", std::to_string(found.taken));
  testing::Test::RecordProperty("refused", std::to_string(found.refused));
  testing::Test::RecordProperty("crashed", std::to_string(found.crashed));
  EXPECT_STREQ("", found.unexpected) << replay();
  EXPECT_LE(found.crashed, crashes) << replay();
  EXPECT_EQ(count, found.taken + found.refused + found.crashed) << replay();
  EXPECT_GT(found.refused, count / 10) << replay();
}

TEST_F(HostileFlows, RecordsAreTakenOrRefused) {
  const std::string bytes = train(), meta = read_file(fixture() / "meta.json");
  std::vector<std::string> contents;
  data::TfRecordReader reader(fixture() / "train.tfrecord");
  for (std::string record; reader.next(record);) contents.push_back(record);
  const fs::path folder = with_records(bytes);
  const auto read = [&](std::uint64_t item) {
    Rng rng(test_seed(), "records", 0, item);
    const std::uint64_t kind = rng.below(4);
    // The frames of a mutant are made anew in half of all cases, or its checksum would hide what a reader does with it.
    const std::string file = kind == 0   ? mutated(bytes, {bytes}, rng)
                             : kind == 1 ? bytes
                                         : framed(mutated(contents[rng.below(3)], contents, rng));
    put(folder / "train.tfrecord", file);
    put(folder / "meta.json", kind == 1 ? mutated(meta, {meta}, rng) : meta);
    read_train(folder);
  };
  expect_survived(read_apart(mutants(), most_memory, read), mutants(), 0);
}

/// Arrays changed at one to three places: a number, a size, an array left out or in place of another.
Arrays mutated(Arrays arrays, Rng& rng) {
  for (std::uint64_t edits = 1 + rng.below(3); edits > 0; --edits) {
    auto chosen = std::next(arrays.begin(), static_cast<std::ptrdiff_t>(rng.below(arrays.size())));
    Held& held = chosen->second;
    const std::uint64_t edit = rng.below(6);
    if (edit == 0 && arrays.size() > 1) {
      arrays.erase(chosen);
    } else if (edit == 1) {
      std::swap(held.shape[rng.below(held.shape.size())], held.shape[rng.below(held.shape.size())]);
    } else if (edit == 2) {
      held.shape.insert(held.shape.begin() + static_cast<std::ptrdiff_t>(rng.below(held.shape.size() + 1)), 1);
    } else if (edit == 3 && held.shape.size() > 1) {
      held.shape[0] *= held.shape[1];
      held.shape.erase(held.shape.begin() + 1);
    } else if (auto* numbers = std::get_if<std::vector<std::int64_t>>(&held.values)) {
      const std::vector<std::int64_t> unwelcome = {-1, 0, 5, 99, 1 << 30};
      (*numbers)[rng.below(numbers->size())] = unwelcome[rng.below(unwelcome.size())];
    } else {
      constexpr float largest = std::numeric_limits<float>::max();
      const std::vector<float> unwelcome = {0, -0.2F, 1e30F, largest, HUGE_VALF, std::nanf("")};
      auto& real = std::get<std::vector<float>>(held.values);
      real[rng.below(real.size())] = unwelcome[rng.below(unwelcome.size())];
    }
  }
  return arrays;
}

TEST_F(HostileFlows, ArchivesAreTakenOrRefused) {
  Rng seed(test_seed());
  const Arrays tiled = arrays_of(small_trajectory(seed, 3, 3), 3), plain = arrays_of(small_trajectory(seed, 4, 3), 1);
  const std::vector<std::string> whole = {npz_bytes(plain), read_file(fixture().parent_path() / "tiled/valid/ex0.npz")};
  fs::create_directories(folder_ / "archives/train");
  const auto read = [&](std::uint64_t item) {
    Rng rng(test_seed(), "archives", 0, item);
    const std::uint64_t kind = rng.below(3);
    put(folder_ / "archives/train/ex0.npz", kind == 0 ? opshap::mutated(whole[rng.below(2)], whole, rng)
                                                      : npz_bytes(mutated(kind == 1 ? tiled : plain, rng)));
    read_train(folder_ / "archives");
  };
  expect_survived(read_apart(mutants(), most_memory, read), mutants(), 0);
}

// Who imports such a file does it in a process of its own, since the library crashes on some.
TEST_F(HostileFlows, GroupsAreTakenOrRefused) {
  Rng seed(test_seed());
  const Arrays tiled = arrays_of(small_trajectory(seed, 3, 3), 3), plain = arrays_of(small_trajectory(seed, 4, 3), 1);
  const std::vector<std::string> whole = {h5_bytes({{"0", plain}}),
                                          read_file(fixture().parent_path() / "groups/valid.h5")};
  fs::create_directories(folder_ / "groups");
  const auto read = [&](std::uint64_t item) {
    Rng rng(test_seed(), "groups", 0, item);
    const std::uint64_t kind = rng.below(8);  // to make such a file takes longer than to read it
    put(folder_ / "groups/train.h5", kind > 1 ? opshap::mutated(whole[rng.below(2)], whole, rng)
                                              : h5_bytes({{"0", mutated(kind == 1 ? tiled : plain, rng)}}));
    read_train(folder_ / "groups");
  };
  expect_survived(read_apart(mutants(), most_memory, read), mutants(), mutants() / 100);
}

}  // namespace
}  // namespace opshap
