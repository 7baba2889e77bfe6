#pragma once

#include <optional>
#include <span>
#include <vector>

namespace opshap {

/// The unit in which the values of a game are worked on: a power of two near their size. Squares of scaled values
/// neither overflow nor underflow, and scaling changes no digit of a normal double.
///
/// A game is scaled once, where it enters (attribute(), certified_reference(), certify()). What leaves is in the game's
/// own unit again. So the results for 2^k times a game are 2^k times the results for the game, to the bit, as long as
/// all numbers are normal doubles.
class Scale {
 public:
  /// A number of so many units or more is too large for the unit: its fourth power would overflow.
  static constexpr int most_bits = 200;

  /// No unit yet.
  Scale() = default;
  /// The unit 2^exponent.
  explicit Scale(int exponent) : exponent_(exponent) {}

  /// Takes the size of the largest of these numbers as the unit where there is none yet and one of them is not 0.
  ///
  /// Returns the exponent of a unit that suits the numbers where one of them has 2^most_bits units or more. Then the
  /// work has to begin again with that unit. Shape: any. The numbers must be finite.
  std::optional<int> see(std::span<const double> numbers);

  /// A number of the game in units.
  double inside(double number) const;
  std::vector<double> inside(std::vector<double> numbers) const;
  /// A number in units as a number of the game. Infinite where no double is large enough.
  double outside(double number) const;
  std::vector<double> outside(std::vector<double> numbers) const;

 private:
  std::optional<int> exponent_;
};

/// The power of two below the largest of the numbers, as its exponent; none when all are 0. The numbers must be finite.
std::optional<int> largest_exponent(std::span<const double> numbers);

}  // namespace opshap
