# Every package the project uses, as imported targets; all are Debian 12 packages, nothing is downloaded.
include(library_packages)
find_package(CLI11 2.1 REQUIRED)

if(OPSHAP_TESTING)
  find_package(GTest 1.12 REQUIRED)
  include(GoogleTest)
  find_path(RAPIDCHECK_INCLUDE_DIR rapidcheck.h REQUIRED)
  find_library(RAPIDCHECK_LIBRARY rapidcheck REQUIRED)
  add_library(opshap::rapidcheck INTERFACE IMPORTED GLOBAL)
  target_include_directories(opshap::rapidcheck SYSTEM INTERFACE ${RAPIDCHECK_INCLUDE_DIR})
  target_link_libraries(opshap::rapidcheck INTERFACE ${RAPIDCHECK_LIBRARY})
endif()
if(OPSHAP_BENCHMARKS)
  find_package(benchmark 1.7 REQUIRED)
endif()

# Compiling against LibTorch takes about 1 GB a file.
set_property(GLOBAL PROPERTY JOB_POOLS torch=2)
if(OPSHAP_NETWORKS)
  include(torch)
endif()
