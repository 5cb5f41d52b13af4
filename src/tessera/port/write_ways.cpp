#include "tessera/port/write_ways.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string>
#include <utility>

#include "tessera/base/aligned_bytes.hpp"
#include "tessera/base/page.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/system_call.hpp"

namespace tessera::port {

namespace {

// Smaller writes cost a disk more than the system's memory ever does.
constexpr size_t kLargeBytes = size_t{128} << 10;
// The system keeps what is written at once in one page, if it can. Free memory that lies in smaller
// runs than that is of no use then, and it is the memory that the host has not taken back.
constexpr size_t kThroughMemoryBytes = size_t{64} << 10;

ssize_t write_through_memory(int descriptor, int64_t offset, const iovec& memory) {
  const auto* bytes = static_cast<const std::byte*>(memory.iov_base);
  size_t written = 0;
  while (written < memory.iov_len) {
    const size_t part = std::min(kThroughMemoryBytes, memory.iov_len - written);
    const ssize_t done =
        ::pwrite(descriptor, bytes + written, part, offset + static_cast<int64_t>(written));
    if (done <= 0) return written > 0 ? static_cast<ssize_t>(written) : done;
    written += static_cast<size_t>(done);
  }
  return static_cast<ssize_t>(written);
}

ssize_t write_around(int descriptor, int64_t offset, const iovec& memory) {
  return ::pwrite(descriptor, memory.iov_base, memory.iov_len, offset);
}

}  // namespace

std::unique_ptr<WriteWays> WriteWays::open(int descriptor, SharedWriteChoice& choice) {
  const std::string same = "/proc/self/fd/" + std::to_string(descriptor);
  Descriptor around(
      uninterrupted([&] { return ::open(same.c_str(), O_WRONLY | O_DIRECT | O_CLOEXEC); }));
  if (!around.valid()) return nullptr;
  return std::unique_ptr<WriteWays>(new WriteWays(std::move(around), choice));
}

bool WriteWays::suit(int64_t offset, std::span<const iovec> memory) {
  if (memory.size() != 1) return false;
  const iovec& run = memory.front();
  const auto address = reinterpret_cast<uintptr_t>(run.iov_base);
  return run.iov_len >= kLargeBytes && (static_cast<uint64_t>(offset) | address | run.iov_len) %
                                               static_cast<uint64_t>(base::kPageBytes) ==
                                           0;
}

int WriteWays::writers_at_once() {
  // As many as keep a disk busy.
  constexpr int kAround = 2;
  const WriteWay way = choice_.with([](const WriteChoice& choice) { return choice.next(); });
  return way == WriteWay::kAround ? kAround : 1;
}

ssize_t WriteWays::write(int descriptor, int64_t offset, const iovec& memory) {
  const WriteWay way = choice_.with([](const WriteChoice& choice) { return choice.next(); });
  const bool around = way == WriteWay::kAround;
  const PosixClock clock;
  const int64_t begin = clock.now_ns();
  ssize_t written = around ? write_around(around_.number(), offset, memory)
                           : write_through_memory(descriptor, offset, memory);
  // Disks may ask for more than pages.
  if (around && written < 0 && errno == EINVAL) {
    written = write_through_memory(descriptor, offset, memory);
  }
  if (written > 0) {
    const int64_t took = clock.now_ns() - begin;
    choice_.with([&](WriteChoice& choice) { choice.took(way, written, took); });
  }
  return written;
}

}  // namespace tessera::port
