#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cli11_fwd.hpp"
#include "core/measured.hpp"
#include "core/scenario.hpp"

namespace opshap::cli {

/// The words of a text in lines of at most `width` letters; lines that the text begins itself stay. A word that is
/// longer has a line of its own. Width: at least 1.
std::string wrapped(std::string_view text, std::size_t width);

/// The options of every command that the command of this path ("data import npy") uses, with and without further
/// options of its own, as words: "--out --json --threads -q -v". Empty for a path that uses none.
std::string shared_options(std::string_view path);

/// Command lines of the command of this path, for its help.
std::vector<std::string_view> examples_of(std::string_view path);

/// "data import npy"; empty for the application itself.
std::string command_path(const CLI::App& command);

/// Gives --help of the application and of all subcommands that are added from now on lines that fit the terminal (the
/// environment variable COLUMNS, or else what the terminal says, or else 100), the options of every command that apply
/// to this one, and examples.
void shape_help(CLI::App& app);

/// The options every subcommand understands, before or after its name.
struct Globals {
  std::uint64_t seed = 42;
  std::string device = "cpu";
  std::string precision;               ///< --precision; empty when not given
  bool engine = true;                  ///< false with --no-engine
  std::filesystem::path config;        ///< --config: a TOML file over the profile
  std::filesystem::path out;           ///< --out; empty when not given
  bool json = false;                   ///< --json: results as one JSON object on standard output
  std::vector<std::string> arguments;  ///< argv, for the manifest
};

/// What --precision says; without it "float32", or "tf32x3" of kernels that are emulated.
std::string precision_name(const Globals& globals);

/// Adds --config, --seed, --threads, --device, --precision, --no-engine, --out, --trust, --json, -q, -v to the
/// application. Values are stored in `globals`; threads, trust and verbosity are set at once.
void add_globals(CLI::App& app, Globals& globals);

/// Runs a program's main: parses, runs the chosen subcommand, turns every exception into its message on standard error
/// and its exit code. 0 ok, 1 a check failed, 2 usage, 3 missing or corrupt input, 4 unfit environment, 5 a peer
/// failed, 6 stopped (resumable), 7 bug.
int run(CLI::App& app, Globals& globals, int argc, char** argv);

/// The same for one command line of several: signals are not set up.
int answer(CLI::App& app, Globals& globals, int argc, char** argv);

/// A check failed: the subcommand has printed its results and wants exit code 1.
struct CheckFailed {};

/// Numbers of JSON that may be absent: NaN and infinity are written as {"value":null,"why":why}.
nlohmann::ordered_json json_number(double value, const std::string& why);

/// The number, or {"value":null,"why":...} as rows have it.
nlohmann::ordered_json json_number(const Measured& number);

/// Prints where a result is: the path, or with --json {key: path}. One line for each, at once.
void print_path(const Globals& globals, const char* key, const std::filesystem::path& path);

/// Prints one JSON object and a newline on standard output.
void print_json(const nlohmann::ordered_json& object);

/// What a command makes of the options that every command understands.
struct OptionUse {
  std::string_view command;  ///< "data generate"; "attribute --operator": the command with that option
  std::string_view options;  ///< those it uses, separated by blanks. All use --threads, -q and -v.
};

/// All commands of the program, each once without an option, and the options that change what it uses.
const std::vector<OptionUse>& option_uses();

/// Throws InvalidArgument for an option that was given and that the chosen command does not use. To be called when the
/// arguments are parsed, before the command runs.
void require_used_options(const CLI::App& app);

/// An option whose number has to be finite and above 0. Throws InvalidArgument with the option's name where it is not.
CLI::Option* above_zero(CLI::Option* option);

/// Adds --shard i/N to a command whose work can be done in parts (runs::Part::parse() reads it).
CLI::Option* add_shard(CLI::App& command, std::string& shard);

/// The option --resolutions of a command: a list such as 16,32 or 12x20,24x40, read into `resolutions`.
CLI::Option* add_resolutions(CLI::App& command, std::vector<Resolution>& resolutions, const std::string& meaning);

/// An option that takes one resolution, 64 or 24x40.
CLI::Option* add_resolution(CLI::App& command, const std::string& name, Resolution& resolution,
                            const std::string& meaning);

}  // namespace opshap::cli
