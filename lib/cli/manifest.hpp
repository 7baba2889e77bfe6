#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/globals.hpp"
#include "cli/profile.hpp"

namespace opshap {

/// What ran, where, and how: manifest.json of a run folder. Everything a reported number needs beside it.
///
/// Keys: schema, profile, pde, seed, command, commit, dirty, started, seconds {data, backbone, explainer, evaluation}, environment {processor, threads, blas,
/// libtorch, compiler, system}, settings (the resolved profile as TOML text and its sizes), departures (sentences), comparable_with_paper.
class Manifest {
 public:
  /// Of a new run, or of the one found in `run`. Throws InvalidArgument when the folder holds a run of other settings or another seed.
  Manifest(const std::filesystem::path& run, const Profile& profile, const Globals& globals);

  /// Adds wall time to a stage and writes the file.
  void add_seconds(const std::string& stage, double seconds);
  /// Sets it: for stages that keep their own time over interruptions.
  void set_seconds(const std::string& stage, double seconds);

 private:
  void write() const;

  std::filesystem::path path_;
  nlohmann::ordered_json json_;
};

}  // namespace opshap
