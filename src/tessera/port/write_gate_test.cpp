#include "tessera/port/write_gate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "tessera/port/sim_disk.hpp"

namespace tessera::port {
namespace {

using Bytes = base::AlignedBytes;
using base::Result;

// A file that tells of each write before it is made. It has no mutex: by (G1) it needs none, which
// the thread sanitizer sees.
class WatchedFile final : public File {
 public:
  explicit WatchedFile(size_t size) : File("watched"), content(size) {}

  [[nodiscard]] Result<void> truncate(int64_t /*size*/) override { return {}; }
  [[nodiscard]] Result<int64_t> size() override { return std::ssize(content); }
  [[nodiscard]] Result<void> sync() override { return {}; }
  [[nodiscard]] int writers_at_once() const override { return writers_max; }

  [[nodiscard]] char at(size_t offset) const { return static_cast<char>(content[offset]); }

  Bytes content;
  int writers_max = 1;
  std::function<int(int64_t offset)> before = [](int64_t) { return 0; };  // answers an errno

 protected:
  Attempt read_some(int64_t /*offset*/, std::span<const iovec> /*memory*/) override {
    return {0, EBADF};
  }
  Attempt write_some(int64_t offset, std::span<const iovec> memory) override {
    EXPECT_LT(writers_.fetch_add(1), writers_max);
    const int error = before(offset);
    const iovec& first = memory.front();
    const auto* bytes = static_cast<const std::byte*>(first.iov_base);
    if (error == 0) std::copy_n(bytes, first.iov_len, content.begin() + offset);
    writers_.fetch_sub(1);
    return error == 0 ? Attempt{static_cast<int64_t>(first.iov_len), 0} : Attempt{0, error};
  }

