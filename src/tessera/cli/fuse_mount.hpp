// A mount of one object file: what the kernel asks, answered by an ObjectFile.
//
// The only place that knows libfuse. The directory shows one plain file, named as the container.
//   (F1) fsync(), close() and the end of the mount commit; a mount that is killed leaves the last
//        commit.
//   (F2) An error of a read or a write is one of that call, with its errno.
// Requests are answered one after another in one thread. Thread safety: one mount a process.
#pragma once

#include <string>

#include "tessera/base/result.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::cli {

struct MountRequest {
  port::PlainFile& container;
  cache::ObjectFile& objects;
  std::string folder;
  bool foreground = false;
  bool read_only = false;
};

// Mounts and serves until it is unmounted or the process is asked to end (SIGTERM, SIGINT, SIGHUP);
// then commits. Unless it is in the foreground, the calling process ends as soon as the mount
// stands, and a child of it serves. Fails with kInvalid if the program was built without libfuse,
// with kFailed if mounting failed, and as the commit does, which a child tells the system's log.
[[nodiscard]] base::Result<void> serve_mount(const MountRequest& request);

}  // namespace tessera::cli
