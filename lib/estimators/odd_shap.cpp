#include "estimators/odd_shap.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>

#include "core/estimator.hpp"
#include "estimators/coalition_sampler.hpp"
#include "estimators/least_squares.hpp"

namespace opshap::estimators {

std::map<Term, double> odd_spectrum(std::span<const TreeLeaf> leaves) {
  std::map<Term, double> spectrum;
  for (const TreeLeaf& leaf : leaves) {
    const std::set<int> required(leaf.required.begin(), leaf.required.end());
    std::set<int> asked(required);
    asked.insert(leaf.forbidden.begin(), leaf.forbidden.end());
    if (std::ranges::any_of(leaf.forbidden, [&](int player) { return required.contains(player); })) continue;
    const std::vector<int> players(asked.begin(), asked.end());
    const double part = std::ldexp(leaf.value, -static_cast<int>(players.size()));
    Term term;
    for (std::uint64_t chosen = 0; chosen < std::uint64_t{1} << players.size(); ++chosen) {
      if (std::popcount(chosen) % 2 == 0) continue;
      term.clear();
      bool negative = false;
      for (std::size_t k = 0; k < players.size(); ++k) {
        if ((chosen >> k & 1) == 0) continue;
        term.push_back(players[k]);
        negative ^= required.contains(players[k]);
      }
      spectrum[term] += negative ? -part : part;
    }
  }
  return spectrum;
}

namespace {

constexpr std::int64_t coalitions_per_term = 10;

void append_largest_groups(std::vector<Term>& terms, std::size_t most, const CoalitionSample& sample,
                           std::span<const double> targets, double gain) {
  Coalitions coalitions = all_coalitions(sample);
  std::vector<double> odd;
  for (const double target : targets) odd.insert(odd.end(), {target, -target});
  coalitions.append_empty();
  coalitions.append_grand();
  odd.insert(odd.end(), {-gain / 2, gain / 2});
  std::vector<std::pair<double, Term>> groups;
  for (auto& [term, coefficient] : odd_spectrum(BoostedTrees::fit(coalitions, odd).leaves())) {
    if (term.size() > 1 && coefficient != 0) groups.emplace_back(-std::abs(coefficient), term);
  }
  std::ranges::sort(groups);
  groups.resize(std::min(groups.size(), most));
  for (auto& [size, term] : groups) terms.push_back(std::move(term));
}

Attribution estimate_odd_shap(CountedGame& game, Deficiency deficiency, Rng& rng) {
  const int n = game.players();
  Attribution attribution{.empty = game.empty(), .grand = game.grand()};
  const double gain = attribution.grand - attribution.empty;
  const CoalitionSample sample = sample_coalitions(Sampler::without_replacement, SizeLaw(SizeMass::uniform, n),
                                                   game.budget().coalitions - 2, Pairing::complements, rng);
  const std::vector<double> targets = sample_targets(game, sample, attribution.empty);
  std::vector<Term> terms;
  for (int player = 0; player < n; ++player) terms.push_back({player});
  const std::int64_t groups = (game.budget().coalitions + coalitions_per_term - 1) / coalitions_per_term - n;
  if (groups > 0) append_largest_groups(terms, static_cast<std::size_t>(groups), sample, targets, gain);
  const TermFit fit = fit_terms(sample, targets, gain, terms, TermBasis::odd_common, "odd_shap", deficiency);
  attribution.values = shapley_values_of_terms(n, terms, fit.coefficients);
  attribution.minimum_norm = fit.minimum_norm;
  return attribution;
}

}  // namespace

/// Regression of the odd half (v(S) − v(N∖S))/2, which alone enters the Shapley values, on the players and on groups of
/// three and five players that boosted trees point out.
///
/// Source: Fumagalli et al. (2026), "OddSHAP": pairs without replacement, equally many of each size; a coefficient for
/// every ten coalitions. Theirs are the largest ones of a surrogate, and players beyond them get 0; here all players
/// have one, so that low budgets fall back to leverage_shap, and the trees are fitted to the odd half itself. The
/// groups are those with the largest Walsh coefficients of the trees, which are known exactly. Cost: a fit of XGBoost
/// and KernelRegression for budget/10 players.
std::unique_ptr<Estimator> odd_shap() {
  return std::make_unique<LeastSquares>(LeastSquares::Method{
      .name = "odd_shap",
      .summary = "regression of the odd half on players and on groups found by boosted trees (Fumagalli et al. 2026)",
      .promises = {.bias = Bias::vanishing, .learns = true},
      .of_odd_half = true,
      // One pair for each of the n−1 differences between players, whether the rows are independent shows only when they
      // are drawn; or one for each two sizes.
      .minimum =
          [](int players, Deficiency deficiency) {
            return 2 + 2 * std::int64_t{deficiency == Deficiency::refuse ? players - 1 : players / 2};
          },
      .estimate = estimate_odd_shap});
}

}  // namespace opshap::estimators
