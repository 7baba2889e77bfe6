#include "training/resolution_batches.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/rng.hpp"

namespace opshap::training {

namespace {

enum Purpose : std::uint32_t { order_of_batches, order_in_group };  // the group's number is added to the latter
constexpr std::uint32_t choice_of_window = 0;                       // of streams of their own

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

/// The positions that an epoch shows: of each trajectory one window.
std::vector<std::int64_t> shown(const ResolutionGroup& group, std::uint64_t seed, std::int64_t epoch) {
  const std::vector<std::int64_t> all = positions(group);
  const auto windows = static_cast<std::size_t>(group.windows);
  if (windows == 1) return all;
  const Rng rng(seed, message("windows/", epoch));
  std::vector<std::int64_t> chosen;
  for (std::size_t first = 0; first < all.size(); first += windows) {
    const auto of_trajectory = static_cast<std::uint64_t>(group.samples[first]);
    chosen.push_back(all[first + rng.stream(choice_of_window, of_trajectory).below(windows)]);
  }
  return chosen;
}

}  // namespace

std::vector<ResolutionGroup> resolution_groups(const data::Dataset& data, data::Split part,
                                               const std::vector<Resolution>& resolutions) {
  std::vector<ResolutionGroup> groups;
  if (!data.inputs.on_one_domain()) {
    for (const std::int64_t sample : data.indices(part)) {
      const std::size_t domain = data.inputs.domain_of(sample);
      const auto known = std::ranges::find(groups, domain, &ResolutionGroup::domain);
      ResolutionGroup& group = known != groups.end()
                                   ? *known
                                   : groups.emplace_back(ResolutionGroup{
                                         .resolution = resolutions.front(), .domain = domain, .windows = data.windows});
      group.samples.push_back(sample);
    }
    return groups;
  }
  for (const Resolution& resolution : resolutions)
    groups.push_back({.resolution = resolution, .windows = data.windows});
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
    std::vector<std::int64_t> members = shown(groups[group], seed, epoch);
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
