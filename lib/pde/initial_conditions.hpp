#pragma once

#include <cstdint>

#include "pde/problem.hpp"

namespace opshap::pde {

/// The families of mixed_1d(), as stored.
enum class Family1d { series = 0, single_mode = 1, bumps = 2, low_modes = 3 };

/// A random periodic initial condition on the unit interval, from one of four families with equal probability.
///
/// series: Σ_{k=1..20} k^-1.5 (a_k cos 2πkx + b_k sin 2πkx), a, b standard normal, rescaled to a largest absolute value
/// of A; single_mode: A sin(2πkx + φ), k uniform on 1..8, φ on [0, 2π); bumps: Σ A_i exp(−d(x, c_i)²/2s_i²) for 1 to 4
/// bumps, d the periodic distance, c uniform on [0, 1), s on [0.03, 0.1), A_i of random sign; low_modes: as series with
/// k = 1..3 of equal weight, rescaled. Absolute amplitudes are uniform on [0.5, 1). The paper names the mixture only
/// ("mixed 1D": Fourier series, modes, bumps); these distributions are ours.
Sample mixed_1d(const Domain& domain, const Rng& root, std::uint64_t sample);

}  // namespace opshap::pde
