#include "cli/completion.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <vector>

#include "cli/help.hpp"
#include "core/error.hpp"

namespace opshap::cli {

namespace {

using Words = std::vector<std::string>;

std::string joined(const Words& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

/// One line in single quotes, as all three shells read them; fish alone knows backslashes there.
std::string quoted(const std::string& text, bool fish = false) {
  std::string inside;
  for (const char letter : text) {
    if (letter == '\'') {
      inside += fish ? "\\'" : "'\\''";
    } else if (letter == '\\' && fish) {
      inside += "\\\\";
    } else {
      inside += letter == '\n' ? ' ' : letter;
    }
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

}  // namespace opshap::cli
