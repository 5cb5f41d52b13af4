// The conformance suite: what disk.hpp promises, on every disk.
#include "tessera/port/disk.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "tessera/port/posix_disk.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::port {
namespace {

using base::Bytes;
using base::bytes_of;
using base::text_of;

enum class Kind { kPosix, kSim, kSimShort };

class DiskConformance : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::kPosix) {
      std::string pattern = ::testing::TempDir() + "tessera_disk_XXXXXX";
      ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
      root_ = pattern;
      disk_ = std::make_unique<PosixDisk>();
      return;
    }
    auto sim = std::make_unique<SimDisk>();
    // Every transfer in pieces of three bytes shows (D1) and (D2) through all other tests.
    if (GetParam() == Kind::kSimShort) sim->set_attempt_max(3);
    root_ = "root";
    disk_ = std::move(sim);
    ASSERT_TRUE(disk_->make_directory(root_));
  }

  void TearDown() override {
    if (GetParam() == Kind::kPosix) std::filesystem::remove_all(root_);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return root_ + "/" + name; }

  std::unique_ptr<File> create(const std::string& name, std::string_view content = "") {
    auto file = disk_->create(path(name)).value();
    EXPECT_TRUE(file->write_at(0, bytes_of(content)));
    return file;
  }

  static std::string content_of(File& file) {
    Bytes bytes(static_cast<size_t>(file.size().value()) + 7);
    const Transfer transfer = file.read_at(0, bytes);
    EXPECT_TRUE(transfer);
    return std::string(text_of(bytes).substr(0, static_cast<size_t>(transfer.bytes)));
  }

  std::string content_of(const std::string& name) {
    const auto file = disk_->open(path(name), Access::kRead);
    return file ? content_of(**file) : "(" + file.error().message() + ")";
  }

  std::string root_;
  std::unique_ptr<Disk> disk_;
};

template <typename T>
int errno_of(const base::Result<T>& result) {
  return result ? 0 : result.error().errno_value;
}

TEST_P(DiskConformance, WrittenBytesAreReadBack) {
  const auto file = create("a", "hello, world");
  EXPECT_EQ(content_of(*file), "hello, world");
  const Transfer overwrite = file->write_at(7, bytes_of("earth"));
  ASSERT_TRUE(overwrite);
  EXPECT_EQ(overwrite.bytes, 5);
  EXPECT_TRUE(file->sync());
  EXPECT_EQ(content_of("a"), "hello, earth");
}

TEST_P(DiskConformance, ReadsEndWithTheFileAndLeaveTheRestAlone) {
  const auto file = create("a", "abc");
  Bytes bytes(5, std::byte{'x'});
  const Transfer transfer = file->read_at(1, bytes);
  ASSERT_TRUE(transfer);
  EXPECT_EQ(transfer.bytes, 2);
  EXPECT_EQ(text_of(bytes), "bcxxx");
  EXPECT_EQ(file->read_at(100, bytes).bytes, 0);
  EXPECT_EQ(file->read_at(0, {}).bytes, 0);
}

TEST_P(DiskConformance, GapsAndExtensionsReadAsZeros) {
  const auto file = create("a", "ab");
  ASSERT_TRUE(file->write_at(4, bytes_of("cd")));
  EXPECT_EQ(content_of(*file), std::string("ab\0\0cd", 6));
  ASSERT_TRUE(file->truncate(8));
  EXPECT_EQ(file->size().value(), 8);
  ASSERT_TRUE(file->truncate(1));
  ASSERT_TRUE(file->truncate(3));
  EXPECT_EQ(content_of(*file), std::string("a\0\0", 3));
}

TEST_P(DiskConformance, ListsMoveInTheOrderGiven) {
  const auto file = create("a", "..........");
  const WriteSegment writes[] = {{2, bytes_of("AB")}, {4, bytes_of("CD")}, {9, {}},
                                 {8, bytes_of("EF")}, {0, bytes_of("G")},  {3, bytes_of("H")}};
  const Transfer written = file->write_list(writes);
  ASSERT_TRUE(written);
  EXPECT_EQ(written.bytes, 8);
  EXPECT_EQ(content_of(*file), "G.AHCD..EF");

  Bytes memory(6, std::byte{'-'});
  const std::span<std::byte> span(memory);
  const ReadSegment reads[] = {{2, span.subspan(3, 2)}, {4, span.subspan(0, 2)}, {0, span.last(1)}};
  EXPECT_EQ(file->read_list(reads).bytes, 5);
  EXPECT_EQ(text_of(memory), "CD-AHG");
}

TEST_P(DiskConformance, AReadListStopsAtTheEndOfTheFile) {
  const auto file = create("a", "abcdef");
  Bytes memory(6, std::byte{'-'});
  const std::span<std::byte> span(memory);
  const ReadSegment reads[] = {{1, span.first(2)}, {5, span.subspan(2, 2)}, {0, span.last(2)}};
  const Transfer transfer = file->read_list(reads);
  ASSERT_TRUE(transfer);
  EXPECT_EQ(transfer.bytes, 3);
  EXPECT_EQ(text_of(memory), "bcf---");
}

TEST_P(DiskConformance, LongListsTakeSeveralCalls) {
  const auto file = create("a");
  const std::string text = "0123456789";
  std::vector<WriteSegment> writes;
  for (int64_t i = 0; i < 1000; ++i) {
    writes.push_back({i, bytes_of(text).subspan(static_cast<size_t>(i % 10), 1)});
  }
  EXPECT_EQ(file->write_list(writes).bytes, 1000);
  const std::string content = content_of(*file);
  ASSERT_EQ(content.size(), 1000U);
  for (size_t i = 0; i < content.size(); ++i) ASSERT_EQ(content[i], text[i % 10]);
}

