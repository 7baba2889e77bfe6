#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/field.hpp"
#include "core/rng.hpp"
#include "pde/equation.hpp"

namespace opshap::pde {

/// One random input field and the numbers that were drawn for it.
struct Sample {
  FieldBatch input;  ///< a batch of one on the native domain
  std::vector<Drawn> drawn;
};

struct Solution {
  FieldBatch output;               ///< a batch of one, on the domain of the input
  std::int64_t steps = 0;          ///< time steps or iterations; 0 for a closed form
  std::vector<double> departures;  ///< how far each of the problem's invariants was from holding, in their order
};

/// A law that is checked on an input and its output alone, and how far the two are from it.
struct PairLaw {
  std::string name;
  double departure = 0;  ///< 0 is perfect
  double limit = 0;      ///< what the rounding of both fields to float32 explains

  /// False for NaN.
  bool holds() const { return departure <= limit; }
};

class Evolution;

/// What a data set on a grid is made of: random input fields, the output field that belongs to each, and what is known
/// of both.
///
/// A static problem, such as "coefficient to solution", derives from this class. A problem whose output is the input
/// after some time derives from Evolution. Immutable and safe to call from several threads. Adding a problem: a file in
/// lib/pde and a line in lib/pde/registry.def.
class Problem : public Equation {
 public:
  using Equation::Equation;
  /// The same problem with other parameters. Throws InvalidArgument for unknown names and for values that cannot work.
  virtual std::unique_ptr<Problem> with(const ParameterValues& changes) const = 0;

  virtual Space input() const = 0;
  virtual Space output() const = 0;

  /// The input of one sample on the native domain: a function of the stream's key (seed, domain) and the sample's
  /// number alone.
  virtual Sample draw(const Rng& root, std::uint64_t sample) const = 0;

  /// The output that belongs to one input field, on the domain of the input.
  ///
  /// Throws InvalidArgument for a domain, batch or channel count that cannot work, DataError for values that are not
  /// finite, NumericalError when the solution cannot be trusted (blow-up, too few points). Smaller departures from the
  /// laws are told by the solution.
  virtual Solution solve(const FieldBatch& input) const = 0;

  /// The laws that tie an output to its input and need no second solution. Both fields are batches of one on one
  /// domain, as a data set stores them: rounded to float32.
  virtual std::vector<PairLaw> pair_laws(const FieldBatch& input, const FieldBatch& output) const = 0;

  /// This problem as an evolution; null for a static problem.
  virtual const Evolution* evolution() const { return nullptr; }
};

/// How the error of a scheme depends on its time step.
struct TimeStepping {
  std::string parameter;  ///< the name of the parameter that bounds the time step
  double order = 0;       ///< the error is O(step^order) for smooth data
};

/// A time-dependent problem: the output is the field at the target time, the input the field at time 0.
class Evolution : public Problem {
 public:
  using Problem::Problem;
  /// The operator to be learned maps the field at time 0 to the field at this time.
  virtual double target_time() const = 0;
  /// Nothing when the scheme is exact in time or controls its own steps.
  virtual std::optional<TimeStepping> time_stepping() const { return std::nullopt; }

  /// A field like the input, at another time.
  Space output() const override { return input(); }

  /// All that the equation evolves. The input of a data set may be a part of it, where the rest starts at 0.
  virtual Space state() const { return input(); }

  /// The field at `time` from one initial field, which has the channels of the input or of the state; the solution then
  /// has those of the output or of the state. Throws as Problem::solve, and InvalidArgument for a time that cannot be
  /// reached.
  virtual Solution solve(const FieldBatch& initial, double time) const = 0;
  Solution solve(const FieldBatch& input) const final { return solve(input, target_time()); }
  const Evolution* evolution() const final { return this; }
};

/// A problem of a kind (Problem, Evolution) that is made of its parameters alone, so that `Self` can be made of others.
template <typename Self, typename Kind>
class MadeOfParameters : public Kind {
 public:
  using Kind::Kind;
  std::unique_ptr<Problem> with(const ParameterValues& changes) const final {
    return std::make_unique<Self>(changed(this->name(), this->parameters(), changes));
  }
};

}  // namespace opshap::pde
