#include "training/resolution_batches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/rng.hpp"

namespace opshap::training {

namespace {

enum Purpose : std::uint32_t { order_of_batches, order_in_group };  // the group's number is added to the latter

template <typename T>
void shuffle(std::vector<T>& items, Rng rng) {
  for (std::size_t last = items.size(); last > 1; --last) std::swap(items[last - 1], items[rng.below(last)]);
}

void cut(std::vector<Batch>& batches, std::size_t group, const std::vector<std::int64_t>& members, int size) {
  for (std::size_t first = 0; first < members.size(); first += static_cast<std::size_t>(size)) {
    const std::size_t last = std::min(members.size(), first + static_cast<std::size_t>(size));
    batches.push_back({.group = group,
                       .members = {members.begin() + static_cast<std::ptrdiff_t>(first),
                                   members.begin() + static_cast<std::ptrdiff_t>(last)}});
  }
}

std::vector<std::int64_t> positions(const ResolutionGroup& group) {
  std::vector<std::int64_t> all(group.samples.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

}  // namespace

std::vector<ResolutionGroup> resolution_groups(const data::Dataset& data, data::Split part,
                                               const std::vector<Resolution>& resolutions) {
  std::vector<ResolutionGroup> groups;
  for (const Resolution& resolution : resolutions) groups.push_back({.resolution = resolution});
  for (const std::int64_t sample : data.indices(part)) {
    const std::size_t slot = data.resolution_slot[static_cast<std::size_t>(sample)];
    require(slot < groups.size(), "training: resolutions=", groups.size(), " (sample ", sample,
            " of the data set is served at resolution number ", slot,
            "). Train at as many resolutions as the data set was generated for.");
    groups[slot].samples.push_back(sample);
  }
  return groups;
}

std::vector<Batch> epoch_batches(const std::vector<ResolutionGroup>& groups, int batch, std::uint64_t seed,
                                 std::int64_t epoch) {
  const Rng rng(seed, "batches");
  std::vector<Batch> batches;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    std::vector<std::int64_t> members = positions(groups[group]);
    shuffle(members, rng.stream(order_in_group + static_cast<std::uint32_t>(group), static_cast<std::uint64_t>(epoch)));
    cut(batches, group, members, batch);
  }
  shuffle(batches, rng.stream(order_of_batches, static_cast<std::uint64_t>(epoch)));
  return batches;
}

std::vector<Batch> ordered_batches(const std::vector<ResolutionGroup>& groups, int batch) {
  std::vector<Batch> batches;
  for (std::size_t group = 0; group < groups.size(); ++group) cut(batches, group, positions(groups[group]), batch);
  return batches;
}

}  // namespace opshap::training
