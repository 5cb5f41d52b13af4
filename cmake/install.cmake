# What `make install` puts on a machine: the programs, one static library of the folders marked
# INSTALL, their headers, the libraries for C programs, and what CMake and pkg-config need to find
# them. docs/decisions/0002-one-installed-library.md says why it is one library.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(folders GLOBAL PROPERTY TESSERA_INSTALLED_FOLDERS)
get_property(libraries GLOBAL PROPERTY TESSERA_INSTALLED_LIBRARIES)
list(REMOVE_DUPLICATES libraries)

set(objects)
foreach(folder ${folders})
  list(APPEND objects $<TARGET_OBJECTS:tessera_${folder}>)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/tessera/${folder}
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera
          FILES_MATCHING PATTERN "*.hpp" PATTERN "test_*.hpp" EXCLUDE
          PATTERN "*_test_support.hpp" EXCLUDE)
endforeach()
add_library(tessera_library STATIC ${objects})
set_target_properties(tessera_library PROPERTIES
  OUTPUT_NAME tessera EXPORT_NAME tessera LINKER_LANGUAGE CXX)
target_compile_features(tessera_library INTERFACE cxx_std_20)
target_include_directories(tessera_library INTERFACE $<INSTALL_INTERFACE:include>)
target_link_libraries(tessera_library INTERFACE ${libraries})
add_dependencies(product tessera_library)

# For each outside library: the find_dependency() line of tesseraConfig.cmake, and its pkg-config
# module or linker flag.
set(TESSERA_FIND_DEPENDENCIES "")
set(TESSERA_PC_REQUIRES "")
set(TESSERA_PC_LIBS "")
foreach(library ${libraries})
  if(library STREQUAL "Threads::Threads")
    string(APPEND TESSERA_FIND_DEPENDENCIES "find_dependency(Threads)\n")
    string(APPEND TESSERA_PC_LIBS " -pthread")
  elseif(library MATCHES "^(uring|sodium|metis)::")
    set(name ${CMAKE_MATCH_1})
    string(APPEND TESSERA_FIND_DEPENDENCIES
      "include(\"\${CMAKE_CURRENT_LIST_DIR}/${name}.cmake\")\n")
    if(name STREQUAL "metis")
      string(APPEND TESSERA_PC_LIBS " -lmetis")  # it has no module
    else()
      string(APPEND TESSERA_PC_REQUIRES " lib${name}")
    endif()
    install(FILES ${PROJECT_SOURCE_DIR}/cmake/${name}.cmake
            DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
  elseif(library STREQUAL "fmt::fmt")
    string(APPEND TESSERA_FIND_DEPENDENCIES "find_dependency(fmt)\n")
    string(APPEND TESSERA_PC_REQUIRES " fmt")
  elseif(library MATCHES "^absl::(.*)$")
    string(APPEND TESSERA_FIND_DEPENDENCIES "find_dependency(absl)\n")
    string(APPEND TESSERA_PC_REQUIRES " absl_${CMAKE_MATCH_1}")
  else()
    message(FATAL_ERROR "cmake/install.cmake does not know how users find ${library}")
  endif()
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
configure_package_config_file(cmake/tesseraConfig.cmake.in
  ${CMAKE_BINARY_DIR}/package/tesseraConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a new minor version may change any interface.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/package/tesseraConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH TESSERA_PC_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(cmake/tessera.pc.in ${CMAKE_BINARY_DIR}/package/tessera.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/package/tessera.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The libraries for C programs: NAME is tessera_NAME.h, libtessera-NAME.so, tessera::NAME and the
# module tessera-NAME.
get_property(c_libraries GLOBAL PROPERTY TESSERA_C_LIBRARIES)
set(TESSERA_C_ABOUT_lock "list locks for programs in C")
set(TESSERA_C_ABOUT_mesh "mesh plans for programs in C")
foreach(TESSERA_C_NAME ${c_libraries})
  set(TESSERA_C_ABOUT ${TESSERA_C_ABOUT_${TESSERA_C_NAME}})
  set(module ${CMAKE_BINARY_DIR}/package/tessera-${TESSERA_C_NAME}.pc)
  configure_file(cmake/tessera-c.pc.in ${module} @ONLY)
  install(FILES ${module} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(TARGETS tessera_capi_${TESSERA_C_NAME} EXPORT tesseraTargets)
endforeach()

install(TARGETS tessera_library EXPORT tesseraTargets)
# CMake strips no static library, for a linker needs its symbols; it does not need the rest.
set(archive ${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:tessera_library>)
install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${archive}\" COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_dir})
install(FILES ${CMAKE_BINARY_DIR}/package/tesseraConfig.cmake
              ${CMAKE_BINARY_DIR}/package/tesseraConfigVersion.cmake
        DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
add_dependencies(product tesserad)
install(TARGETS tesserad)
if(TARGET tessera)
  add_dependencies(product tessera)
  install(TARGETS tessera)
  # A modulefile names the prefix, which may be chosen as late as at installation.
  set(TESSERA_PREFIX "@CMAKE_INSTALL_PREFIX@")
  configure_file(cmake/modulefile.in ${CMAKE_BINARY_DIR}/package/modulefile.in @ONLY)
  install(CODE "configure_file(
    \"${CMAKE_BINARY_DIR}/package/modulefile.in\"
    \"${CMAKE_BINARY_DIR}/package/modulefile/${PROJECT_VERSION}\" @ONLY)")
  install(FILES ${CMAKE_BINARY_DIR}/package/modulefile/${PROJECT_VERSION}
          DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/tessera)
endif()
