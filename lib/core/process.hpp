#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>

namespace opshap {

/// What a program does before anything else. Descriptors 0 to 2 are held where they are closed, so that no file that is
/// opened later takes what is printed; reading or writing them still fails. A file that may not grow further is an
/// error of the write, and no signal.
void start_process();

/// Runs `work` in a process of its own and waits for it. What it throws is thrown here again.
///
/// For a library that crashes on damaged files: a crash ends the other process, and throws DataError(crashed) here.
/// `work` changes nothing in the memory of the caller, so its result must be on disk. A signal that asks this process
/// to stop is passed on, and what does not follow it is killed. Call it before the process has other threads.
void in_own_process(const std::function<void()>& work, const std::string& crashed);

/// From now on SIGINT and SIGTERM set a flag that long work looks at. Work that has not looked after one and a half
/// seconds is ended: what stands in ForcedEnd is done, and the process exits with code 6. A second signal ends the
/// process at once. Called once, before the process has other threads.
void stop_on_signals();

/// True once a signal has arrived.
bool stop_requested();

/// Throws Stopped when a signal has arrived. Long work calls it where its state on disk can be resumed from.
void throw_if_stopped(std::string_view who);

/// From now on, work that is done in pieces ends where a further piece would not be done after so many seconds from
/// here. Called once.
void stop_after(double seconds);

/// A piece of the work of `who` is on disk. Throws Stopped when a signal has arrived, or the time of stop_after() would
/// be over before another piece as long as this one is done. The first piece of a process is done whatever its time.
/// Pieces are those of a thread.
void throw_if_over_after_piece(std::string_view who);

/// While it lives, this is done before a process is ended that does not look at its signal: it removes a temporary
/// file, or kills a program that was started. It runs in another thread, while the work goes on, and makes no ForcedEnd
/// itself.
class ForcedEnd {
 public:
  explicit ForcedEnd(std::function<void()> before);
  ForcedEnd(const ForcedEnd&) = delete;
  ForcedEnd& operator=(const ForcedEnd&) = delete;
  ~ForcedEnd();

 private:
  std::list<std::function<void()>>::iterator place_;
};

/// Set once by the command line (--trust): files that are code, such as TorchScript archives, run without a note.
void trust_code_of_files();
bool code_of_files_is_trusted();

/// Set once by the command line (--sandbox): from now on this process runs no file that is code. Another one, in a
/// sandbox, does it.
void keep_code_of_files_out();
bool code_of_files_is_kept_out();

/// OpenBLAS 0.3.21 takes processors newer than itself for older ones: AMD's for "Haswell", which halves the speed of
/// its products, Intel's (Emerald Rapids, model 207, say) for "Prescott", which has a fifth of it (33 GFLOP/s a thread,
/// not 155). It reads OPENBLAS_CORETYPE when it is loaded, so a program linked to it sets the variable and starts
/// itself again, once. Does nothing when the variable is set or fast_blas_core_type() is empty.
void restart_with_fast_blas(char** argv);

/// The value restart_with_fast_blas() would set on this CPU ("SKYLAKEX" with AVX-512, "HASWELL" on Intel's with AVX2),
/// or "" when OpenBLAS can be left alone.
const char* fast_blas_core_type();

}  // namespace opshap
