#include "data/unlabelled.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "data/generate.hpp"

namespace opshap::data {

namespace {

/// The resolution of each further input: always the one that is farthest behind its share.
std::vector<std::uint8_t> slots(const Dataset& data, const Unlabelled& wanted) {
  const std::size_t resolutions = std::max<std::size_t>(1, data.resolutions.size());
  const std::vector<double> shares = wanted.shares.empty() ? std::vector<double>(resolutions, 1.0) : wanted.shares;
  require(shares.size() == resolutions, "unlabelled: shares=", shares.size(), " (there are ", resolutions,
          " resolutions). Give one for each.");
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<std::int64_t> given(shares.size(), 0);
  std::vector<std::uint8_t> slots;
  for (std::int64_t item = 0; item < wanted.count; ++item) {
    std::size_t next = 0;
    for (std::size_t slot = 0; slot < shares.size(); ++slot) {
      const auto behind = [&](std::size_t at) {
        return shares[at] / sum * static_cast<double>(item + 1) - static_cast<double>(given[at]);
      };
      if (behind(slot) > behind(next)) next = slot;
    }
    ++given[next];
    slots.push_back(static_cast<std::uint8_t>(next));
  }
  return slots;
}

std::string shares_in_words(const std::vector<double>& shares) {
  std::string words;
  for (const double share : shares) words += message(words.empty() ? " shared as " : ":", share);
  return words;
}

}  // namespace

Dataset with_unlabelled(Dataset data, const pde::Problem& problem, std::uint64_t seed, const Unlabelled& wanted) {
  require(data.pde == problem.name() && data.inputs.domain == problem.input().domain,
          "unlabelled: problem=", problem.name(), " (the data set is of ", data.pde, " on ",
          data.inputs.domain.describe(), "). Give the problem with the parameters of the data set.");
  const std::int64_t before = data.samples();
  data.inputs = at_resolution(data.inputs, wanted.grid);
  data.inputs.batch += wanted.count;
  data.inputs.values.resize(static_cast<std::size_t>(data.inputs.batch) * data.inputs.field_size());
  parallel_for(static_cast<std::size_t>(wanted.count), [&](std::size_t item) {
    const std::int64_t sample = before + static_cast<std::int64_t>(item);
    const FieldBatch drawn =
        at_resolution(generated_input(problem, seed, static_cast<std::uint64_t>(sample)), wanted.grid);
    std::ranges::copy(drawn.values, data.inputs.field(sample).begin());
  });
  for (const std::uint8_t slot : slots(data, wanted)) {
    data.split.push_back(Split::train);
    data.resolution_slot.push_back(slot);
  }
  data.content_hash += message("+", wanted.count, shares_in_words(wanted.shares), " seed ", seed);
  return data;
}

}  // namespace opshap::data
