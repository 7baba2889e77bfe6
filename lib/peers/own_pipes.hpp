#pragma once

#include <optional>
#include <string_view>

#include "peers/frame.hpp"

namespace opshap::peers {

/// The two pipes of a program that a host has started: what OPSHAP_FD_IN numbers brings frames, and OPSHAP_FD_OUT
/// takes them. For programs of ours that are the other side of a Link.
class OwnPipes {
 public:
  /// Throws InvalidArgument where the two variables are no numbers: people do not call such programs.
  OwnPipes();
  /// The next frame; none when the host has closed its end. Throws Malformed.
  std::optional<Frame> next();
  /// Throws EnvironmentError when the host does not read any more.
  void send(nlohmann::ordered_json header, std::string_view payload = {});

 private:
  int from_, to_;
  FrameReader reader_;
};

}  // namespace opshap::peers
