#include "pde/reaction_diffusion.hpp"

#include <cmath>

#include "core/error.hpp"

namespace opshap::pde {

ReactionDiffusion::ReactionDiffusion(const Domain& domain, std::vector<Species> species, Dealiasing dealiasing,
                                     double step)
    : species_(std::move(species)), wavenumbers_(domain), points_(static_cast<double>(domain.points())) {
  require(domain.periodic(), "reaction_diffusion: domain=", domain.describe(),
          " (Fourier modes are periodic). Give a periodic grid.");
  double largest_x = 0, largest_y = 0;
  for (std::size_t k = 0; k < wavenumbers_.size(); ++k) {
    if (dealiasing == Dealiasing::none ? wavenumbers_.highest[k] : !wavenumbers_.kept[k]) continue;
    if (kept_.empty() || kept_.back() + 1 != k || runs_.empty()) runs_.push_back({k, 0});
    ++runs_.back().length;
    kept_.push_back(k);
    largest_x = std::max(largest_x, std::abs(wavenumbers_.x[k]));
    if (!wavenumbers_.y.empty()) largest_y = std::max(largest_y, wavenumbers_.y[k]);
  }
  for (const std::size_t k : kept_)
    high_.push_back(std::abs(wavenumbers_.x[k]) > 0.88 * largest_x ||
                    (!wavenumbers_.y.empty() && wavenumbers_.y[k] > 0.88 * largest_y));
  // The last axis has half of its modes: each other one stands for its conjugate too.
  const auto half = static_cast<std::size_t>(domain.shape().back() / 2 + 1);
  const bool even = domain.shape().back() % 2 == 0;
  for (std::size_t k = 0; k < wavenumbers_.size(); ++k)
    share_.push_back(k % half == 0 || (even && k % half + 1 == half) ? 1 : 2);

  std::vector<double> rates;
  for (const Species& one : species_) {
    fourier_.push_back(std::make_unique<RealFourier>(domain.shape()));
    for (const std::size_t k : kept_) rates.push_back(one.growth - one.diffusion * wavenumbers_.square(k));
  }
  scheme_ = std::make_unique<Etdrk4>(rates, step);
  state_.resize(rates.size());
  at_start_ = state_;
}

void ReactionDiffusion::start(std::span<const double> fields) {
  const std::size_t points = fields.size() / species_.size();
  beyond_.clear();
  for (std::size_t s = 0; s < species_.size(); ++s) {
    const auto field = fields.subspan(s * points, points);
    std::copy(field.begin(), field.end(), fourier_[s]->values().begin());
    fourier_[s]->forward();
    const auto modes = fourier_[s]->modes();
    for (std::complex<double>& mode : modes) mode /= points_;
    for (std::size_t i = 0; i < kept(); ++i) state_[s * kept() + i] = modes[kept_[i]];
    beyond_.emplace_back(modes.begin(), modes.end());
  }
}

void ReactionDiffusion::to_grid(const Modes& modes, std::size_t species) {
  const auto all = fourier_[species]->modes();
  std::fill(all.begin(), all.end(), 0.0);
  auto from = modes.begin() + static_cast<std::ptrdiff_t>(species * kept());
  for (const Run& run : runs_) {
    std::copy_n(from, run.length, all.begin() + static_cast<std::ptrdiff_t>(run.begin));
    from += static_cast<std::ptrdiff_t>(run.length);
  }
  fourier_[species]->backward();
}

std::span<const double> ReactionDiffusion::reacting(std::size_t species) {
  to_grid(state_, species);
  return fourier_[species]->values();
}

std::vector<double> ReactionDiffusion::finish(double time) {
  std::vector<double> fields;
  for (std::size_t s = 0; s < species_.size(); ++s) {
    const auto all = fourier_[s]->modes();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double rate = species_[s].growth - species_[s].diffusion * wavenumbers_.square(k);
      all[k] = beyond_[s][k] * std::exp(rate * time);
    }
    for (std::size_t i = 0; i < kept(); ++i) all[kept_[i]] = state_[s * kept() + i];
    fourier_[s]->backward();
    fields.insert(fields.end(), fourier_[s]->values().begin(), fourier_[s]->values().end());
  }
  return fields;
}

double ReactionDiffusion::mean_square_gradient(std::size_t species) const {
  double sum = 0;
  for (std::size_t i = 0; i < kept(); ++i)
    sum += share_[kept_[i]] * wavenumbers_.square(kept_[i]) * std::norm(state_[species * kept() + i]);
  return sum;
}

double ReactionDiffusion::tail(std::size_t species) const {
  double high = 0, all = 0;
  for (std::size_t i = 1; i < kept(); ++i) {
    const double energy = share_[kept_[i]] * std::norm(state_[species * kept() + i]);
    all += energy;
    if (high_[i]) high += energy;
  }
  return all > 0 ? high / all : 0;
}

}  // namespace opshap::pde
