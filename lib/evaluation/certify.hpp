#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/game.hpp"
#include "core/measured.hpp"

namespace opshap::evaluation {

/// A game that gave two values for one coalition.
struct Noise {
  std::string coalition;         ///< in words
  double first = 0, second = 0;  ///< its values
  double relative = 0;           ///< |first − second| in parts of the largest value that was seen
};

/// A game that passes everything on and remembers the first coalition that is neither ∅ nor N, so that it can be asked
/// again. A game of this project gives the same value twice. A program or a function of somebody else may not: then no
/// result is exact, and no error bar holds. Refers to the game.
class RepeatedGame final : public Game {
 public:
  explicit RepeatedGame(const Game& game) : game_(game) {}

  int players() const override { return game_.players(); }
  std::string path() const override { return game_.path(); }
  const Extension* extension() const override { return game_.extension(); }
  const Extension* mean_field() const override { return game_.mean_field(); }
  std::vector<std::int64_t> places() const override { return game_.places(); }
  std::vector<int> active_players() const override { return game_.active_players(); }

  /// Asks the game for that coalition again, alone. Nothing where no such coalition was asked for, or where the values
  /// differ by at most a millionth of the largest value that was seen: what float32 may make of another batch. To be
  /// called once, at the end. Cost: one evaluation, which no budget counts.
  std::optional<Noise> noise() const;
  /// Evaluations that noise() made: 0 or 1.
  int repeated() const { return repeated_; }

 private:
  std::vector<double> evaluate(const Coalitions& coalitions) const override;

  const Game& game_;
  mutable std::mutex mutex_;
  mutable std::vector<std::uint64_t> coalition_;
  mutable double value_ = 0, largest_ = 0;
  mutable int repeated_ = 0;
};

/// "v({0, 3})=1.5 and then 1.25, which is 0.1 of the largest value": for messages.
std::string in_words(const Noise& noise);

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
