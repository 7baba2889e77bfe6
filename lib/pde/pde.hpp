#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/field.hpp"
#include "core/rng.hpp"

namespace opshap::pde {

/// A number that decides an equation or its scheme.
struct Parameter {
  std::string name;
  double value = 0;
  std::string meaning;
};

using ParameterValues = std::map<std::string, double>;

/// `parameters` with some of their values changed. Throws InvalidArgument for a name that is not among them and for a
/// value that is not finite.
std::vector<Parameter> changed(std::string_view who, std::vector<Parameter> parameters, const ParameterValues& changes);

/// "nu=0.02" to {nu: 0.02}. Throws InvalidArgument for a text without '=', a value that is not a number, and a name
/// given twice.
ParameterValues parse_parameters(const std::vector<std::string>& settings);

/// Random numbers behind an initial condition, of the same length for every sample of a PDE; NaN where a sample does
/// not use one.
struct Drawn {
  std::string name;
  std::vector<double> values;
};

struct InitialCondition {
  FieldBatch field;  ///< batch of one
  std::vector<Drawn> drawn;
};

/// A law of the equation that the solver watched at every step, and how far it was from holding.
struct Invariant {
  std::string name;
  double value = 0;  ///< 0 is perfect
  double limit = 0;  ///< what a sample of a data set may have
  bool holds() const { return value <= limit; }
};

struct Solution {
  FieldBatch field;
  std::int64_t steps = 0;
  std::vector<Invariant> invariants;
};

/// A time-dependent partial differential equation with its solver, its random initial conditions, and the time whose
/// solution is learned.
///
/// Immutable and safe to call from several threads. Adding one: a file in lib/pde and a line in lib/pde/registry.def.
class Pde {
 public:
  virtual ~Pde() = default;
  /// Registry key.
  virtual std::string_view name() const = 0;
  /// One line: the equation and its domain.
  virtual std::string_view summary() const = 0;
  /// One line: the numerical scheme.
  virtual std::string_view scheme() const = 0;
  virtual std::vector<Parameter> parameters() const = 0;
  /// The same PDE with other parameters. Throws InvalidArgument for unknown names and for values that cannot work.
  virtual std::unique_ptr<Pde> with(const ParameterValues& changes) const = 0;

  /// The grid of the data sets.
  virtual Domain native_domain() const = 0;
  virtual int channels() const = 0;
  /// The operator to be learned maps the field at time 0 to the field at this time.
  virtual double target_time() const = 0;
  /// The error is O(dt^order) for smooth data, where dt is the parameter of that name; infinity when the scheme is
  /// exact in time.
  virtual double order() const = 0;

  /// The initial condition of one sample on the native grid: a function of the stream's key (seed, domain) and the
  /// sample's number alone.
  virtual InitialCondition random_initial(const Rng& root, std::uint64_t sample) const = 0;

  /// The field at `time` from one initial field on any grid size.
  ///
  /// Throws InvalidArgument for a grid, batch, channel count or time that cannot work, DataError for values that are
  /// not finite, NumericalError when the solution cannot be trusted (blow-up, too few points). Smaller departures from
  /// the laws are told by `invariants`.
  virtual Solution solve(const FieldBatch& initial, double time) const = 0;
};

}  // namespace opshap::pde
