#include "cli/help.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "cli/globals.hpp"
#include "core/error.hpp"
#include "core/names.hpp"

namespace opshap::cli {

namespace {

constexpr std::size_t column = 34, narrowest = 60, usual = 100;

/// Letters of a line.
std::size_t terminal_width() {
  const char* told = std::getenv("COLUMNS");
  if (const auto columns = told == nullptr ? std::nullopt : whole_number(told); columns)
    return std::clamp<std::size_t>(*columns, narrowest, 1000);
  winsize size{};
  if (isatty(STDOUT_FILENO) == 1 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<std::size_t>(size.ws_col, narrowest);
  return usual;
}

const std::map<std::string_view, std::vector<std::string_view>>& examples() {
  static const std::map<std::string_view, std::vector<std::string_view>> all = {
      {"attribute",
       {"opshap attribute --game game.json", "opshap attribute --operator fno.safetensors --input u.npy --query 512",
        "opshap attribute --game game.json --method permutation --budget 8n --out values.csv"}},
      {"reference", {"opshap reference --game game.json --relative-error 0.01 --certify attribution.json"}},
      {"compare",
       {"opshap compare --game unanimity_sum --players 16 --methods permutation,kernel_shap --budgets 4n,8n",
        "opshap compare --suite quick --methods permutation_antithetic,peer:my_shap --out board"}},
      {"reproduce", {"opshap reproduce --profile smoke", "opshap reproduce --profile desk --pde heat2d --dry-run"}},
      {"train explainer",
       {"opshap train explainer --operator fno.safetensors --inputs fields.npy --out explainer.safetensors"}},
      {"data generate", {"opshap data generate --pde burgers1d --samples 64 --out burgers.h5"}},
      {"data import npy",
       {"opshap data import npy --input inputs.npy --target targets.npy --periodic true --out waves.h5"}},
      {"pde solve", {"opshap pde solve burgers1d --initial u0.npy --time 0.5 --out u.npy"}},
      {"operator inspect", {"opshap operator inspect fno.safetensors --json"}},
      {"peer new", {"opshap peer new my_shap", "opshap peer check my_shap"}},
      {"list", {"opshap list estimators"}}};
  return all;
}

/// Beside the first column of a table.
std::string hanging(std::string_view text) { return wrapped(text, terminal_width() - column); }

class Help final : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override { return hanging(option->get_description()); }

  std::string make_subcommand(const CLI::App* sub) const override {
    std::stringstream out;
    CLI::detail::format_help(out, sub->get_display_name(true), hanging(sub->get_description()), get_column_width());
    return out.str();
  }

  std::string make_description(const CLI::App* app) const override {
    return wrapped(CLI::Formatter::make_description(app), terminal_width());
  }

  std::string make_usage(const CLI::App* app, std::string name) const override {
    return wrapped(CLI::Formatter::make_usage(app, std::move(name)), terminal_width());
  }

  std::string make_footer(const CLI::App* app) const override {
    const std::string path = command_path(*app);
    std::string text = CLI::Formatter::make_footer(app);
    if (const std::string shared = shared_options(path); !path.empty() && !shared.empty())
      text += wrapped(message("Options of every command that apply here (opshap --help explains them): ", shared),
                      terminal_width()) +
              '\n';
    const std::vector<std::string_view> lines = examples_of(path);
    if (!lines.empty()) text += "\nExamples:\n";
    for (const std::string_view line : lines) text += message("  ", line, '\n');
    return text;
  }
};

}  // namespace

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t used = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    if (text[begin] == '\n') {
      out += '\n';
      used = 0;
      ++begin;
      continue;
    }
    const std::size_t end = std::min(text.find_first_of(" \n", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (used > 0 && used + 1 + word.size() > width) {
      out += '\n';
      used = 0;
    }
    if (used > 0) out += ' ';
    out += word;
    used += (used > 0 ? 1 : 0) + word.size();
    begin = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return out;
}

std::string shared_options(std::string_view path) {
  for (const OptionUse& row : option_uses()) {
    if (row.command == path) return message(row.options, row.options.empty() ? "" : " ", "--threads -q -v");
  }
  return "";
}

std::vector<std::string_view> examples_of(std::string_view path) {
  const auto found = examples().find(path);
  return found == examples().end() ? std::vector<std::string_view>{} : found->second;
}

std::string command_path(const CLI::App& command) {
  std::string path;
  for (const CLI::App* app = &command; app->get_parent() != nullptr; app = app->get_parent())
    path = app->get_name() + (path.empty() ? "" : " " + path);
  return path;
}

void shape_help(CLI::App& app) {
  const auto help = std::make_shared<Help>();
  help->column_width(column);
  app.formatter(help);
}

}  // namespace opshap::cli
