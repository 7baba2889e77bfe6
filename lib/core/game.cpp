#include "core/game.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"

namespace opshap {

std::optional<int> Scale::see(std::span<const double> numbers) {
  const std::optional<int> largest = largest_exponent(numbers);
  if (!exponent_) exponent_ = largest;
  if (!largest || *largest < *exponent_ + most_bits) return std::nullopt;
  return largest;
}

double Scale::inside(double number) const { return std::ldexp(number, -exponent_.value_or(0)); }

std::vector<double> Scale::inside(std::vector<double> numbers) const {
  if (exponent_.value_or(0) == 0) return numbers;
  for (double& number : numbers) number = inside(number);
  return numbers;
}

double Scale::outside(double number) const { return std::ldexp(number, exponent_.value_or(0)); }

std::vector<double> Scale::outside(std::vector<double> numbers) const {
  if (exponent_.value_or(0) == 0) return numbers;
  for (double& number : numbers) number = outside(number);
  return numbers;
}

std::optional<int> largest_exponent(std::span<const double> numbers) {
  double largest = 0;
  for (const double number : numbers) largest = std::max(largest, std::abs(number));
  if (largest == 0) return std::nullopt;
  return std::ilogb(largest);
}

std::vector<double> on_diagonal(std::span<const double> nodes, int players) {
  std::vector<double> points;
  for (const double t : nodes) points.insert(points.end(), static_cast<std::size_t>(players), t);
  return points;
}

std::vector<double> nodes_of_diagonal(std::string_view who, std::span<const double> points, int players) {
  std::vector<double> nodes;
  for (const auto n = static_cast<std::size_t>(players); !points.empty(); points = points.subspan(n)) {
    nodes.push_back(points.front());
    for (const double weight : points.first(n))
      require(weight == points.front(), who, ": weights=", points.front(), " and ", weight,
              " (this game has gradients where all players have one weight). Use integrated_gradients.");
  }
  return nodes;
}

std::vector<double> corners(const Coalitions& coalitions) {
  std::vector<double> points;
  for (std::size_t row = 0; row < coalitions.size(); ++row)
    for (int player = 0; player < coalitions.players(); ++player)
      points.push_back(coalitions.contains(row, player) ? 1 : 0);
  return points;
}

const Extension* Game::slopes() const {
  if (mean_field() != nullptr) return mean_field();
  return extension() != nullptr && extension()->everywhere() ? extension() : nullptr;
}

std::vector<std::int64_t> Game::places() const {
  std::vector<std::int64_t> places(static_cast<std::size_t>(players()));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

std::vector<int> Game::active_players() const {
  std::vector<int> all(static_cast<std::size_t>(players()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<double> Game::values(const Coalitions& coalitions) const {
  require(coalitions.players() == players(), "game: coalitions of players=", coalitions.players(), " (the game has ",
          players(), " players). Make the batch with Coalitions(", players(), ").");
  return evaluate(coalitions);
}

namespace {

constexpr int max_table_players = 24;
constexpr std::uint64_t table_block = 1 << 14;

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::size_t CountedGame::RowHash::operator()(const std::vector<std::uint64_t>& row) const {
  std::uint64_t hash = 0x9E3779B97F4A7C15;
  for (const std::uint64_t word : row) {
    hash = (hash ^ word) * 0xBF58476D1CE4E5B9;
    hash ^= hash >> 29;
  }
  return hash;
}

CountedGame::CountedGame(const Game& game, Budget budget, Units units) : game_(game), budget_(budget), units_(units) {}

void CountedGame::restart(const Outgrown& outgrown) {
  scale_ = Scale(outgrown.exponent);
  evaluations_ = 0;
  charged_passes_ = 0;
}

void CountedGame::ask_for_ends() {
  if (units_ == Units::given || !ends_.empty()) return;
  Coalitions both(players(), 1);
  both.append_grand();
  ends_ = known_values(both);
  scale_.see(ends_);
}

const std::vector<double>& CountedGame::ends() {
  ask_for_ends();
  return ends_;
}

std::vector<double> CountedGame::scaled(std::vector<double> numbers) {
  if (units_ == Units::given) return numbers;
  if (const std::optional<int> exponent = scale_.see(numbers)) throw Outgrown{*exponent};
  return scale_.inside(std::move(numbers));
}

std::int64_t CountedGame::all_coalitions() const {
  return players() < 63 ? std::int64_t{1} << players() : std::numeric_limits<std::int64_t>::max();
}

void CountedGame::charge(std::int64_t fresh, std::int64_t passes) {
  const std::int64_t by_passes = passes == 0 ? 0 : passes * pass_cost();
  if (charged() + fresh + by_passes > budget_.coalitions) {
    throw std::logic_error(message("counted game: charged=", charged() + fresh + by_passes, " (the budget is ",
                                   budget_.coalitions, " coalitions). This is a bug in the estimator."));
  }
  distinct_ += fresh;
  charged_passes_ += by_passes;
}

std::vector<double> CountedGame::evaluate(const Coalitions& coalitions) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> values = game_.values(coalitions);
  seconds_ += since(start);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;  // not require(): its message would be made for each coalition
    throw NumericalError(message(
        "game: v(", to_string(coalitions.row(i), players()), ")=", values[i],
        " (not a finite number, so no attribution exists). Check the game, or the operator's weights and input."));
  }
  return values;
}

std::vector<double> CountedGame::values(const Coalitions& coalitions) {
  ask_for_ends();
  evaluations_ += static_cast<std::int64_t>(coalitions.size());
  return scaled(known_values(coalitions));
}

std::vector<double> CountedGame::known_values(const Coalitions& coalitions) {
  std::vector<double> values(coalitions.size());
  std::vector<double*> slots(coalitions.size());
  std::vector<std::size_t> fresh_rows;
  std::vector<std::uint64_t> key;
  for (std::size_t i = 0; i < coalitions.size(); ++i) {
    key.assign(coalitions.row(i).begin(), coalitions.row(i).end());
    const auto [place, is_new] = known_.try_emplace(key, std::numeric_limits<double>::quiet_NaN());
    slots[i] = &place->second;
    if (is_new) fresh_rows.push_back(i);
  }
  if (!fresh_rows.empty()) {
    try {
      charge(static_cast<std::int64_t>(fresh_rows.size()));
      Coalitions fresh(coalitions.players());
      fresh.reserve(fresh_rows.size());
      for (const std::size_t i : fresh_rows) fresh.append(coalitions.row(i));
      const std::vector<double> found = evaluate(fresh);
      for (std::size_t i = 0; i < fresh_rows.size(); ++i) *slots[fresh_rows[i]] = found[i];
    } catch (...) {
      for (const std::size_t i : fresh_rows) known_.erase({coalitions.row(i).begin(), coalitions.row(i).end()});
      throw;
    }
  }
  for (std::size_t i = 0; i < coalitions.size(); ++i) values[i] = *slots[i];
  return values;
}

double CountedGame::empty() { return values(Coalitions(players(), 1)).front(); }

double CountedGame::grand() {
  Coalitions one(players());
  one.append_grand();
  return values(one).front();
}

std::vector<double> CountedGame::table() {
  require(players() <= max_table_players, "exact: players=", players(),
          " (2^n coalitions are enumerated, n <= ", max_table_players,
          "). Group the cells into fewer players, or use a sampling method such as permutation_antithetic.");
  const auto all = static_cast<std::uint64_t>(all_coalitions());
  charge(static_cast<std::int64_t>(all));
  evaluations_ += static_cast<std::int64_t>(all);
  std::vector<double> table;
  table.reserve(all);
  for (std::uint64_t first = 0; first < all; first += table_block) {
    const std::vector<double> block =
        evaluate(Coalitions::enumerate(players(), first, std::min(table_block, all - first)));
    table.insert(table.end(), block.begin(), block.end());
  }
  if (units_ == Units::given) return table;
  // All values are here, so the unit is right at once. A game that is 0 on ∅ and N has that of its other values.
  ends_ = {table.front(), table.back()};
  scale_.see(ends_);
  if (const std::optional<int> exponent = scale_.see(table)) scale_ = Scale(*exponent);
  return scale_.inside(std::move(table));
}

std::vector<double> CountedGame::extension_gradients(std::string_view who, std::span<const double> points) {
  const Extension* extension = game_.extension();
  require(extension != nullptr, who,
          ": gradients=none (this game has values only). Use a sampling method, or a game made from an operator.");
  return gradients_of(*extension, points);
}

std::vector<double> CountedGame::mean_field_gradients(std::string_view who, std::span<const double> points) {
  const Extension* closure = game_.mean_field();
  require(closure != nullptr, who,
          ": closure=none (neither the game nor its operator can be evaluated in two branches). Use a sampling method "
          "such as permutation_antithetic.");
  return gradients_of(*closure, points);
}

const Extension& CountedGame::slopes(std::string_view who) const {
  const Extension* extension = game_.slopes();
  require(extension != nullptr, who,
          ": slopes=none (this game has no gradients at its coalitions). Use a sampling method such as "
          "permutation_antithetic, or a game made from an operator.");
  return *extension;
}

std::int64_t CountedGame::pass_cost() const { return slopes("game").pass_cost(); }

std::vector<double> CountedGame::charged_gradients(std::string_view who, std::span<const double> points) {
  const Extension& extension = slopes(who);
  charge(0, static_cast<std::int64_t>(points.size()) / players());
  return gradients_of(extension, points);
}

std::vector<double> CountedGame::gradients_of(const Extension& extension, std::span<const double> points) {
  ask_for_ends();
  const auto passes = static_cast<std::int64_t>(points.size()) / players();
  gradients_ += passes;
  passes_cost_ += passes * extension.pass_cost();
  const auto start = std::chrono::steady_clock::now();
  std::vector<double> found = extension.gradients(points);
  seconds_ += since(start);
  const auto bad = std::ranges::find_if_not(found, [](double value) { return std::isfinite(value); });
  require<NumericalError>(bad == found.end(), "game: gradient=", bad == found.end() ? 0.0 : *bad, " (player ",
                          (bad - found.begin()) % players(),
                          " has no finite gradient). Check the operator's weights and input.");
  return scaled(std::move(found));
}

}  // namespace opshap
