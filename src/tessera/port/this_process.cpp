#include "tessera/port/this_process.hpp"

#include <errno.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

namespace tessera::port {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string process_name() {
  return std::string(::program_invocation_short_name) + ", " + host_name() + ":" +
         std::to_string(::getpid());
}

std::string launching_mpi() {
  const auto several = [](const char* name) {
    const char* size = std::getenv(name);
    return size != nullptr && std::atoll(size) > 1;
  };
  if (several("OMPI_COMM_WORLD_SIZE")) return "openmpi";
  return several("PMI_SIZE") ? "mpich" : "";
}

std::string own_program(const std::string& name) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return (self / ".." / "lib" / "tessera" / name).lexically_normal().string();
}

}  // namespace tessera::port
