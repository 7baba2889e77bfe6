#pragma once

#include <cstddef>
#include <functional>

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

}  // namespace opshap
