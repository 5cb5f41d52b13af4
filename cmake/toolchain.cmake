# Compiler settings shared by every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

# TESSERA_SANITIZE: "" or a list for -fsanitize=, for example "address,undefined" or "thread".
set(TESSERA_SANITIZE "" CACHE STRING "Sanitizers to build with, as for -fsanitize=")

add_library(tessera_options INTERFACE)
target_compile_options(tessera_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports "literal" + std::string as an overlapping copy (GCC bug 105651), or as one that
  # is too long for the string's own room.
  target_compile_options(tessera_options INTERFACE
    -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
endif()
target_include_directories(tessera_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
if(TESSERA_SANITIZE)
  target_compile_options(tessera_options INTERFACE
    -fsanitize=${TESSERA_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tessera_options INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()
if(TESSERA_FUZZ)
  # The libraries report their coverage to libFuzzer; only fuzz targets link its main().
  target_compile_options(tessera_options INTERFACE -fsanitize=fuzzer-no-link)
endif()

find_program(TESSERA_CCACHE ccache)
if(TESSERA_CCACHE)
  # It keeps sources with a precompiled header only if told that the macros of that header do not
  # matter by themselves. What a source includes it takes from the compiler, not from a run of the
  # preprocessor of its own.
  set(sloppiness pch_defines,time_macros,include_file_mtime,include_file_ctime)
  set(launcher env CCACHE_SLOPPINESS=${sloppiness} CCACHE_DEPEND=1 ${TESSERA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  # What makes a header (TESSERA_MAKES_PCH) must not read the one that it replaces.
  set(reads_pch $<NOT:$<BOOL:$<TARGET_PROPERTY:TESSERA_MAKES_PCH>>>)
  target_compile_options(tessera_options INTERFACE
    "$<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,${reads_pch}>:-fpch-preprocess>"
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
if(TESSERA_TESTS)
  find_package(GTest REQUIRED)
endif()
find_package(Threads REQUIRED)
