#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "peers/plugin.hpp"

namespace opshap::evaluation {

/// One line of a conformance table.
struct ConformanceCheck {
  enum class Outcome { pass, fail, not_claimed };

  std::string law;  ///< "gives a null player exactly 0"
  Outcome outcome = Outcome::pass;
  std::string detail;  ///< why it fails, or what was looked at
  std::string claim;   ///< the line of [claims] in plugin.toml that promises it; empty for what every peer is held to
};

/// "pass", "fail", "not claimed".
std::string_view to_string(ConformanceCheck::Outcome outcome);

/// Holds a peer to opshap-peer/1 and to each promise of its plugin.toml: on small games with known Shapley values, at
/// 1, 2 and 1024 players, with budgets that are too small, with values that are no numbers, with answers that are no
/// frames, and when it is told to end.
///
/// A check passes or fails on the games of one seed. When the peer does not greet, the greeting is the only check.
/// Cost: some hundreds of tasks, and a start of the program for every answer that is no frame. Throws Stopped and
/// EnvironmentError; a failure of the peer is a check that fails.
std::vector<ConformanceCheck> peer_conformance(const peers::Plugin& plugin, std::uint64_t seed);

}  // namespace opshap::evaluation
