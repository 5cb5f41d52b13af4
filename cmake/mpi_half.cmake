# tessera_mpi_half(NAME SOURCE LIBRARY): lib/tessera/tessera-NAME-MPI from one C++ source and one
# library of ours, for each MPI whose compiler is here: what a command becomes under a launcher
# (mpiio/program/mpi_program.hpp). The flags of the MPIs are known once mpiio/ is.
function(tessera_mpi_half NAME SOURCE LIBRARY)
  set(mpiio ${PROJECT_SOURCE_DIR}/src/tessera/mpiio)
  foreach(mpi openmpi mpich)
    if(NOT TESSERA_MPICC_${mpi})
      continue()
    endif()
    tessera_mpi_flags(${TESSERA_MPICC_${mpi}} includes libraries)
    set(program tessera_${NAME}_${mpi})
    add_executable(${program} ${SOURCE} ${mpiio}/program/mpi_program.cpp ${mpiio}/mpi_exchange.cpp
      ${mpiio}/native.cpp)
    set_target_properties(${program} PROPERTIES OUTPUT_NAME tessera-${NAME}-${mpi}
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/tessera)
    target_include_directories(${program} SYSTEM PRIVATE ${includes})
    target_compile_definitions(${program} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
    target_link_libraries(${program} PRIVATE ${LIBRARY} ${libraries})
    add_dependencies(product ${program})
    install(TARGETS ${program} RUNTIME DESTINATION lib/tessera)
  endforeach()
endfunction()
