#include "estimators/coalition_sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "core/error.hpp"

namespace opshap::estimators {

Coalitions border_coalitions(int players) {
  const auto n = static_cast<std::size_t>(players);
  Coalitions coalitions(players, n);
  for (std::size_t row = 0; row < n; ++row) coalitions.insert(row, static_cast<int>(row));
  for (std::size_t row = 0; row < n; ++row) coalitions.append_complement(coalitions.row(row));
  return coalitions;
}

namespace {

/// 1/(s(n−s)).
double kernel(int players, int size) { return 1 / (static_cast<double>(size) * (players - size)); }

}  // namespace

SizeLaw::SizeLaw(SizeMass mass, int players) : mass_(mass), players_(players) {
  require(players >= 2, "size law: players=", players,
          " (no coalition lies between ∅ and N). Use at least two players.");
  double sum = 0;
  for (int size = 1; size < players; ++size) {
    total_ += this->mass(size);
    // 1/(s(n−s)) = (1/s + 1/(n−s))/n: the kernel's half is drawn, which makes the same sizes from the same numbers as
    // KernelLaw.
    sum += mass == SizeMass::shapley_kernel ? 1.0 / size : this->mass(size);
    cumulative_.push_back(sum);
  }
  for (double& value : cumulative_) value /= sum;
}

double SizeLaw::mass(int size) const {
  if (mass_ == SizeMass::uniform) return 1;
  return mass_ == SizeMass::square_root ? std::sqrt(kernel(players_, size)) : kernel(players_, size);
}

double SizeLaw::kernel_over_mass(int size) const {
  if (mass_ == SizeMass::shapley_kernel) return 1;
  return mass_ == SizeMass::square_root ? std::sqrt(kernel(players_, size)) : kernel(players_, size);
}

int SizeLaw::draw(Rng& rng) const {
  const auto place = std::upper_bound(cumulative_.begin(), cumulative_.end() - 1, rng.uniform());
  const int size = static_cast<int>(place - cumulative_.begin()) + 1;
  return (rng.bits32() & 1) != 0 ? size : players_ - size;
}

namespace {

constexpr std::size_t most_draws_per_row = 8;

/// C(n, s), or infinity when it is beyond any budget.
double binomial(int n, int s) {
  constexpr double beyond_any_budget = 1e18;
  double count = 1;
  for (int i = 0; i < std::min(s, n - s); ++i) {
    count = count * (n - i) / (i + 1);
    if (count > beyond_any_budget) return std::numeric_limits<double>::infinity();
  }
  return count;
}

/// An empty set of rows of a batch, by content.
auto set_of_rows(const Coalitions& coalitions) {
  auto hash = [&coalitions](std::size_t index) {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : coalitions.row(index)) {
      sum = (sum ^ word) * 0xBF58476D1CE4E5B9;
      sum ^= sum >> 29;
    }
    return sum;
  };
  auto equal = [&coalitions](std::size_t a, std::size_t b) {
    return std::ranges::equal(coalitions.row(a), coalitions.row(b));
  };
  return std::unordered_set<std::size_t, decltype(hash), decltype(equal)>(0, hash, equal);
}

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

/// Appends a uniform coalition of `size`; of a pair the one without player 0.
void append_drawn(Coalitions& coalitions, const KernelLaw& subsets, int size, Pairing pairing, Rng& rng) {
  const std::size_t fresh = coalitions.size();
  coalitions.append_empty();
  subsets.draw_subset(rng, size, coalitions.row(fresh));
  if (pairing == Pairing::none || !coalitions.contains(fresh, 0)) return;
  coalitions.append_complement(coalitions.row(fresh));
  std::ranges::copy(coalitions.row(fresh + 1), coalitions.row(fresh).begin());
  coalitions.resize(fresh + 1);
}

/// Draws coalitions of the sizes marked until the sample has `wanted` rows or `most_draws` were made.
void draw_with_replacement(CoalitionSample& sample, const SizeLaw& law, const std::vector<bool>& sizes,
                           std::size_t wanted, std::size_t most_draws, Rng& rng) {
  const int players = law.players();
  const std::size_t enumerated = sample.coalitions.size();
  const KernelLaw subsets(players);
  auto known = set_of_rows(sample.coalitions);
  std::vector<double> times;
  while (sample.coalitions.size() < wanted && sample.draws.size() < most_draws) {
    const int size = law.draw(rng);
    if (!sizes[static_cast<std::size_t>(size)]) continue;
    const std::size_t fresh = sample.coalitions.size();
    append_drawn(sample.coalitions, subsets, size, sample.pairing, rng);
    const auto [place, is_new] = known.insert(fresh);
    const std::size_t row = *place;  // or that of the equal row that was here before
    if (is_new) {
      times.push_back(1);
    } else {
      sample.coalitions.resize(fresh);
      ++times[row - enumerated];
    }
    sample.draws.push_back({row, 0});
  }
  double mass = 0;
  for (int size = 1; size < players; ++size) mass += sizes[static_cast<std::size_t>(size)] ? law.mass(size) : 0;
  const double share = mass / static_cast<double>(sample.draws.size());
  const auto weight_of_draw = [&](std::size_t row) {
    return law.kernel_over_mass(sample.coalitions.cardinality(row)) * share;
  };
  for (CoalitionSample::Draw& draw : sample.draws) draw.weight = weight_of_draw(draw.row);
  for (std::size_t k = 0; k < times.size(); ++k) sample.weights.push_back(times[k] * weight_of_draw(enumerated + k));
}

CoalitionSample sample_iid(const SizeLaw& law, std::size_t draws, Pairing pairing, Rng& rng) {
  CoalitionSample sample(law.players(), pairing);
  const std::vector<bool> all(static_cast<std::size_t>(law.players()), true);
  draw_with_replacement(sample, law, all, std::numeric_limits<std::size_t>::max(), draws, rng);
  return sample;
}

CoalitionSample sample_until_distinct(const SizeLaw& law, std::int64_t interior, Pairing pairing, Rng& rng) {
  const int players = law.players();
  CoalitionSample sample(players, pairing);
  std::vector<bool> drawn(static_cast<std::size_t>(players) + 1, true);
  drawn.front() = drawn.back() = false;
  for (const int size : enumerated_sizes(law, interior)) {
    drawn[static_cast<std::size_t>(size)] = false;
    if (sample.paired() && 2 * size > players) continue;
    // Of a pair of equal sizes the coalition without player 0 is taken.
    append_all(sample.coalitions, sample.paired() && 2 * size == players ? 1 : 0, size);
    sample.weights.resize(sample.coalitions.size(),
                          (sample.paired() ? 2 : 1) * kernel(players, size) / binomial(players, size));
  }
  if (std::ranges::find(drawn, true) != drawn.end()) {
    const std::size_t wanted = static_cast<std::size_t>(interior) / (sample.paired() ? 2 : 1);
    const std::size_t most = most_draws_per_row * (wanted - std::min(wanted, sample.coalitions.size()));
    draw_with_replacement(sample, law, drawn, wanted, most, rng);
  }
  return sample;
}

/// Sizes of which coalitions are taken together: one size, or with complements s and n−s. `size` is the smaller one.
struct Layer {
  int size = 0;
  double rows = 0;  ///< coalitions, or pairs, that there are
  double mass = 0;  ///< share of the sample, up to a factor
  std::int64_t taken = 0;
};

std::vector<Layer> layers_of(const SizeLaw& law, std::int64_t rows, Pairing pairing) {
  const int players = law.players();
  const bool paired = pairing == Pairing::complements;
  std::vector<Layer> layers;
  for (int size = 1; size <= (paired ? players / 2 : players - 1); ++size) {
    // Half of the coalitions of the middle size are the complements of the other half.
    const bool both = paired && 2 * size < players, half = paired && 2 * size == players;
    layers.push_back(
        {.size = size, .rows = binomial(players, size) / (half ? 2 : 1), .mass = law.mass(size) * (both ? 2 : 1)});
  }
  double all = 0;
  for (const Layer& layer : layers) all += layer.rows;
  rows = all < static_cast<double>(rows) ? static_cast<std::int64_t>(all) : rows;
  require(rows >= static_cast<std::int64_t>(layers.size()),
          "sample without replacement: ", paired ? "pairs=" : "rows=", rows, " (each of ", layers.size(),
          paired ? " pairs of sizes" : " sizes", " needs one). Raise the budget.");
  const auto target = [](const Layer& layer, double factor) {
    return std::clamp(factor * layer.mass, 1.0, layer.rows);
  };
  const auto sum = [&](double factor) {
    double taken = 0;
    for (const Layer& layer : layers) taken += target(layer, factor);
    return taken;
  };
  double low = 0, high = 1;
  const auto wanted = static_cast<double>(rows);
  while (sum(high) < wanted) high *= 2;
  for (double middle = high / 2; low < middle && middle < high; middle = (low + high) / 2)
    (sum(middle) < wanted ? low : high) = middle;

  std::vector<std::size_t> order(layers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<double> remainder;
  std::int64_t left = rows;
  for (Layer& layer : layers) {
    layer.taken = static_cast<std::int64_t>(target(layer, low));
    left -= layer.taken;
    remainder.push_back(target(layer, high) - static_cast<double>(layer.taken));
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return remainder[a] > remainder[b]; });
  for (const std::size_t place : order) {
    if (left > 0 && static_cast<double>(layers[place].taken) < layers[place].rows) {
      ++layers[place].taken;
      --left;
    }
  }
  return layers;
}

/// Appends `count` distinct uniform coalitions of `size` to an otherwise empty or unrelated batch.
void append_distinct(Coalitions& coalitions, const KernelLaw& subsets, int size, std::int64_t count, Pairing pairing,
                     Rng& rng) {
  auto known = set_of_rows(coalitions);
  const std::size_t end = coalitions.size() + static_cast<std::size_t>(count);
  while (coalitions.size() < end) {
    const std::size_t fresh = coalitions.size();
    append_drawn(coalitions, subsets, size, pairing, rng);
    if (!known.insert(fresh).second) coalitions.resize(fresh);
  }
}

CoalitionSample sample_without_replacement(const SizeLaw& law, std::int64_t rows, Pairing pairing, Rng& rng) {
  const int players = law.players();
  CoalitionSample sample(players, pairing);
  const KernelLaw subsets(players);
  for (const Layer& layer : layers_of(law, rows, pairing)) {
    const auto all = static_cast<std::int64_t>(std::min(layer.rows, 1e18));
    if (2 * layer.taken <= all) {
      append_distinct(sample.coalitions, subsets, layer.size, layer.taken, pairing, rng);
    } else {
      // Fewer are left out than taken.
      Coalitions without(players);
      append_distinct(without, subsets, layer.size, all - layer.taken, pairing, rng);
      const std::size_t dropped = without.size();
      auto left_out = set_of_rows(without);
      for (std::size_t row = 0; row < dropped; ++row) left_out.insert(row);
      Coalitions whole(players);
      const bool middle = sample.paired() && 2 * layer.size == players;
      append_all(whole, middle ? 1 : 0, layer.size);
      for (std::size_t row = 0; row < whole.size(); ++row) {
        without.resize(dropped);
        const bool turned = sample.paired() && whole.contains(row, 0);
        turned ? without.append_complement(whole.row(row)) : without.append(whole.row(row));
        if (!left_out.contains(dropped)) sample.coalitions.append(without.row(dropped));
      }
    }
    const double sizes = sample.paired() && 2 * layer.size < players ? 2 : 1;
    sample.weights.resize(sample.coalitions.size(),
                          sizes * kernel(players, layer.size) / static_cast<double>(layer.taken));
  }
  return sample;
}

/// Brings rows of equal weight next to each other.
void sort_by_weight(CoalitionSample& sample) {
  std::vector<std::size_t> order(sample.weights.size()), place(order.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return sample.weights[row]; });
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
  for (CoalitionSample::Draw& draw : sample.draws) draw.row = place[draw.row];
}

}  // namespace

