#include "pde/problem.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap::pde {

std::vector<Parameter> changed(std::string_view who, std::vector<Parameter> parameters,
                               const ParameterValues& changes) {
  for (const auto& [name, value] : changes) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
    if (found == parameters.end()) {
      std::vector<std::string> names;
      for (const Parameter& parameter : parameters) names.push_back(parameter.name);
      throw InvalidArgument(message(who, ": parameter=", name, " (not one of its parameters). Did you mean ",
                                    nearest_name(name, names), "?"));
    }
    require(std::isfinite(value), who, ": ", name, "=", value, " (not a finite number). Give a number.");
    found->value = value;
  }
  return parameters;
}

ParameterValues parse_parameters(const std::vector<std::string>& settings) {
  ParameterValues values;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    require(equals != std::string::npos && equals > 0, "parameters: --set ", setting,
            " (no name=value). Write for example --set nu=0.02.");
    double value = 0;
    const char* end = setting.data() + setting.size();
    const auto [parsed, failure] = std::from_chars(setting.data() + equals + 1, end, value);
    require(failure == std::errc() && parsed == end, "parameters: --set ", setting,
            " (the value is not a number). Write for example --set nu=0.02.");
    require(values.emplace(setting.substr(0, equals), value).second, "parameters: --set ", setting,
            " (the name was given before). Give it once.");
  }
  return values;
}

}  // namespace opshap::pde
