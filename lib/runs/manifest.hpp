#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/file.hpp"
#include "core/threads.hpp"
#include "runs/part.hpp"

namespace opshap::runs {

/// What a program knows of a run when it begins.
struct Beginning {
  std::string who;                   ///< the command: "reproduce", "compare". It starts the messages.
  std::string schema;                ///< of the manifest: "opshap.manifest/1"
  std::vector<std::string> command;  ///< argv
  std::uint64_t seed = 0;
  std::string commit;                  ///< that the program was built from
  bool dirty = false;                  ///< it had uncommitted changes
  nlohmann::ordered_json environment;  ///< processor, threads, libraries
  nlohmann::ordered_json subject;      ///< what is run, as further keys; `settings` must be one of them
  bool makes_lost_rows = false;        ///< rows that are missing are made again, so that they are no damage
};

/// A stage of a run, as its manifest has it.
struct Stage {
  std::string name;    ///< "backbone"
  std::string device;  ///< that it ran on: "cpu", "cuda:0"
  double seconds = 0;  ///< wall time of all sittings
  int pieces = 0;      ///< sittings that it took to its end
  bool ended = false;
};

/// The stages of a manifest, in the order in which they began. Manifests of before have seconds {stage: wall time}.
/// Throws DataError for something else in their place.
std::vector<Stage> stages_of(const nlohmann::ordered_json& manifest);

/// The list that stages_of() reads.
nlohmann::ordered_json written_stages(const std::vector<Stage>& stages);

/// In what a run that stored these settings differs from the one that begins, in words: "budgets: [64], and now [128]".
/// Empty where it is the same run. Settings of another version, which cannot be read, are others.
using OtherSettings = std::function<std::string(const nlohmann::ordered_json& settings)>;

/// What ran, where, and how: manifest.json of a run's folder, and log.jsonl beside it. Everything that a reported
/// number needs beside it.
///
/// One process at a time holds the manifest of a folder.
///
/// Keys: schema, the subject's, seed, command, commit, dirty, started, environment, stages [{name, device, seconds,
/// pieces, ended}]. A run that was stopped and begun again also has resumed: a list of {time, commit, dirty,
/// environment (where it is another one), load}. load of the manifest itself and of each that resumed it says what ran
/// beside it until its last stage ended: wall_seconds; cpu_seconds of its own process and of its children;
/// other_cpu_seconds of all other processes; processors that they were counted on. That of a part of a run
/// (runs/part.hpp) has part {index, of}, and finished once all of its units are there. A run whose last stage has ended
/// has rows: the number of rows of each of its files, and its checksum (runs/row_files.hpp). A run that was put
/// together from parts has parts: a list of {index, of, started, commit, dirty, stages, environment, load, resumed}.
class Manifest {
 public:
  /// Of a new run, or of the one that is found in `folder`, which is made when it is not there. Throws DataError when
  /// the folder's manifest is of another schema or its rows have changed since they were written or are packed, and
  /// InvalidArgument when it is that of a run with other settings or another seed, and when another process is at work
  /// there. Without `other` the settings have to be equal to those of the beginning. A run that ended no stage and made
  /// no file but its manifest and log binds nobody: the new one takes its place.
  Manifest(const std::filesystem::path& folder, const Beginning& beginning, const OtherSettings& other = {});
  /// Of a part of the run, in its own folder (Part::folder); of the run itself when the part is the whole. Throws
  /// InvalidArgument also when the run has units or rows already, so that there is nothing left for a part.
  Manifest(const std::filesystem::path& run, const Part& part, const Beginning& beginning,
           const OtherSettings& other = {});

  /// Does a stage of the run and returns what it returns. Its wall time is added to the manifest, also when it is
  /// stopped or fails. The log gets a line before and one after.
  template <typename Work>
  std::invoke_result_t<Work> stage(const std::string& name, const Work& work, const std::string& device = "cpu") {
    if constexpr (std::is_void_v<std::invoke_result_t<Work>>) {
      do_stage(name, device, work);
    } else {
      std::optional<std::invoke_result_t<Work>> result;
      do_stage(name, device, [&] { result.emplace(work()); });
      return *std::move(result);
    }
  }

  /// A stage whose result says that it took longer than the manifest has for it: a training that was brought into the
  /// folder, finished. The longer time is booked.
  void took_at_least(const std::string& stage, double seconds);

  /// Marks a part as done, which merge_parts() asks for. Of a whole run nothing is marked.
  void finish();

 private:
  void do_stage(const std::string& name, const std::string& device, const std::function<void()>& work);
  Stage& booked(const std::string& stage);
  void write() const;
  /// What was used of the machine since this process began its work, into the sitting that is its own.
  void book_load();

  std::filesystem::path path_;
  FolderLock lock_;
  LineLog log_;
  nlohmann::ordered_json json_;
  std::vector<Stage> stages_;
  ProcessorTime begun_ = processor_time();
};

}  // namespace opshap::runs
