#include "peers/plugin.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <system_error>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/strict_json.hpp"
#include "core/toml_text.hpp"

namespace opshap::peers {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// From the folder in which this program was started.
fs::path whole_path(const fs::path& path) {
  std::error_code failure;
  const fs::path whole = fs::absolute(path, failure);
  return failure ? path : whole;
}

constexpr std::array<std::pair<const char*, bool Guarantees::*>, 8> flags = {{
    {"exact_on_additive", &Guarantees::exact_on_additive},
    {"exact_on_two_additive", &Guarantees::exact_on_two_additive},
    {"zero_for_null_player", &Guarantees::zero_for_null_player},
    {"zero_on_even", &Guarantees::zero_on_even},
    {"same_on_dual", &Guarantees::same_on_dual},
    {"linear", &Guarantees::linear},
    {"exact_at_full_budget", &Guarantees::exact_at_full_budget},
    {"learns", &Guarantees::learns},
}};

/// Words of a key that may be left out.
std::vector<std::string> words_under(StrictObject& table, const std::string& key) {
  return table.has(key) ? table.list<std::string>(key) : std::vector<std::string>();
}

/// The table under a key that may be left out.
StrictObject table_under(StrictObject& table, const std::string& key) {
  static const Json nothing = Json::object();
  return table.has(key) ? table.object(key) : StrictObject(nothing, table.voice(), key + ".");
}

Role read_role(StrictObject& table) {
  if (!table.has("role")) return Role::estimator;
  const std::string word = table.word("role", {"estimator", "game", "operator"});
  return word == "game" ? Role::game : word == "operator" ? Role::op : Role::estimator;
}

std::vector<Need> read_needs(StrictObject& table) {
  std::vector<Need> needs;
  for (const std::string& word : words_under(table, "needs")) {
    if (word != "values" && word != "gradients") table.refuse("needs=" + word, "is neither values nor gradients");
    needs.push_back(word == "values" ? Need::values : Need::gradients);
  }
  return needs.empty() ? std::vector<Need>{Need::values} : needs;
}

std::map<std::string, std::string> read_environment(StrictObject table) {
  std::map<std::string, std::string> variables;
  for (const std::string& name : table.keys()) variables.emplace(name, table.get<std::string>(name));
  return variables;
}

std::string read_parameters(StrictObject table) {
  const Json object = table.rest();
  for (const auto& [name, value] : object.items())
    if (value.is_structured()) table.refuse(name, "must be a number, a text or a boolean");
  return object.dump();
}

double seconds(StrictObject& table, const std::string& key, double otherwise) {
  const double value = table.get(key, otherwise);
  constexpr double most = 1e7;  // a third of a year
  if (!(value > 0 && value <= most)) table.refuse(message(key, "=", value), "must be a number of seconds above 0");
  return value;
}

Limits read_limits(StrictObject table) {
  constexpr double gib = 1 << 30;
  Limits limits;
  limits.task_seconds = seconds(table, "seconds", limits.task_seconds);
  limits.start_seconds = seconds(table, "start_seconds", limits.start_seconds);
  const double machine =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / gib;
  limits.memory_gib = table.get("memory_gib", machine);
  if (!(limits.memory_gib >= 0 && limits.memory_gib <= 1e6))
    table.refuse(message("memory_gib=", limits.memory_gib), "must be 0 (no limit) or more");
  table.finish();
  return limits;
}

std::vector<fs::path> read_readable(StrictObject table, const fs::path& folder) {
  std::vector<fs::path> all;
  for (const std::string& path : words_under(table, "read")) all.push_back((folder / path).lexically_normal());
  table.finish();
  return all;
}

void read_claims(StrictObject table, Plugin& plugin) {
  Guarantees& claims = plugin.claims;
  claims = {.access = plugin.needs_only_values() ? Access::values : Access::gradient,
            .bias = Bias::lasting,
            .efficiency = Efficiency::none};
  for (const auto& [name, flag] : flags) claims.*flag = table.get(name, false);
  if (table.get("unbiased", false)) claims.bias = Bias::none;
  if (table.get("efficient", false)) claims.efficiency = Efficiency::exact;
  plugin.stochastic = table.get("stochastic", true);
  table.finish();
}

/// The files that decide what the program does. Left out are folders of caches and what begins with a dot.
std::vector<fs::path> files_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  auto entry = fs::recursive_directory_iterator(folder, failure);
  while (!failure && entry != fs::recursive_directory_iterator()) {
    const std::string name = entry->path().filename();
    std::error_code unknown;  // of a circle of links, which is no file
    if (name.starts_with('.') || name == "__pycache__") {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(unknown)) {
      files.push_back(entry->path());
    }
    entry.increment(failure);
  }
  require<DataError>(!failure, "peer: folder=", folder.string(), " (cannot be read: ", failure.message(),
                     "). Remove what cannot be read.");
  std::sort(files.begin(), files.end());
  return files;
}

std::string checksum_of(const fs::path& folder) {
  Xxh64 sum;
  for (const fs::path& file : files_in(folder)) {
    const std::string name = file.lexically_relative(folder).string();
    sum.add(std::as_bytes(std::span(name.c_str(), name.size() + 1)));
    read_file_in_pieces(file, [&sum](std::span<const std::byte> piece) { sum.add(piece); });
  }
  return sum.digits();
}

