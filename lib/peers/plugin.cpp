#include "peers/plugin.hpp"

#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "core/checksum.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"

namespace opshap::peers {

namespace fs = std::filesystem;

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

/// A table of plugin.toml that refuses what nobody asked for.
class Table {
 public:
  Table(const toml::table& table, std::string name, const fs::path& file)
      : table_(table), name_(std::move(name)), file_(file) {}

  /// Throws DataError when the value has another type.
  template <typename Value>
  std::optional<Value> value(const std::string& key) {
    known_.push_back(key);
    const toml::node* node = table_.get(key);
    if (node == nullptr) return std::nullopt;
    const std::optional<Value> found = node->value<Value>();
    if (!found) refuse(key, "has the wrong type");
    return found;
  }
  std::vector<std::string> texts(const std::string& key) {
    known_.push_back(key);
    std::vector<std::string> all;
    const toml::node* node = table_.get(key);
    if (node == nullptr) return all;
    if (!node->is_array()) refuse(key, "must be an array of texts");
    for (const toml::node& element : *node->as_array()) {
      if (!element.is_string()) refuse(key, "must be an array of texts");
      all.push_back(element.as_string()->get());
    }
    return all;
  }
  Table table(const std::string& key) {
    static const toml::table nothing;
    known_.push_back(key);
    const toml::node* node = table_.get(key);
    if (node != nullptr && !node->is_table()) refuse(key, "must be a table");
    return {node == nullptr ? nothing : *node->as_table(), name_ + key + ".", file_};
  }
  const toml::table& all() const { return table_; }

  /// Throws DataError for the first key that nobody asked for.
  void finish() const {
    for (const auto& [key, node] : table_) {
      if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
      throw DataError(message("peer: ", file_.string(), " line ", node.source().begin.line, " ", name_, key.str(),
                              " (not a key of plugin.toml).", suggestion(key.str(), known_)));
    }
  }
  [[noreturn]] void refuse(const std::string& key, const std::string& why) const {
    const toml::node* node = table_.get(key);
    throw DataError(message("peer: ", file_.string(),
                            node == nullptr ? "" : message(" line ", node->source().begin.line), " ", name_, key, " (",
                            why, "). Correct plugin.toml."));
  }

 private:
  const toml::table& table_;
  std::string name_;
  fs::path file_;
  std::vector<std::string> known_;
};

toml::table parsed_plugin(const fs::path& file) {
  try {
    return toml::parse(read_file(file), file.string());
  } catch (const toml::parse_error& error) {
    throw DataError(message("peer: ", file.string(), " line ", error.source().begin.line, " (", error.description(),
                            "). Correct the TOML."));
  }
}

Role read_role(Table& table) {
  const std::string word = table.value<std::string>("role").value_or("estimator");
  for (const Role role : {Role::estimator, Role::game, Role::op}) {
    if (word == to_string(role)) return role;
  }
  table.refuse("role", word + " is none of estimator, game and operator");
}

std::vector<Need> read_needs(Table& table) {
  std::vector<Need> needs;
  for (const std::string& word : table.texts("needs")) {
    if (word != "values" && word != "gradients") table.refuse("needs", word + " is neither values nor gradients");
    needs.push_back(word == "values" ? Need::values : Need::gradients);
  }
  return needs.empty() ? std::vector<Need>{Need::values} : needs;
}

std::map<std::string, std::string> read_environment(const Table& table) {
  std::map<std::string, std::string> variables;
  for (const auto& [key, node] : table.all()) {
    if (!node.is_string()) table.refuse(std::string(key.str()), "must be a text");
    variables.emplace(key.str(), node.as_string()->get());
  }
  return variables;
}

std::string read_parameters(const Table& table) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const auto& [key, node] : table.all()) {
    const std::string name(key.str());
    if (const auto* whole = node.as_integer()) {
      object[name] = whole->get();
    } else if (const auto* real = node.as_floating_point()) {
      object[name] = real->get();
    } else if (const auto* yes = node.as_boolean()) {
      object[name] = yes->get();
    } else if (const auto* text = node.as_string()) {
      object[name] = text->get();
    } else {
      table.refuse(name, "must be a number, a text or a boolean");
    }
  }
  return object.dump();
}

/// Separated by commas.
std::string comma_separated(const std::vector<Need>& needs) {
  std::string words;
  for (const Need need : needs) words += std::string(words.empty() ? "" : ",") + to_string(need);
  return words;
}

