# Writes what a library was built from: the commit, and what two libraries of one build have in common. Run at every build, touches the files only when
# that has changed.
execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit unknown)
endif()
execute_process(COMMAND git status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE changes ERROR_QUIET)
if(changes)
  set(dirty true)
else()
  set(dirty false)
endif()
file(GLOB headers ${SOURCE_DIR}/lib/*/*.hpp)
set(sums "")
foreach(header IN LISTS headers)
  file(MD5 ${header} sum)
  string(APPEND sums ${sum})
endforeach()
string(MD5 sum "${sums}")
string(SUBSTRING ${sum} 0 12 sum)
set(build "${commit}, headers ${sum}, ${COMPILER}")
file(CONFIGURE OUTPUT ${OUTPUT}/build.cpp CONTENT "#include \"networks/build.hpp\"

namespace opshap::networks {
const char* const commit = \"${commit}\";
const bool dirty = ${dirty};
const char* const build = \"${build}\";
}  // namespace opshap::networks
")
# The other library's own copy, which the loader compares with the first.
file(CONFIGURE OUTPUT ${OUTPUT}/networks_build.cpp CONTENT "namespace opshap::training {
extern const char* const build;
const char* const build = \"${build}\";
}  // namespace opshap::training
")