/// Whether a plugin may be called that: 1 to 64 of a-z, 0-9, _ and -.
bool is_plugin_name(std::string_view text) {
  const auto allowed = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), allowed);
}

}  // namespace

Plugin read_plugin(const fs::path& folder) {
  const fs::path file = folder / "plugin.toml";
  require<DataError>(is_there(file), "peer: folder=", folder.string(),
                     " (has no plugin.toml). Make one by `opshap peer new NAME`.");
  std::map<std::string, int, std::less<>> lines;
  const Json settings = parse_toml(read_file(file), "peer", file.string(), lines);
  StrictObject::Voice voice{.who = "peer: plugin.toml ", .unknown = "not a key of plugin.toml", .of_a_file = true};
  for (const auto& [key, line] : lines) voice.places.emplace(key, message(file.string(), ", line ", line));
  StrictObject table(settings, std::move(voice));
  Plugin plugin{.folder = whole_path(folder),
                .name = table.get("name", std::string()),
                .version = table.get("version", std::string()),
                .citation = table.get("citation", std::string()),
                .command = words_under(table, "command"),
                .role = read_role(table),
                .needs = read_needs(table),
                .threads = table.has("threads") ? table.whole("threads", 1, 4096) : 1,
                .environment = read_environment(table_under(table, "env")),
                .parameters = read_parameters(table_under(table, "parameters")),
                .limits = read_limits(table_under(table, "limits")),
                .readable = read_readable(table_under(table, "sandbox"), whole_path(folder)),
                .claims = {},
                .checksum = checksum_of(folder)};
  if (!is_plugin_name(plugin.name)) table.refuse("name", "must be 1 to 64 of a-z, 0-9, _ and -");
  if (plugin.command.empty() || plugin.command.front().empty())
    table.refuse("command", "is missing: a program and its arguments, as an array of texts");
  read_claims(table_under(table, "claims"), plugin);
  table.finish();
  return plugin;
}

const char* to_string(Role role) { return role == Role::game ? "game" : role == Role::op ? "operator" : "estimator"; }

const char* to_string(Need need) { return need == Need::values ? "values" : "gradients"; }

std::map<std::string, std::string> environment_of(const Plugin& plugin) {
  std::string needs;
  for (const Need need : plugin.needs) needs += std::string(needs.empty() ? "" : ",") + to_string(need);
  std::map<std::string, std::string> variables = {{"LANG", "C.UTF-8"},          {"OPSHAP_FD_IN", "3"},
                                                  {"OPSHAP_FD_OUT", "4"},       {"OPSHAP_PEER_NAME", plugin.name},
                                                  {"OPSHAP_PEER_NEEDS", needs}, {"PYTHONDONTWRITEBYTECODE", "1"},
                                                  {"PYTHONUNBUFFERED", "1"}};
  for (const char* name : {"PATH", "HOME", "TMPDIR"}) {
    if (const char* value = std::getenv(name); value != nullptr) variables.emplace(name, value);
  }
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"})
    variables.emplace(name, std::to_string(plugin.threads));
  for (const auto& [name, value] : plugin.environment) variables.insert_or_assign(name, value);
  return variables;
}

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
  std::string_view language, path, text;
};

/// Those of a language stand together.
const std::vector<TemplateFile>& templates() {
  static const std::vector<TemplateFile> all = {{"python", "plugin.toml", embedded::python_plugin},
                                                {"python", "estimator.py", embedded::python_estimator},
                                                {"python", "opshap_peer/__init__.py", embedded::package_init},
                                                {"python", "opshap_peer/frames.py", embedded::package_frames},
                                                {"python", "opshap_peer/estimator.py", embedded::package_estimator},
                                                {"python", "opshap_peer/questions.py", embedded::package_questions},
                                                {"python", "opshap_peer/game.py", embedded::package_game},
                                                {"python", "opshap_peer/operator.py", embedded::package_operator},
                                                {"c++", "plugin.toml", embedded::cpp_plugin},
                                                {"c++", "run", embedded::cpp_run},
                                                {"c++", "opshap_peer.hpp", embedded::cpp_header},
                                                {"c++", "estimator.cpp", embedded::cpp_estimator},
                                                {"r", "plugin.toml", embedded::r_plugin},
                                                {"r", "opshap_peer.R", embedded::r_package},
                                                {"r", "estimator.R", embedded::r_estimator}};
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
  for (const TemplateFile& file : templates()) {
    if (names.empty() || names.back() != file.language) names.emplace_back(file.language);
  }
  return names;
}

void write_template(std::string_view language, const std::filesystem::path& folder) {
  require(std::ranges::count(templates(), language, &TemplateFile::language) > 0, "peer: --lang=", language,
          " (has no template).", suggestion(language, template_languages()), " See `opshap peer new --help`.");
  const std::string name = folder.filename().string();
  require(is_plugin_name(name), "peer: name=", name, " (must be 1 to 64 of a-z, 0-9, _ and -). Choose another one.");
  require(!is_there(folder), "peer: folder=", folder.string(), " (is there already). Choose another one.");
  for (const TemplateFile& file : templates()) {
    if (file.language != language) continue;
    const std::string text = replaced(std::string(file.text), "{{name}}", name);
    write_file(folder / file.path, replaced(text, "{{function}}", function_of(name)));
  }
}

}  // namespace opshap::peers
