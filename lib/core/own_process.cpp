#include "core/own_process.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <optional>

#include "core/error.hpp"
#include "core/shortage.hpp"
#include "core/stop.hpp"

namespace opshap {

namespace {

/// How the work ended, as the first letter of what the process sends: a letter for each kind of error, then its text.
enum Ending : char {
  done = 'd',
  invalid = 'i',
  numerical = 'n',
  data = 'f',
  environment = 'e',
  stopped = 's',
  memory = 'm',
  bug = 'b'
};

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

}  // namespace opshap
