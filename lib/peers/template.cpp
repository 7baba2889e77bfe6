#include "peers/template.hpp"

#include <algorithm>
#include <cctype>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "peers/plugin.hpp"

namespace opshap::peers {

// Made by CMake of the files in lib/peers/templates and python/opshap_peer.
namespace embedded {
extern const std::string_view python_plugin, python_estimator;
extern const std::string_view package_init, package_frames, package_estimator, package_questions, package_game,
    package_operator;
extern const std::string_view cpp_plugin, cpp_run, cpp_header, cpp_estimator;
extern const std::string_view r_plugin, r_package, r_estimator;
}  // namespace embedded

namespace {

struct TemplateFile {
  std::string_view path, text;
};

struct Template {
  std::string_view language;
  std::vector<TemplateFile> files;
};

const std::vector<Template>& templates() {
  static const std::vector<Template> all = {{"python",
                                             {{"plugin.toml", embedded::python_plugin},
                                              {"estimator.py", embedded::python_estimator},
                                              {"opshap_peer/__init__.py", embedded::package_init},
                                              {"opshap_peer/frames.py", embedded::package_frames},
                                              {"opshap_peer/estimator.py", embedded::package_estimator},
                                              {"opshap_peer/questions.py", embedded::package_questions},
                                              {"opshap_peer/game.py", embedded::package_game},
                                              {"opshap_peer/operator.py", embedded::package_operator}}},
                                            {"c++",
                                             {{"plugin.toml", embedded::cpp_plugin},
                                              {"run", embedded::cpp_run},
                                              {"opshap_peer.hpp", embedded::cpp_header},
                                              {"estimator.cpp", embedded::cpp_estimator}}},
                                            {"r",
                                             {{"plugin.toml", embedded::r_plugin},
                                              {"opshap_peer.R", embedded::r_package},
                                              {"estimator.R", embedded::r_estimator}}}};
  return all;
}

std::string replaced(std::string text, std::string_view mark, std::string_view by) {
  for (std::size_t place = 0; (place = text.find(mark, place)) != std::string::npos; place += by.size())
    text.replace(place, mark.size(), by);
  return text;
}

/// A name that may stand for a function in any language.
std::string function_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return std::isdigit(static_cast<unsigned char>(name.front())) != 0 ? "shap_" + name : name;
}

}  // namespace

std::vector<std::string> template_languages() {
  std::vector<std::string> names;
  for (const Template& known : templates()) names.emplace_back(known.language);
  return names;
}

void write_template(std::string_view language, const std::filesystem::path& folder) {
  const auto found = std::find_if(templates().begin(), templates().end(),
                                  [language](const Template& known) { return known.language == language; });
  require(found != templates().end(), "peer: --lang=", language, " (has no template).",
          suggestion(language, template_languages()), " See `opshap peer new --help`.");
  const std::string name = folder.filename().string();
  require(is_plugin_name(name), "peer: name=", name, " (must be 1 to 64 of a-z, 0-9, _ and -). Choose another one.");
  require(!is_there(folder), "peer: folder=", folder.string(), " (is there already). Choose another one.");
  for (const TemplateFile& file : found->files) {
    const std::string text = replaced(std::string(file.text), "{{name}}", name);
    write_file(folder / file.path, replaced(text, "{{function}}", function_of(name)));
  }
}

}  // namespace opshap::peers
