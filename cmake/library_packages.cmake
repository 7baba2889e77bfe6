# What the libraries need, LibTorch apart, as imported targets. It is installed with them: find_package(opshap) finds the same packages.
find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(Boost 1.74 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(HDF5 1.10 REQUIRED COMPONENTS C)
find_package(ZLIB 1.2 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(fftw3 REQUIRED IMPORTED_TARGET fftw3)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(lzf REQUIRED IMPORTED_TARGET liblzf)
pkg_check_modules(zip REQUIRED IMPORTED_TARGET libzip)

# Not by the package's own configuration file: Debian's asks for MPI and PETSc, which none of these needs.
find_path(SUNDIALS_INCLUDE_DIR cvode/cvode.h REQUIRED)
add_library(opshap::sundials INTERFACE IMPORTED GLOBAL)
target_include_directories(opshap::sundials SYSTEM INTERFACE ${SUNDIALS_INCLUDE_DIR})
foreach(part cvode arkode nvecserial sunmatrixband sunlinsolband)
  find_library(SUNDIALS_${part}_LIBRARY sundials_${part} REQUIRED)
  target_link_libraries(opshap::sundials INTERFACE ${SUNDIALS_${part}_LIBRARY})
endforeach()

find_path(RANDOM123_INCLUDE_DIR Random123/philox.h REQUIRED)
add_library(opshap::random123 INTERFACE IMPORTED GLOBAL)
target_include_directories(opshap::random123 SYSTEM INTERFACE ${RANDOM123_INCLUDE_DIR})

# Not by the package's own configuration file: Debian's asks for the xgboost program, which libxgboost-dev does not bring.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h REQUIRED)
find_library(XGBOOST_LIBRARY xgboost REQUIRED)
# Estimators load it when they need it; tests link it.
add_library(opshap::xgboost INTERFACE IMPORTED GLOBAL)
target_include_directories(opshap::xgboost SYSTEM INTERFACE ${XGBOOST_INCLUDE_DIR})
target_link_libraries(opshap::xgboost INTERFACE ${XGBOOST_LIBRARY})
