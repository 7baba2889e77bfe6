#pragma once

#include "core/operator.hpp"

namespace opshap::cli {

/// Answers the questions of peers::peer_operator() about an operator on grids, until the host says goodbye or closes
/// its pipe. Its pipes are those of peers::OwnPipes. An error of the operator
/// fails its question. Throws Malformed for bytes that are no frame.
void serve_operator(const Operator& op);

}  // namespace opshap::cli
