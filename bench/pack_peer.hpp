// The MPI peers of the copy cases: a child process that packs and unpacks with one MPI library.
//
// The program is built from pack_peer.c once per MPI and lies beside the running one: in
// ../lib/tessera or in its own folder. It is started as a lone MPI process; where the MPI refuses
// that, under its mpiexec with one rank. The child ends when this object goes.
// Thread safety: one thread at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "tessera/base/result.hpp"

namespace tessera::bench {

// Runs of run_bytes, each stride_bytes after the one before, `count` of them.
struct StridedLayout {
  int64_t run_bytes = 0;
  int64_t stride_bytes = 0;
  int64_t count = 0;
};

class PackPeer {
 public:
  // `mpi` is "openmpi" or "mpich". Fails with kNotFound if the peer was not built, kFailed if it
  // does not start.
  [[nodiscard]] static base::Result<std::unique_ptr<PackPeer>> start(const std::string& mpi);

  ~PackPeer();
  PackPeer(const PackPeer&) = delete;
  PackPeer& operator=(const PackPeer&) = delete;

  // What the MPI calls itself, for example "Open MPI v4.1.4".
  [[nodiscard]] const std::string& version() const { return version_; }

  // Allocates the buffers, finds the fastest spelling of the datatype for each direction and
  // returns their names, for example "byte-vector double-resized".
  [[nodiscard]] base::Result<std::string> prepare(const StridedLayout& layout);
  // The same with the spellings that another process of this MPI chose.
  [[nodiscard]] base::Result<void> prepare_as(const StridedLayout& layout,
                                              const std::string& forms);

  // Nanoseconds that `repetitions` took. Require a successful prepare().
  [[nodiscard]] base::Result<double> pack(int64_t repetitions);
  [[nodiscard]] base::Result<double> unpack(int64_t repetitions);

 private:
  PackPeer() = default;

  base::Result<void> spawn(const std::string& program, const std::string& launcher);
  void end();
  base::Result<std::string> ask(const std::string& line);
  base::Result<std::string> read_line();
  base::Result<double> measure(const std::string& line);

  pid_t child_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  std::string unread_;
  std::string version_;
};

}  // namespace tessera::bench
