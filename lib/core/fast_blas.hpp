#pragma once

namespace opshap {

/// OpenBLAS 0.3.21 takes processors newer than itself for older ones: AMD's for "Haswell", which halves the speed of
/// its products, Intel's (Emerald Rapids, model 207, say) for "Prescott", which has a fifth of it (33 GFLOP/s a thread,
/// not 155). It reads OPENBLAS_CORETYPE when it is loaded, so a program linked to it sets the variable and starts
/// itself again, once. Does nothing when the variable is set or fast_blas_core_type() is empty.
void restart_with_fast_blas(char** argv);

/// The value restart_with_fast_blas() would set on this CPU ("SKYLAKEX" with AVX-512, "HASWELL" on Intel's with AVX2),
/// or "" when OpenBLAS can be left alone.
const char* fast_blas_core_type();

}  // namespace opshap