TEST_P(DiskConformance, WritingAFileOpenedForReadingMovesNothing) {
  create("a", "abc");
  const auto file = disk_->open(path("a"), Access::kRead).value();
  const Transfer transfer = file->write_at(1, bytes_of("x"));
  EXPECT_EQ(transfer.bytes, 0);
  EXPECT_EQ(errno_of(transfer.status), EBADF);
  EXPECT_EQ(errno_of(file->truncate(0)), EINVAL);
  EXPECT_EQ(content_of("a"), "abc");
}

TEST_P(DiskConformance, NamesMustExistOrMustNot) {
  create("a");
  EXPECT_EQ(errno_of(disk_->create(path("a"))), EEXIST);
  EXPECT_EQ(errno_of(disk_->make_directory(path("a"))), EEXIST);
  EXPECT_EQ(errno_of(disk_->open(path("b"), Access::kReadWrite)), ENOENT);
  EXPECT_EQ(disk_->open(path("b"), Access::kRead).error().code, base::Code::kNotFound);
  EXPECT_EQ(errno_of(disk_->remove(path("b"))), ENOENT);
  EXPECT_EQ(errno_of(disk_->rename(path("b"), path("c"))), ENOENT);
  EXPECT_EQ(errno_of(disk_->create(path("no/c"))), ENOENT);
  EXPECT_EQ(errno_of(disk_->create(path("a/c"))), ENOTDIR);
  EXPECT_EQ(errno_of(disk_->list(path("no"))), ENOENT);
  EXPECT_EQ(errno_of(disk_->sync_directory(path("no"))), ENOENT);
  EXPECT_NE(disk_->remove(path("b")).error().context.find(path("b")), std::string::npos);
}

TEST_P(DiskConformance, RenameReplacesAndKeepsOpenFiles) {
  const auto old_file = create("a", "old");
  create("b", "new");
  ASSERT_TRUE(disk_->rename(path("b"), path("a")));
  EXPECT_EQ(content_of("a"), "new");
  EXPECT_EQ(content_of(*old_file), "old");
  EXPECT_EQ(errno_of(disk_->open(path("b"), Access::kRead)), ENOENT);
  ASSERT_TRUE(disk_->rename(path("a"), path("a")));
  EXPECT_EQ(content_of("a"), "new");
}

TEST_P(DiskConformance, ARemovedFileLivesUntilItIsClosed) {
  const auto file = create("a", "abc");
  ASSERT_TRUE(disk_->remove(path("a")));
  ASSERT_TRUE(file->write_at(3, bytes_of("d")));
  EXPECT_EQ(content_of(*file), "abcd");
  create("a", "x");
  EXPECT_EQ(content_of("a"), "x");
}

TEST_P(DiskConformance, DirectoriesListTheirNamesSorted) {
  create("b");
  create("a");
  ASSERT_TRUE(disk_->make_directory(path("dir")));
  create("dir/c", "in a directory");
  EXPECT_EQ(disk_->list(root_).value(), (std::vector<std::string>{"a", "b", "dir"}));
  EXPECT_EQ(disk_->list(path("dir/")).value(), (std::vector<std::string>{"c"}));
  EXPECT_TRUE(disk_->sync_directory(path("dir")));
  EXPECT_EQ(content_of("dir/c"), "in a directory");
  EXPECT_EQ(errno_of(disk_->open(path("dir"), Access::kReadWrite)), EISDIR);
}

// Random operations against a vector of bytes, small enough that gaps and overlaps are common.
TEST_P(DiskConformance, RandomTransfersAgreeWithAVector) {
  SeededRandom random(test_seed());
  const auto file = create("a");
  Bytes model;
  for (int step = 0; step < 500; ++step) {
    const size_t offset = random.uniform(48);
    Bytes bytes(random.uniform(16));
    if (random.chance(1, 8)) {
      model.resize(offset);
      ASSERT_TRUE(file->truncate(static_cast<int64_t>(offset)));
    } else if (random.chance(1, 2)) {
      random.fill(bytes);
      if (!bytes.empty()) {
        model.resize(std::max(model.size(), offset + bytes.size()));
        std::copy(bytes.begin(), bytes.end(), model.begin() + static_cast<ptrdiff_t>(offset));
      }
      ASSERT_EQ(file->write_at(static_cast<int64_t>(offset), bytes).bytes,
                static_cast<int64_t>(bytes.size()));
    } else {
      const auto at = static_cast<int64_t>(offset);
      const Transfer transfer = random.chance(1, 2)
                                    ? file->read_at(at, bytes)
                                    : file->read_together(in_pieces(
                                          at, bytes, static_cast<int64_t>(1 + random.uniform(5))));
      const auto rest = base::ByteView(model).subspan(std::min(offset, model.size()));
      const auto expected = rest.first(std::min(rest.size(), bytes.size()));
      ASSERT_TRUE(transfer);
      ASSERT_EQ(transfer.bytes, static_cast<int64_t>(expected.size()));
      ASSERT_TRUE(base::equal(base::ByteView(bytes).first(expected.size()), expected));
    }
    ASSERT_EQ(file->size().value(), static_cast<int64_t>(model.size()));
  }
}

std::string kind_name(const ::testing::TestParamInfo<Kind>& kind) {
  constexpr const char* kNames[] = {"Posix", "Sim", "SimShort"};
  return kNames[static_cast<int>(kind.param)];
}

INSTANTIATE_TEST_SUITE_P(Disks, DiskConformance,
                         ::testing::Values(Kind::kPosix, Kind::kSim, Kind::kSimShort), kind_name);

}  // namespace
}  // namespace tessera::port
