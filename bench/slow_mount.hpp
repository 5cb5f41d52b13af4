// SlowMount: a scratch folder on a slow file system, gone with the object.
//
// A program of ours (slow_fs.c) shows a folder of the disk through a mount on which every read and
// write request takes kDelayUs longer. It ends, and unmounts, when this object goes, and also when
// this process is ended in any way. Thread safety: none.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "bench/child_program.hpp"
#include "bench/scratch_folder.hpp"
#include "tessera/base/result.hpp"

namespace tessera::bench {

class SlowMount {
 public:
  static constexpr int64_t kDelayUs = 2000;

  // Fails with kNotFound, in words for a person, if the machine cannot mount: there is no
  // /dev/fuse, or our program is missing because libfuse was; with kFailed if it does not come up.
  [[nodiscard]] static base::Result<SlowMount> start();
  SlowMount(SlowMount&& other) = default;
  SlowMount& operator=(SlowMount&&) = delete;
  ~SlowMount();

  // Where the slow files are.
  [[nodiscard]] std::string path() const { return folder_.path() + "/mount"; }

  // The read requests that arrived there since the start.
  struct Requests {
    int64_t reads = 0;
    int64_t bytes = 0;
    int64_t largest_bytes = 0;
  };
  [[nodiscard]] base::Result<Requests> requests() const;

 private:
  SlowMount(ScratchFolder folder, ChildProgram program)
      : folder_(std::move(folder)), program_(std::move(program)) {}

  [[nodiscard]] base::Result<void> wait_until_mounted();

  ScratchFolder folder_;
  ChildProgram program_;
};

}  // namespace tessera::bench
