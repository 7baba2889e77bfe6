#pragma once

#include <string>
#include <string_view>

#include "core/error.hpp"

namespace opshap::peers {

/// How a task of a peer ended. Everything but `ok` and `soft_timeout` leaves no attribution.
enum class Ending {
  ok,
  fail,            ///< the peer said that it has failed, and why
  refused,         ///< the peer said that the budget or the game is not one for it, and why
  budget_refused,  ///< it failed after the host had refused a request beyond the budget
  soft_timeout,    ///< it ran out of time; its last partial values count
  timeout,         ///< it ran out of time without partial values, or did not answer a request to stop
  crash,           ///< its process ended, or closed its pipe
  protocol_error,  ///< it sent something that is no frame of opshap-peer/1, or not at this place
  invalid,         ///< its values are not n finite numbers
  oom,             ///< its process ran out of memory
  skipped,         ///< it failed too often in a row, so it was not asked again
};

/// As rows and messages have it: "soft_timeout".
std::string_view to_string(Ending ending);

/// A peer has no attribution to give. Exit code 5.
class Failure : public Error {
 public:
  Failure(Ending ending, const std::string& text) : Error(text), ending_(ending) {}
  Ending ending() const { return ending_; }

 private:
  Ending ending_;
};

}  // namespace opshap::peers
