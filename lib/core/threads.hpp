#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace opshap {

/// How many threads parallel work uses: what set_threads said, else the CPUs this process may run on.
int threads();

/// The one place that sets the number of threads; the command line calls it once. Throws InvalidArgument unless threads
/// >= 1.
void set_threads(int threads);

/// Calls task(i) for i = 0..count-1, each exactly once, on threads() threads, and returns when all have ended.
///
/// A task must depend on i alone and write only what belongs to i: then the result is the same for every number of
/// threads. The first exception thrown by a task is rethrown here after the running tasks have ended; tasks not yet
/// begun are then left out.
/// Cost: each call starts its own helpers, about 25 µs for each thread beyond the first (measured on 2 cores). Tasks of
/// a millisecond or more do not notice it. Threads that live on between calls would have to survive nested calls and
/// exceptions, for nothing that can be measured.
/// Called by a task of a parallel_for that has work for all threads, it stays on the calling thread.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& task);

/// Work on a thread of its own beside other work. When this is destroyed before it is done it is asked to stop, and
/// waited for.
class Ahead {
 public:
  explicit Ahead(std::function<void(const std::stop_token&)> work)
      : work_(std::move(work)),
        done_(work_.get_future()),
        thread_([this](const std::stop_token& stop) { work_(stop); }) {}

  /// Until the work is done. Throws what it has thrown. Called once.
  void wait() { done_.get(); }

 private:
  std::packaged_task<void(const std::stop_token&)> work_;
  std::future<void> done_;
  std::jthread thread_;
};

/// Processor time in seconds, counted by the system. Only differences of two readings mean something.
struct ProcessorTime {
  double own = 0;  ///< of this process and of its children that have ended
  double all = 0;  ///< of all processes, and of other guests on the same host; 0 where the system does not say
  double wall = 0;
  int processors = 1;  ///< that `all` was counted on

  /// What was used since an earlier reading: own, all, wall.
  ProcessorTime since(const ProcessorTime& earlier) const;
  /// Of a difference: seconds of other processes. At least 0, since `all` is counted in whole ticks of the system. A
  /// child counts as another process until it has ended and was waited for.
  double of_others() const;
};

/// The reading now, from getrusage() and /proc/stat.
ProcessorTime processor_time();

/// The same with another text in the place of /proc/stat. Without a line that begins with "cpu " `all` is 0.
ProcessorTime processor_time(std::string_view stat);

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
