#pragma once

namespace opshap {

/// What a program does before anything else. Descriptors 0 to 2 are held where they are closed, so that no file that is
/// opened later takes what is printed; reading or writing them still fails. A file that may not grow further is an
/// error of the write, and no signal.
void start_process();

}  // namespace opshap
