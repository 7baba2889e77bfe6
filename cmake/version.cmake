# Writes version.cpp with the current commit; run at every build, touches the file only when the commit changed.
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
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#include \"cli/version.hpp\"

namespace opshap::cli::version {
const char* const commit = \"${commit}\";
const bool dirty = ${dirty};
}  // namespace opshap::cli::version
")
