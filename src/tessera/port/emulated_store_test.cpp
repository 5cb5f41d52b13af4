#include "tessera/port/emulated_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "tessera/port/plain_file.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/test_directory.hpp"

namespace tessera::port {
namespace {

constexpr int64_t kMillisecond = 1'000'000;

TEST(EmulatedStore, TakesATimeAndRefusesOthers) {
  EXPECT_EQ(EmulatedStore::parse("2ms").value().service_ns(), 2 * kMillisecond);
  EXPECT_EQ(EmulatedStore::parse("50us").value().service_ns(), 50'000);
  EXPECT_EQ(EmulatedStore::parse("10s").value().service_ns(), 10'000 * kMillisecond);
  for (const char* wrong : {"", "2", "ms", "0ms", "-1ms", "2 ms", "2msx", "11s", "99999999999s"}) {
    EXPECT_FALSE(EmulatedStore::parse(wrong)) << wrong;
  }
  EXPECT_FALSE(EmulatedStore().on());
}

// The requests of runs of equal length.
int64_t requests_of(int64_t runs, int64_t bytes_each) {
  const EmulatedStore store;  // does not wait
  RequestMeter meter(store);
  for (int64_t run = 0; run < runs; ++run) {
    for (int64_t left = bytes_each; left > 0;) left -= meter.admit(left);
  }
  return meter.requests();
}

TEST(RequestMeter, ARequestHasItsMostRunsAndItsMostBytes) {
  EXPECT_EQ(requests_of(1, 1), 1);
  EXPECT_EQ(requests_of(64, 200), 1);
  EXPECT_EQ(requests_of(65, 200), 2);
  EXPECT_EQ(requests_of(2500, 200), 40) << "3-D block on 8 processes";
  EXPECT_EQ(requests_of(625, 100), 10) << "on 64";
  EXPECT_EQ(requests_of(1920, 4096), 120) << "FLASH";
  EXPECT_EQ(requests_of(768, 3072), 36) << "a tile";
  EXPECT_EQ(requests_of(1, 1 << 20), 16);
}

// A file behind an emulated store, among those that are not.
class EmulatedFileTest : public testing::Test {
 protected:
  ~EmulatedFileTest() override { ::unsetenv("TESSERA_EMULATED_STORE"); }

  [[nodiscard]] std::unique_ptr<PlainFile> open(const char* service_time) const {
    ::setenv("TESSERA_EMULATED_STORE", service_time, 1);
    return PlainFile::open(directory_.path("file"), {.write = true, .create = true}).value();
  }
  // Nanoseconds of a piece of work.
  template <typename Work>
  static int64_t time_of(Work work) {
    const PosixClock clock;
    const int64_t start = clock.now_ns();
    work();
    return clock.now_ns() - start;
  }

  TestDirectory directory_;
};

TEST_F(EmulatedFileTest, ListsWaitForEachRequestAndMoveTheirBytes) {
  const auto file = open("1ms");
  constexpr size_t kRuns = 200;
  constexpr size_t kRunBytes = 16;
  base::Bytes written(kRuns * kRunBytes);
  for (size_t i = 0; i < written.size(); ++i) written[i] = static_cast<std::byte>(i * 7 / 3);
  base::Bytes read(written.size());
  std::vector<WriteSegment> writes;
  std::vector<ReadSegment> reads;
  for (size_t run = 0; run < kRuns; ++run) {
    const auto offset = static_cast<int64_t>(run * 2 * kRunBytes);
    writes.push_back({offset, base::ByteView(written).subspan(run * kRunBytes, kRunBytes)});
    reads.push_back({offset, std::span(read).subspan(run * kRunBytes, kRunBytes)});
  }
  int64_t bytes = 0;
  EXPECT_GE(time_of([&] { bytes = file->write_list(writes).bytes; }), 4 * kMillisecond);
  EXPECT_EQ(bytes, std::ssize(written));
  EXPECT_GE(time_of([&] { bytes = file->read_list(reads).bytes; }), 4 * kMillisecond);
  EXPECT_EQ(bytes, std::ssize(read));
  EXPECT_EQ(read, written);
}

// Lists over the end of the file extend it, and lists inside a file that was cut and grew again are
// found there.
TEST_F(EmulatedFileTest, ListsFollowTheSizeOfTheFile) {
  const auto file = open("1us");
  const auto other = open("1us");
  base::Bytes written(3200);
  std::vector<WriteSegment> writes;
  for (size_t run = 0; run < 32; ++run) {
    writes.push_back(
        {static_cast<int64_t>(run) * 300, base::ByteView(written).subspan(run * 100, 100)});
  }
  for (const int64_t cut : {0, 5000, 20'000, 5000, 0}) {
    ASSERT_TRUE(other->truncate(cut));
    for (std::byte& byte : written) byte = static_cast<std::byte>(std::to_integer<int>(byte) + 3);
    EXPECT_EQ(file->write_list(writes).bytes, std::ssize(written));
    EXPECT_EQ(file->size().value(), std::max<int64_t>(cut, 31 * 300 + 100));
    base::Bytes read(100);
    for (const WriteSegment& run : writes) {
      EXPECT_EQ(other->read_at(run.offset, read).bytes, 100);
      EXPECT_TRUE(std::equal(read.begin(), read.end(), run.memory.begin())) << run.offset;
    }
  }
}

TEST_F(EmulatedFileTest, LongRunsWaitForEachStrip) {
  const auto file = open("1ms");
  base::Bytes written(200'000);
  for (size_t i = 0; i < written.size(); ++i) written[i] = static_cast<std::byte>(i * 5 / 3);
  base::Bytes read(written.size());
  int64_t bytes = 0;
  EXPECT_GE(time_of([&] { bytes = file->write_at(3, written).bytes; }), 4 * kMillisecond);
  EXPECT_EQ(bytes, std::ssize(written));
  EXPECT_GE(time_of([&] { bytes = file->read_at(3, read).bytes; }), 4 * kMillisecond);
  EXPECT_EQ(bytes, std::ssize(read));
  EXPECT_EQ(read, written);
}

// Segments that follow each other in the file go as one run, cut at a strip.
TEST_F(EmulatedFileTest, NeighboursShareARun) {
  const auto file = open("1us");
  base::Bytes written(100'000);
  for (size_t i = 0; i < written.size(); ++i) written[i] = static_cast<std::byte>(i * 11 / 7);
  std::vector<WriteSegment> writes;
  for (size_t at = 0; at < written.size(); at += 10'000) {
    writes.push_back({static_cast<int64_t>(at), base::ByteView(written).subspan(at, 10'000)});
  }
  EXPECT_EQ(file->write_list(writes).bytes, std::ssize(written));
  base::Bytes read(written.size());
  EXPECT_EQ(file->read_at(0, read).bytes, std::ssize(read));
  EXPECT_EQ(read, written);
}

TEST_F(EmulatedFileTest, AReadListEndsAtTheEndOfTheFile) {
  const auto file = open("1us");
  const base::Bytes written(1000, std::byte{9});
  ASSERT_TRUE(file->write_at(0, written));
  base::Bytes read(2000);
  std::vector<ReadSegment> reads;
  for (size_t run = 0; run < 20; ++run) {
    reads.push_back({static_cast<int64_t>(run) * 150, std::span(read).subspan(run * 100, 100)});
  }
  const Transfer done = file->read_list(reads);
  EXPECT_TRUE(done);
  EXPECT_EQ(done.bytes, 700) << "six whole runs, and of the next all before the end";
}

TEST_F(EmulatedFileTest, IsNotLocalAndHasNoRangeLocks) {
  const auto emulated = open("1us");
  EXPECT_FALSE(emulated->is_local());
  const auto locked = emulated->lock_range(0, 10, RangeLock::kExclusive);
  ASSERT_FALSE(locked);
  EXPECT_EQ(locked.error().errno_value, EOPNOTSUPP);
  const auto tried = emulated->try_lock_range(0, 10, RangeLock::kExclusive);
  ASSERT_FALSE(tried);
  EXPECT_EQ(tried.error().errno_value, EOPNOTSUPP);
  ::unsetenv("TESSERA_EMULATED_STORE");
  const auto plain = PlainFile::open(directory_.path("file"), {.write = true}).value();
  EXPECT_TRUE(plain->lock_range(0, 10, RangeLock::kExclusive));
}

TEST_F(EmulatedFileTest, AWrongTimeFailsTheOpen) {
  ::setenv("TESSERA_EMULATED_STORE", "soon", 1);
  const auto opened = PlainFile::open(directory_.path("other"), {.write = true, .create = true});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::Code::kInvalid);
}

}  // namespace
}  // namespace tessera::port
