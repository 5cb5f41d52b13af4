#include "tessera/port/this_process.hpp"

#include <errno.h>
#include <unistd.h>

#include <array>

namespace tessera::port {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string process_name() {
  return std::string(::program_invocation_short_name) + ", " + host_name() + ":" +
         std::to_string(::getpid());
}

}  // namespace tessera::port
