#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "data/generate.hpp"
#include "data/hdf5.hpp"
#include "data/verify.hpp"
#include "support/text.hpp"

namespace opshap {

/// A file's columns and metadata, to be changed and sealed again: damage that only the inner checks can find.
struct Opened {
  std::vector<data::Column> columns;
  std::string metadata;

  explicit Opened(const std::filesystem::path& path) {
    const data::Hdf5Contents contents(read_file(path), path.string());
    for (const std::string& name : contents.columns()) columns.push_back(contents.column(name));
    metadata = contents.metadata();
  }
  template <typename T>
  std::vector<T>& values(const std::string& name) {
    for (data::Column& column : columns)
      if (column.name == name) return std::get<std::vector<T>>(column.values);
    throw std::logic_error(name);
  }
  void describe(const std::function<void(nlohmann::ordered_json&)>& change) {
    auto json = nlohmann::ordered_json::parse(metadata);
    change(json);
    metadata = json.dump();
  }
  void write(const std::filesystem::path& path) const { write_file(path, data::hdf5_bytes(columns, metadata)); }
};

/// A file beside a good one that is its copy but for a damage, or for one to its description.
inline std::filesystem::path spoiled(const std::filesystem::path& good, const std::function<void(Opened&)>& damage) {
  Opened set(good);
  damage(set);
  set.write(good.parent_path() / "bad.h5");
  return good.parent_path() / "bad.h5";
}

/// The names of the checks of verify_dataset() that a file does not pass.
inline std::string failed(const std::filesystem::path& path) {
  std::string names;
  for (const data::DataCheck& check : data::verify_dataset(path))
    if (!check.passed) names += (names.empty() ? "" : " ") + check.name;
  return names;
}

/// Runs generate() in a process of its own, which gets a signal once the manifest of its units has a line. Returns how
/// it ended, as waitpid() has it.
inline int interrupted(const data::DatasetRequest& request, const std::filesystem::path& path, int signal) {
  const pid_t child = ::fork();
  if (child == 0) {
    stop_on_signals();
    ::_exit(refusal<Stopped>([&] { data::generate(request, path); }).empty() ? 0 : 6);
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  const std::filesystem::path manifest = path.string() + ".shards/manifest.jsonl";
  std::error_code none;
  while (std::chrono::steady_clock::now() < deadline && !(std::filesystem::file_size(manifest, none) > 0 && !none))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, signal);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace opshap
