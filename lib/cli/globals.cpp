#include "cli/globals.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/kept_program.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "peers/frame.hpp"
#include "peers/process.hpp"

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
  const auto row = std::ranges::find(option_uses(), path, &OptionUse::command);
  if (row == option_uses().end()) return "";
  return message(row->options, row->options.empty() ? "" : " ", "--threads -q -v");
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

namespace {

int fail(int code, const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return code;
}

/// The subcommand that was called.
const CLI::App& called(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : called(*chosen.front());
}

/// CLI11 says only that an argument was not expected; for a mistyped subcommand the nearest one is named.
std::string parse_message(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  const bool no_subcommand = app.get_subcommands().empty();
  for (int i = 1; no_subcommand && i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    return message("opshap: subcommand=", argv[i], " (not one of its commands).", suggestion(argv[i], names),
                   " `opshap --help` lists all.");
  }
  const CLI::App& command = called(app);
  std::vector<std::string> options;
  for (const CLI::App* of : {&command, &app})
    for (const CLI::Option* option : of->get_options())
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (!word.starts_with("--") || word == "--" || std::ranges::find(options, word) != options.end()) continue;
    if (const std::string near = suggestion(word, options); !near.empty())
      return message("opshap: ", word, " (no option of `opshap ", command_path(command), "`).", near);
  }
  return message("opshap: ", error.what(), " (wrong usage). See `opshap ",
                 no_subcommand ? "" : command_path(command) + " ", "--help`.");
}

/// Integers may be written as people write them: 1e3, 2^7. A number that an option cannot hold is refused.
void take_whole_numbers(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    if (!type.starts_with("INT") && !type.starts_with("UINT")) continue;
    const bool negative = type.starts_with("INT");
    option->transform(CLI::Validator(
        [name = option->get_name(), negative](std::string& text) {
          const bool minus = negative && text.starts_with('-');
          const auto value = whole_number(std::string_view(text).substr(minus ? 1 : 0));
          const std::uint64_t most = negative ? std::uint64_t{1} << 63 : std::numeric_limits<std::uint64_t>::max();
          require(value && *value <= most - (negative && !minus ? 1 : 0), "opshap: ", name, "=", text,
                  " (not a whole number", negative ? "" : " from 0 to 2^64 - 1", "). Write it as 1000, 1e3 or 2^10.");
          text = (minus ? "-" : "") + std::to_string(*value);
          return std::string();
        },
        "", "whole number"));
  }
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) take_whole_numbers(*sub);
}

}  // namespace

std::string precision_name(const Globals& globals) {
  if (!globals.precision.empty()) return globals.precision;
  return globals.device == "emulated" ? "tf32x3" : "float32";
}

void add_globals(CLI::App& app, Globals& globals) {
  shape_help(app);
  app.fallthrough();
  app.require_subcommand(1);
  app.add_option("--config", globals.config, "TOML file whose values override the profile's");
  app.add_option("--seed", globals.seed, "Seed of all random streams")->capture_default_str();
  app.add_option_function<int>(
      "--threads", [](int count) { set_threads(count); }, "Threads (default: the CPUs this process may use)");
  app.add_option("--device", globals.device,
                 "cpu, or cuda:0 with a CUDA build of LibTorch; emulated has the kernels of GPUs on the CPU, slowly")
      ->capture_default_str();
  app.add_option(
         "--precision", globals.precision,
         "What coalitions are computed in: float32, or by a GPU's kernels with products in tf32x3, tf32 or bf16")
      ->check(CLI::IsMember({"float32", "tf32x3", "tf32", "bf16"}));
  app.add_flag("!--no-engine", globals.engine, "Evaluate coalitions of operators by LibTorch, not by the engine");
  app.add_option("--out", globals.out, "Where results go");
  app.add_flag_callback(
      "--sandbox",
      [] {
        peers::set_sandbox(true);
        keep_code_of_files_out();
      },
      "Start programs (peer:FOLDER) and TorchScript archives by bubblewrap, which hides the machine from them");
  app.add_flag_callback(
      "--trust", [] { trust_code_of_files(); }, "No note when a file that is code, a TorchScript archive, is run");
  app.add_flag("--json", globals.json, "Results as JSON on standard output");
  app.add_flag_callback(
      "-q,--quiet", [] { set_verbosity(Verbosity::quiet); }, "No progress");
  app.add_flag_callback(
      "-v,--verbose", [] { set_verbosity(Verbosity::verbose); }, "More log");
}