std::vector<int> enumerated_sizes(const SizeLaw& law, std::int64_t interior) {
  const int players = law.players();
  std::vector<int> taken, left(static_cast<std::size_t>(players) - 1);
  std::iota(left.begin(), left.end(), 1);
  auto budget = static_cast<double>(interior);
  while (!left.empty()) {
    double mass = 0, coalitions = 0;
    for (const int size : left) {
      mass += law.mass(size);
      coalitions += binomial(players, size);
    }
    // A budget for all that is left is enough whatever rounding makes of the law.
    const auto fits = [&, budget](int size) {
      return budget >= coalitions || budget * law.mass(size) / mass >= binomial(players, size);
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

std::vector<std::int64_t> size_counts(const SizeLaw& law, std::int64_t interior, Pairing pairing) {
  const bool paired = pairing == Pairing::complements;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(law.players()) + 1, 0);
  for (const Layer& layer : layers_of(law, interior / (paired ? 2 : 1), pairing)) {
    counts[static_cast<std::size_t>(layer.size)] += layer.taken;
    if (paired) counts[static_cast<std::size_t>(law.players() - layer.size)] += layer.taken;
  }
  return counts;
}

CoalitionSample sample_coalitions(Sampler sampler, const SizeLaw& law, std::int64_t interior, Pairing pairing,
                                  Rng& rng) {
  const std::int64_t together = pairing == Pairing::complements ? 2 : 1;
  interior -= interior % together;
  CoalitionSample sample =
      sampler == Sampler::iid ? sample_iid(law, static_cast<std::size_t>(interior / together), pairing, rng)
      : sampler == Sampler::shapiq_compatible ? sample_until_distinct(law, interior, pairing, rng)
                                              : sample_without_replacement(law, interior / together, pairing, rng);
  sort_by_weight(sample);
  return sample;
}

Coalitions all_coalitions(const CoalitionSample& sample) {
  if (!sample.paired()) return sample.coalitions;
  Coalitions both(sample.coalitions.players());
  both.reserve(2 * sample.coalitions.size());
  for (std::size_t row = 0; row < sample.coalitions.size(); ++row) {
    both.append(sample.coalitions.row(row));
    both.append_complement(sample.coalitions.row(row));
  }
  return both;
}

std::vector<double> sample_targets(CountedGame& game, const CoalitionSample& sample, double empty) {
  std::vector<double> values = game.values(all_coalitions(sample));
  if (!sample.paired()) {
    for (double& value : values) value -= empty;
    return values;
  }
  for (std::size_t row = 0; row < sample.coalitions.size(); ++row)
    values[row] = (values[2 * row] - values[2 * row + 1]) / 2;
  values.resize(sample.coalitions.size());
  return values;
}

void subtract_equal_shares(std::vector<double>& targets, const CoalitionSample& sample, double share) {
  const double middle = sample.paired() ? sample.coalitions.players() / 2.0 : 0;
  for (std::size_t row = 0; row < targets.size(); ++row)
    targets[row] -= share * (sample.coalitions.cardinality(row) - middle);
}

}  // namespace opshap::estimators
