#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace opshap {

/// Something that cannot be done, said in one sentence: *who: name=value (why it cannot work). What to do.*
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The caller can fix it: a wrong name, a budget too small, a query outside the grid. Exit code 2.
struct InvalidArgument : Error {
  using Error::Error;
};

/// A singular system, a non-finite loss or game value. Exit code 3.
struct NumericalError : Error {
  using Error::Error;
};

/// A file that is missing, stale, malformed or corrupt. Exit code 3.
struct DataError : Error {
  using Error::Error;
};

/// The machine cannot do it: a full disk, a reference BLAS in a timing run, a GPU that is not there. Exit code 4.
struct EnvironmentError : Error {
  using Error::Error;
};

/// Stopped by a signal or a limit before the end; running the same command again resumes. Exit code 6.
struct Stopped : Error {
  using Error::Error;
};

/// The parts, streamed one after the other.
template <typename... Parts>
std::string message(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// The items, streamed one after the other with a separator between them.
template <typename Items>
std::string joined(const Items& items, std::string_view separator = ", ") {
  std::string text;
  for (const auto& item : items) text += message(text.empty() ? "" : separator, item);
  return text;
}

/// Throws `E` with the streamed parts unless `condition` holds. Checked in every build type.
template <typename E = InvalidArgument, typename... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) throw E(message(parts...));
}

}  // namespace opshap
