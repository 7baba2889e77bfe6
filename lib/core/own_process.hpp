#pragma once

#include <functional>
#include <string>

namespace opshap {

/// Runs `work` in a process of its own and waits for it. What it throws is thrown here again.
///
/// For a library that crashes on damaged files: a crash ends the other process, and throws DataError(crashed) here.
/// `work` changes nothing in the memory of the caller, so its result must be on disk. A signal that asks this process
/// to stop is passed on, and what does not follow it is killed. Call it before the process has other threads.
void in_own_process(const std::function<void()>& work, const std::string& crashed);

}  // namespace opshap