 private:
  std::atomic<int> writers_ = 0;
};

Bytes bytes_of_letter(char letter, size_t size = 1) {
  return Bytes(size, static_cast<std::byte>(letter));
}

Result<void> write_letter(WriteGate& gate, File& file, int64_t offset, char letter) {
  Bytes memory = bytes_of_letter(letter);
  return gate.write(file, offset, memory, 1);
}

bool is_ready(std::future<Result<void>>& result, int milliseconds) {
  return result.wait_for(std::chrono::milliseconds(milliseconds)) == std::future_status::ready;
}

TEST(WriteGate, WhoeverIsAloneWritesAtOnce) {
  WatchedFile file(4);
  WriteGate gate;
  Bytes memory = bytes_of_letter('x', 4);
  ASSERT_TRUE(gate.write(file, 1, memory, 2));
  EXPECT_EQ(memory.size(), 4U);
  EXPECT_EQ(file.content, (Bytes{std::byte{0}, std::byte{'x'}, std::byte{'x'}, std::byte{0}}));
  EXPECT_TRUE(gate.finish(file));
}

// Whoever calls from within a write finds the gate taken, as another thread would.
TEST(WriteGate, WritesWhatWasLeftMeanwhileAndNoMore) {
  WatchedFile file(4);
  WriteGate gate;
  file.before = [&](int64_t offset) {
    EXPECT_TRUE(write_letter(gate, file, offset + 1, static_cast<char>('b' + offset)));
    return 0;
  };
  ASSERT_TRUE(write_letter(gate, file, 0, 'a'));
  EXPECT_EQ(file.at(0), 'a');
  EXPECT_EQ(file.at(1), 'b');
  EXPECT_EQ(file.at(2), '\0');  // (G2)
  file.before = [](int64_t) { return 0; };
  ASSERT_TRUE(write_letter(gate, file, 3, 'd'));
  EXPECT_EQ(file.at(2), 'c');
  EXPECT_EQ(file.at(3), 'd');
}

TEST(WriteGate, FinishWritesWhatIsLeft) {
  WatchedFile file(3);
  WriteGate gate;
  file.before = [&](int64_t offset) {
    if (offset < 2) {
      EXPECT_TRUE(write_letter(gate, file, offset + 1, 'z'));
    }
    return 0;
  };
  ASSERT_TRUE(write_letter(gate, file, 0, 'z'));
  EXPECT_EQ(file.at(2), '\0');
  ASSERT_TRUE(gate.finish(file));
  EXPECT_EQ(file.at(2), 'z');
}

TEST(WriteGate, AsManyWriteAtOnceAsTheFileTakes) {
  WatchedFile file(3);
  file.writers_max = 2;
  WriteGate gate;
  file.before = [&](int64_t offset) {
    if (offset < 2) {
      EXPECT_TRUE(write_letter(gate, file, offset + 1, 'z'));
      EXPECT_EQ(file.at(static_cast<size_t>(offset) + 1), offset == 0 ? 'z' : '\0');
    }
    return 0;
  };
  ASSERT_TRUE(write_letter(gate, file, 0, 'z'));
  ASSERT_TRUE(gate.finish(file));
  EXPECT_EQ(file.at(2), 'z');
}

TEST(WriteGate, WhatWasLeftIsTheGatesOwn) {
  WatchedFile file(8);
  WriteGate gate;
  Bytes memory = bytes_of_letter('o', 4);
  file.before = [&](int64_t offset) {
    if (offset != 0) return 0;
    EXPECT_TRUE(gate.write(file, 4, memory, 4));
    EXPECT_EQ(memory.size(), 4U);
    std::fill(memory.begin(), memory.end(), std::byte{'n'});
    return 0;
  };
  ASSERT_TRUE(write_letter(gate, file, 0, 'a'));
  EXPECT_EQ(file.at(4), 'o');
  EXPECT_EQ(file.at(7), 'o');
}

// (G5), for the piece of whoever has the gate and for one that was left.
TEST(WriteGate, AFailureIsToldToAll) {
  for (const int64_t failing : {0, 1}) {
    WatchedFile file(4);
    WriteGate gate;
    file.before = [&](int64_t offset) {
      if (offset == 0) {
        EXPECT_TRUE(write_letter(gate, file, 1, 'b'));
      }
      return offset == failing ? ENOSPC : 0;
    };
    EXPECT_EQ(write_letter(gate, file, 0, 'a').error().errno_value, ENOSPC);
    EXPECT_EQ(write_letter(gate, file, 2, 'c').error().errno_value, ENOSPC);
    EXPECT_EQ(gate.finish(file).error().errno_value, ENOSPC);
    EXPECT_EQ(gate.finish(file).error().errno_value, ENOSPC);
    EXPECT_EQ(file.at(0), failing == 0 ? '\0' : 'a');
    EXPECT_EQ(file.at(1), '\0');
    EXPECT_EQ(file.at(2), '\0');
  }
}

// A thread in the gate, held up by the test in its write at offset 0.
class HeldGate {
 public:
  explicit HeldGate(int64_t left_bytes_max) : gate(left_bytes_max), file(64) {
    file.before = [this](int64_t offset) {
      if (offset != 0) return 0;
      entered_.set_value();
      may_go_.get_future().wait();
      return error;
    };
    holder_ = std::async(std::launch::async, [this] { return write_letter(gate, file, 0, 'a'); });
    entered_.get_future().wait();
  }

  Result<void> let_go() {
    may_go_.set_value();
    return holder_.get();
  }

  WriteGate gate;
  WatchedFile file;
  int error = 0;

