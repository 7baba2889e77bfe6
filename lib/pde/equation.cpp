#include "pde/equation.hpp"

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap::pde {

namespace {

std::vector<std::string> names_of(const std::vector<Parameter>& parameters) {
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters) names.push_back(parameter.name);
  return names;
}

const Parameter& find(const std::vector<Parameter>& parameters, std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &Parameter::name);
  require(found != parameters.end(), "pde: parameter=", name, " (not one of the parameters).",
          suggestion(name, names_of(parameters)), " There are ", joined(names_of(parameters)), ".");
  return *found;
}

double settled(std::string_view who, const Parameter& parameter, const ParameterValue& wanted) {
  const auto* number = std::get_if<double>(&wanted);
  const std::string text = number != nullptr ? message(*number) : std::get<std::string>(wanted);
  if (parameter.choices.empty()) {
    require(number != nullptr && std::isfinite(*number), who, ": ", parameter.name, "=", text,
            " (not a finite number). Give a number.");
    return *number;
  }
  const auto found = std::find(parameter.choices.begin(), parameter.choices.end(), text);
  require(number == nullptr && found != parameter.choices.end(), who, ": ", parameter.name, "=", text,
          " (not one of its choices). Give one of ", joined(parameter.choices), ".");
  return static_cast<double>(found - parameter.choices.begin());
}

}  // namespace

std::vector<Parameter> changed(std::string_view who, std::vector<Parameter> parameters,
                               const ParameterValues& changes) {
  for (const auto& [name, value] : changes) {
    const auto found = std::ranges::find(parameters, name, &Parameter::name);
    require(found != parameters.end(), who, ": parameter=", name, " (not one of its parameters).",
            suggestion(name, names_of(parameters)), " It has ", joined(names_of(parameters)), ".");
    found->value = settled(who, *found, value);
  }
  return parameters;
}

ParameterValues values(const std::vector<Parameter>& parameters) {
  ParameterValues values;
  for (const auto& [name, value, meaning, choices] : parameters)
    values.emplace(name, choices.empty() ? ParameterValue(value) : choice(parameters, name));
  return values;
}

double number(const std::vector<Parameter>& parameters, std::string_view name) { return find(parameters, name).value; }

const std::string& choice(const std::vector<Parameter>& parameters, std::string_view name) {
  const Parameter& parameter = find(parameters, name);
  return parameter.choices.at(static_cast<std::size_t>(parameter.value));
}

void Equation::require_positive(std::initializer_list<const char*> names) const {
  for (const char* key : names)
    require(number(key) > 0, name(), ": ", key, "=", number(key), " (must be positive). Give more than 0.");
}

void Equation::require_not_negative(std::initializer_list<const char*> names) const {
  for (const char* key : names)
    require(number(key) >= 0, name(), ": ", key, "=", number(key), " (must not be negative). Give 0 or more.");
}

int Equation::grid_points(int most) const {
  const double points = number("points");
  require(points >= 8 && points <= most && points == std::floor(points), name(), ": points=", points,
          " (an axis of the native grid has 8 to ", most, "). Give such a whole number.");
  return static_cast<int>(points);
}

ParameterValues parse_parameters(const std::vector<std::string>& settings) {
  ParameterValues values;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    require(equals != std::string::npos && equals > 0 && equals + 1 < setting.size(), "parameters: --set ", setting,
            " (no name=value). Write for example --set nu=0.02.");
    const std::string text = setting.substr(equals + 1);
    const auto number = number_of<double>(text);
    const ParameterValue value = number ? ParameterValue(*number) : text;
    require(values.emplace(setting.substr(0, equals), value).second, "parameters: --set ", setting,
            " (the name was given before). Give it once.");
  }
  return values;
}

}  // namespace opshap::pde
