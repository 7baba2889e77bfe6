#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pde/problem.hpp"

namespace opshap::pde {

/// The cosine series on the n cell centres of an axis with walls: v_j = Σ_k m_k cos(πk(j + ½)/n), k < n.
///
/// Cost: n² products for each line.
class Cosines {
 public:
  explicit Cosines(int points);

  std::size_t points() const { return points_; }
  /// The series of the values, or the values of the series, of one line with a stride.
  void forward(double* line, std::size_t stride) const;
  void backward(double* line, std::size_t stride) const;

 private:
  double at(std::size_t k, std::size_t j) const { return table_[k * (2 * j + 1) % table_.size()]; }

  template <typename Matrix>
  void apply(double* line, std::size_t stride, const Matrix& matrix) const;

  std::size_t points_;
  std::vector<double> table_;
};

double mean(std::span<const double> values);
double mean_square(std::span<const double> values);
/// The largest absolute value; 0 for none.
double largest(std::span<const double> values);

/// The smallest and the largest of some values, of which there is at least one. Both are NaN when a value is not
/// finite.
struct Range {
  double low, high;
  explicit Range(std::span<const double> values);
};

/// max(0, value); NaN for NaN.
inline double positive_part(double value) { return value <= 0 ? 0 : value; }

/// How far a smooth periodic field may go between its points beyond its values at the points: an extreme between two of
/// them is missed by up to an eighth of the second difference there, and the axes' shares add up. One channel.
double missed_extreme(const Domain& domain, std::span<const double> values);

/// Throws InvalidArgument, starting with `who`, unless the input is one field with the channels and the dimension of
/// the space, and DataError for values that are not finite. Its axes may be others.
void require_one_field(std::string_view who, const FieldBatch& input, const Space& space);

/// Throws InvalidArgument, starting with `who`, unless each axis of the input is periodic.
void require_periodic(std::string_view who, const FieldBatch& input);

/// A remark on a field that has a jump where a periodic axis closes: a step between the last and the first point of
/// more than four times any other step along the axis. A sawtooth is such a field, and so is one that was sampled with
/// its end point. Empty where there is none.
std::string seam_remark(const FieldBatch& input);

/// Throws InvalidArgument, starting with `who`, unless 0 <= time < infinity.
void require_time(std::string_view who, double time);

/// What a field that only spreads keeps: its mean, no more than its energy, and its range. For one channel on a
/// periodic domain, rounded to float32; `slack` is what the solver may add in the range.
std::vector<PairLaw> spreading_laws(const FieldBatch& before, const FieldBatch& after, double slack);

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
