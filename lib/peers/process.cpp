#include "peers/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "core/error.hpp"
#include "core/file.hpp"
#include "core/process.hpp"
#include "core/threads.hpp"
#include "peers/peer.hpp"

namespace opshap::peers {

namespace fs = std::filesystem;

namespace {

constexpr int fd_in = 3, fd_out = 4;
constexpr std::size_t log_bytes = 8192;
/// A peer that floods us while we write is not read further than this.
constexpr std::size_t most_unread = std::size_t{1} << 27;

/// Both ends of a pipe; what is not taken is closed.
struct Pipe {
  int read = -1, write = -1;

  Pipe() {
    int ends[2];
    const int code = ::pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
    throw_if_shortage("peer: pipe", code);
    require<EnvironmentError>(code == 0, "peer: pipe (", std::strerror(code), "). Close other programs.");
    read = ends[0];
    write = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(read);
    close_end(write);
  }

  static void close_end(int& end) {
    if (end >= 0) ::close(end);
    end = -1;
  }
};

/// Null-terminated, as execve wants it.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

void limit(__rlimit_resource resource, ::rlim_t most) {
  const rlimit both{most, most};
  ::setrlimit(resource, &both);
}

/// Where it runs.
const char* place_of(const Plugin& plugin) { return plugin.folder.empty() ? "/" : plugin.folder.c_str(); }

/// What the new process does until it is the program: system calls alone, since other threads may hold any lock.
/// An error number goes to `failed`.
[[noreturn]] void become(const Plugin& plugin, char* const* arguments, char* const* environment, int in, int out,
                         int log, int failed) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // of the keeper, which has one thread
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // Out of the way of 0 to 4 first: a pipe may have one of these numbers.
  constexpr int high = 10;
  for (int* number : {&in, &out, &log, &failed}) *number = ::fcntl(*number, F_DUPFD_CLOEXEC, high);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  bool ready = in >= 0 && out >= 0 && log >= 0 && nothing >= 0;
  ready = ready && ::dup2(nothing, 0) == 0 && ::dup2(log, 1) == 1 && ::dup2(log, 2) == 2;
  ready = ready && ::dup2(in, fd_in) == fd_in && ::dup2(out, fd_out) == fd_out;
  // All others close when the program starts; so do those that a library opened without this flag.
  ::close_range(fd_out + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, 256);
  constexpr double gib = 1 << 30;
  const auto memory_bytes = static_cast<::rlim_t>(plugin.limits.memory_gib * gib);
  if (memory_bytes > 0) limit(RLIMIT_AS, memory_bytes);
  if (ready && ::chdir(place_of(plugin)) == 0) ::execvpe(arguments[0], arguments, environment);
  const int error = errno;
  [[maybe_unused]] const ::ssize_t told = ::write(failed, &error, sizeof error);
  ::_exit(127);
}

/// While it lives, writing to a closed pipe in this thread is an error and no signal.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;
  ~NoPipeSignal() {
    const timespec now{};
    if (::sigismember(&before_, SIGPIPE) == 0) ::sigtimedwait(&pipe_, nullptr, &now);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
};

/// At most a tenth of a second, so that signals to this program are noticed.
int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 100));
}