 private:
  std::promise<void> entered_;
  std::promise<void> may_go_;
  std::future<Result<void>> holder_;
};

TEST(WriteGate, ThereIsRoomForSoManyBytes) {
  HeldGate held(8);
  Bytes memory = bytes_of_letter('b', 4);
  ASSERT_TRUE(held.gate.write(held.file, 4, memory, 4));
  ASSERT_TRUE(
      held.gate.write(held.file, 8, memory, 1));  // by its memory, not what is written of it
  auto waits =
      std::async(std::launch::async, [&] { return write_letter(held.gate, held.file, 12, 'c'); });
  EXPECT_FALSE(is_ready(waits, 20));  // (G3)
  EXPECT_TRUE(held.let_go());
  EXPECT_TRUE(waits.get());
  EXPECT_TRUE(held.gate.finish(held.file));
  EXPECT_EQ(held.file.at(7), 'b');
  EXPECT_EQ(held.file.at(12), 'c');
}

TEST(WriteGate, APieceThatIsNeverLeftWaitsForTheGate) {
  HeldGate held(8);
  auto waits = std::async(std::launch::async, [&] {
    Bytes memory = bytes_of_letter('w', 16);
    return held.gate.write(held.file, 16, memory, 16);
  });
  EXPECT_FALSE(is_ready(waits, 20));
  EXPECT_TRUE(held.let_go());
  EXPECT_TRUE(waits.get());
  EXPECT_EQ(held.file.at(31), 'w');
}

TEST(WriteGate, FinishWaitsForWhoeverWritesThePiece) {
  HeldGate held(8);
  ASSERT_TRUE(write_letter(held.gate, held.file, 1, 'b'));
  auto finish = std::async(std::launch::async, [&] { return held.gate.finish(held.file); });
  EXPECT_FALSE(is_ready(finish, 20));
  EXPECT_TRUE(held.let_go());
  EXPECT_TRUE(finish.get());  // (G4)
  EXPECT_EQ(held.file.at(1), 'b');
}

TEST(WriteGate, AFailureWakesWhoeverWaits) {
  HeldGate held(1);
  held.error = EIO;
  ASSERT_TRUE(write_letter(held.gate, held.file, 1, 'b'));
  auto writes =
      std::async(std::launch::async, [&] { return write_letter(held.gate, held.file, 2, 'c'); });
  auto finish = std::async(std::launch::async, [&] { return held.gate.finish(held.file); });
  EXPECT_FALSE(is_ready(writes, 10));
  EXPECT_FALSE(is_ready(finish, 10));
  EXPECT_EQ(held.let_go().error().errno_value, EIO);
  EXPECT_EQ(writes.get().error().errno_value, EIO);
  EXPECT_EQ(finish.get().error().errno_value, EIO);
}

constexpr int kThreads = 8;
constexpr int kPieces = 300;
constexpr int kPieceMax = 24;

struct Part {
  int64_t offset;
  size_t bytes;
  std::byte letter;
};

// The pieces of a thread have places of their own and many sizes.
Part part_of(int thread, int piece) {
  const int number = piece * kThreads + thread;
  return {int64_t{kPieceMax} * number, static_cast<size_t>(number * 7 % kPieceMax + 1),
          static_cast<std::byte>('A' + number % 26)};
}

// All pieces of a thread, until one fails; what finish() says.
Result<void> write_many(WriteGate& gate, File& file, int thread) {
  Bytes memory(kPieceMax);
  for (int piece = 0; piece < kPieces; ++piece) {
    const Part part = part_of(thread, piece);
    std::fill_n(memory.begin(), part.bytes, part.letter);
    if (!gate.write(file, part.offset, memory, part.bytes)) break;
    EXPECT_EQ(memory.size(), size_t{kPieceMax});
    if (piece % 97 == thread && !gate.finish(file)) break;
  }
  return gate.finish(file);
}

Bytes content_of_all() {
  Bytes content(size_t{kPieceMax} * kThreads * kPieces);
  for (int i = 0; i < kThreads * kPieces; ++i) {
    const Part part = part_of(i % kThreads, i / kThreads);
    std::fill_n(content.begin() + part.offset, part.bytes, part.letter);
  }
  return content;
}

TEST(WriteGate, AllBytesOfManyThreadsArrive) {
  const Bytes expected = content_of_all();
  for (const int64_t room : {0, kPieceMax, 3 * kPieceMax, 1000 * kPieceMax}) {
    WatchedFile file(expected.size());
    WriteGate gate(room);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] { EXPECT_TRUE(write_many(gate, file, thread)); });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_TRUE(file.content == expected) << room;
  }
}

// Each thread with an open of its own, on a disk where some write fails.
TEST(WriteGate, ManyThreadsLearnOfAFailure) {
  for (const int nth : {1, 2, 50, 1000, kThreads * kPieces}) {
    SimDisk disk;
    ASSERT_TRUE(disk.create("/file"));
    WriteGate gate(3 * kPieceMax);
    std::vector<std::unique_ptr<File>> files;
    for (int thread = 0; thread < kThreads; ++thread) {
      files.push_back(disk.open("/file", Access::kReadWrite).value());
    }
    disk.fail_operation(static_cast<uint64_t>(nth), EIO);
    std::atomic<int> failed = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        failed += write_many(gate, *files[static_cast<size_t>(thread)], thread) ? 0 : 1;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_GT(failed, 0);  // those that had finished before need not know
    EXPECT_FALSE(gate.finish(*files.front()));
  }
}

}  // namespace
}  // namespace tessera::port
