#include "tessera/port/page_faults.hpp"

#include <sys/resource.h>

namespace tessera::port {

int64_t thread_faults() {
  rusage use{};
  ::getrusage(RUSAGE_THREAD, &use);
  return use.ru_minflt + use.ru_majflt;
}

}  // namespace tessera::port
