#include "cli/man_page.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "cli/help.hpp"
#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap::cli {

namespace {

/// Text that roff takes as it is. Hyphens are those of a keyboard, so that options can be copied.
std::string escaped(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char letter : text) {
    if (begins && (letter == '.' || letter == '\'')) out += "\\&";
    begins = letter == '\n';
    if (letter == '\\') {
      out += "\\e";
    } else if (letter == '-') {
      out += "\\-";
    } else {
      out += letter;
    }
  }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + escaped(text) + "\\fR"; }

std::string names_of(const OptionRow& option) {
  std::string names;
  for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + bold(name);
  if (option.positional || !option.takes_value) return names;
  std::string value = "VALUE";
  if (!option.choices.empty() && option.choices.size() <= 5) {
    value.clear();
    for (const std::string& choice : option.choices) value += (value.empty() ? "" : "|") + choice;
  }
  return names + " \\fI" + escaped(value) + "\\fR";
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
  std::string name = page_name(path);
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
