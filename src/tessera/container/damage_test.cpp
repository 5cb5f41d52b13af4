// Promises: no silent corruption; a failed commit changes nothing; every kind of bad file is told
// by its own sentence.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>

#include "tessera/base/checksum.hpp"
#include "tessera/container/checker.hpp"
#include "tessera/container/compaction.hpp"
#include "tessera/container/container.hpp"
#include "tessera/container/test_object_file.hpp"
#include "tessera/port/crash_states.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_seed.hpp"

namespace tessera::container {
namespace {

constexpr char kPath[] = "data.obj";

// A file of several commits, with gaps, dead bytes and bytes of three managers.
struct Sample {
  base::Bytes image;
  std::string text;
  std::vector<Interval> used;
  std::vector<Interval> blocks;  // of allocations
};

Sample make_sample(port::Random& random) {
  port::SimDisk disk;
  const auto file = disk.create(kPath).value();
  TestObjectFile object = TestObjectFile::create(*file, random).value();
  for (int commit = 0; commit < 4; ++commit) {
    for (int32_t i = 0; i < 3; ++i) {
      const auto begin = static_cast<int64_t>(random.uniform(4000));
      EXPECT_TRUE(object.write(test_set(begin, 100, 8, 150), random, i));
      EXPECT_TRUE(object.write(test_set(begin / 2, 1500), random, i));
    }
    EXPECT_TRUE(object.sync_data());
    EXPECT_TRUE(object.commit());
  }
  Sample sample;
  sample.image = disk.image().files.at(kPath);
  sample.text = object.text();
  sample.used = used_space(object.container().superblock(), object.contents().allocations).value();
  for (const Allocation& a : object.contents().allocations) sample.blocks.push_back(a.place);
  return sample;
}

bool inside(const std::vector<Interval>& intervals, int64_t byte) {
  return std::any_of(intervals.begin(), intervals.end(), [&](Interval interval) {
    return interval.begin <= byte && byte < interval.end;
  });
}

// A disk that holds one file.
struct OneFile {
  explicit OneFile(base::Bytes bytes) : disk(port::DiskImage{{{kPath, std::move(bytes)}}, {}}) {
    file = disk.open(kPath, port::Access::kReadWrite).value();
  }
  port::SimDisk disk;
  std::unique_ptr<port::File> file;
};

struct FlipCounts {
  int live = 0;
  int found = 0;    // of those, by check()
  int wrong = 0;    // reads that returned other bytes without an error
  int alarms = 0;   // findings of check() where only free space was hit
  int refused = 0;  // reads that answered with an error
};

FlipCounts flip_bits(int flips, bool verify) {
  port::SeededRandom random(port::test_seed());
  FlipCounts counts;
  Sample sample = make_sample(random);
  for (int i = 0; i < flips; ++i) {
    if (i % 100 == 99) sample = make_sample(random);
    // Half of them in the superblocks and contents, which are a small part of the file.
    const bool in_root = random.chance(1, 4);
    const uint64_t bytes = in_root ? 256 : sample.image.size();
    const int64_t begin = in_root ? copy_offset(kFormatVersion, 0) : 0;
    const int64_t byte = begin + static_cast<int64_t>(random.uniform(bytes));
    base::Bytes image = sample.image;
    image[static_cast<size_t>(byte)] ^= static_cast<std::byte>(1U << random.uniform(8));
    OneFile one(std::move(image));
    const bool live = inside(sample.used, byte);
    const CheckReport report = check(*one.file).value();
    counts.live += live ? 1 : 0;
    counts.found += live && !report.flawless() ? 1 : 0;
    counts.alarms += !live && !report.flawless() ? 1 : 0;
    const auto text = read_all(*one.file, verify);
    counts.wrong += text && *text != sample.text ? 1 : 0;
    counts.refused += text ? 0 : 1;
  }
  return counts;
}

TEST(ContainerDamage, EveryFlippedBitIsFoundAndNoneIsReadSilently) {
  const int flips = std::getenv("TESSERA_SOAK") != nullptr ? 200000 : 20000;
  const FlipCounts counts = flip_bits(flips, true);
  EXPECT_GT(counts.live, flips / 2);
  EXPECT_EQ(counts.found, counts.live);
  EXPECT_EQ(counts.wrong, 0);
  EXPECT_EQ(counts.alarms, 0);
  EXPECT_GT(counts.refused, flips / 10);
}

TEST(ContainerDamage, ControlWithoutVerificationWrongBytesAreRead) {
  EXPECT_GT(flip_bits(500, false).wrong, 0);
}

TEST(ContainerDamage, OneBadSuperblockIsServedByTheOther) {
  port::SeededRandom random(port::test_seed());
  const Sample sample = make_sample(random);
  for (const size_t copy : {size_t{0}, size_t{1}}) {
    base::Bytes image = sample.image;
    image[static_cast<size_t>(copy_offset(kFormatVersion, copy)) + 50] ^= std::byte{1};
    OneFile one(std::move(image));
    EXPECT_TRUE(read_all(*one.file).value() == sample.text);
    Container container = Container::open(*one.file).value();
    ASSERT_EQ(container.complaints().size(), 1U);
    EXPECT_NE(container.complaints()[0].find("copy " + std::to_string(copy)), std::string::npos);
    EXPECT_FALSE(check(*one.file).value().flawless());
    ASSERT_TRUE(container.begin_writing());
    EXPECT_TRUE(check(*one.file).value().flawless());
  }
}

// What a crash cannot leave is damage, although all bytes of the object file can be read.
TEST(ContainerDamage, WhatOverwritesPage0OrASuperblockIsFound) {
  port::SeededRandom random(port::test_seed());
  const Sample sample = make_sample(random);
  for (const int64_t begin : {int64_t{0}, copy_offset(2, 0), copy_offset(2, 1)}) {
    for (const int64_t length : {int64_t{64}, kSuperblockBytes}) {
      for (const bool zeros : {false, true}) {
        base::Bytes image = sample.image;
        const auto at = image.begin() + static_cast<ptrdiff_t>(begin);
        std::generate(at, at + length, [&] {
          return zeros ? std::byte{0} : static_cast<std::byte>(1 + random.uniform(255));
        });
        if (image == sample.image) continue;  // page 0 may begin with zeros
        OneFile one(std::move(image));
        EXPECT_TRUE(read_all(*one.file).value() == sample.text);
        EXPECT_FALSE(check(*one.file).value().sound()) << begin << " " << length << " " << zeros;
        TestObjectFile object = TestObjectFile::open(*one.file).value();
        ASSERT_TRUE(object.commit());
        EXPECT_TRUE(check(*one.file).value().flawless()) << "the next sync writes it again";
      }
    }
  }
}

// The nth operation of a commit fails, once or from then on.
struct Fault {
  uint64_t nth;
  int errno_value;
  bool lasting;
};

// Whether the fault struck before the commit was over.
bool commit_with_fault(const Fault& fault, uint64_t seed) {
  port::SeededRandom random(seed);
  port::SimDisk disk;
  const auto file = disk.create(kPath).value();
  TestObjectFile object = TestObjectFile::create(*file, random).value();
  EXPECT_TRUE(object.write(test_set(0, 3000), random));
  EXPECT_TRUE(object.sync_data());
  EXPECT_TRUE(object.commit());
  const std::string before = object.text();
  EXPECT_TRUE(object.write(test_set(500, 100, 20, 150), random));
  EXPECT_TRUE(object.sync_data());

  const uint64_t start = disk.operation_count();
  constexpr uint64_t kLastingOperations = 20;
  for (uint64_t i = 0; i < (fault.lasting ? kLastingOperations : 1); ++i) {
    disk.fail_operation(fault.nth + i, fault.errno_value);
  }
  const auto committed = object.commit();
  const bool struck = disk.operation_count() - start >= fault.nth;
  while (disk.operation_count() < start + fault.nth + kLastingOperations) {
    static_cast<void>(disk.list(""));
  }
  if (committed) {
    EXPECT_TRUE(read_all(*file).value() == object.text());
    EXPECT_TRUE(object.commit());
  } else {
    EXPECT_EQ(committed.error().errno_value, fault.errno_value);
    EXPECT_NE(committed.error().context.find("as of its last sync"), std::string::npos);
    EXPECT_TRUE(object.container().begin_writing());
    EXPECT_TRUE(read_all(*file).value() == before);
    EXPECT_TRUE(check(*file).value().flawless());
    EXPECT_TRUE(object.commit());
    const bool numbered = fault.nth > 1;  // nothing was written before
    EXPECT_EQ(object.container().superblock().sequence, numbered ? 4U : 3U) << "see (K5)";
  }
  EXPECT_TRUE(read_all(*file).value() == object.text());
  EXPECT_TRUE(check(*file).value().sound());
  return struck;
}

TEST(ContainerDamage, ACommitMayFailAtEveryOperation) {
  const uint64_t seed = port::test_seed();
  for (const int error : {EIO, ENOSPC}) {
    for (const bool lasting : {false, true}) {
      uint64_t nth = 1;
      while (commit_with_fault({nth, error, lasting}, seed)) ++nth;
      EXPECT_GE(nth, 7U) << "superblocks, blob, sync, copy 0, sync, copy 1";
    }
  }
}

TEST(ContainerDamage, AFullDiskLeavesTheLastCommit) {
  port::SeededRandom random(port::test_seed());
  int failures = 0;
  for (int64_t room = 0; room < 3000; room += 100) {
    port::SimDisk disk;
    const auto file = disk.create(kPath).value();
    TestObjectFile object = TestObjectFile::create(*file, random).value();
    ASSERT_TRUE(object.write(test_set(0, 3000), random));
    ASSERT_TRUE(object.sync_data());
    ASSERT_TRUE(object.commit());
    const std::string before = object.text();
    disk.set_capacity(file->size().value() + room);
    const bool done =
        object.write(test_set(500, 700), random) && object.sync_data() && object.commit();
    EXPECT_TRUE(read_all(*file).value() == (done ? object.text() : before));
    EXPECT_TRUE(check(*file).value().flawless());
    failures += done ? 0 : 1;
  }
  EXPECT_GT(failures, 0);
  EXPECT_LT(failures, 30);
}

TEST(ContainerDamage, TruncatedFilesAreRefusedOrReadAsTheyWere) {
  port::SeededRandom random(port::test_seed());
  const Sample sample = make_sample(random);
  for (size_t size = 1; size < sample.image.size(); size += 97) {
    OneFile one(
        base::Bytes(sample.image.begin(), sample.image.begin() + static_cast<ptrdiff_t>(size)));
    const auto text = read_all(*one.file);
    if (text) {
      EXPECT_TRUE(*text == sample.text) << size;
      EXPECT_GE(static_cast<int64_t>(size), sample.used.back().end);
    } else {
      // Before the first superblock there is nothing of a container.
      const bool known = size >= 4096 + 8;
      EXPECT_EQ(text.error().code, known ? base::Code::kIntegrity : base::Code::kInvalid) << size;
      const bool cut = text.error().context.find("cut off") != std::string::npos;
      EXPECT_EQ(cut, known) << text.error().context;
      EXPECT_FALSE(check(*one.file).value().sound());
    }
  }
}

std::string open_error(base::Bytes image, base::Code code) {
  OneFile one(std::move(image));
  const auto opened = Container::open(*one.file);
  if (opened) return "opened";
  EXPECT_EQ(opened.error().code, code) << opened.error().message();
  EXPECT_EQ(opened.error().context.find(kPath), 0U);
  EXPECT_FALSE(check(*one.file).value().sound());
  return opened.error().context;
}

// Changes both copies and puts their checksums right.
base::Bytes tampered(base::Bytes image, size_t offset, uint8_t value) {
  for (const size_t copy : {size_t{4096}, size_t{8192}}) {
    image[copy + offset] = std::byte{value};
    const auto whole = std::span(image).subspan(copy, 4096);
    base::store_le<uint64_t>(whole.subspan(4088), base::checksum(whole.first(4088)));
  }
  return image;
}

TEST(ContainerDamage, EveryKindOfBadFileHasItsOwnSentence) {
  port::SeededRandom random(port::test_seed());
  const base::Bytes image = make_sample(random).image;
  using base::Code;
  const auto expect = [](const std::string& message, const std::string& words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect(open_error(base::Bytes(), Code::kInvalid), "is empty");
  expect(open_error(base::Bytes(20000), Code::kInvalid), "creation was not finished");
  expect(open_error(base::Bytes(20000, std::byte{'x'}), Code::kInvalid), "is not an object file");
  expect(open_error(tampered(image, 8, 3), Code::kInvalid), "newer Tessera (format version 3");
  expect(open_error(tampered(image, 24, 1), Code::kInvalid), "features");
  expect(open_error(tampered(image, 13, 0x41), Code::kIntegrity), "block size");
  expect(open_error(tampered(image, 79, 0x7f), Code::kIntegrity), "place of its contents");
  expect(open_error(tampered(image, 94, 0x01), Code::kIntegrity), "cut off");
  base::Bytes both = image;
  both[4096 + 60] ^= std::byte{1};
  both[8192 + 60] ^= std::byte{1};
  expect(open_error(both, Code::kIntegrity), "both superblocks are damaged");
  // Features that may be ignored are.
  EXPECT_EQ(open_error(tampered(image, 16, 1), Code::kInvalid), "opened");
}

TEST(ContainerDamage, ANewerProgramsInterruptedCommitIsNotIgnored) {
  port::SeededRandom random(port::test_seed());
  const base::Bytes image = make_sample(random).image;
  base::Bytes mixed = tampered(image, 8, 3);
  std::copy(image.begin() + 8192, image.begin() + 12288, mixed.begin() + 8192);
  EXPECT_NE(open_error(mixed, base::Code::kInvalid).find("newer"), std::string::npos);
}

TEST(ContainerDamage, ADamagedFileIsNotCompacted) {
  port::SeededRandom random(port::test_seed());
  const Sample sample = make_sample(random);
  base::Bytes image = sample.image;
  const Interval block = sample.blocks.back();
  image[static_cast<size_t>(block.begin) + 3] ^= std::byte{4};
  OneFile one(image);
  const auto compacted = compact(one.disk, kPath);
  ASSERT_FALSE(compacted);
  EXPECT_EQ(compacted.error().code, base::Code::kIntegrity);
  EXPECT_EQ(one.disk.list("").value(), std::vector<std::string>{kPath});
  EXPECT_TRUE(one.disk.image().files.at(kPath) == image);
}

// Of which not all bytes have been overwritten.
int64_t allocations_of(port::File& file) {
  const Contents contents = Container::open(file).value().read_contents().value();
  return std::ssize(contents.map.allocations());
}

TEST(ContainerDamage, CompactionKeepsTheBytesAndFreesTheRest) {
  port::SeededRandom random(port::test_seed());
  const Sample sample = make_sample(random);
  OneFile one(sample.image);
  const CheckReport before = check(*one.file).value();
  const int64_t allocations = allocations_of(*one.file);
  const CompactionReport report = compact(one.disk, kPath).value();
  const auto file = one.disk.open(kPath, port::Access::kRead).value();
  EXPECT_TRUE(read_all(*file).value() == sample.text);
  const CheckReport after = check(*file).value();
  EXPECT_TRUE(after.flawless());
  EXPECT_EQ(after.superblock.file_id, before.superblock.file_id);
  EXPECT_GT(after.superblock.sequence, before.superblock.sequence);
  EXPECT_EQ(after.allocations, allocations);
  EXPECT_LT(after.dead_bytes, allocations * kTestBlock);
  EXPECT_LT(report.bytes_after, report.bytes_before);
  EXPECT_LE(report.bytes_copied, static_cast<int64_t>(sample.text.size()));
}

}  // namespace
}  // namespace tessera::container