int run(CLI::App& app, Globals& globals, int argc, char** argv) {
  stop_on_signals();
  return answer(app, globals, argc, argv);
}

int answer(CLI::App& app, Globals& globals, int argc, char** argv) {
  globals.arguments.assign(argv, argv + argc);
  take_whole_numbers(app);
  app.parse_complete_callback([&app] { require_used_options(app); });
  try {
    app.parse(argc, argv);
    std::cout.flush();
    return std::cout.good() ? 0 : fail(4, "opshap: stdout (could not be written). Check where it goes.");
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return fail(2, parse_message(app, error, argc, argv));
  } catch (const CheckFailed&) {
    std::cout.flush();
    return 1;
  } catch (const InvalidArgument& error) {
    return fail(2, error.what());
  } catch (const NumericalError& error) {
    return fail(3, error.what());
  } catch (const DataError& error) {
    return fail(3, error.what());
  } catch (const EnvironmentError& error) {
    return fail(4, error.what());
  } catch (const peers::Failure& error) {
    return fail(5, error.what());
  } catch (const Stopped& error) {
    return fail(6, error.what());
  } catch (const std::bad_alloc&) {
    return fail(4,
                "opshap: memory (the system has no more). Use fewer players, a smaller budget or a smaller profile.");
  } catch (const std::system_error& error) {
    // Of a file or folder, or of a thread: the system has refused it, so it is no bug of ours.
    const std::string advice = advice_on_shortage(error.code().value());
    return advice.empty() ? fail(3, message("opshap: ", error.what(), " (the system refuses it). Check the path."))
                          : fail(4, message("opshap: ", error.what(), " (the system has no more). ", advice));
  } catch (const std::exception& error) {
    return fail(7, message("opshap: ", error.what(), " (this is a bug). Please report it with the command line."));
  }
}

nlohmann::ordered_json json_number(double value, const std::string& why) {
  if (std::isfinite(value)) return value;
  return {{"value", nullptr}, {"why", why}};
}

nlohmann::ordered_json json_number(const Measured& number) {
  return json_number(number.value.value_or(std::nan("")), number.why);
}

void print_path(const Globals& globals, const char* key, const std::filesystem::path& path) {
  globals.json ? print_json({{key, path.string()}}) : void(std::cout << path.string() << '\n');
  std::cout.flush();
}

void print_json(const nlohmann::ordered_json& object) { std::cout << object.dump() << '\n'; }

namespace {

constexpr std::string_view checked[] = {"--config", "--seed", "--device",  "--precision", "--no-engine",
                                        "--out",    "--json", "--sandbox", "--trust"};

bool uses(const OptionUse& row, std::string_view option) {
  const std::string padded = message(' ', row.options, ' ');
  return padded.find(message(' ', option, ' ')) != std::string::npos;
}

/// "attribute --operator" as the command and the option.
std::pair<std::string_view, std::string_view> parts(std::string_view command) {
  const std::size_t dashes = command.find(" --");
  return dashes == std::string_view::npos ? std::pair(command, std::string_view())
                                          : std::pair(command.substr(0, dashes), command.substr(dashes + 1));
}

bool given(const CLI::App& command, std::string_view option) {
  const CLI::Option* known = command.get_option_no_throw(std::string(option));
  return known != nullptr && known->count() > 0;
}

}  // namespace

