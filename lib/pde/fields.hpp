#pragma once

#include <span>
#include <string>
#include <string_view>

#include "pde/problem.hpp"

namespace opshap::pde {

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

}  // namespace opshap::pde