/// Appends what is there. False at the end of the stream.
bool read_some(int from, std::string& into) {
  std::array<char, 65536> block;
  const ::ssize_t count = ::read(from, block.data(), block.size());
  if (count > 0) into.append(block.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

std::atomic<bool> in_sandbox{false};

/// The file that a command of this name starts, as execvp() finds it; empty when there is none.
fs::path found_in_path(const std::string& program, const fs::path& folder) {
  if (program.find('/') != std::string::npos) return (folder / program).lexically_normal();
  const char* path = std::getenv("PATH");
  std::istringstream places(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string place; std::getline(places, place, ':');) {
    const fs::path file = fs::path(place) / program;
    if (is_file(file) && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

/// What a program needs that lies beside its own file: the prefix of bin/python3 has its lib/ as well.
fs::path prefix_of(const fs::path& program) {
  const fs::path folder = program.parent_path();
  return folder.filename() == "bin" ? folder.parent_path() : folder;
}

/// Where the host's programs and libraries are. None of them is somebody's own.
constexpr const char* system_folders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt"};

bool is_in_system(const fs::path& path) {
  for (const char* folder : system_folders) {
    if (path == folder || path.string().starts_with(std::string(folder) + '/')) return true;
  }
  return path == "/";
}

std::set<fs::path> readable_of(const Plugin& plugin) {
  std::set<fs::path> paths(plugin.readable.begin(), plugin.readable.end());
  const fs::path program = found_in_path(plugin.command.front(), plugin.folder);
  require<EnvironmentError>(is_file(program), "peer: command=", plugin.command.front(), " (is not there, in ",
                            plugin.folder.string(), "). Install it, or correct the command in plugin.toml.");
  std::error_code unknown;
  // An interpreter of a virtual environment is a link, and both ends have a part of it.
  for (const fs::path& file : {program, fs::canonical(program, unknown)}) {
    if (!file.empty() && !is_in_system(file)) paths.insert(prefix_of(file));
  }
  return paths;
}

std::vector<std::string> sandboxed(const std::set<fs::path>& readable, const fs::path& folder,
                                   const std::vector<std::string>& command) {
  std::vector<std::string> all = {"bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--proc",   "/proc",
                                  "--dev", "/dev",          "--tmpfs",           "/tmp",          "--setenv", "TMPDIR",
                                  "/tmp"};
  const auto bind = [&all](const char* how, const fs::path& path) {
    for (const std::string& word : {std::string(how), path.string(), path.string()}) all.push_back(word);
  };
  for (const char* system : system_folders) bind("--ro-bind-try", system);
  for (const fs::path& path : readable) bind("--ro-bind-try", path);
  if (!folder.empty()) bind("--bind", folder);
  all.insert(all.end(), {"--chdir", folder.empty() ? "/tmp" : folder.string(), "--"});
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

/// Whether the system lets bubblewrap start a program at all.
bool is_allowed() {
  std::vector<std::string> command = sandboxed({}, "/usr", {"true"});
  const std::vector<char*> arguments = pointers(command);
  const ::pid_t probe = ::fork();
  if (probe == 0) {
    ::close(STDERR_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = -1;
  return probe > 0 && ::waitpid(probe, &status, 0) == probe && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The command that starts the program of a plugin: its own one, or in a sandbox.
std::vector<std::string> command_of(const Plugin& plugin) {
  return in_sandbox ? sandboxed(readable_of(plugin), plugin.folder, plugin.command) : plugin.command;
}

}  // namespace

Process::Process(const Plugin& plugin) {
  std::vector<std::string> command = command_of(plugin), environment;
  for (const auto& [name, value] : environment_of(plugin)) environment.push_back(name + "=" + value);
  const std::vector<char*> arguments = pointers(command), variables = pointers(environment);
  Pipe to, from, log, failed, control, status;
  const std::function<void()> become_peer = [&] {
    become(plugin, arguments.data(), variables.data(), to.read, from.write, log.write, failed.write);
  };
  keeper_ = ::fork();
  if (keeper_ == 0) keep(become_peer, control.read, status.write, failed.write);
  const int code = errno;
  if (keeper_ < 0) throw_if_shortage("peer: fork", code);
  require<EnvironmentError>(keeper_ > 0, "peer: fork (", std::strerror(code), "). Close other programs.");
  for (int* end : {&failed.write, &status.write, &control.read}) Pipe::close_end(*end);
  control_ = std::exchange(control.write, -1);
  told_ = std::exchange(status.read, -1);
  ::fcntl(told_, F_SETFL, O_NONBLOCK);
  int error = 0;
  ::ssize_t told = 0;
  while ((told = ::read(failed.read, &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (told > 0) {
    reap();
    throw_if_shortage("peer: fork", error == EAGAIN || error == ENOMEM ? error : 0);
    throw EnvironmentError(message("peer: command=", command.front(), " (", std::strerror(error), ", in ",
                                   place_of(plugin), "). Install it, or correct the command in plugin.toml."));
  }
  to_ = std::exchange(to.write, -1);
  from_ = std::exchange(from.read, -1);
  log_ = std::exchange(log.read, -1);
  for (const int end : {to_, from_, log_}) ::fcntl(end, F_SETFL, O_NONBLOCK);
}

Process::~Process() {
  end(std::chrono::seconds(0));
  for (int* end : {&to_, &from_, &log_, &control_, &told_}) Pipe::close_end(*end);
}

Process::Event Process::read(std::string& into, Clock::time_point deadline) {
  for (;;) {
    std::array<pollfd, 2> waiting = {pollfd{from_, POLLIN, 0}, pollfd{log_, POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), milliseconds_until(deadline));
    throw_if_stopped("peer");
    if (waiting[1].revents != 0) read_log();
    if (waiting[0].revents != 0) {
      const std::size_t before = into.size();
      const bool open = read_some(from_, into);
      if (into.size() > before) return Event::done;
      if (!open) return Event::closed;
    }
    if (Clock::now() >= deadline) return Event::late;
  }
}

Process::Event Process::write(std::string_view bytes, std::string& into, Clock::time_point deadline) {
  const NoPipeSignal quiet;
  bool speaks = true;  // one that has closed its own stream may have answered before
  while (!bytes.empty()) {
    const bool hungry = speaks && into.size() < most_unread;
    std::array<pollfd, 3> waiting = {pollfd{to_, POLLOUT, 0}, pollfd{log_, POLLIN, 0},
                                     pollfd{hungry ? from_ : -1, POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), milliseconds_until(deadline));
    throw_if_stopped("peer");
    if (waiting[1].revents != 0) read_log();
    if (!speaks && waiting[0].revents == 0) return Event::closed;
    if (waiting[2].revents != 0) speaks = read_some(from_, into);
    if (waiting[0].revents != 0) {
      const ::ssize_t count = ::write(to_, bytes.data(), bytes.size());
      if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
      if (count < 0 && errno != EAGAIN && errno != EINTR) return Event::closed;
    }
    if (!bytes.empty() && Clock::now() >= deadline) return Event::late;
  }
  return Event::done;
}

void Process::read_log() {
  std::string text;
  if (!read_some(log_, text)) Pipe::close_end(log_);
  if (verbosity() == Verbosity::verbose) std::cerr << text;
  log_text_ += text;
  if (log_text_.size() > log_bytes) log_text_.erase(0, log_text_.size() - log_bytes);
}

bool Process::has_ended() {
  if (status_) return true;
  int status = 0;
  const ::ssize_t count = ::read(told_, &status, sizeof status);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  status_ = count == sizeof status ? status : SIGKILL;  // the keeper itself was killed, and the peer with it
  return true;
}

bool Process::ends_before(Clock::time_point deadline) {
  while (!reaped_ && !has_ended()) {
    if (Clock::now() >= deadline) return false;
    if (log_ >= 0) read_log();  // a full pipe would keep it from ending
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (!reaped_) reap();
  return true;
}

void Process::signal(int number) const {
  const auto byte = static_cast<unsigned char>(number);
  const NoPipeSignal quiet;
  if (!reaped_) [[maybe_unused]]
    const ::ssize_t sent = ::write(control_, &byte, 1);
}

void Process::end(std::chrono::duration<double> patience) {
  if (reaped_) return;
  Pipe::close_end(to_);
  const auto soon = [patience] { return Clock::now() + std::chrono::duration_cast<Clock::duration>(patience); };
  if (ends_before(soon())) return;
  signal(SIGTERM);
  if (ends_before(soon())) return;
  killed_ = true;
  reap();
}

/// The keeper ends what is left of the peer, and then itself. One that the peer has stopped is not waited for long.
void Process::reap() {
  Pipe::close_end(control_);
  constexpr std::chrono::seconds patience(6);
  const Clock::time_point deadline = Clock::now() + patience;
  bool asked = true;
  while (::waitpid(keeper_, nullptr, asked ? WNOHANG : 0) == 0) {
    if (Clock::now() >= deadline) asked = ::kill(keeper_, SIGKILL) != 0;
    if (log_ >= 0) read_log();  // a full pipe would keep it from ending
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (!has_ended()) status_ = SIGKILL;
  if (log_ >= 0) read_log();
  Pipe::close_end(told_);
  reaped_ = true;
}

std::string Process::how_it_ended() const {
  if (!reaped_) return "";
  if (WIFSIGNALED(*status_)) return message("signal ", WTERMSIG(*status_), " (", ::strsignal(WTERMSIG(*status_)), ")");
  return message("exit code ", WEXITSTATUS(*status_));
}

bool Process::killed_by_others() const {
  return reaped_ && !killed_ && WIFSIGNALED(*status_) && WTERMSIG(*status_) == SIGKILL;
}

void set_sandbox(bool on) {
  if (on) {
    require<EnvironmentError>(!found_in_path("bwrap", "/").empty(),
                              "peer: --sandbox (bubblewrap is not installed). Run: apt-get install -y bubblewrap");
    require<EnvironmentError>(is_allowed(),
                              "peer: --sandbox (the system does not let bubblewrap make a sandbox). Allow user "
                              "namespaces, or leave --sandbox out.");
  }
  in_sandbox = on;
}

bool uses_sandbox() { return in_sandbox; }

}  // namespace opshap::peers
