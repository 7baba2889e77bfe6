#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

#include "core/file.hpp"

namespace opshap::runs {

/// One of `of` parts of a work, which processes on one machine or on many do side by side. The numbers do not depend on
/// how many there are: every unit of a work draws from random streams of its own.
struct Part {
  std::int64_t index = 0, of = 1;

  bool whole() const { return of == 1; }
  /// Whether a unit of the work belongs to this part: every of-th does, so that costly units, which lie side by side,
  /// are shared out.
  bool has(std::int64_t unit) const { return unit % of == index; }
  /// Where the part works: `run` itself for the whole, else parts/<index>-of-<of> in it.
  std::filesystem::path folder(const std::filesystem::path& run) const;

  /// "2/4" to {2, 4}. `who` starts the messages. Throws InvalidArgument for a text of another form and for an index
  /// that is not below the number.
  static Part parse(const std::string& who, const std::string& text);
  bool operator==(const Part&) const = default;
};

/// {index, of}.
nlohmann::ordered_json to_json(const Part& part);

/// Units of work in a folder, each done once. A unit is a file that is there whole or not at all, so that work that was
/// stopped or killed goes on where it was.
///
/// manifest.jsonl of the folder has a line for each unit: its name, the hash of the work's identity and that of its
/// bytes. A unit without its line, with other bytes or of other work counts as not done. One process at a time works in
/// a folder: it holds an advisory lock, which the kernel releases even after a kill.
class Units {
 public:
  /// The units of the work with this identity: all that decides its numbers (settings, inputs, seed), as text. The
  /// folder is made when it is not there. `who` starts the messages. Throws InvalidArgument when another process works
  /// there.
  Units(std::filesystem::path folder, std::string who, std::string_view identity);
  /// Removes a folder in which no unit was ever finished.
  ~Units();
  Units(const Units&) = delete;
  Units& operator=(const Units&) = delete;

  /// The bytes of a finished unit; empty when it is not done.
  std::string bytes(const std::string& name) const;
  /// Stores a unit, which then is done. Throws as write_file(), and EnvironmentError when the folder was removed.
  void store(const std::string& name, std::string_view bytes);
  /// The bytes of the unit, made by `make` where it is not done.
  std::string once(const std::string& name, const std::function<std::string()>& make);
  /// Throws EnvironmentError when the folder was removed while the work goes on.
  void require_there() const { lock_.require_there(); }
  /// Removes the folder, in one step: what the units were for is there.
  void finish();

 private:
  std::string line_of(const std::string& name, std::string_view bytes) const;

  std::filesystem::path folder_;
  std::string identity_;  ///< its hash
  FolderLock lock_;
  LineLog manifest_;
  std::set<std::string> done_;  ///< lines of the manifest
};

}  // namespace opshap::runs
