#pragma once

#include "networks/networks.hpp"

namespace opshap::operators {

/// Takes about 50 ms with a fast BLAS, 1 s with a slow one or on a busy machine.
networks::Blas examine_blas();

/// Throws EnvironmentError with the command that repairs it unless the BLAS is fast: timings taken on a slow one would
/// be worthless. Of a fast one that is slow now, on a busy machine, a line on standard error is all.
void require_fast_blas();
/// The same of one that was examined.
void require_fast(const networks::Blas& blas);

networks::Torch examine_torch();

}  // namespace opshap::operators
