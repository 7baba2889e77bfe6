#include "games/bilinear_game.hpp"

#include <cstddef>

#include "core/error.hpp"
#include "games/diagonal_extension.hpp"

namespace opshap::games {

namespace {

class BilinearGame final : public SolvedGame {
 public:
  explicit BilinearGame(std::vector<std::pair<Measure, Measure>> terms)
      : terms_(std::move(terms)), extension_(*this, [this](double t, std::span<double> slopes) {
          const std::vector<double> halves = shapley_values();
          for (std::size_t player = 0; player < slopes.size(); ++player) slopes[player] = 2 * t * halves[player];
        }) {}

  int players() const override { return terms_.front().first.players(); }
  const DifferentiableGame* differentiable() const override { return &extension_; }

  std::vector<double> evaluate(const Coalitions& coalitions) const override {
    std::vector<double> values(coalitions.size(), 0.0);
    for (const auto& [left, right] : terms_) {
      const std::vector<double> lefts = left.of(coalitions), rights = right.of(coalitions);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += lefts[i] * rights[i];
    }
    return values;
  }

  std::vector<double> shapley_values() const override {
    std::vector<double> shapley(static_cast<std::size_t>(players()), 0.0);
    for (const auto& [left, right] : terms_) {
      const double left_total = left.total(), right_total = right.total();
      for (std::size_t player = 0; player < shapley.size(); ++player)
        shapley[player] += (left[player] * right_total + right[player] * left_total) / 2;
    }
    return shapley;
  }

  std::optional<std::vector<double>> aumann_shapley_values() const override { return shapley_values(); }
  std::optional<std::vector<double>> discretisation_error() const override {
    return std::vector<double>(static_cast<std::size_t>(players()), 0.0);
  }

 private:
  std::vector<std::pair<Measure, Measure>> terms_;
  DiagonalExtension extension_;
};

}  // namespace

std::unique_ptr<SolvedGame> bilinear_game(std::vector<std::pair<Measure, Measure>> terms) {
  require(!terms.empty(), "bilinear_game: terms=0 (the players are the cells of a measure). Give a pair of measures.");
  const int cells = terms.front().first.players();
  for (std::size_t r = 0; r < terms.size(); ++r)
    require(terms[r].first.players() == cells && terms[r].second.players() == cells,
            "bilinear_game: cells=", terms[r].first.players(), " and ", terms[r].second.players(), " (term ", r,
            "; the first has ", cells, "). Give measures of the same cells.");
  return std::make_unique<BilinearGame>(std::move(terms));
}

std::unique_ptr<Game> random_bilinear_game(int players, Rng& rng) {
  std::vector<std::pair<Measure, Measure>> terms;
  for (int term = 0; term < 2; ++term) {
    Measure left = random_signed_measure(players, rng), right = random_signed_measure(players, rng);
    terms.emplace_back(std::move(left), std::move(right));
  }
  return bilinear_game(std::move(terms));
}

}  // namespace opshap::games
