#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace opshap::pde {

/// What an adaptive integrator keeps the error of each component below, step by step.
struct Tolerances {
  double relative = 0, absolute = 0;
};

/// Writes y' for a state y.
using Rate = std::function<void(std::span<const double> y, std::span<double> change)>;

/// A matrix with three diagonals: row i has below[i] in column i − 1, diagonal[i], and above[i] in column i + 1.
struct Tridiagonal {
  std::vector<double> below, diagonal, above;
};
using TridiagonalJacobian = std::function<void(std::span<const double> y, Tridiagonal& jacobian)>;

/// Takes y from time 0 to `time` by backward differentiation formulas of variable order (SUNDIALS CVODE). Returns the
/// number of steps. Throws NumericalError, starting with `who`, when the integrator gives up.
std::int64_t integrate_stiff(std::string_view who, std::vector<double>& y, double time, const Tolerances& tolerances,
                             const Rate& rate, const TridiagonalJacobian& jacobian);

/// The same by the explicit method of Dormand and Prince of order 5 (SUNDIALS ERKStep): SciPy's RK45.
std::int64_t integrate_explicit(std::string_view who, std::vector<double>& y, double time, const Tolerances& tolerances,
                                const Rate& rate);

/// Name and version of the library behind it: "sundials-6.4.1".
const char* ode_library();

}  // namespace opshap::pde
