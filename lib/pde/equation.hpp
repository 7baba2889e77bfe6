#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/domain.hpp"
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

/// A law of the equation that the solver watches while it works.
struct Invariant {
  std::string name;
  double limit = 0;    ///< the largest departure that a sample of a data set may have; 0 is perfect
  std::string remedy;  ///< what to do about a larger departure, as a sentence: "Use a smaller dt."

  /// False for NaN.
  bool allows(double departure) const { return departure <= limit; }
};

/// A state of the input that the equation keeps, the same at every point; or the reason why there is none.
struct Rest {
  std::vector<double> state;  ///< a number for each channel of the input; empty where there is none
  std::string reason;         ///< why there is none, as a clause: "an input is a coefficient and does not evolve"

  explicit operator bool() const { return !state.empty(); }
};

/// What data are made of, whatever a sample is: parameters, a scheme, and what is known of both. Either a Problem,
/// whose samples are fields on one grid, or Trajectories, whose samples are windows of a flow on a mesh of its own.
class Equation {
 public:
  explicit Equation(std::vector<Parameter> parameters) : parameters_(std::move(parameters)) {}
  virtual ~Equation() = default;
  /// Registry key.
  virtual std::string_view name() const = 0;
  /// One line: the equation and its domain. One that is not in the paper says so here.
  virtual std::string_view summary() const = 0;
  /// Whether it is one of the paper's data sets, which `reproduce --pde all` runs.
  virtual bool in_paper() const { return true; }
  /// One line: the numerical scheme.
  virtual std::string_view scheme() const = 0;
  std::vector<Parameter> parameters() const { return parameters_; }
  /// Parameter values with which a sample costs some milliseconds, on a smaller grid or up to an earlier time: for
  /// tests. Empty where the defaults are fast.
  virtual ParameterValues quick() const { return {}; }
  /// What the solver watches. Every solution has one departure for each.
  virtual std::vector<Invariant> invariants() const = 0;

  /// The game that is played with the inputs unless somebody asks for another one: here every point plays, a hidden
  /// point is 0, and the query is the first output channel in the centre.
  virtual ScenarioRule default_rule() const { return {}; }

  /// The input at which nothing happens, for these parameters: a hidden point that holds it hides what the input adds
  /// to it. An evolution keeps it for all times. Where an equation keeps several states, it is the one from which the
  /// inputs depart, and none where the inputs have no such state.
  virtual Rest rest() const = 0;

 protected:
  double number(std::string_view name) const { return pde::number(parameters_, name); }
  const std::string& choice(std::string_view name) const { return pde::choice(parameters_, name); }
  /// Throw InvalidArgument, starting with the name, unless each of the named parameters is more than 0, or 0 and more.
  void require_positive(std::initializer_list<const char*> names) const;
  void require_not_negative(std::initializer_list<const char*> names) const;
  /// The parameter `points`, per axis of the native grid. Throws InvalidArgument unless it is a whole number from 8 to
  /// `most`.
  int grid_points(int most) const;

 private:
  std::vector<Parameter> parameters_;
};

}  // namespace opshap::pde
