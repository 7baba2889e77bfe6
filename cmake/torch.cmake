# opshap::torch: LibTorch as an imported target of our own.
#
# Debian's libtorch-dev (1.13) by default; with -DOPSHAP_TORCH=<a wheel's torch folder> PyTorch 2.x. The wheel's own find_package(Torch) is not
# used: with Debian's package installed too it picks up Debian's libc10 and the program aborts at start, and the CUDA wheels' one asks for a full toolkit.
add_library(opshap::torch INTERFACE IMPORTED GLOBAL)

if(OPSHAP_TORCH)
  if(NOT EXISTS ${OPSHAP_TORCH}/lib/libtorch_cpu.so)
    message(FATAL_ERROR "OPSHAP_TORCH=${OPSHAP_TORCH} (no lib/libtorch_cpu.so there). "
                        "Give the folder that `python3 -c 'import torch; print(torch.__path__[0])'` prints.")
  endif()
  set(torch_libraries ${OPSHAP_TORCH}/lib)
  set(torch_includes ${OPSHAP_TORCH}/include ${OPSHAP_TORCH}/include/torch/csrc/api/include)
  file(STRINGS ${OPSHAP_TORCH}/version.py torch_version REGEX "__version__ = ")
  string(REGEX REPLACE ".*['\"](.*)['\"].*" "\\1" torch_version "${torch_version}")
else()
  find_library(torch_cpu_library torch_cpu REQUIRED)
  get_filename_component(torch_libraries ${torch_cpu_library} DIRECTORY)
  find_path(torch_include torch/types.h REQUIRED PATH_SUFFIXES torch/csrc/api/include)
  find_path(aten_include ATen/core/Tensor.h REQUIRED)
  set(torch_includes ${aten_include} ${torch_include})
  list(REMOVE_DUPLICATES torch_includes)
  set(torch_version "Debian 1.13")
endif()

target_compile_definitions(opshap::torch INTERFACE OPSHAP_TORCH_LIBRARIES="${torch_libraries}")
target_include_directories(opshap::torch SYSTEM INTERFACE ${torch_includes})
target_link_libraries(opshap::torch INTERFACE ${torch_libraries}/libtorch_cpu.so ${torch_libraries}/libc10.so)
if(OPSHAP_TORCH AND EXISTS ${torch_libraries}/libtorch_cuda.so)
  # Kernels register themselves: without a reference to a symbol the linker would drop the CUDA library.
  # The libraries of the CUDA wheel are packages of their own beside it, which only the loader finds by itself.
  file(GLOB cuda_folders ${OPSHAP_TORCH}/../nvidia/*/lib)
  list(TRANSFORM cuda_folders PREPEND -Wl,-rpath-link,)
  target_link_options(opshap::torch INTERFACE ${cuda_folders})
  target_link_libraries(opshap::torch INTERFACE
    -Wl,--push-state,--no-as-needed ${torch_libraries}/libtorch_cuda.so ${torch_libraries}/libc10_cuda.so -Wl,--pop-state)
  # With the headers of the CUDA runtime steps of a training are recorded as graphs. Nothing is linked to it.
  file(GLOB cuda_includes ${OPSHAP_TORCH}/../nvidia/*/include)
  find_path(OPSHAP_CUDA_HEADERS cuda_runtime_api.h HINTS ${cuda_includes} /usr/local/cuda/include NO_DEFAULT_PATH DOC "Headers of the CUDA runtime")
endif()
if(OPSHAP_TORCH)
  target_link_options(opshap::torch INTERFACE -Wl,-rpath,${torch_libraries})
  # A wheel has headers of a {fmt} of its own, which come first, and no library for them.
  if(EXISTS ${OPSHAP_TORCH}/include/fmt/format.h)
    target_compile_definitions(opshap::torch INTERFACE FMT_HEADER_ONLY)
  endif()
endif()
message(STATUS "LibTorch: ${torch_version} in ${torch_libraries}")

# Debian's LibTorch multiplies matrices with whatever BLAS the system has; the reference one is 50 times slower.
if(NOT OPSHAP_TORCH)
  file(REAL_PATH /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/libblas.so.3 blas)
  if(blas MATCHES "/blas/libblas")
    message(WARNING "BLAS: ${blas} (the reference BLAS, about 50 times slower than OpenBLAS). Run: apt-get install libopenblas0-openmp")
  endif()
endif()
