#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "pde/fourier.hpp"

namespace opshap::pde {

/// How one species spreads and reacts: u_t = diffusion Δu + growth u + reaction r + supply, with r a function of the
/// values of all species at a point.
struct Species {
  double diffusion = 0, growth = 0, reaction = 0, supply = 0;
};

/// Which modes react. The others spread and grow by themselves.
enum class Dealiasing {
  two_thirds,  ///< |k| < N/3 along every axis: a quadratic reaction has no aliases among them, a cubic one has some
  none,        ///< all but the highest of an axis with an even number of points
};

/// Species with one common reaction on a periodic grid, in Fourier space by ETDRK4.
///
/// A step costs four reactions, each a transform per species and one back.
class ReactionDiffusion {
 public:
  using Modes = Etdrk4::Modes;

  /// Throws InvalidArgument unless every axis is periodic.
  ReactionDiffusion(const Domain& domain, std::vector<Species> species, Dealiasing dealiasing, double step);

  /// The fields at the start, [species, points].
  void start(std::span<const double> fields);

  /// One step. `react(fields, r)` computes r at every point from fields[s][p]; r may be one of the fields.
  template <typename React>
  void advance(React&& react);

  /// The part of a species that reacts, at the points. Overwritten by the next call of anything.
  std::span<const double> reacting(std::size_t species);
  /// The fields [species, points] at the end, `time` after the start.
  std::vector<double> finish(double time);

  /// Mean over the domain of |∇u|² of one species, of the modes that react.
  double mean_square_gradient(std::size_t species) const;
  /// The share of Σ|û|² of a species in the highest modes that react, beyond 0.88 of their largest |k| along an axis.
  /// The mean does not count.
  double tail(std::size_t species) const;

 private:
  /// Neighbours among the kept modes: where they begin in a transform, and how many.
  struct Run {
    std::size_t begin, length;
  };
  std::size_t kept() const { return kept_.size(); }
  void to_grid(const Modes& modes, std::size_t species);
  template <typename React>
  void change(const Modes& modes, Modes& out, React& react);

  std::vector<Species> species_;
  Wavenumbers wavenumbers_;
  double points_;
  std::vector<Run> runs_;
  std::vector<std::size_t> kept_;  ///< indices of the kept modes
  std::vector<bool> high_;         ///< of each kept mode: whether it belongs to the tail
  std::vector<double> share_;      ///< of each mode: 1 or 2, how many modes of the real field it stands for
  std::vector<std::unique_ptr<RealFourier>> fourier_;
  std::unique_ptr<Etdrk4> scheme_;
  Modes state_, at_start_;
  std::vector<Modes> beyond_;  ///< per species, all modes at the start; the kept ones are not used
};

template <typename React>
void ReactionDiffusion::change(const Modes& modes, Modes& out, React& react) {
  std::vector<std::span<double>> fields;
  for (std::size_t s = 0; s < species_.size(); ++s) {
    to_grid(modes, s);
    fields.push_back(fourier_[s]->values());
  }
  react(fields, fields[0]);
  fourier_[0]->forward();
  const auto reaction = fourier_[0]->modes();
  for (std::size_t s = 0; s < species_.size(); ++s) {
    const double weight = species_[s].reaction / points_;
    std::size_t at = s * kept();
    for (const Run& run : runs_) {
      for (std::size_t k = run.begin; k < run.begin + run.length; ++k) out[at++] = weight * reaction[k];
    }
    out[s * kept()] += species_[s].supply;  // the first kept mode is the mean
  }
}

template <typename React>
void ReactionDiffusion::advance(React&& react) {
  change(state_, at_start_, react);
  scheme_->advance(state_, at_start_, [&](const Modes& in, Modes& out) { change(in, out, react); });
}

}  // namespace opshap::pde
