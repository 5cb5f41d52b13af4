// WriteWays: writes of a file through the memory in which the system keeps files, or around it.
//
// Large pieces at pages of the file and of memory go by the way that turns out quicker
// (write_choice.hpp), all others through memory. The two may be mixed: the system keeps them
// coherent, and what it still has in memory is written to the disk when it likes.
// Thread safety: all functions from any thread.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "tessera/port/descriptor.hpp"
#include "tessera/port/write_choice.hpp"

namespace tessera::port {

class WriteWays {
 public:
  // Of a file that is open for writing; nothing where it cannot be written around memory. The
  // choice outlives them.
  [[nodiscard]] static std::unique_ptr<WriteWays> open(int descriptor, SharedWriteChoice& choice);

  // Whether one of the two ways is chosen for such a write.
  [[nodiscard]] static bool suit(int64_t offset, std::span<const iovec> memory);
  // How many threads may write at this time without taking turns.
  [[nodiscard]] int writers_at_once();
  // As pwrite. Requires suit(), of one run of memory.
  [[nodiscard]] ssize_t write(int descriptor, int64_t offset, const iovec& memory);

 private:
  WriteWays(Descriptor around, SharedWriteChoice& choice)
      : around_(std::move(around)), choice_(choice) {}

  const Descriptor around_;
  SharedWriteChoice& choice_;
};

}  // namespace tessera::port
