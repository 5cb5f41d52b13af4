# tessera_mpi_half(NAME SOURCE LIBRARY): lib/tessera/tessera-NAME-MPI from one C++ source and one
# library of ours, for each MPI whose compiler is here: what a command becomes under a launcher
# (mpiio/program/mpi_program.hpp). The flags of the MPIs are known once mpiio/ is.
function(tessera_mpi_half NAME SOURCE LIBRARY)
  set(mpiio ${PROJECT_SOURCE_DIR}/src/tessera/mpiio)
  foreach(mpi openmpi mpich)
    if(NOT TESSERA_MPICC_${mpi})
      continue()
    endif()
    set(program tessera_${NAME}_${mpi})
    add_executable(${program} ${SOURCE} ${mpiio}/program/mpi_program.cpp)
    set_target_properties(${program} PROPERTIES OUTPUT_NAME tessera-${NAME}-${mpi}
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/tessera)
    target_link_libraries(${program} PRIVATE tessera_mpi_exchange_${mpi} ${LIBRARY})
    add_dependencies(product ${program})
    install(TARGETS ${program} RUNTIME DESTINATION lib/tessera)
  endforeach()
endfunction()
