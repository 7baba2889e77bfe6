#pragma once

#include <string>

namespace opshap::operators {

/// The matrix multiplication that LibTorch uses, as found and measured in this process.
struct Blas {
  std::string name;   ///< "OpenBLAS 0.3.21 (OpenMP), kernels for SkylakeX", "MKL", "reference BLAS"
  std::string path;   ///< the library that provides sgemm; empty when it is inside LibTorch
  double gflops = 0;  ///< per thread: best of five single products of 512³ in float32
  bool fast = false;  ///< by its name: not the reference BLAS
  std::string fix;    ///< the command that installs a fast one; empty when fast
};

/// Takes about 50 ms with a fast BLAS, 1 s with a slow one or on a busy machine.
Blas examine_blas();

/// Throws EnvironmentError with the command that repairs it unless the BLAS is fast: timings taken on a slow one would
/// be worthless. Of a fast one that is slow now, on a busy machine, a line on standard error is all.
void require_fast_blas();
/// The same of one that was examined.
void require_fast(const Blas& blas);

/// The LibTorch of this process.
struct Torch {
  std::string compiled;      ///< version the program was compiled against
  std::string library;       ///< where the loaded libtorch_cpu.so is
  bool as_compiled = false;  ///< the loaded one is in the folder the program was linked with
  std::string gpu;           ///< "none", or the names of the CUDA devices
};
Torch examine_torch();

}  // namespace opshap::operators
