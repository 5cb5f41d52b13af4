# uring::uring: liburing, the static library where there is one, so that what is preloaded into
# programs needs no further library. Used by the build and by users of the installed package.
if(NOT TARGET uring::uring)
  find_library(TESSERA_URING NAMES liburing.a uring REQUIRED)
  find_path(TESSERA_URING_INCLUDE liburing.h REQUIRED)
  add_library(uring::uring INTERFACE IMPORTED GLOBAL)
  target_link_libraries(uring::uring INTERFACE ${TESSERA_URING})
  target_include_directories(uring::uring INTERFACE ${TESSERA_URING_INCLUDE})
endif()
