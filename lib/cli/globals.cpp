#include "cli/globals.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <system_error>

#include "cli/help.hpp"
#include "cli/kept_program.hpp"
#include "cli/option_uses.hpp"
#include "core/error.hpp"
#include "core/file.hpp"
#include "core/names.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "peers/frame.hpp"
#include "peers/process.hpp"

namespace opshap::cli {

namespace {

int fail(int code, const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return code;
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
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> options;
  for (const CLI::App* of : {command, &app})
    for (const CLI::Option* option : of->get_options())
      for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  for (int i = 1; i < argc; ++i) {
    const std::string word = std::string(argv[i]).substr(0, std::string_view(argv[i]).find('='));
    if (!word.starts_with("--") || word == "--" || std::ranges::find(options, word) != options.end()) continue;
    if (const std::string near = suggestion(word, options); !near.empty())
      return message("opshap: ", word, " (no option of `opshap ", command_path(*command), "`).", near);
  }
  return message("opshap: ", error.what(), " (wrong usage). See `opshap ",
                 no_subcommand ? "" : command_path(*command) + " ", "--help`.");
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

void add_globals(CLI::App& app, Globals& globals) {
  shape_help(app);
  app.fallthrough();
  app.require_subcommand(1);
  app.add_option("--config", globals.config, "TOML file whose values override the profile's");
  app.add_option("--seed", globals.seed, "Seed of all random streams")->capture_default_str();
  app.add_option_function<int>(
      "--threads", [](int count) { set_threads(count); }, "Threads (default: the CPUs this process may use)");
  app.add_option("--device", globals.device, "cpu, or cuda:0 with a CUDA build of LibTorch")->capture_default_str();
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

}  // namespace opshap::cli
