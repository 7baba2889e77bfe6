# `cmake --build build/release --target reference`: the docstrings as pages, build/release/reference/html/index.html. Needs Doxygen 1.9
# (apt-get install doxygen). A reference to what is not there, or a malformed docstring, fails the target.
find_package(Doxygen 1.9 QUIET)
if(NOT DOXYGEN_FOUND)
  add_custom_target(reference COMMAND ${CMAKE_COMMAND} -E echo "reference: doxygen (not installed). Run: apt-get install doxygen, and configure again."
                    COMMAND ${CMAKE_COMMAND} -E false)
  return()
endif()
set(DOXYGEN_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/reference)
set(DOXYGEN_STRIP_FROM_PATH ${PROJECT_SOURCE_DIR}/lib)
set(DOXYGEN_FULL_PATH_NAMES YES)
set(DOXYGEN_FILE_PATTERNS *.hpp)
set(DOXYGEN_EXTRACT_ALL YES)
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_BUILTIN_STL_SUPPORT YES)
set(DOXYGEN_SORT_MEMBER_DOCS NO)  # the order of a header is meant
set(DOXYGEN_MACRO_EXPANSION YES)
set(DOXYGEN_SEARCH_INCLUDES YES)
set(DOXYGEN_INCLUDE_PATH ${PROJECT_SOURCE_DIR}/lib)
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_QUIET YES)
set(DOXYGEN_HAVE_DOT NO)
set(DOXYGEN_USE_MDFILE_AS_MAINPAGE "")
doxygen_add_docs(reference ${PROJECT_SOURCE_DIR}/lib)
