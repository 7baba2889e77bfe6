#include "estimators/kernel_sample.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "core/kernel_law.hpp"

namespace opshap {

namespace {

constexpr std::size_t most_draws_per_row = 8;

/// C(n, s), or infinity when it is too large for a double: sizes that are compared with a budget need no more.
double binomial(int n, int s) {
  double count = 1;
  for (int i = 0; i < std::min(s, n - s); ++i) count = count * (n - i) / (i + 1);
  return count;
}

double size_weight(int players, int size) { return 1 / (static_cast<double>(size) * (players - size)); }

/// Appends every coalition of `size` of the players first..n-1, in lexicographic order.
void append_all(Coalitions& coalitions, int first, int size) {
  std::vector<int> members(static_cast<std::size_t>(size));
  std::iota(members.begin(), members.end(), first);
  const int players = coalitions.players();
  while (true) {
    coalitions.append_empty();
    for (const int player : members) coalitions.insert(coalitions.size() - 1, player);
    int place = size - 1;
    while (place >= 0 && members[static_cast<std::size_t>(place)] == players - size + place) --place;
    if (place < 0) return;
    int next = ++members[static_cast<std::size_t>(place)];
    for (++place; place < size; ++place) members[static_cast<std::size_t>(place)] = ++next;
  }
}

/// A set of rows of a batch, by content.
class RowSet {
 public:
  explicit RowSet(const Coalitions& coalitions) : rows_(0, Hash{&coalitions}, Equal{&coalitions}) {}
  /// The row's index, or that of the equal row that was here before.
  std::size_t insert(std::size_t index) { return *rows_.insert(index).first; }

 private:
  struct Hash {
    const Coalitions* coalitions;
    std::size_t operator()(std::size_t index) const {
      std::uint64_t hash = 0;
      for (const std::uint64_t word : coalitions->row(index)) {
        hash = (hash ^ word) * 0xBF58476D1CE4E5B9;
        hash ^= hash >> 29;
      }
      return hash;
    }
  };
  struct Equal {
    const Coalitions* coalitions;
    bool operator()(std::size_t a, std::size_t b) const {
      return std::ranges::equal(coalitions->row(a), coalitions->row(b));
    }
  };
  std::unordered_set<std::size_t, Hash, Equal> rows_;
};

/// Draws coalitions of the sizes marked until the sample has `wanted` rows or enough draws were made.
void draw_rest(KernelSample& sample, const std::vector<bool>& sizes, std::size_t wanted, Pairing pairing, Rng& rng) {
  const int players = sample.coalitions.players();
  const std::size_t enumerated = sample.coalitions.size();
  const std::size_t most_draws = most_draws_per_row * (wanted - std::min(wanted, enumerated));
  const KernelLaw law(players);
  RowSet known(sample.coalitions);
  std::vector<double> times;
  Coalitions complement(players);
  while (sample.coalitions.size() < wanted && sample.draws.size() < most_draws) {
    const int size = law.draw_size(rng);
    if (!sizes[static_cast<std::size_t>(size)]) continue;
    const std::size_t fresh = sample.coalitions.size();
    sample.coalitions.append_empty();
    law.draw_subset(rng, size, sample.coalitions.row(fresh));
    // Both of a pair are known by the one without player 0.
    if (pairing == Pairing::complements && sample.coalitions.contains(fresh, 0)) {
      complement.clear();
      complement.append_complement(sample.coalitions.row(fresh));
      std::ranges::copy(complement.row(0), sample.coalitions.row(fresh).begin());
    }
    const std::size_t row = known.insert(fresh);
    if (row == fresh) {
      times.push_back(1);
    } else {
      sample.coalitions.resize(fresh);
      ++times[row - enumerated];
    }
    sample.draws.push_back(row);
  }
  double mass = 0;
  for (int size = 1; size < players; ++size)
    mass += sizes[static_cast<std::size_t>(size)] ? size_weight(players, size) : 0;
  sample.draw_weight = mass / static_cast<double>(sample.draws.size());
  for (const double count : times) sample.weights.push_back(count * sample.draw_weight);
}

/// Brings rows of equal weight next to each other.
void sort_by_weight(KernelSample& sample) {
  std::vector<std::size_t> order(sample.weights.size()), place(order.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sample.weights[a] < sample.weights[b]; });
  Coalitions coalitions(sample.coalitions.players());
  coalitions.reserve(order.size());
  std::vector<double> weights;
  for (std::size_t to = 0; to < order.size(); ++to) {
    place[order[to]] = to;
    coalitions.append(sample.coalitions.row(order[to]));
    weights.push_back(sample.weights[order[to]]);
  }
  sample.coalitions = std::move(coalitions);
  sample.weights = std::move(weights);
  for (std::size_t& row : sample.draws) row = place[row];
}

}  // namespace

std::vector<int> enumerated_sizes(int players, std::int64_t interior) {
  const KernelLaw law(players);
  std::vector<int> taken, left(static_cast<std::size_t>(players) - 1);
  std::iota(left.begin(), left.end(), 1);
  auto budget = static_cast<double>(interior);
  while (!left.empty()) {
    double mass = 0, coalitions = 0;
    for (const int size : left) {
      mass += law.probability(size);
      coalitions += binomial(players, size);
    }
    // A budget for all that is left is enough whatever rounding makes of the law.
    const auto fits = [&, budget](int size) {
      return budget >= coalitions || budget * law.probability(size) / mass >= binomial(players, size);
    };
    const auto rest = std::stable_partition(left.begin(), left.end(), fits);
    if (rest == left.begin()) break;
    for (auto size = left.begin(); size != rest; ++size) budget -= binomial(players, *size);
    taken.insert(taken.end(), left.begin(), rest);
    left.erase(left.begin(), rest);
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

KernelSample sample_kernel(int players, std::int64_t interior, Pairing pairing, Rng& rng) {
  const bool paired = pairing == Pairing::complements;
  if (paired) interior -= interior % 2;
  KernelSample sample(players);
  std::vector<bool> drawn(static_cast<std::size_t>(players) + 1, true);
  drawn.front() = drawn.back() = false;
  for (const int size : enumerated_sizes(players, interior)) {
    drawn[static_cast<std::size_t>(size)] = false;
    if (paired && 2 * size > players) continue;
    // Of a pair of equal sizes the coalition without player 0 is taken.
    append_all(sample.coalitions, paired && 2 * size == players ? 1 : 0, size);
    sample.weights.resize(sample.coalitions.size(),
                          (paired ? 2 : 1) * size_weight(players, size) / binomial(players, size));
  }
  if (std::ranges::find(drawn, true) != drawn.end()) {
    draw_rest(sample, drawn, static_cast<std::size_t>(interior) / (paired ? 2 : 1), pairing, rng);
  }
  sort_by_weight(sample);
  return sample;
}

}  // namespace opshap
