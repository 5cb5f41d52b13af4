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

void* tool_symbol(const char* name, const char* pmpi_name) {
  void* next = dlsym(RTLD_NEXT, name);
  Dl_info of_next{};
  Dl_info of_mpi{};
  const bool found = next != nullptr && dladdr(next, &of_next) != 0 &&
                     dladdr(native_symbol(pmpi_name), &of_mpi) != 0;
  return found && of_next.dli_fbase != of_mpi.dli_fbase ? next : nullptr;
}

}  // namespace tessera::mpiio
