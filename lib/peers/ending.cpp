#include "peers/ending.hpp"

namespace opshap::peers {

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::ok:
      return "ok";
    case Ending::fail:
      return "fail";
    case Ending::refused:
      return "refused";
    case Ending::budget_refused:
      return "budget_refused";
    case Ending::soft_timeout:
      return "soft_timeout";
    case Ending::timeout:
      return "timeout";
    case Ending::crash:
      return "crash";
    case Ending::protocol_error:
      return "protocol_error";
    case Ending::invalid:
      return "invalid";
    case Ending::oom:
      return "oom";
    case Ending::skipped:
      return "skipped";
  }
  return "";
}

}  // namespace opshap::peers
