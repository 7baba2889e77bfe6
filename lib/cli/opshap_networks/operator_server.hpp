#pragma once

#include "core/operator.hpp"

namespace opshap::cli {

/// Answers the questions of peers::peer_operator() about an operator on grids, until the host says goodbye or closes
/// its pipe. Reads from file descriptor 3 and writes to 4, as programs of opshap-peer/1 do. An error of the operator
/// fails its question. Throws Malformed for bytes that are no frame.
void serve_operator(const Operator& op);

}  // namespace opshap::cli