double seconds(Table& table, const std::string& key, double otherwise) {
  const double value = table.value<double>(key).value_or(otherwise);
  constexpr double most = 1e7;  // a third of a year
  if (!(value > 0 && value <= most)) table.refuse(key, "must be a number of seconds above 0");
  return value;
}

Limits read_limits(Table table) {
  constexpr double gib = 1 << 30;
  Limits limits;
  limits.task_seconds = seconds(table, "seconds", limits.task_seconds);
  limits.start_seconds = seconds(table, "start_seconds", limits.start_seconds);
  const double machine =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / gib;
  limits.memory_gib = table.value<double>("memory_gib").value_or(machine);
  if (!(limits.memory_gib >= 0 && limits.memory_gib <= 1e6)) table.refuse("memory_gib", "must be 0 (no limit) or more");
  table.finish();
  return limits;
}

std::vector<fs::path> read_readable(Table table, const fs::path& folder) {
  std::vector<fs::path> all;
  for (const std::string& path : table.texts("read")) all.push_back((folder / path).lexically_normal());
  table.finish();
  return all;
}

void read_claims(Table table, Plugin& plugin) {
  Guarantees& claims = plugin.claims;
  claims = {.access = plugin.needs_only_values() ? Access::values : Access::gradient,
            .bias = Bias::lasting,
            .efficiency = Efficiency::none};
  for (const auto& [name, flag] : flags) claims.*flag = table.value<bool>(name).value_or(false);
  if (table.value<bool>("unbiased").value_or(false)) claims.bias = Bias::none;
  if (table.value<bool>("efficient").value_or(false)) claims.efficiency = Efficiency::exact;
  plugin.stochastic = table.value<bool>("stochastic").value_or(true);
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

}  // namespace

bool is_plugin_name(std::string_view text) {
  const auto allowed = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_' || letter == '-';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), allowed);
}

Plugin read_plugin(const fs::path& folder) {
  const fs::path file = folder / "plugin.toml";
  require<DataError>(is_there(file), "peer: folder=", folder.string(),
                     " (has no plugin.toml). Make one by `opshap peer new NAME`.");
  const toml::table toml = parsed_plugin(file);
  Table table(toml, "", file);
  Plugin plugin{
      .folder = whole_path(folder),
      .name = table.value<std::string>("name").value_or(""),
      .version = table.value<std::string>("version").value_or(""),
      .citation = table.value<std::string>("citation").value_or(""),
      .command = table.texts("command"),
      .role = read_role(table),
      .needs = read_needs(table),
      .threads = static_cast<int>(std::clamp<std::int64_t>(table.value<std::int64_t>("threads").value_or(1), 0, 4096)),
      .environment = read_environment(table.table("env")),
      .parameters = read_parameters(table.table("parameters")),
      .limits = read_limits(table.table("limits")),
      .readable = read_readable(table.table("sandbox"), whole_path(folder)),
      .claims = {},
      .checksum = checksum_of(folder)};
  if (!is_plugin_name(plugin.name)) table.refuse("name", "must be 1 to 64 of a-z, 0-9, _ and -");
  if (plugin.command.empty() || plugin.command.front().empty())
    table.refuse("command", "is missing: a program and its arguments, as an array of texts");
  if (plugin.threads < 1) table.refuse("threads", "must be 1 or more");
  read_claims(table.table("claims"), plugin);
  table.finish();
  return plugin;
}

const char* to_string(Role role) { return role == Role::game ? "game" : role == Role::op ? "operator" : "estimator"; }

const char* to_string(Need need) { return need == Need::values ? "values" : "gradients"; }

std::map<std::string, std::string> environment_of(const Plugin& plugin) {
  std::map<std::string, std::string> variables = {{"LANG", "C.UTF-8"},
                                                  {"OPSHAP_FD_IN", "3"},
                                                  {"OPSHAP_FD_OUT", "4"},
                                                  {"OPSHAP_PEER_NAME", plugin.name},
                                                  {"OPSHAP_PEER_NEEDS", comma_separated(plugin.needs)},
                                                  {"PYTHONDONTWRITEBYTECODE", "1"},
                                                  {"PYTHONUNBUFFERED", "1"}};
  for (const char* name : {"PATH", "HOME", "TMPDIR"}) {
    if (const char* value = std::getenv(name); value != nullptr) variables.emplace(name, value);
  }
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"})
    variables.emplace(name, std::to_string(plugin.threads));
  for (const auto& [name, value] : plugin.environment) variables.insert_or_assign(name, value);
  return variables;
}

}  // namespace opshap::peers
