#include "cli/resolution_option.hpp"

#include <CLI/CLI.hpp>

namespace opshap::cli {

CLI::Option* add_resolutions(CLI::App& command, std::vector<Resolution>& resolutions, const std::string& meaning) {
  const auto read = [&resolutions](const std::vector<std::string>& texts) {
    resolutions.clear();
    for (const std::string& text : texts) resolutions.push_back(Resolution::parse("--resolutions", text));
  };
  return command.add_option_function<std::vector<std::string>>("--resolutions", read, meaning)->delimiter(',');
}

CLI::Option* add_resolution(CLI::App& command, const std::string& name, Resolution& resolution,
                            const std::string& meaning) {
  const auto read = [&resolution, name](const std::string& text) { resolution = Resolution::parse(name, text); };
  return command.add_option_function<std::string>(name, read, meaning);
}

}  // namespace opshap::cli
