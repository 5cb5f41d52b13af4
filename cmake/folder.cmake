# tessera_folder(NAME [DEPENDS folder...] [LIBRARIES library...] [INSTALL] [THREADS] [DOOR]): the
# library tessera_NAME of one folder of src/tessera, from every .cpp in it but the tests, and the
# program tessera_NAME_test from its *_test.cpp files.
#   DEPENDS    folders it may include; tools/check_layering.py holds the same rule on #include
#   LIBRARIES  what it links from outside
#   INSTALL    it is a part of the installed libtessera
#   THREADS    its tests also run under the thread sanitizer
#   DOOR       it talks to the world, so its tests do not run under the other sanitizers
add_custom_target(pure_tests)
add_custom_target(thread_tests)

function(tessera_folder NAME)
  cmake_parse_arguments(ARG "INSTALL;THREADS;DOOR" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  add_library(tessera_${NAME} STATIC ${sources})
  target_link_libraries(tessera_${NAME} PUBLIC tessera_options ${ARG_LIBRARIES})
  foreach(folder ${ARG_DEPENDS})
    target_link_libraries(tessera_${NAME} PUBLIC tessera_${folder})
  endforeach()
  if(ARG_INSTALL)
    set_property(GLOBAL APPEND PROPERTY TESSERA_INSTALLED_FOLDERS ${NAME})
    set_property(GLOBAL APPEND PROPERTY TESSERA_INSTALLED_LIBRARIES ${ARG_LIBRARIES})
  endif()
  if(tests AND TESSERA_TESTS)
    add_executable(tessera_${NAME}_test ${tests})
    target_link_libraries(tessera_${NAME}_test PRIVATE tessera_${NAME} GTest::gtest_main)
    set(labels unit)
    if(NOT ARG_DOOR)
      list(APPEND labels pure)
      add_dependencies(pure_tests tessera_${NAME}_test)
    endif()
    if(ARG_THREADS)
      list(APPEND labels threads)
      add_dependencies(thread_tests tessera_${NAME}_test)
    endif()
    add_test(NAME ${NAME} COMMAND tessera_${NAME}_test)
    set_tests_properties(${NAME} PROPERTIES TIMEOUT 600 LABELS "${labels}")
  endif()
endfunction()
