#include "cli/command_table.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <sstream>

#include "cli/globals.hpp"
#include "cli/profile.hpp"
#include "core/error.hpp"
#include "core/names.hpp"
#include "estimators/registry.hpp"
#include "pde/registry.hpp"
#include "reporting/table.hpp"

namespace opshap::cli {

namespace {

/// Names that a registry has for the values of an option.
std::vector<std::string> registered(const std::string& option) {
  std::vector<std::string> names;
  if (option == "--method" || option == "--methods") {
    for (const auto& estimator : estimators::all()) names.emplace_back(estimator->name());
  } else if (option == "--pde") {
    return pde::names();
  } else if (option == "--profile") {
    return names_of(embedded_profiles());
  }
  return names;
}

/// "TEXT:{node,cell}" of CLI11.
std::vector<std::string> choices_in(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

OptionRow row_of(const CLI::Option& option) {
  OptionRow row{.takes_value = option.get_items_expected_max() > 0};
  for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
  row.positional = row.names.empty();
  if (row.positional) row.names = {option.get_name(true)};
  row.choices = choices_in(option.get_type_name());
  if (row.choices.empty()) row.choices = registered(row.names.front());
  row.meaning = option.get_description();
  return row;
}

}  // namespace

CommandTable table_of(const CLI::App& app) {
  CommandTable table{.name = app.get_name(), .summary = app.get_description(), .options = {}, .commands = {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) table.options.push_back(row_of(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); }))
    table.commands.push_back(table_of(*command));
  return table;
}

std::vector<std::pair<std::string, const CommandTable*>> all_commands(const CommandTable& table,
                                                                      const std::string& path) {
  std::vector<std::pair<std::string, const CommandTable*>> all = {{path, &table}};
  for (const CommandTable& command : table.commands)
    std::ranges::move(all_commands(command, path + (path.empty() ? "" : " ") + command.name), std::back_inserter(all));
  return all;
}

namespace {

using Words = std::vector<std::string>;

/// One line in single quotes, as all three shells read them; fish alone knows backslashes there.
std::string quoted(const std::string& text, bool fish = false) {
  std::string inside;
  for (const char letter : text) {
    if (letter == '\'' || (letter == '\\' && fish)) inside += fish ? "\\" : "'\\'";
    inside += letter == '\n' ? ' ' : letter;
  }
  return "'" + inside + "'";
}

/// The options of a command, and those of every command that apply to it.
std::vector<OptionRow> options_of(const CommandTable& app, const std::string& path, const CommandTable& command) {
  std::vector<OptionRow> options = command.options;
  std::istringstream shared(shared_options(path));
  for (std::string word; shared >> word;) {
    const auto found = std::ranges::find_if(
        app.options, [&](const OptionRow& option) { return std::ranges::count(option.names, word) > 0; });
    if (found != app.options.end() && !path.empty()) options.push_back(*found);
  }
  return options;
}

/// What may stand next after a command: its commands, its options, and the values of its positionals.
Words words_of(const CommandTable& command, const std::vector<OptionRow>& options) {
  Words words;
  for (const CommandTable& sub : command.commands) words.push_back(sub.name);
  for (const OptionRow& option : options) {
    const Words& more = option.positional ? option.choices : option.names;
    words.insert(words.end(), more.begin(), more.end());
  }
  return words;
}

std::string bash_function(const CommandTable& table) {
  Words paths;
  std::string words, values;
  for (const auto& [path, command] : all_commands(table)) {
    const std::vector<OptionRow> options = options_of(table, path, *command);
    if (!path.empty()) paths.push_back(quoted(path));
    words += message("    ", quoted(path), ") words=", quoted(joined(words_of(*command, options), " ")), " ;;\n");
    for (const OptionRow& option : options) {
      if (option.positional || !option.takes_value) continue;
      for (const std::string& name : option.names)
        values += message("    ", quoted(path + " " + name), ") words=", quoted(joined(option.choices, " ")),
                          option.choices.empty() ? "; files=1" : "", " ;;\n");
    }
  }
  return R"(_opshap() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} path= longer= words= files= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    longer="${path:+$path }${COMP_WORDS[i]}"
    case $longer in
      )" +
         joined(paths, "|") + R"() path=$longer ;;
    esac
  done
  case $path in
)" + words +
         R"(  esac
  case "$path $previous" in
)" + values +
         R"(  esac
  COMPREPLY=()
  if [ -z "$files" ]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
  if [ ${#COMPREPLY[@]} -eq 0 ]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
)";
}

}  // namespace

std::string bash_completion(const CommandTable& table) {
  return bash_function(table) + "complete -o filenames -F _opshap opshap\n";
}

std::string zsh_completion(const CommandTable& table) {
  return "autoload -U +X bashcompinit && bashcompinit\n" + bash_function(table) + "complete -F _opshap opshap\n";
}

