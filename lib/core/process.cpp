#include "core/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"

namespace opshap {

void start_process() {
  std::signal(SIGXFSZ, SIG_IGN);
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is this one, since those below are open. The direction is the one that nobody uses.
    [[maybe_unused]] const int held =
        ::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // NOLINT(android-cloexec-open)
  }
}

namespace {

/// How the work ended, as the first byte of what the process sends: a number for each kind of error, then its text.
enum Ending : char { done, invalid, numerical, data, environment, stopped, memory, bug };

std::string ending_of(const std::function<void()>& work) {
  const auto told = [](Ending ending, const std::exception& error) { return std::string(1, ending) + error.what(); };
  try {
    work();
    return {done};
  } catch (const InvalidArgument& error) {
    return told(invalid, error);
  } catch (const NumericalError& error) {
    return told(numerical, error);
  } catch (const DataError& error) {
    return told(data, error);
  } catch (const EnvironmentError& error) {
    return told(environment, error);
  } catch (const Stopped& error) {
    return told(stopped, error);
  } catch (const std::bad_alloc& error) {
    return told(memory, error);
  } catch (const std::exception& error) {
    return told(bug, error);
  }
}

[[noreturn]] void be_the_process(const std::function<void()>& work, int out) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // of the thread that has started it, which waits for its end
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const std::string ending = ending_of(work);
  for (std::size_t sent = 0; sent < ending.size();) {
    const ::ssize_t count = ::write(out, ending.data() + sent, ending.size() - sent);
    if (count <= 0) break;
    sent += static_cast<std::size_t>(count);
  }
  ::_exit(0);
}

/// All that the process sends, up to its end.
std::string received(int in, ::pid_t process) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds for_its_end{1300};  // two seconds are promised from a signal to our own end
  std::string text;
  std::optional<Clock::time_point> passed_on;
  for (;;) {
    pollfd waiting{.fd = in, .events = POLLIN, .revents = 0};
    constexpr int milliseconds = 100;
    const int ready = ::poll(&waiting, 1, milliseconds);
    if (stop_requested() && !passed_on) {
      ::kill(process, SIGTERM);
      passed_on = Clock::now();
    }
    if (passed_on && Clock::now() > *passed_on + for_its_end) ::kill(process, SIGKILL);
    if (ready <= 0) continue;
    char block[4096];
    const ::ssize_t count = ::read(in, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(block, static_cast<std::size_t>(count));
  }
}

[[noreturn]] void throw_again(char ending, const std::string& text) {
  if (ending == invalid) throw InvalidArgument(text);
  if (ending == numerical) throw NumericalError(text);
  if (ending == data) throw DataError(text);
  if (ending == environment) throw EnvironmentError(text);
  if (ending == stopped) throw Stopped(text);
  if (ending == memory) throw std::bad_alloc();
  throw std::runtime_error(text);
}

std::atomic<bool> trusted = false, kept_out = false;

}  // namespace

void in_own_process(const std::function<void()>& work, const std::string& crashed) {
  int ends[2];
  const int no_pipe = ::pipe(ends) == 0 ? 0 : errno;
  throw_if_shortage("process: pipe", no_pipe);
  require<EnvironmentError>(no_pipe == 0, "process: pipe (", std::strerror(no_pipe), "). Close other programs.");
  const ::pid_t process = ::fork();
  if (process == 0) {
    ::close(ends[0]);
    be_the_process(work, ends[1]);
  }
  const int failure = errno;
  ::close(ends[1]);
  const std::string ending = process < 0 ? "" : received(ends[0], process);
  ::close(ends[0]);
  if (process < 0) throw_if_shortage("process: fork", failure);
  require<EnvironmentError>(process > 0, "process: fork (", std::strerror(failure), "). Close other programs.");
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  const bool whole = WIFEXITED(status) && WEXITSTATUS(status) == 0 && !ending.empty();
  if (!whole) throw_if_stopped("process");
  require<DataError>(whole, crashed);
  if (ending[0] != done) throw_again(ending[0], ending.substr(1));
}

