# tessera_mpi_program(NAME MPI [PART_OF target] SOURCES file... [HEADERS file...]): the C program
# lib/tessera/tessera-NAME-MPI, a part of the target, or else of the product and installed. It is
# compiled by the MPI's own compiler wrapper and not by CMake's compiler, since one build cannot mix
# two MPIs.
foreach(mpi openmpi mpich)
  find_program(TESSERA_MPICC_${mpi} mpicc.${mpi})
endforeach()

function(tessera_mpi_program NAME MPI)
  cmake_parse_arguments(ARG "" "PART_OF" "SOURCES;HEADERS" ${ARGN})
  if(NOT TESSERA_MPICC_${MPI})
    message(STATUS "mpicc.${MPI} not found: no tessera-${NAME}-${MPI} is built")
    return()
  endif()
  set(program ${CMAKE_BINARY_DIR}/lib/tessera/tessera-${NAME}-${MPI})
  add_custom_command(OUTPUT ${program}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/lib/tessera
    COMMAND ${TESSERA_MPICC_${MPI}} -std=c11 -O2 -Wall -Wextra -Werror
            -I${PROJECT_SOURCE_DIR} -o ${program} ${ARG_SOURCES}
    DEPENDS ${ARG_SOURCES} ${ARG_HEADERS}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Building ${NAME} of ${MPI}" VERBATIM)
  string(REPLACE "-" "_" target tessera_${NAME}_${MPI})
  add_custom_target(${target} ALL DEPENDS ${program})
  if(ARG_PART_OF)
    add_dependencies(${ARG_PART_OF} ${target})
  else()
    add_dependencies(product ${target})
    install(PROGRAMS ${program} DESTINATION lib/tessera)
  endif()
endfunction()

# A test that starts jobs of MPI has a folder of its own for the files of Open MPI's launchers:
# those of tests that run beside it and start at the same moment trip over each other in one.
function(tessera_own_sessions test)
  set(sessions ${PROJECT_BINARY_DIR}/sessions/${test})
  file(MAKE_DIRECTORY ${sessions})
  set_tests_properties(${test} PROPERTIES ENVIRONMENT OMPI_MCA_orte_tmpdir_base=${sessions})
endfunction()
