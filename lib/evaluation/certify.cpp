#include "evaluation/certify.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include "core/coalitions.hpp"
#include "core/error.hpp"
#include "core/process.hpp"
#include "statistics/quantiles.hpp"

namespace opshap::evaluation {

std::vector<double> RepeatedGame::evaluate(const Coalitions& coalitions) const {
  std::vector<double> values = game_.values(coalitions);
  const std::lock_guard lock(mutex_);
  for (std::size_t row = 0; row < values.size(); ++row) {
    largest_ = std::max(largest_, std::abs(values[row]));
    const int size = coalitions.cardinality(row);
    if (!coalition_.empty() || size == 0 || size == players()) continue;
    coalition_.assign(coalitions.row(row).begin(), coalitions.row(row).end());
    value_ = values[row];
  }
  return values;
}

std::optional<Noise> RepeatedGame::noise() const {
  constexpr double same = 1e-6;
  if (coalition_.empty()) return std::nullopt;
  Coalitions one(players());
  one.append(coalition_);
  const double second = game_.values(one).front();
  ++repeated_;
  const double relative = opshap::relative(std::abs(second - value_), std::max(largest_, std::abs(second)))
                              .value.value_or(std::numeric_limits<double>::infinity());
  if (relative <= same) return std::nullopt;
  return Noise{
      .coalition = opshap::to_string(coalition_, players()), .first = value_, .second = second, .relative = relative};
}

std::string in_words(const Noise& noise) {
  return message("v(", noise.coalition, ")=", noise.first, " and then ", noise.second, ", which differ by ",
                 noise.relative, " of the largest value");
}

namespace {

/// The first look; each later one doubles the sample.
constexpr std::int64_t first_pairs = 256;

double sum(std::span<const double> values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// The nearest values that add up to `gain`.
std::vector<double> made_efficient(std::span<const double> values, double gain) {
  std::vector<double> moved(values.begin(), values.end());
  const double share = (sum(values) - gain) / static_cast<double>(values.size());
  for (double& value : moved) value -= share;
  return moved;
}

/// Throws CountedGame::Outgrown for a number that is too large for the unit.
std::vector<double> in_units(Scale& scale, std::vector<double> numbers) {
  if (const std::optional<int> exponent = scale.see(numbers)) throw CountedGame::Outgrown{*exponent};
  return scale.inside(std::move(numbers));
}

/// A squared number of units in the squared unit of the game.
Measured squared(const Scale& scale, double number) {
  const double left = scale.outside(scale.outside(number));
  if (!std::isfinite(left)) return Measured::undefined("no double is large enough");
  if (std::abs(left) < std::numeric_limits<double>::min() && number != 0)
    return Measured::undefined("no normal double is small enough");
  return Measured::of(left);
}

/// 2H_{n−1}·(loss of a − loss of b) over complementary pairs, one number a pair.
class PairedLosses {
 public:
  /// The attributions and v(∅) are in units of the scale, and so are all losses.
  PairedLosses(const Game& game, Scale& scale, std::vector<double> a, std::vector<double> b, double empty,
               std::uint64_t seed)
      : game_(game),
        scale_(scale),
        a_(std::move(a)),
        b_(std::move(b)),
        empty_(empty),
        law_(game.players()),
        rng_(seed, "certify") {
    for (int j = 1; j < game.players(); ++j) factor_ += 2.0 / j;
  }

  /// In batches, each on its own streams.
  void draw(std::int64_t pairs) {
    constexpr std::int64_t batch = 4096;
    for (; pairs > 0; pairs -= batch) {
      throw_if_stopped("certify");
      draw_batch(static_cast<std::size_t>(std::min(pairs, batch)));
    }
  }

  std::int64_t evaluations() const { return 2 * count_; }
  double mean() const { return mean_; }
  double standard_error() const {
    const auto count = static_cast<double>(count_);
    return std::sqrt(squares_ / (count * (count - 1)));
  }
  /// What rounding alone may make of the mean: eps times what is subtracted.
  double rounding() const { return 16 * std::numeric_limits<double>::epsilon() * largest_; }

 private:
  void draw_batch(std::size_t pairs) {
    Coalitions both(game_.players());
    both.reserve(2 * pairs);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      Rng rng = rng_.stream(0, static_cast<std::uint64_t>(count_) + pair);
      both.append_empty();
      law_.draw_subset(rng, law_.draw_size(rng), both.row(2 * pair));
      both.append_complement(both.row(2 * pair));
    }
    const std::vector<double> values =
        in_units(scale_, CountedGame(game_, {static_cast<std::int64_t>(2 * pairs)}).values(both));
    for (std::size_t pair = 0; pair < pairs; ++pair)
      add((difference(values, both, 2 * pair) + difference(values, both, 2 * pair + 1)) / 2);
  }

  /// (u − a_S)² − (u − b_S)², without the cancellation of the squares.
  double difference(const std::vector<double>& values, const Coalitions& coalitions, std::size_t row) {
    const double of_a = coalition_sum(a_, coalitions.row(row)), of_b = coalition_sum(b_, coalitions.row(row));
    const double gain = values[row] - empty_;
    largest_ = std::max(largest_, factor_ * std::abs(of_a - of_b) *
                                      (std::abs(values[row]) + std::abs(empty_) + std::abs(of_a) + std::abs(of_b)));
    return factor_ * (of_a - of_b) * (of_a + of_b - 2 * gain);
  }

  void add(double term) {  // Welford 1962
    const double before = term - mean_;
    mean_ += before / static_cast<double>(++count_);
    squares_ += before * (term - mean_);
  }

  const Game& game_;
  Scale& scale_;
  std::vector<double> a_, b_;
  double empty_;
  KernelLaw law_;
  Rng rng_;
  double factor_ = 0;  ///< 2H_{n−1}
  std::int64_t count_ = 0;
  double mean_ = 0, squares_ = 0, largest_ = 0;
};

/// The decision in units of the scale, and its numbers in the game's own unit. Throws CountedGame::Outgrown.
Certification certified(const Game& game, Scale& scale, const std::vector<double>& ends, std::span<const double> first,
                        std::span<const double> second, const CertificationSettings& settings, std::uint64_t seed) {
  const std::vector<double> a = in_units(scale, {first.begin(), first.end()}),
                            b = in_units(scale, {second.begin(), second.end()});
  const double empty = scale.inside(ends[0]), gain = scale.inside(ends[1]) - empty;
  PairedLosses losses(game, scale, made_efficient(a, gain), made_efficient(b, gain), empty, seed);
  const auto gap = [gain](std::span<const double> values) { return sum(values) - gain; };
  const double gaps = (std::pow(gap(a), 2) - std::pow(gap(b), 2)) / static_cast<double>(first.size());

  Certification found{.distance = scale.outside(distance(a, b))};
  const std::int64_t most = (settings.max_evaluations - 2) / 2;
  const auto looks = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(most / first_pairs)));
  for (std::int64_t pairs = first_pairs, drawn = 0; pairs <= most; pairs *= 2) {
    losses.draw(pairs - drawn);
    drawn = pairs;
    const double difference = losses.mean() + gaps;
    found.difference = squared(scale, difference);
    found.standard_error = squared(scale, losses.standard_error());
    const double error = std::hypot(losses.standard_error(), losses.rounding());
    // A difference that is 0 with an error of 0 (equal attributions) is no reason for a verdict.
    const double t = error > 0 ? difference / error : difference == 0 ? 0.0 : HUGE_VAL;
    found.p_value = statistics::fisher_tail(t * t, 1, static_cast<double>(pairs - 1));
    if (found.p_value < settings.level / looks) {
      found.verdict = difference < 0 ? Certification::Verdict::first : Certification::Verdict::second;
      break;
    }
  }
  found.evaluations = losses.evaluations() + 2;  // those of the ends
  return found;
}

}  // namespace