namespace {

volatile std::sig_atomic_t signal_seen = 0;
std::atomic<bool> looked{false};
::sem_t watching, arrived;

/// Work that has not looked at the signal by then, and work that has and is still not at its end, is ended. Two seconds
/// are promised, of which the rest is for the kernel.
constexpr std::chrono::milliseconds for_a_look{1500};
constexpr std::chrono::seconds for_an_end{10};

/// Both outlive everything that is destroyed at the end of the program.
std::mutex& guard() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::list<std::function<void()>>& endings() {
  static auto* list = new std::list<std::function<void()>>;
  return *list;
}

void on_signal(int number) {
  signal_seen = number;
  std::signal(number, SIG_DFL);
  ::sem_post(&arrived);
}

std::string stopped_message(std::string_view who) {
  return message(who, ": signal=", static_cast<int>(signal_seen),
                 " (stopped on request; what is finished is on disk). Run the same command again to resume.");
}

/// The life of the thread that watches.
[[noreturn]] void watch() {
  ::sem_post(&watching);
  while (::sem_wait(&arrived) != 0 && errno == EINTR) {
  }
  std::this_thread::sleep_for(for_a_look);
  if (looked) std::this_thread::sleep_for(for_an_end - for_a_look);
  std::fprintf(stderr, "%s\n", stopped_message("opshap").c_str());
  guard().lock();  // to the end: nobody begins anything that would have to be ended
  for (const auto& before : endings()) before();
  ::_exit(6);
}

}  // namespace

void stop_on_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    ::sem_init(&watching, 0, 0);
    ::sem_init(&arrived, 0, 0);
    // Signals go to the other threads, so that what waits in a system call there notices them.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread(watch).detach();
    // A process that is forked while a thread begins may wait for what that thread holds, for ever.
    while (::sem_wait(&watching) != 0 && errno == EINTR) {
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  });
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool stop_requested() {
  if (signal_seen == 0) return false;
  looked = true;
  return true;
}

void throw_if_stopped(std::string_view who) {
  if (stop_requested()) throw Stopped(stopped_message(who));
}

namespace {

using Clock = std::chrono::steady_clock;

/// Set by stop_after().
struct Limit {
  double seconds;
  Clock::time_point begun;
};
std::optional<Limit>& limit() {
  static std::optional<Limit> set;
  return set;
}

/// When the piece that this thread does now has begun; unknown of the first one of a thread that begins later.
thread_local std::optional<Clock::time_point> piece;

}  // namespace

void stop_after(double seconds) {
  limit() = Limit{.seconds = seconds, .begun = Clock::now()};
  piece = limit()->begun;
}

void throw_if_over_after_piece(std::string_view who) {
  throw_if_stopped(who);
  if (!limit()) return;
  const Clock::time_point now = Clock::now();
  const double since_the_start = std::chrono::duration<double>(now - limit()->begun).count(),
               of_the_piece = std::chrono::duration<double>(now - piece.value_or(now)).count();
  piece = now;
  if (since_the_start + of_the_piece > limit()->seconds)
    throw Stopped(message(who, ": --minutes=", limit()->seconds / 60,
                          " (another piece would take longer; what is finished is on disk). Run the same command again "
                          "to go on."));
}

ForcedEnd::ForcedEnd(std::function<void()> before) {
  const std::lock_guard lock(guard());
  place_ = endings().insert(endings().end(), std::move(before));
}

ForcedEnd::~ForcedEnd() {
  const std::lock_guard lock(guard());
  endings().erase(place_);
}

void trust_code_of_files() { trusted = true; }

bool code_of_files_is_trusted() { return trusted; }

void keep_code_of_files_out() { kept_out = true; }

bool code_of_files_is_kept_out() { return kept_out; }

const char* fast_blas_core_type() {
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (avx512) return "SKYLAKEX";
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return avx2 && __builtin_cpu_is("intel") ? "HASWELL" : "";
}

void restart_with_fast_blas(char** argv) {
  const char* core_type = fast_blas_core_type();
  if (std::strlen(core_type) == 0 || std::getenv("OPENBLAS_CORETYPE") != nullptr) return;
  setenv("OPENBLAS_CORETYPE", core_type, 1);
  execv("/proc/self/exe", argv);  // on failure the program simply goes on at the lower speed
}

}  // namespace opshap
