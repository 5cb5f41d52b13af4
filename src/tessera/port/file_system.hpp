// File systems: which one a file lies on, and how it is mounted.
//
// Thread safety: from any thread.
#pragma once

#include <string>

#include "tessera/base/result.hpp"

namespace tessera::port {

// The identity of the file system of an open file, fit for the name of a file: the kind and the
// number that the system gives it ("ef53-5be4c7d1a03b2f90"), or its device where it has no number.
// Numbers of file systems on disks stay, those of memory change when it is mounted. Fails as
// fstatfs. Two system calls at most.
[[nodiscard]] base::Result<std::string> file_system_id(int descriptor);

struct Mount {
  std::string point;   // "/home"
  std::string type;    // "ext4"
  std::string source;  // "/dev/vda1", "server:/home"
};

// The mount that an open file was reached through, as /proc/self/mountinfo tells it. Fails with
// kNotFound where the system does not tell.
[[nodiscard]] base::Result<Mount> mount_of(int descriptor);

// The mount of a device ("8:1") in the text of a mountinfo file; the last one that is listed.
// Fails with kNotFound.
[[nodiscard]] base::Result<Mount> find_mount(const std::string& mountinfo,
                                             const std::string& device);

}  // namespace tessera::port
