#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/cli11_fwd.hpp"
#include "core/measured.hpp"

namespace opshap::cli {

/// The options every subcommand understands, before or after its name.
struct Globals {
  std::uint64_t seed = 42;
  std::string device = "cpu";
  bool engine = true;                  ///< false with --no-engine
  std::filesystem::path config;        ///< --config: a TOML file over the profile
  std::filesystem::path out;           ///< --out; empty when not given
  bool json = false;                   ///< --json: results as one JSON object on standard output
  std::vector<std::string> arguments;  ///< argv, for the manifest
};

/// Adds --config, --seed, --threads, --device, --no-engine, --out, --trust, --json, -q, -v to the application. Values
/// are stored in `globals`; threads, trust and verbosity are set at once.
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

}  // namespace opshap::cli
