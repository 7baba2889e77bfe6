#include "peers/peer.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "core/error.hpp"
#include "peers/conversation.hpp"

namespace opshap::peers {

Peer::Peer(Plugin plugin) : plugin_(std::move(plugin)) {
  require(plugin_.role == Role::estimator, "peer: ", plugin_.name, " (its role is ", to_string(plugin_.role),
          " by its plugin.toml, and no method). Use --", to_string(plugin_.role), " peer:FOLDER.");
}

Peer::~Peer() = default;

void Peer::start() {
  if (!link_) link_ = std::make_unique<Link>(plugin_);
}

Answer Peer::run(const Task& task, const Doors& doors) {
  constexpr int most_failures = 3;
  if (failures_ >= most_failures)
    throw Failure(Ending::skipped, "peer: ", plugin_.name, "=skipped (it failed ", most_failures,
                  " times in a row). `opshap peer check FOLDER` says more.");
  try {
    start();
    Answer answer = solve(*link_, ++tasks_, task, doors);
    if (answer.ending == Ending::soft_timeout) link_.reset();
    failures_ = 0;
    return answer;
  } catch (const Failure& failure) {
    const Ending ending = failure.ending();
    const bool by_itself = ending == Ending::fail || ending == Ending::refused || ending == Ending::budget_refused;
    failures_ = by_itself ? 0 : failures_ + 1;
    if (!by_itself) link_.reset();
    throw;
  } catch (...) {
    link_.reset();
    throw;
  }
}

namespace {

constexpr int control_end = 0, status_end = 1;  // where the keeper holds its two streams

class Keeper {
 public:
  explicit Keeper(::pid_t peer) : peer_(peer) {}

  [[noreturn]] void until_the_end() {
    sigset_t children;
    ::sigemptyset(&children);
    ::sigaddset(&children, SIGCHLD);
    const int changes = ::signalfd(-1, &children, SFD_CLOEXEC);
    for (;;) {
      std::array<pollfd, 2> waiting = {pollfd{control_end, POLLIN, 0}, pollfd{changes, POLLIN, 0}};
      ::poll(waiting.data(), waiting.size(), -1);
      if (waiting[1].revents != 0) {
        signalfd_siginfo ignored;
        [[maybe_unused]] const ::ssize_t taken = ::read(changes, &ignored, sizeof ignored);
        wait_for_children();
      }
      if (waiting[0].revents != 0) obey();
    }
  }

 private:
  void obey() {
    unsigned char number = SIGKILL;
    const ::ssize_t count = ::read(control_end, &number, 1);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0 || number == SIGKILL) end_all();
    send(number);
  }

  /// Nobody else can have the peer's number before it was waited for.
  void send(int number) const {
    if (told_) return;
    ::kill(-peer_, number);
    ::kill(peer_, number);
  }

  /// False when there are no children left.
  bool wait_for_children() {
    for (;;) {
      int status = 0;
      const ::pid_t child = ::waitpid(-1, &status, WNOHANG);
      if (child < 0 && errno == EINTR) continue;
      if (child <= 0) return child == 0;
      if (child != peer_) continue;
      // What is left of its group is none of our children, as far as their parents live.
      ::kill(-peer_, SIGKILL);
      told_ = true;
      [[maybe_unused]] const ::ssize_t written = ::write(status_end, &status, sizeof status);
    }
  }

  /// Children of a child that ends become ours, so that a few rounds meet all of them.
  [[noreturn]] void end_all() {
    constexpr int milliseconds = 1, most_rounds = 5000;
    for (int round = 0; round < most_rounds; ++round) {
      send(SIGKILL);
      kill_children();
      if (!wait_for_children()) break;
      ::poll(nullptr, 0, milliseconds);
    }
    ::_exit(0);
  }

  /// The kernel lists them as numbers with a space after each.
  static void kill_children() {
    const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
    if (list < 0) return;
    std::array<char, 4096> block;
    ::pid_t child = 0;
    for (::ssize_t count = 0; (count = ::read(list, block.data(), block.size())) > 0;) {
      for (const char letter : std::span(block.data(), static_cast<std::size_t>(count))) {
        if (letter >= '0' && letter <= '9') {
          child = 10 * child + (letter - '0');
        } else {
          if (child > 1) ::kill(child, SIGKILL);
          child = 0;
        }
      }
    }
    ::close(list);
  }

  ::pid_t peer_;
  bool told_ = false;
};

}  // namespace

void keep(const std::function<void()>& become, int control, int status, int failed) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  const ::pid_t peer = ::fork();
  if (peer == 0) {
    become();
    ::_exit(127);
  }
  if (peer < 0) {
    const int error = errno;
    [[maybe_unused]] const ::ssize_t told = ::write(failed, &error, sizeof error);
    ::_exit(127);
  }
  ::setpgid(peer, peer);  // here too: a signal to the group may be sent before the new process runs
  // Out of the way of 0 and 1 first. All others are closed: they are files, locks and pipes of the host.
  constexpr int high = 10;
  control = ::fcntl(control, F_DUPFD, high);
  status = ::fcntl(status, F_DUPFD, high);
  ::dup2(control, control_end);
  ::dup2(status, status_end);
  ::close_range(status_end + 1, ~0U, 0);
  Keeper(peer).until_the_end();
}

}  // namespace opshap::peers
