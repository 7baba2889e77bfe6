#pragma once

namespace opshap {

/// OpenBLAS 0.3.21 takes AMD processors newer than itself for "Haswell" and then multiplies matrices at half speed. It reads OPENBLAS_CORETYPE when it is
/// loaded, so a program linked to it sets the variable and starts itself again, once. Does nothing when the variable is set or the CPU has no AVX-512.
void restart_with_fast_blas(char** argv);

/// The value restart_with_fast_blas() would set on this CPU ("SKYLAKEX"), or "" when OpenBLAS can be left alone.
const char* fast_blas_core_type();

}  // namespace opshap
