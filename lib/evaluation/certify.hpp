#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/game.hpp"
#include "core/measured.hpp"

namespace opshap::evaluation {

/// How many coalitions may be spent on a decision, and how sure it must be.
struct CertificationSettings {
  std::int64_t max_evaluations = std::int64_t{1} << 16;
  double level = 1e-3;  ///< the chance of a verdict for the wrong side, over all looks together
};

/// Which of two attributions is nearer to the Shapley values, decided without knowing these.
struct Certification {
  enum class Verdict { first, second, undecided };
  Verdict verdict = Verdict::undecided;
  /// ‖a − ψ‖² − ‖b − ψ‖², estimated: negative where the first is nearer. Undefined where no double holds the square.
  Measured difference = Measured::of(0);
  Measured standard_error = Measured::of(0);  ///< of the difference
  double p_value = 1;                         ///< of the difference being 0, two-sided, for this look alone
  double distance = 0;                        ///< ‖a − b‖
  std::int64_t evaluations = 0;
};

/// "first", "second", "undecided".
std::string to_string(Certification::Verdict verdict);

/// Draws coalitions S from the Shapley kernel law, each with its complement, until the sign of ‖a − ψ‖² − ‖b − ψ‖² is
/// sure or the evaluations are spent.
///
/// For attributions whose values add up to v(N) − v(∅), E(v(S) − v(∅) − Σ_{i∈S} a_i)² = const + ‖a − ψ‖²/(2H_{n−1})
/// (Charnes et al. 1988: ψ is the constrained least-squares fit, and the kernel's Gram matrix is a multiple of the
/// identity there). The same coalitions serve both, so that what both miss cancels. Other attributions are moved onto
/// the plane of efficient ones along its normal, which costs gap²/n exactly. The coalitions must be fresh: neither
/// attribution may have been made from the same seed by this function's stream. Shapes [n]. Throws InvalidArgument for
/// other lengths or for one player.
Certification certify(const Game& game, std::span<const double> first, std::span<const double> second,
                      const CertificationSettings& settings, std::uint64_t seed);

}  // namespace opshap::evaluation
