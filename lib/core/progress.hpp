#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace opshap {

enum class Verbosity { quiet, normal, verbose };
/// Set once by the command line. Quiet switches progress off. Verbose shows a line for every percent where normal shows
/// one for every ten.
void set_verbosity(Verbosity verbosity);
Verbosity verbosity();

/// Progress of long work on standard error: a line with rate and time left that is rewritten on a terminal, else one
/// line per 10 %.
///
/// Safe to advance from several threads. No logging library stands behind it, because there is no log to filter, format
/// or route. What a run did is data: log.jsonl, one JSON object a line (core/file.hpp, LineLog). What went wrong is the
/// message of an exception, printed once by the command line. What is left is this line. A logging library would
/// neither rewrite it in place nor know the time left, and core needs the standard library alone.
class Progress {
 public:
  /// `unit` is what is counted: "samples", "epochs", "coalitions".
  /// Nothing is shown of work that is done within `patience`.
  Progress(std::string label, std::int64_t total, std::string unit,
           std::chrono::steady_clock::duration patience = std::chrono::seconds(0));
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  /// `note` is shown after the numbers: "val 0.012".
  void advance(std::int64_t count = 1, const std::string& note = "");
  /// An earlier sitting did so many: they count as done, not for the rate or the time left.
  void skip(std::int64_t count);

 private:
  void show(const std::string& note, bool last);

  std::string label_, unit_;
  std::int64_t total_, done_ = 0, skipped_ = 0;
  int parts_shown_ = 0;
  bool terminal_, shown_ = false;
  std::chrono::steady_clock::duration patience_;
  std::chrono::steady_clock::time_point start_, last_shown_;
  std::mutex mutex_;
};

}  // namespace opshap
