#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/globals.hpp"
#include "cli/profile.hpp"
#include "core/file.hpp"

namespace opshap::cli {

/// What ran, where, and how: manifest.json of a run folder. Everything a reported number needs beside it.
///
/// Keys: schema, profile, pde, seed, command, commit, dirty, started, seconds {data, backbone, explainer, evaluation}, environment {processor, threads, blas,
/// libtorch, compiler, system}, settings (the resolved profile as TOML text and its sizes), departures (sentences), comparable_with_paper; and when it was stopped and
/// resumed, resumed: a list of {time, commit, dirty, environment (where it is another one)}.
class Manifest {
 public:
  /// Of a new run, or of the one found in `run`. Throws InvalidArgument when the folder holds a run of other settings or another seed.
  Manifest(const std::filesystem::path& run, const Profile& profile, const Globals& globals);

  /// A stage begins: a line in log.jsonl.
  void begin(const std::string& stage);
  /// It ended, or was stopped on the way: adds its wall time to the manifest and a line to log.jsonl.
  void end(const std::string& stage, double seconds, bool finished);

 private:
  void write() const;

  std::filesystem::path path_;
  LineLog log_;
  nlohmann::ordered_json json_;
};

}  // namespace opshap::cli