const std::vector<OptionUse>& option_uses() {
  static const std::vector<OptionUse> all = {
      {"doctor", "--out --device --json"},
      {"list", "--json"},
      {"data generate", "--out --seed --json"},
      {"data generate --profile", "--out --seed --config --json"},
      {"data import pdebench", "--out --json"},
      {"data import npy", "--out --json"},
      {"data info", "--json"},
      {"data verify", "--json"},
      {"data merge", "--out --json"},
      {"data preview", "--out --json"},
      {"pde solve", "--out --json"},
      {"train backbone", "--out --seed --config --device --json"},
      {"train explainer", "--out --seed --config --device --no-engine --json --trust"},
      {"attribute", "--out --seed --json --sandbox"},
      {"attribute --operator", "--out --seed --device --precision --no-engine --json --sandbox --trust"},
      {"reference", "--out --seed --json --sandbox"},
      {"reference --operator", "--out --seed --device --precision --no-engine --json --sandbox --trust"},
      {"compare", "--out --seed --json --sandbox"},
      {"compare --operator", "--out --seed --device --precision --no-engine --json --sandbox --trust"},
      {"compare --suite", "--out --seed --device --no-engine --json --sandbox --trust"},
      {"evaluate", "--out --seed --config --device --precision --no-engine --json --sandbox --trust"},
      {"operator golden", "--device --json"},
      {"operator run", "--out --device --json --sandbox --trust"},
      {"operator inspect", "--device --json --trust"},
      {"operator serve", "--trust"},
      {"operator import", "--out --device --json"},
      {"study amortisation", "--out --seed --config --device --no-engine --json"},
      {"study methods", "--out --seed --config --device --no-engine --json"},
      {"study queries", "--out --seed --config --device --no-engine --json"},
      {"study readings", "--out --seed --config --device --no-engine --json"},
      {"study references", "--out --device --no-engine --json"},
      {"reproduce", "--out --seed --config --device --no-engine --json --sandbox --trust"},
      {"merge", "--json"},
      {"report", "--out --json"},
      {"serve", ""},
      {"peer new", "--json"},
      {"peer check", "--seed --json --sandbox"},
      {"completion", ""},
      {"man", "--out"}};
  return all;
}

void require_used_options(const CLI::App& app) {
  const CLI::App& command = called(app);
  const std::string name = command_path(command);
  const OptionUse* best = nullptr;
  std::string_view with;  // the option that makes another one useful, of any row of this command
  for (const OptionUse& row : option_uses()) {
    const auto [plain, option] = parts(row.command);
    if (plain != name) continue;
    if (option.empty() ? best == nullptr : given(command, option)) best = &row;
  }
  if (best == nullptr) return;  // a command of the other program, which checks its own arguments
  for (const std::string_view option : checked) {
    if (!given(app, option) || uses(*best, option)) continue;
    for (const OptionUse& row : option_uses()) {
      if (parts(row.command).first == name && uses(row, option)) with = parts(row.command).second;
    }
    throw InvalidArgument(message(name, ": ", option, " (", with.empty() ? "the command does not use it" : "only with ",
                                  with, "). Leave it out."));
  }
}

CLI::Option* above_zero(CLI::Option* option) {
  // CLI::PositiveNumber takes nan, and says the largest double in 309 digits.
  return option->check(CLI::Validator(
      [option](const std::string& text) {
        const std::optional<double> number = number_of<double>(text);
        require(number && std::isfinite(*number) && *number > 0, "opshap: ", option->get_name(), "=", text,
                " (not a number above 0). Give one.");
        return std::string();
      },
      "", "above zero"));
}

CLI::Option* add_shard(CLI::App& command, std::string& shard) {
  return command
      .add_option(
          "--shard", shard,
          "i/N: only the i-th of N parts, i from 0, for `opshap merge`; the same command without it ends the run")
      ->capture_default_str();
}

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
