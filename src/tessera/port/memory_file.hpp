// MemoryFile and Mapping: memory that processes share, as a file without a name.
//
// Others open it through the process that made it (/proc/PID/fd/N), so it needs no name anywhere
// and is gone with the last process that has it. Thread safety: as for any value type.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "tessera/base/result.hpp"
#include "tessera/port/descriptor.hpp"

namespace tessera::port {

// A part of a memory file in this process's memory; unmapped when it goes.
class Mapping {
 public:
  Mapping() = default;
  explicit Mapping(std::span<std::byte> bytes) : bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Mapping();

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }

 private:
  std::span<std::byte> bytes_;
};

class MemoryFile {
 public:
  MemoryFile() = default;

  // A new one, of zeros.
  [[nodiscard]] static base::Result<MemoryFile> create(int64_t size);
  // One that another process made and still has open. Whether it is the one that is meant is for
  // the caller to find out from its bytes. Fails as open() does where /proc shows no such file or
  // that process belongs to somebody else, with kInvalid where it is not a file with bytes.
  [[nodiscard]] static base::Result<MemoryFile> open(int64_t process, int64_t descriptor);

  [[nodiscard]] base::Result<int64_t> size() const;
  // Requires size >= the size it has; new bytes are zero. Fails with EFBIG where a limit of file
  // sizes (ulimit -f) does not allow it, for it counts here too.
  [[nodiscard]] base::Result<void> grow(int64_t size);
  // Requires that [offset, offset + length) is inside the file, and offset a multiple of the page
  // size. Large pages are asked for where the system gives them to shared memory.
  [[nodiscard]] base::Result<Mapping> map(int64_t offset, int64_t length) const;

  // Whether this open of the file has byte `number` for itself from now on, until the last process
  // that shares the open (a child of fork() does) has closed it or has ended, however it ends.
  [[nodiscard]] bool try_own(int64_t number) const;
  void disown(int64_t number) const;

  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

 private:
  explicit MemoryFile(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}

  Descriptor descriptor_;
};

}  // namespace tessera::port