std::string to_string(Certification::Verdict verdict) {
  return verdict == Certification::Verdict::first    ? "first"
         : verdict == Certification::Verdict::second ? "second"
                                                     : "undecided";
}

Certification certify(const Game& game, std::span<const double> first, std::span<const double> second,
                      const CertificationSettings& settings, std::uint64_t seed) {
  const auto n = static_cast<std::size_t>(game.players());
  require(first.size() == n && second.size() == n, "certify: values=", first.size(), ", ", second.size(),
          " (the game has ", n, " players). Give attributions of this game.");
  require(n >= 2,
          "certify: players=1 (there is one efficient attribution only, v(N) - v(∅)). Compare with it directly.");
  require(settings.max_evaluations >= 2 * first_pairs + 2, "certify: max_evaluations=", settings.max_evaluations,
          " (one look takes ", 2 * first_pairs + 2, "). Raise it.");
  CountedGame ends(game, {2});
  const std::vector<double> both = {ends.empty(), ends.grand()};
  Scale scale;
  scale.see(both);
  for (;;) {
    try {
      return certified(game, scale, both, first, second, settings, seed);
    } catch (const CountedGame::Outgrown& outgrown) {
      scale = Scale(outgrown.exponent);
    }
  }
}

}  // namespace opshap::evaluation
