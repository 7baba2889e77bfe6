#include "core/error.hpp"
#include "estimators/enumeration.hpp"
#include "estimators/least_squares.hpp"
#include "estimators/registry.hpp"
#include "estimators/sample_targets.hpp"
#include "estimators/term_regression.hpp"

namespace opshap::estimators {

namespace {

std::int64_t terms_of(int players) { return std::int64_t{players} * (players + 1) / 2; }

/// kernel_shap with a coefficient for every player and every two players, whose interaction is then shared equally.
///
/// Source: Fumagalli et al. (2026), "PolySHAP", degree 2, with the sum of the coefficients held at v(N) − v(∅). Exact
/// when no interaction involves more than two players. On pairs of complements it is kernel_shap_paired, which asks for
/// far fewer coalitions; here they come alone. Cost: that of KernelRegression for n(n+1)/2 players.
class PolyShap final : public LeastSquares {
 public:
  static constexpr int max_players = 127;

  explicit PolyShap(Deficiency deficiency = Deficiency::refuse) : LeastSquares(deficiency) {}

  std::string_view name() const override { return "poly_shap"; }
  std::string_view summary() const override {
    return "kernel_shap with interactions of two players, n <= 127 (Fumagalli et al. 2026)";
  }
  Guarantees guarantees() const override {
    return {.bias = Bias::vanishing,
            .learns = true,
            .exact_on_additive = determined(),
            .exact_on_two_additive = determined(),
            .linear = true,
            .exact_at_full_budget = true,
            .refusal = refusal()};
  }
  /// One coalition for each coefficient but one, whether they are independent shows only when they are drawn; or a
  /// single one.
  Budget minimum(int players) const override { return {2 + (determined() ? terms_of(players) - 1 : 1)}; }
  std::unique_ptr<Estimator> with_minimum_norm() const override {
    return std::make_unique<PolyShap>(Deficiency::minimum_norm);
  }

  Attribution estimate(CountedGame& game, Rng& rng) const override {
    if (can_enumerate(game)) return enumerate_all(game);
    const int n = game.players();
    require(n <= max_players, name(), ": players=", n, " (", terms_of(n),
            " coefficients are too many, n <= ", max_players,
            "). Use kernel_shap_paired, which is exact for the same games.");
    Attribution attribution;
    attribution.empty = game.empty();
    attribution.grand = game.grand();
    std::vector<Term> terms;
    for (int i = 0; i < n; ++i) terms.push_back({i});
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) terms.push_back({i, j});
    }
    const CoalitionSample sample = sample_coalitions(Sampler::shapiq_compatible, SizeLaw(SizeMass::shapley_kernel, n),
                                                     game.budget().coalitions - 2, Pairing::none, rng);
    const TermFit fit =
        fit_terms(sample, sample_targets(game, sample, attribution.empty), attribution.grand - attribution.empty, terms,
                  TermBasis::contained, name(), deficiency());
    attribution.values = shapley_values_of_terms(n, terms, fit.coefficients);
    attribution.minimum_norm = fit.minimum_norm;
    return attribution;
  }
};

}  // namespace

std::unique_ptr<Estimator> poly_shap() { return std::make_unique<PolyShap>(); }

}  // namespace opshap::estimators
