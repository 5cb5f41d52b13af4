// setrlimit and prlimit: handed on to the C library, and counted.
//
// A write must know whether there is a limit of file sizes (port/size_limit.hpp). Asking the system
// takes half as long as a write of 4 KiB, so small writes ask again only after one of these calls.
#include <dlfcn.h>
#include <sys/resource.h>

#include "tessera/port/size_limit.hpp"

namespace {

template <typename Function, typename... Arguments>
int call_and_count(Function* behind, Arguments... arguments) {
  const int answer = behind(arguments...);
  tessera::port::count_limit_change();
  return answer;
}

}  // namespace

// The function of this name behind ours.
#define TESSERA_BEHIND(name)                                                                 \
  ([]() -> decltype(&name) {                                                                 \
    static const auto behind = reinterpret_cast<decltype(&name)>(::dlsym(RTLD_NEXT, #name)); \
    return behind;                                                                           \
  }())

extern "C" {

int setrlimit(__rlimit_resource_t resource, const rlimit* limits) noexcept {
  return call_and_count(TESSERA_BEHIND(setrlimit), resource, limits);
}

int setrlimit64(__rlimit_resource_t resource, const rlimit64* limits) noexcept {
  return call_and_count(TESSERA_BEHIND(setrlimit64), resource, limits);
}

int prlimit(pid_t process, __rlimit_resource resource, const rlimit* limits,
            rlimit* before) noexcept {
  return call_and_count(TESSERA_BEHIND(prlimit), process, resource, limits, before);
}

int prlimit64(pid_t process, __rlimit_resource resource, const rlimit64* limits,
              rlimit64* before) noexcept {
  return call_and_count(TESSERA_BEHIND(prlimit64), process, resource, limits, before);
}

}  // extern "C"