std::string fish_completion(const CommandTable& table) {
  Words paths;
  std::string lines;
  for (const auto& [path, command] : all_commands(table)) {
    if (!path.empty()) paths.push_back(quoted(path, true));
    const std::string start =
        message("complete -c opshap -n ", quoted(message("test \"$(__opshap_path)\" = \"", path, "\""), true));
    for (const CommandTable& sub : command->commands)
      lines += message(start, " -f -a ", sub.name, " -d ", quoted(sub.summary, true), '\n');
    for (const OptionRow& option : options_of(table, path, *command)) {
      std::string line = start;
      if (option.positional) {
        if (option.choices.empty()) continue;
        line += " -f";
      } else {
        for (const std::string& name : option.names)
          line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        if (option.takes_value) line += option.choices.empty() ? " -r" : " -x";
      }
      if (!option.choices.empty()) line += " -a " + quoted(joined(option.choices, " "), true);
      lines += line + " -d " + quoted(option.meaning, true) + '\n';
    }
  }
  return "function __opshap_path\n"
         "  set -l path\n"
         "  for word in (commandline -opc)[2..-1]\n"
         "    set -l longer (string join ' ' $path $word)\n"
         "    contains -- $longer " +
         joined(paths, " ") +
         "; and set path $longer\n"
         "  end\n"
         "  echo $path\n"
         "end\n" +
         lines;
}

namespace {

/// Text that roff takes as it is. Hyphens are those of a keyboard, so that options can be copied.
std::string escaped(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char letter : text) {
    if (begins && (letter == '.' || letter == '\'')) out += "\\&";
    begins = letter == '\n';
    out += letter == '\\' ? "\\e" : letter == '-' ? "\\-" : std::string(1, letter);
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }

std::string names_of(const OptionRow& option) {
  const std::string names = reporting::listing(option.names, bold);
  if (option.positional || !option.takes_value) return names;
  const bool few = !option.choices.empty() && option.choices.size() <= 5;
  return names + " \\fI" + escaped(few ? joined(option.choices, "|") : "VALUE") + "\\fR";
}

std::string entry(const std::string& head, const std::string& text) {
  return ".TP\n" + head + "\n" + (text.empty() ? "\\&" : escaped(text)) + "\n";
}

/// The rows of the options of every command that this one uses, in the order of the application.
std::string shared_entries(const CommandTable& table, const std::string& path) {
  const std::string shared = " " + shared_options(path) + " ";
  std::string text;
  for (const OptionRow& option : table.options) {
    const auto used = [&](const std::string& name) { return shared.find(" " + name + " ") != std::string::npos; };
    if (std::ranges::any_of(option.names, used)) text += entry(names_of(option), option.meaning);
  }
  return text;
}

const CommandTable& find(const CommandTable& table, const std::string& path) {
  std::vector<std::string> paths;
  for (const auto& [known, command] : all_commands(table)) {
    if (known == path) return *command;
    if (!known.empty()) paths.push_back(known);
  }
  throw InvalidArgument(
      message("man: command=", path, " (not one of opshap).", suggestion(path, paths), " `opshap --help` lists all."));
}

}  // namespace

std::string page_name(const std::string& path) {
  std::string name = path.empty() ? "opshap" : "opshap-" + path;
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::string man_page(const CommandTable& table, const std::string& path) {
  const CommandTable& command = find(table, path);
  const std::string call = "opshap" + (path.empty() ? "" : " " + path);
  const std::string name = page_name(path);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  });
  std::string text = ".TH \"" + escaped(title) + "\" 1 \"\" \"opshap\" \"opshap\"\n.SH NAME\n" + escaped(name) +
                     " \\- " + escaped(command.summary) + "\n.SH SYNOPSIS\n" + bold(call);
  if (!command.commands.empty()) text += " \\fICOMMAND\\fR";
  for (const OptionRow& option : command.options)
    if (option.positional) text += " \\fI" + escaped(option.names.front()) + "\\fR";
  text += " [\\fIOPTIONS\\fR]\n";
  if (!command.commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const CommandTable& sub : command.commands) text += entry(bold(sub.name), sub.summary);
  }
  if (!command.options.empty()) {
    text += ".SH OPTIONS\n";
    for (const OptionRow& option : command.options) text += entry(names_of(option), option.meaning);
  }
  if (const std::string shared = path.empty() ? "" : shared_entries(table, path); !shared.empty())
    text += ".SH OPTIONS OF EVERY COMMAND THAT APPLY HERE\n" + shared;
  if (const auto examples = examples_of(path); !examples.empty()) {
    text += ".SH EXAMPLES\n.nf\n";
    for (const std::string_view example : examples) text += escaped(std::string(example)) + "\n";
    text += ".fi\n";
  }
  return text +
         ".SH EXIT STATUS\n0 ok, 1 a check failed, 2 usage, 3 missing or corrupt input, 4 unfit environment, 5 an "
         "external program failed, 6 stopped and resumable, 7 bug.\n";
}

}  // namespace opshap::cli
