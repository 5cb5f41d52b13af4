#include "tessera/mpiio/native.hpp"

#include <cstdio>
#include <cstdlib>

namespace tessera::mpiio {

void* native_symbol(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::fprintf(stderr,
                 "tessera: the MPI of this program has no %s; preload the library that was built "
                 "for it (tessera env tells which)\n",
                 name);
    std::abort();
  }
  return found;
}

}  // namespace tessera::mpiio
