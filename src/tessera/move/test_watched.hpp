// Locks and a file that watch how they are used.
//
// Thread safety: none.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "tessera/lock/locks.hpp"
#include "tessera/move/test_moves.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::move::model {

inline constexpr int64_t kFileEnd = 256;

// Locks that remember what is held, and that only exclusive ones were asked for, one at a time.
class WatchedLocks final : public lock::Locks {
 public:
  base::Result<lock::Held> acquire(const pattern::ByteSet& bytes, lock::Mode mode) override {
    EXPECT_EQ(mode, lock::Mode::kExclusive);
    EXPECT_TRUE(held_.empty());
    if (denied) return base::fail_errno(ENOLCK, "no locks");
    ++taken;
    held_ = bytes.span();
    return lock::Held([this] { held_ = {}; });
  }

  [[nodiscard]] Interval held() const { return held_; }

  bool denied = false;
  int taken = 0;

 private:
  Interval held_;
};

// A file in memory that checks the discipline of rewriting: bytes that are not wanted are written
// only under a lock, with the contents they had when they were read under the same lock.
class WatchedFile final : public port::File {
 public:
  WatchedFile(Contents before, const WatchedLocks& locks)
      : File("watched"), contents(std::move(before)), locks_(locks) {}

  base::Result<void> truncate(int64_t) override { return base::fail_errno(EINVAL, "truncate"); }
  base::Result<int64_t> size() override { return static_cast<int64_t>(contents.size()); }
  base::Result<void> sync() override { return {}; }

  Contents contents;
  std::vector<bool> wanted = std::vector<bool>(kFileEnd);
  bool readable = true;

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
    if (!readable) return {0, EBADF};
    int64_t done = 0;
    for (const iovec& piece : memory) {
      const auto at = static_cast<size_t>(offset + done);
      if (at >= contents.size()) break;
      const size_t bytes = std::min(piece.iov_len, contents.size() - at);
      std::memcpy(piece.iov_base, contents.data() + at, bytes);
      done += static_cast<int64_t>(bytes);
      if (bytes < piece.iov_len) break;
    }
    return {done, 0};
  }

  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    auto at = static_cast<size_t>(offset);
    for (const iovec& piece : memory) {
      const auto* bytes = static_cast<const std::byte*>(piece.iov_base);
      for (size_t i = 0; i < piece.iov_len; ++i) store(at++, bytes[i]);
    }
    return {static_cast<int64_t>(at) - offset, 0};
  }

 private:
  void store(size_t at, std::byte value) {
    const auto place = static_cast<int64_t>(at);
    if (!wanted.at(at)) {
      EXPECT_TRUE(locks_.held().contains({place, place + 1})) << at;
      EXPECT_EQ(value, at < contents.size() ? contents[at] : std::byte{0}) << at;
    }
    if (at >= contents.size()) contents.resize(at + 1);
    contents[at] = value;
  }

  const WatchedLocks& locks_;
};

}  // namespace tessera::move::model
