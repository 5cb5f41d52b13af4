# Headers that most sources include, compiled once for all of them.
#
# A precompiled header serves the sources that are compiled by the same flags, so there is one for
# libraries, one for libraries that format text, and one for tests. Only headers from outside stand
# in it: those of ours change. A source includes what it needs all the same: `make test-tidy` reads
# each without them.
set(TESSERA_PCH_HEADERS <algorithm> <array> <atomic> <cerrno> <cstdint> <cstdlib> <cstring>
  <functional> <limits> <map> <memory> <optional> <set> <span> <string> <string_view> <utility>
  <variant> <vector>)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/library.cpp CONTENT "")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/program.cpp
  CONTENT "int main() { return 0; }\n")

add_library(tessera_pch OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled/library.cpp)
target_link_libraries(tessera_pch PRIVATE tessera_options)
set_target_properties(tessera_pch PROPERTIES TESSERA_MAKES_PCH ON)
target_precompile_headers(tessera_pch PRIVATE ${TESSERA_PCH_HEADERS})

# tessera_precompiled(TARGET...): libraries that use the headers above.
function(tessera_precompiled)
  foreach(target ${ARGN})
    target_precompile_headers(${target} REUSE_FROM tessera_pch)
  endforeach()
endfunction()

# tessera_precompiled_format(TARGET...): libraries that use those of fmt and <filesystem> too.
function(tessera_precompiled_format)
  if(NOT TARGET tessera_pch_format)
    find_package(fmt REQUIRED)
    add_library(tessera_pch_format OBJECT EXCLUDE_FROM_ALL
      ${CMAKE_BINARY_DIR}/precompiled/library.cpp)
    target_link_libraries(tessera_pch_format PRIVATE tessera_options fmt::fmt)
    set_target_properties(tessera_pch_format PROPERTIES TESSERA_MAKES_PCH ON)
    target_precompile_headers(tessera_pch_format PRIVATE
      ${TESSERA_PCH_HEADERS} <fmt/format.h> <filesystem>)
  endif()
  foreach(target ${ARGN})
    target_precompile_headers(${target} REUSE_FROM tessera_pch_format)
  endforeach()
endfunction()

# tessera_precompiled_test(TARGET...): programs that test with GoogleTest. The flags of a program
# are not those of a library, so their header is made by a program.
function(tessera_precompiled_test)
  if(NOT TARGET tessera_pch_test)
    add_executable(tessera_pch_test EXCLUDE_FROM_ALL
      ${CMAKE_BINARY_DIR}/precompiled/program.cpp)
    target_link_libraries(tessera_pch_test PRIVATE tessera_options GTest::gtest)
    set_target_properties(tessera_pch_test PROPERTIES TESSERA_MAKES_PCH ON)
    target_precompile_headers(tessera_pch_test PRIVATE ${TESSERA_PCH_HEADERS} <gtest/gtest.h>)
  endif()
  foreach(target ${ARGN})
    target_precompile_headers(${target} REUSE_FROM tessera_pch_test)
  endforeach()
endfunction()

# tessera_unity(TARGET [SOURCE...]): sources of a library are compiled several at once, for most of
# the work on each is the same headers of ours. The SOURCEs, in which names of their own collide
# with those of others, are not; and none where there are no precompiled headers.
function(tessera_unity target)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# tessera_parses_command_line(SOURCE...): sources that include CLI11, whose templates take longest
# to compile and run once. They do without the precompiled header, whose flags are others.
function(tessera_parses_command_line)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS -Os SKIP_PRECOMPILE_HEADERS ON)
endfunction()
