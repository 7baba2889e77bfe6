#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/field.hpp"
#include "core/rng.hpp"
#include "core/scenario.hpp"

namespace opshap::pde {

/// What a random stream is for: the purpose in its name (core/rng.hpp).
enum class Purpose : std::uint32_t { family = 0, amplitudes = 1, phases = 2, geometry = 3, noise = 4 };

/// A number, or a choice between named variants, that decides an equation or its scheme.
struct Parameter {
  std::string name;
  double value = 0;
  std::string meaning;
  std::vector<std::string> choices = {};  ///< the names of the values 0, 1, ..; empty for a number
};

/// A number, or the name of a choice.
using ParameterValue = std::variant<double, std::string>;
using ParameterValues = std::map<std::string, ParameterValue>;

/// `parameters` with some of their values changed. Throws InvalidArgument for a name that is not among them, a number
/// that is not finite, a number where a choice is wanted, and a choice that is not among the parameter's.
std::vector<Parameter> changed(std::string_view who, std::vector<Parameter> parameters, const ParameterValues& changes);

/// All values: what changed() takes to make the same parameters.
ParameterValues values(const std::vector<Parameter>& parameters);
/// The value of one of the parameters. Throws InvalidArgument for a name that is not among them; so does the other.
double number(const std::vector<Parameter>& parameters, std::string_view name);
/// The name of the choice that a parameter has.
const std::string& choice(const std::vector<Parameter>& parameters, std::string_view name);

/// "nu=0.02" to {nu: 0.02}, "solver=rk45" to {solver: "rk45"}. Throws InvalidArgument for a text without '=' or without
/// a value, and a name given twice.
ParameterValues parse_parameters(const std::vector<std::string>& settings);

/// One component of a field.
struct Channel {
  std::string name;  ///< "u", "height": no two channels of a space have the same name
  std::string unit;  ///< "m/s"; "1" for a number without a unit

  bool operator==(const Channel&) const = default;
};

/// A kind of field: its channels, and the domain on which the data sets hold it.
struct Space {
  std::vector<Channel> channels;
  Domain domain;

  int channel_count() const { return static_cast<int>(channels.size()); }
  /// Numbers in one field: channels × points.
  std::int64_t field_size() const { return channel_count() * domain.points(); }
  bool operator==(const Space&) const = default;
};

/// Random numbers behind an input field, of the same length for every sample of a problem; NaN where a sample does not
/// use one.
struct Drawn {
  std::string name;
  std::vector<double> values;
};

/// One random input field and the numbers that were drawn for it.
struct Sample {
  FieldBatch input;  ///< a batch of one on the native domain
  std::vector<Drawn> drawn;
};

/// A law of the equation that the solver watches while it works.
struct Invariant {
  std::string name;
  double limit = 0;    ///< the largest departure that a sample of a data set may have; 0 is perfect
  std::string remedy;  ///< what to do about a larger departure, as a sentence: "Use a smaller dt."

  /// False for NaN.
  bool allows(double departure) const { return departure <= limit; }
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

/// A state of the input that the equation keeps, the same at every point; or the reason why there is none.
struct Rest {
  std::vector<double> state;  ///< a number for each channel of the input; empty where there is none
  std::string reason;         ///< why there is none, as a clause: "an input is a coefficient and does not evolve"

  explicit operator bool() const { return !state.empty(); }
};

class Evolution;

/// What a data set is made of: random input fields, the output field that belongs to each, and what is known of both.
///
/// A static problem, such as "coefficient to solution", derives from this class. A problem whose output is the input
/// after some time derives from Evolution. Immutable and safe to call from several threads. Adding a problem: a file in
/// lib/pde and a line in lib/pde/registry.def.
class Problem {
 public:
  explicit Problem(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {}
  virtual ~Problem() = default;
  /// Registry key.
  virtual std::string_view name() const = 0;
  /// One line: the equation and its domain. A problem that is not in the paper says so here.
  virtual std::string_view summary() const = 0;
  /// Whether it is one of the paper's data sets, which `reproduce --pde all` runs.
  virtual bool in_paper() const { return true; }
  /// One line: the numerical scheme.
  virtual std::string_view scheme() const = 0;
  std::vector<Parameter> parameters() const { return parameters_; }
  /// The same problem with other parameters. Throws InvalidArgument for unknown names and for values that cannot work.
  virtual std::unique_ptr<Problem> with(const ParameterValues& changes) const = 0;
  /// Parameter values with which a sample costs some milliseconds, on a smaller grid or up to an earlier time: for
  /// tests. Empty where the defaults are fast.
  virtual ParameterValues quick() const { return {}; }

  virtual Space input() const = 0;
  virtual Space output() const = 0;
  /// What the solver watches. Every Solution has one departure for each.
  virtual std::vector<Invariant> invariants() const = 0;

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

  /// The game that is played with this problem's inputs unless somebody asks for another one: here every point plays,
  /// a hidden point is 0, and the query is the first output channel in the centre.
  virtual ScenarioRule default_rule() const { return {}; }

  /// The input at which nothing happens, for these parameters: a hidden point that holds it hides what the input adds
  /// to it. An evolution keeps it for all times. Where an equation keeps several states, it is the one from which the
  /// inputs depart, and none where the inputs have no such state.
  virtual Rest rest() const = 0;

  /// This problem as an evolution; null for a static problem.
  virtual const Evolution* evolution() const { return nullptr; }

 protected:
  double number(std::string_view name) const { return pde::number(parameters_, name); }
  const std::string& choice(std::string_view name) const { return pde::choice(parameters_, name); }
  /// Throw InvalidArgument, starting with the problem's name, unless each of the named parameters is more than 0, or 0
  /// and more.
  void require_positive(std::initializer_list<const char*> names) const;
  void require_not_negative(std::initializer_list<const char*> names) const;
  /// The parameter `points`, per axis of the native grid. Throws InvalidArgument unless it is a whole number from 8 to
  /// `most`.
  int grid_points(int most) const;

 private:
  std::vector<Parameter> parameters_;
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
