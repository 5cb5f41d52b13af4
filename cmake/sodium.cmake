# sodium::sodium: libsodium, the shared library: Debian's static one cannot become a part of what is
# preloaded into programs. Used by the build and by users of the installed package.
if(NOT TARGET sodium::sodium)
  find_library(TESSERA_SODIUM NAMES sodium REQUIRED)
  find_path(TESSERA_SODIUM_INCLUDE sodium.h REQUIRED)
  add_library(sodium::sodium INTERFACE IMPORTED GLOBAL)
  target_link_libraries(sodium::sodium INTERFACE ${TESSERA_SODIUM})
  target_include_directories(sodium::sodium INTERFACE ${TESSERA_SODIUM_INCLUDE})
endif()
