# metis::metis: METIS, which has no package file of its own in Debian. Used by the build and by
# users of the installed package.
if(NOT TARGET metis::metis)
  find_library(TESSERA_METIS NAMES metis REQUIRED)
  find_path(TESSERA_METIS_INCLUDE metis.h REQUIRED)
  add_library(metis::metis INTERFACE IMPORTED GLOBAL)
  target_link_libraries(metis::metis INTERFACE ${TESSERA_METIS})
  target_include_directories(metis::metis INTERFACE ${TESSERA_METIS_INCLUDE})
endif()
