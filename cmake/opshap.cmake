# Two shared libraries, made of folders, with the dependencies of each folder checked against what its files really include: libopshap.so of all that
# needs no LibTorch, and libopshap-networks.so of the rest.
#
#   opshap_library(<folder> [USES <folder>...] [PACKAGES <target>...] [PUBLIC_PACKAGES <target>...] [TORCH] [WORDS] [ALONE])
#
# compiles lib/<folder>/*.cpp as part of one of them (TORCH: of the second) and makes opshap::<folder>, which who links has the folder's headers and that
# library. At configure time every `#include "x/y.hpp"` must name the folder itself, one of USES, or what those use; LibTorch's headers need TORCH. Anything
# else stops the configuration with file, line and the allowed folders, so the dependency diagram in lib/CMakeLists.txt cannot drift from the code.
# WORDS: the folder reads and writes but computes little, so it is compiled in half the time with -O1 (opshap_compile_for_words).
# ALONE: its files say the same words for different things (draw, solve, invariants of each problem) and are not compiled in batches.

function(opshap_compile_options target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -fno-math-errno)
  # Designated initialisers leave members to their default values on purpose; GCC before 14 warns of that.
  target_compile_options(${target} PRIVATE -Wno-missing-field-initializers)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC bug 105651: both fire falsely inside std::string's own operator+.
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-stringop-overflow)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # GCC throws away what it no longer needs whenever its memory has grown by 30 to 100 %. Doing that less often saves a twelfth to a sixth of the time of
    # our batches and costs a quarter more memory (1.5 GB for the largest).
    target_compile_options(${target} PRIVATE --param=ggc-min-expand=10000 --param=ggc-min-heapsize=8000000)
  endif()
  if(OPSHAP_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(OPSHAP_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${OPSHAP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
    target_link_options(${target} PRIVATE -fsanitize=${OPSHAP_SANITIZE})
  endif()
endfunction()

# Optimising code that runs for milliseconds takes longer than running it. The numbers are the same: without -march there is no contraction.
function(opshap_compile_for_words target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# Files of a target in batches. Registries stay alone: what they list changes more often than they do.
function(opshap_unite target size)
  if(OPSHAP_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
    # GCC takes a file of a batch for a header, and warns of members of its own types.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# What takes longest to compile of the packages and of the standard library, compiled once for all folders of words.
function(opshap_precompile_packages target)
  if(NOT TARGET opshap_packages)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/packages.cpp CONTENT "" @ONLY)
    add_library(opshap_packages OBJECT ${PROJECT_BINARY_DIR}/precompiled/packages.cpp)
    target_compile_features(opshap_packages PUBLIC cxx_std_20)
    set_target_properties(opshap_packages PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(opshap_packages PRIVATE nlohmann_json::nlohmann_json fmt::fmt Threads::Threads)
    target_precompile_headers(opshap_packages PRIVATE <nlohmann/json.hpp> <fmt/format.h> <filesystem> <functional> <map> <sstream>)
    opshap_compile_options(opshap_packages)
    opshap_compile_for_words(opshap_packages)
  endif()
  target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json fmt::fmt Threads::Threads)
  target_precompile_headers(${target} REUSE_FROM opshap_packages)
endfunction()

# Lists of names (.def) are no code: whoever prints names may include any.
function(opshap_check_includes folder allowed torch)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/${folder}/*.?pp ${PROJECT_SOURCE_DIR}/lib/${folder}/commands/*.?pp)
  # A changed include re-runs the configuration, and with it this check.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  foreach(file IN LISTS files)
    file(STRINGS ${file} lines REGEX "^[ \t]*#[ \t]*include")
    foreach(line IN LISTS lines)
      if(line MATCHES "\\.def\"")
        continue()
      elseif(line MATCHES "#[ \t]*include[ \t]*\"([^/\"]+)/")
        if(NOT CMAKE_MATCH_1 IN_LIST allowed)
          message(FATAL_ERROR "${file}: ${line} (folder '${folder}' may include: ${allowed}). "
                              "Depend on core instead, or add the folder to USES in lib/CMakeLists.txt.")
        endif()
      elseif(line MATCHES "#[ \t]*include[ \t]*\"[^/]*\"")
        message(FATAL_ERROR "${file}: ${line} (a quoted include names its folder). Write \"${folder}/...\".")
      elseif(NOT torch AND line MATCHES "#[ \t]*include[ \t]*<(torch|ATen|c10)/")
        message(FATAL_ERROR "${file}: ${line} (folder '${folder}' is LibTorch-free). Put the code behind core/operator.hpp.")
      endif()
    endforeach()
  endforeach()
endfunction()

# The shared libraries and what they need at link time; the folders add their objects.
add_library(opshap_light SHARED)
set_target_properties(opshap_light PROPERTIES OUTPUT_NAME opshap EXPORT_NAME light)
if(OPSHAP_NETWORKS)
  add_library(opshap_networks_part SHARED)
  set_target_properties(opshap_networks_part PROPERTIES OUTPUT_NAME opshap-networks EXPORT_NAME networks_part)
  target_link_libraries(opshap_networks_part PRIVATE opshap_light)
endif()

function(opshap_library folder)
  cmake_parse_arguments(arg "TORCH;WORDS;ALONE" "" "USES;PACKAGES;PUBLIC_PACKAGES" ${ARGN})
  set(allowed ${folder} ${arg_USES})
  foreach(used IN LISTS arg_USES)
    get_property(further GLOBAL PROPERTY opshap_allowed_${used})
    list(APPEND allowed ${further})
  endforeach()
  list(REMOVE_DUPLICATES allowed)
  set_property(GLOBAL PROPERTY opshap_allowed_${folder} "${allowed}")
  set_property(GLOBAL APPEND PROPERTY opshap_folders ${folder})
  opshap_check_includes(${folder} "${allowed}" "${arg_TORCH}")

  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/${folder}/*.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/${folder}/*.hpp)
  file(GLOB registries CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/${folder}/*.def)

  # Headers: what who includes them needs.
  add_library(opshap_${folder}_headers INTERFACE)
  set_target_properties(opshap_${folder}_headers PROPERTIES EXPORT_NAME ${folder}_headers)
  target_include_directories(opshap_${folder}_headers INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/lib>)
  target_compile_features(opshap_${folder}_headers INTERFACE cxx_std_20)
  target_sources(opshap_${folder}_headers INTERFACE FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/lib FILES ${headers} ${registries})
  foreach(used IN LISTS arg_USES)
    target_link_libraries(opshap_${folder}_headers INTERFACE opshap_${used}_headers)
  endforeach()
  target_link_libraries(opshap_${folder}_headers INTERFACE ${arg_PUBLIC_PACKAGES})

  # Objects: a part of one of the libraries.
  add_library(opshap_${folder}_objects OBJECT ${sources})
  set_target_properties(opshap_${folder}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(opshap_${folder}_objects PRIVATE opshap_${folder}_headers ${arg_PACKAGES})
  if(NOT arg_ALONE)
    opshap_unite(opshap_${folder}_objects 8)
  endif()
  set(registry ${sources})
  list(FILTER registry INCLUDE REGEX "/registry\\.cpp$")
  set_source_files_properties(${registry} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set(library opshap_light)
  if(arg_TORCH)
    set(library opshap_networks_part)
    target_link_libraries(opshap_${folder}_headers INTERFACE opshap::torch)
    set_target_properties(opshap_${folder}_objects PROPERTIES JOB_POOL_COMPILE torch)
    if(folder STREQUAL operators)
      target_precompile_headers(opshap_operators_objects PRIVATE ${PROJECT_SOURCE_DIR}/lib/operators/torch.hpp)
    else()
      target_precompile_headers(opshap_${folder}_objects REUSE_FROM opshap_operators_objects)
    endif()
  endif()
  target_sources(${library} PRIVATE $<TARGET_OBJECTS:opshap_${folder}_objects>)
  target_link_libraries(${library} PRIVATE opshap_${folder}_headers ${arg_PACKAGES})
  opshap_compile_options(opshap_${folder}_objects)
  if(arg_WORDS)
    opshap_compile_for_words(opshap_${folder}_objects)
    opshap_precompile_packages(opshap_${folder}_objects)
  endif()

  add_library(opshap_${folder} INTERFACE)
  add_library(opshap::${folder} ALIAS opshap_${folder})
  target_link_libraries(opshap_${folder} INTERFACE opshap_${folder}_headers ${library} opshap_light)
  opshap_check_headers(${folder} "${arg_TORCH}" "${arg_PACKAGES}" ${headers})
  opshap_install(${folder} "${arg_TORCH}")
endfunction()

# After the last folder: for preset lint, all of them and the commands in one program, so that linking sees two types of one name wherever they are.
function(opshap_one_program)
  get_property(folders GLOBAL PROPERTY opshap_folders)
  add_executable(one_program EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/lib/cli/main.cpp)
  foreach(folder IN LISTS folders)
    target_sources(one_program PRIVATE $<TARGET_OBJECTS:opshap_${folder}_objects>)
    get_target_property(packages opshap_${folder}_objects LINK_LIBRARIES)
    target_link_libraries(one_program PRIVATE ${packages})
  endforeach()
  target_link_libraries(one_program PRIVATE opshap_cli)
  target_compile_definitions(one_program PRIVATE OPSHAP_VERSION="${PROJECT_VERSION}")
endfunction()

# Target `headers` compiles each header by itself, which shows that it stands alone. Those with LibTorch share its precompiled headers; nothing else is
# precompiled for them, so that a header which forgot its <vector> fails. That takes minutes; properties/source_files.cpp looks for the same in the texts.
function(opshap_check_headers folder torch packages)
  if(NOT TARGET headers)
    add_custom_target(headers)
  endif()
  set(checks)
  foreach(header IN LISTS ARGN)
    cmake_path(GET header STEM name)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/headers/${folder}/${name}.cpp CONTENT "#include \"${folder}/${name}.hpp\"\n" @ONLY)
    list(APPEND checks ${PROJECT_BINARY_DIR}/headers/${folder}/${name}.cpp)
  endforeach()
  add_library(opshap_${folder}_alone OBJECT EXCLUDE_FROM_ALL ${checks})
  target_link_libraries(opshap_${folder}_alone PRIVATE opshap_${folder}_headers ${packages})
  opshap_compile_options(opshap_${folder}_alone)
  target_compile_options(opshap_${folder}_alone PRIVATE -O0)
  if(torch AND folder STREQUAL operators)
    target_precompile_headers(opshap_operators_alone PRIVATE ${PROJECT_SOURCE_DIR}/lib/operators/torch.hpp)
  elseif(torch)
    target_precompile_headers(opshap_${folder}_alone REUSE_FROM opshap_operators_alone)
  endif()
  if(torch)
    set_target_properties(opshap_${folder}_alone PROPERTIES JOB_POOL_COMPILE torch)
  endif()
  add_dependencies(headers opshap_${folder}_alone)
endfunction()

# opshap_precompile_for_tests(opshap_support <header>...): what tests include most, compiled once; and once more with LibTorch's headers for those that
# have them. opshap_test() takes one of the two.
function(opshap_precompile_for_tests target)
  target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(OPSHAP_NETWORKS)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/torch_tests.cpp CONTENT "" @ONLY)
    add_library(${target}_torch OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled/torch_tests.cpp)
    target_link_libraries(${target}_torch PRIVATE opshap::operators GTest::gtest nlohmann_json::nlohmann_json)
    target_precompile_headers(${target}_torch PRIVATE ${PROJECT_SOURCE_DIR}/lib/operators/torch.hpp ${ARGN})
    opshap_compile_options(${target}_torch)
    opshap_compile_for_words(${target}_torch)
  endif()
endfunction()

# The suites of a file of tests, as a filter of GoogleTest: those of TEST_P have the names of their instances before them.
function(opshap_suites variable file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} text)
  string(REGEX MATCHALL "\nTEST(_[FP])?\\([A-Za-z0-9_]+" suites "${text}")
  list(TRANSFORM suites REPLACE "\nTEST_P\\((.*)" "*/\\1.*")
  list(TRANSFORM suites REPLACE "\nTEST(_F)?\\((.*)" "\\2.*")
  list(REMOVE_DUPLICATES suites)
  set(${variable} "${suites}" PARENT_SCOPE)
endfunction()

# opshap_tests(<executable> [LABEL property|convergence|...] [TIMEOUT <seconds>] [TORCH] [PROGRAM] FILES <name>... USES <target>...):
# one executable of <name>.cpp..., one CTest entry a test. The tests of a room share one, since linking costs more than most tests.
# TORCH: one CTest entry a file, named like it, since loading LibTorch takes half a second.
# TOGETHER: the same, since the tests of a file share what is dear. PROGRAM: the tests start the program opshap.
# ${PROJECT_BINARY_DIR}/tests.txt has a line a file: its name, its executable, the filter of its suites. tools/mutate reads it.
file(WRITE ${PROJECT_BINARY_DIR}/tests.txt "")
function(opshap_tests name)
  cmake_parse_arguments(arg "TORCH;PROGRAM;TOGETHER" "LABEL;TIMEOUT" "FILES;USES" ${ARGN})
  if(arg_TORCH AND NOT OPSHAP_NETWORKS)
    return()
  endif()
  if(NOT arg_LABEL)
    set(arg_LABEL property)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  list(TRANSFORM arg_FILES APPEND .cpp OUTPUT_VARIABLE sources)
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE ${arg_USES} GTest::gtest_main)
  target_link_libraries(${name} PRIVATE opshap_support nlohmann_json::nlohmann_json)
  if(arg_USES MATCHES "opshap::(operators|explainers|training)")
    target_precompile_headers(${name} REUSE_FROM opshap_support_torch)
  else()
    target_precompile_headers(${name} REUSE_FROM opshap_support)
  endif()
  target_compile_definitions(${name} PRIVATE OPSHAP_SOURCE_DIR="${PROJECT_SOURCE_DIR}" OPSHAP_BINARY_DIR="${PROJECT_BINARY_DIR}"
                             $<$<BOOL:${OPSHAP_NETWORKS}>:OPSHAP_WITH_NETWORKS>)
  opshap_compile_options(${name})
  opshap_compile_for_words(${name})
  if(arg_LABEL STREQUAL property)  # the others say the same words for different things
    opshap_unite(${name} 4)
  endif()
  if(arg_PROGRAM)
    add_dependencies(${name} opshap)
  endif()
  set(others)
  foreach(file IN LISTS arg_FILES)
    opshap_suites(suites ${CMAKE_CURRENT_SOURCE_DIR}/${file}.cpp)
    foreach(suite IN LISTS suites)
      if(suite IN_LIST others)
        message(FATAL_ERROR "${name}: ${file}.cpp has tests of the suite ${suite}, as another of its files (a filter would run both). "
                            "Rename the suite, or give the file to another executable.")
      endif()
    endforeach()
    list(APPEND others ${suites})
    list(JOIN suites : filter)
    file(APPEND ${PROJECT_BINARY_DIR}/tests.txt "${file} ${name} ${filter}\n")
    if(arg_TORCH OR arg_TOGETHER)
      add_test(NAME ${file} COMMAND ${name} --gtest_filter=${filter})
      set_tests_properties(${file} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS ${arg_LABEL} COST 10)  # they are the longest, and begin first
    endif()
  endforeach()
  if(arg_TORCH)
    set_target_properties(${name} PROPERTIES JOB_POOL_COMPILE torch)
  endif()
  if(NOT arg_TORCH AND NOT arg_TOGETHER)
    gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES
                         PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS ${arg_LABEL})
  endif()
endfunction()

# opshap_test(<name> ... USES <target>...): an executable of one file.
function(opshap_test name)
  opshap_tests(${name} FILES ${name} ${ARGN})
endfunction()

# opshap_benchmark(<name> [TORCH] [SMOKE <regex>] USES <target>...): a Google Benchmark executable bench_<name>, smoke-run by CTest so that it cannot rot.
# SMOKE: the benchmarks of that run, which should be every function once at its smallest size.
function(opshap_benchmark name)
  cmake_parse_arguments(arg "TORCH" "SMOKE" "USES" ${ARGN})
  if(arg_TORCH AND NOT OPSHAP_NETWORKS)
    return()
  endif()
  add_executable(bench_${name} ${name}.cpp)
  target_link_libraries(bench_${name} PRIVATE ${arg_USES} benchmark::benchmark)
  opshap_compile_options(bench_${name})
  opshap_compile_for_words(bench_${name})  # what it measures is in the libraries
  if(arg_TORCH)
    set_target_properties(bench_${name} PROPERTIES JOB_POOL_COMPILE torch)
    if(TARGET opshap_support_torch)
      target_link_libraries(bench_${name} PRIVATE GTest::gtest nlohmann_json::nlohmann_json)  # whose headers are precompiled with LibTorch's
      target_precompile_headers(bench_${name} REUSE_FROM opshap_support_torch)
    endif()
  endif()
  if(OPSHAP_TESTING)
    if(NOT arg_SMOKE)
      set(arg_SMOKE .)
    endif()
    add_test(NAME bench_${name}.runs COMMAND bench_${name} --benchmark_min_time=0.001 "--benchmark_filter=${arg_SMOKE}")
    set_tests_properties(bench_${name}.runs PROPERTIES TIMEOUT 300 LABELS benchmark)
  endif()
endfunction()

# opshap_embed(<folder> <name> <file>): the file's text, compiled into the folder as opshap::<folder>::embedded::<name> (a std::string_view).
function(opshap_embed folder name file)
  file(READ ${file} text)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/embedded/${name}.cpp @ONLY CONTENT
       "#include <string_view>\n\nnamespace opshap::${folder}::embedded {\n\nextern const std::string_view @name@;\nconst std::string_view @name@ = R\"text(@text@)text\";\n\n}\n")
  target_sources(opshap_${folder}_objects PRIVATE ${PROJECT_BINARY_DIR}/embedded/${name}.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
endfunction()
