#include "tessera/cache/object_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <limits>
#include <string>
#include <tuple>

#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/cache/linear_file.hpp"
#include "tessera/container/checker.hpp"
#include "tessera/container/test_object_file.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/port/crash_states.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/sim_disk.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/test_processes.hpp"
#include "tessera/port/test_seed.hpp"
#include "tessera/port/thread_team.hpp"

namespace tessera::cache {
namespace {

using base::Bytes;
using move::Direction;
using move::Move;
using pattern::Pattern;

constexpr int64_t kBytesMax = 200000;

// An ascending pattern of some runs, regular or not.
Pattern random_bytes(port::Random& random) {
  const auto length = static_cast<int64_t>(1 + random.uniform(random.chance(1, 4) ? 30000 : 300));
  const auto begin = static_cast<int64_t>(random.uniform(kBytesMax / 2));
  const auto count = static_cast<int64_t>(1 + random.uniform(20));
  Pattern runs = Pattern::run({{begin}}, length).value();
  if (random.chance(1, 2)) {
    const auto gap = static_cast<int64_t>(random.uniform(200));
    return pattern::repeat(runs, count, {{length + gap}}).value();
  }
  pattern::Assembler<1> assembler;
  int64_t at = begin;
  for (int64_t i = 0; i < count; ++i) {
    assembler.append(Pattern::run({{at}}, 1 + static_cast<int64_t>(random.uniform(100))).value());
    at += 100 + static_cast<int64_t>(random.uniform(300));
  }
  return assembler.finish().value();
}

// Memory with gaps, as many bytes.
Pattern random_memory(port::Random& random, int64_t size) {
  if (random.chance(1, 2) || size % 4 != 0) return Pattern::run({{8}}, size).value();
  return pattern::repeat(Pattern::run({{0}}, 4).value(), size / 4, {{7}}).value();
}

template <typename Visit>
void for_each_pair(const Pattern& file, const Pattern& memory, Visit visit) {
  for (int64_t i = 0; i < file.size(); ++i) visit(file.position(i)[0], memory.position(i)[0]);
}

// How ranks hear of each other's writes.
enum class Hearing { kCommonMemory, kMeeting, kFile };

// Where the ranks of a script meet a file.
struct Scene {
  port::File& file;
  port::File* below;  // null: an object file
  Hearing hearing;
  Numbers numbers;
};

// What all ranks do, one of them at a time; each rank keeps the same model of the file.
class Script {
 public:
  Script(const Scene& scene, port::Team& team, uint64_t seed, Bytes& model)
      : scene_(scene), team_(team), random_(seed), model_(model) {}

  void run(bool create, int steps) {
    ObjectFileOptions options;
    options.write = true;
    options.create = create;
    options.shared_writes = static_cast<owner::SharedWrites>(random_.uniform(3));
    port::SeededRandom ids(7);
    options.below = scene_.below;
    port::Team* const common = scene_.hearing == Hearing::kCommonMemory ? &team_ : nullptr;
    auto opened = ObjectFile::open(scene_.file, {team_, common, scene_.numbers, team_.rank() == 0},
                                   ids, options);
    ASSERT_TRUE(opened) << opened.error().message();
    objects_ = *std::move(opened);
    ASSERT_TRUE(objects_->set_coherent(scene_.hearing == Hearing::kFile));
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) step();
    ASSERT_TRUE(objects_->commit());
    check_all();
    ASSERT_TRUE(objects_->close());
  }

 private:
  bool mine() {
    return static_cast<int>(random_.uniform(static_cast<uint64_t>(team_.size()))) == team_.rank();
  }

  void step() {
    const uint64_t what = random_.uniform(20);
    if (what == 0) return commit();
    if (what == 1) return set_size();
    if (what < 12) return write();
    read(random_bytes(random_));
  }

  void commit() { ASSERT_TRUE(objects_->commit()); }

  void set_size() {
    const auto size = static_cast<int64_t>(random_.uniform(kBytesMax));
    ASSERT_TRUE(objects_->set_size(size));
    model_.resize(static_cast<size_t>(size));
  }

  void write() {
    Move move;
    move.direction = Direction::kWrite;
    move.file = random_bytes(random_);
    move.memory = random_memory(random_, move.file.size());
    Bytes memory(static_cast<size_t>(move.memory.span().end));
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random_.next());
    move.base = memory.data();
    base::Result<void> done;
    if (mine()) {
      const port::Transfer written = objects_->write(move);
      done = written.status;
      EXPECT_EQ(written.bytes, move.size());
    }
    // Those of one node hear of it; others have to meet.
    const auto met = scene_.hearing == Hearing::kMeeting ? objects_->meet(done) : team_.agree(done);
    ASSERT_TRUE(met) << met.error().message();
    model_.resize(std::max(model_.size(), static_cast<size_t>(move.file.span().end)));
    for_each_pair(move.file, move.memory, [&](int64_t file, int64_t from) {
      model_[static_cast<size_t>(file)] = memory[static_cast<size_t>(from)];
    });
  }

  void read(const Pattern& bytes) {
    Move move;
    move.file = bytes;
    move.memory = random_memory(random_, bytes.size());
    Bytes memory(static_cast<size_t>(move.memory.span().end), std::byte{0xa5});
    move.base = memory.data();
    const port::Transfer read = objects_->read(move);
    ASSERT_TRUE(read) << read.status.error().message();
    int64_t there = 0;
    for_each_pair(move.file, move.memory, [&](int64_t file, int64_t to) {
      if (file >= std::ssize(model_)) return;
      ++there;
      ASSERT_EQ(memory[static_cast<size_t>(to)], model_[static_cast<size_t>(file)]) << file;
    });
    EXPECT_EQ(read.bytes, there);
    // Nobody writes before all have read.
    ASSERT_TRUE(team_.barrier());
  }

  void check_all() {
    EXPECT_EQ(objects_->size().value(), std::ssize(model_));
    if (!model_.empty()) read(Pattern::run({{0}}, std::ssize(model_)).value());
  }

  const Scene scene_;
  port::Team& team_;
  port::SeededRandom random_;
  Bytes& model_;
  std::unique_ptr<ObjectFile> objects_;
};

class ObjectFileModelTest : public ::testing::TestWithParam<Hearing> {
 protected:
  // Written by some ranks, gone on with by others, again and again.
  void run(uint64_t seed, port::File& file, port::File* below) {
    OwnNumbers numbers;
    std::vector<Bytes> models(5);
    for (uint64_t reopen = 0; reopen < 4 && !HasFailure(); ++reopen) {
      const int ranks = 1 + static_cast<int>((seed + reopen) % 4);
      port::run_team(ranks, [&](port::Team& team) {
        Bytes& model = models[static_cast<size_t>(team.rank())];
        Script script({file, below, GetParam(), numbers}, team, seed + reopen, model);
        script.run(reopen == 0, 40);
      });
      std::fill(models.begin() + 1, models.end(), models.front());
    }
    model_ = models.front();
  }

  Bytes model_ = {};
};

TEST_P(ObjectFileModelTest, EveryRankSeesWhatAModelSees) {
  const uint64_t seed = port::test_seed();
  for (uint64_t round = 0; round < 4 && !HasFailure(); ++round) {
    port::SimDisk disk;
    const auto file = disk.create("o").value();
    run(seed + 100 * round, *file, nullptr);
    const auto report = container::check(*file);
    ASSERT_TRUE(report);
    for (const std::string& finding : report->findings) ADD_FAILURE() << finding;
  }
}

TEST_P(ObjectFileModelTest, ACacheWritesAPlainFileAsTheModelIs) {
  const uint64_t seed = port::test_seed();
  for (uint64_t round = 0; round < 4 && !HasFailure(); ++round) {
    port::SimDisk disk;
    const auto cache = disk.create("cache").value();
    const auto plain = disk.create("plain").value();
    run(seed + 100 * round, *cache, plain.get());
    Bytes bytes(static_cast<size_t>(plain->size().value()));
    ASSERT_TRUE(plain->read_at(0, bytes));
    EXPECT_TRUE(bytes == model_);
  }
}

INSTANTIATE_TEST_SUITE_P(Hearing, ObjectFileModelTest,
                         ::testing::Values(Hearing::kCommonMemory, Hearing::kMeeting,
                                           Hearing::kFile));

class ObjectFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<ObjectFile> open(bool create) {
    ObjectFileOptions options;
    options.write = true;
    options.create = create;
    port::SeededRandom ids(7);
    auto opened = ObjectFile::open(*file_, ranks_, ids, options);
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? *std::move(opened) : nullptr;
  }
  static port::Transfer write(ObjectFile& objects, int64_t at, const std::string& text) {
    LinearFile linear(objects);
    return linear.write_at(at, base::bytes_of(text));
  }
  static std::string read(ObjectFile& objects, int64_t at, size_t size) {
    LinearFile linear(objects);
    Bytes bytes(size);
    const port::Transfer read = linear.read_at(at, bytes);
    EXPECT_TRUE(read) << read.status.error().message();
    return std::string(base::text_of(bytes)).substr(0, static_cast<size_t>(read.bytes));
  }

  port::SimDisk disk_ = {};
  std::unique_ptr<port::File> file_ = disk_.create("o").value();
  port::SelfTeam team_ = {};
  OwnNumbers numbers_ = {};
  Ranks ranks_ = {team_, &team_, numbers_, true};
};

TEST_F(ObjectFileTest, SmallWritesInSequenceAreOnePartOfTheMap) {
  auto objects = open(true);
  const std::string text(100, 'x');
  for (int64_t i = 0; i < 1000; ++i) ASSERT_TRUE(write(*objects, i * 100, text));
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(read(*objects, 0, 100000), std::string(100000, 'x'));
  EXPECT_EQ(objects->counts().parts_read, objects->counts().reads);
}

TEST_F(ObjectFileTest, BytesOfTheLastCommitAreThereAfterWritesThatWereNotCommitted) {
  auto objects = open(true);
  ASSERT_TRUE(write(*objects, 0, "committed"));
  ASSERT_TRUE(objects->commit());
  ASSERT_TRUE(write(*objects, 0, "forgotten, and longer"));
  EXPECT_EQ(read(*objects, 0, 9), "forgotten");
  objects = open(false);
  EXPECT_EQ(read(*objects, 0, 100), "committed");
}

TEST_F(ObjectFileTest, ANewFileThatNobodyWritesOrSyncsCostsNoSync) {
  container::TestFile counting(*file_);
  ObjectFileOptions options;
  options.write = true;
  options.create = true;
  port::SeededRandom ids(7);
  const auto open_new = [&] {
    return ObjectFile::open(counting, {team_, &team_, numbers_, true}, ids, options).value();
  };
  ASSERT_TRUE(open_new()->close());
  EXPECT_EQ(counting.syncs(), 0);
  const auto objects = open_new();
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(counting.syncs(), 2) << "a sync makes an empty file durable too";
  ASSERT_TRUE(objects->commit());
  ASSERT_TRUE(objects->close());
  EXPECT_EQ(counting.syncs(), 2);
}

TEST_F(ObjectFileTest, SpaceOfWhatWasOverwrittenIsUsedAgain) {
  auto objects = open(true);
  const std::string large(4 << 20, 'a');
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(write(*objects, 0, large));
    ASSERT_TRUE(objects->commit());
  }
  // Two states at a time: the last one and the one being written.
  EXPECT_LT(file_->size().value(), int64_t{12} << 20);
}

TEST_F(ObjectFileTest, ACommitThatFailsLosesNothing) {
  ASSERT_TRUE(disk_.sync_directory(""));
  auto objects = open(true);
  ASSERT_TRUE(write(*objects, 0, "first"));
  ASSERT_TRUE(objects->commit());
  ASSERT_TRUE(write(*objects, 0, "later"));
  int failed = 0;
  for (uint64_t nth = 1;; ++nth) {
    const uint64_t before = disk_.operation_count();
    disk_.fail_operation(nth, EIO);
    const auto committed = objects->commit();
    const bool struck = disk_.operation_count() >= before + nth;
    // A fault that did not strike is used up.
    while (disk_.operation_count() < before + nth) static_cast<void>(disk_.list(""));
    if (committed && !struck) break;
    if (committed) {  // it went without page 0, which it could not read, or without the last copy
      ASSERT_TRUE(write(*objects, 0, "later"));
      continue;
    }
    ++failed;
    EXPECT_EQ(committed.error().errno_value, EIO) << committed.error().message();
    ASSERT_TRUE(struck);
    EXPECT_EQ(read(*objects, 0, 5), "later");
  }
  EXPECT_GT(failed, 3);
  objects = open(false);
  EXPECT_EQ(read(*objects, 0, 5), "later");
  EXPECT_TRUE(container::check(*file_).value().sound());
  // Syncs that failed cover nothing of what came before them, ever.
  const port::CrashStates states(disk_.log());
  port::SeededRandom random(port::test_seed());
  for (int i = 0; i < 50; ++i) {
    port::SimDisk after(states.sample_at(states.points() - 1, random).image);
    const auto file = after.open("o", port::Access::kRead);
    ASSERT_TRUE(file) << file.error().message();
    EXPECT_TRUE(container::check(**file).value().sound());
  }
}

TEST_F(ObjectFileTest, AWriteThatFindsNoSpaceTakesNothingAlong) {
  std::vector<Interval> freed;
  ranks_.free_space = [&](Interval space) { freed.push_back(space); };
  auto objects = open(true);
  ASSERT_TRUE(write(*objects, 0, std::string(50000, 'a')));
  ASSERT_TRUE(objects->commit());
  ASSERT_TRUE(write(*objects, 100000, std::string(50000, 'b')));
  disk_.set_capacity(file_->size().value() + 30000);
  for (int i = 0; i < 3; ++i) {
    const port::Transfer failed = write(*objects, 0, std::string(200000, 'c'));
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.status.error().errno_value, ENOSPC);
    EXPECT_EQ(failed.bytes, 0);
  }
  ASSERT_EQ(freed.size(), 3U);
  EXPECT_EQ(freed.front().length(), 200000);
  ASSERT_TRUE(objects->commit());
  disk_.set_capacity(std::numeric_limits<int64_t>::max());
  ASSERT_TRUE(write(*objects, 150000, "later"));
  objects = open(false);
  EXPECT_EQ(objects->size().value(), 150000);
  EXPECT_EQ(read(*objects, 0, 60000), std::string(50000, 'a') + std::string(10000, '\0'));
  EXPECT_EQ(read(*objects, 100000, 50000), std::string(50000, 'b'));
  EXPECT_TRUE(container::check(*file_).value().sound());
}

void limit_file_sizes(rlim_t bytes) {
  rlimit limit = {};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
}

TEST_F(ObjectFileTest, ACacheRefusesWhatALimitKeepsFromItsFile) {
  port::run_processes(1, [&](int) {
    limit_file_sizes(1 << 20);
    const auto below = disk_.create("below").value();
    ObjectFileOptions options;
    options.write = true;
    options.below = below.get();
    port::SeededRandom ids(7);
    const auto objects = ObjectFile::open(*file_, ranks_, ids, options).value();
    ASSERT_TRUE(write(*objects, 0, "good"));
    EXPECT_EQ(write(*objects, 1 << 20, "far").status.error().errno_value, EFBIG);
    ASSERT_TRUE(objects->commit());
    EXPECT_EQ(below->size().value(), 4);
  });
}

// A limit in the middle of a block: bytes that fit would end in a block that does not.
TEST_F(ObjectFileTest, ALimitOfFileSizesRefusesWritesAndNoCommit) {
  constexpr int64_t kWriteBytes = 1000;
  const port::TestDirectory directory;
  port::run_processes(1, [&](int) {
    limit_file_sizes(1001 << 10);
    file_ =
        port::PlainFile::open(directory.path("o"), {.read = true, .write = true, .create = true})
            .value();
    auto objects = open(true);
    int64_t good = 900000;
    port::Transfer written = write(*objects, 0, std::string(static_cast<size_t>(good), 'a'));
    ASSERT_TRUE(written) << written.status.error().message();
    while ((written = write(*objects, good, std::string(kWriteBytes, 'a')))) good += kWriteBytes;
    EXPECT_EQ(written.status.error().errno_value, EFBIG);
    ASSERT_TRUE(objects->commit());
    const port::Transfer again =
        write(*objects, good, std::string(2 * static_cast<size_t>(good), 'b'));
    EXPECT_EQ(again.status.error().errno_value, EFBIG);
    ASSERT_TRUE(objects->close());
    objects = open(false);
    EXPECT_EQ(read(*objects, 0, 3 * static_cast<size_t>(good)),
              std::string(static_cast<size_t>(good), 'a'));
    EXPECT_TRUE(container::check(*file_).value().sound());
  });
}

// Making a file and closing it untouched takes no sync, so the name is not durable then.
TEST_F(ObjectFileTest, TheNameIsMadeDurableByTheFirstCommitWhoeverMadeTheFile) {
  int synced = 0;
  ranks_.sync_name = [&]() -> base::Result<void> {
    ++synced;
    return {};
  };
  ASSERT_TRUE(open(true)->close());
  EXPECT_EQ(synced, 0);
  for (int i = 0; i < 2; ++i) {
    const auto objects = open(false);
    ASSERT_TRUE(write(*objects, i, "x"));
    ASSERT_TRUE(objects->close());
    EXPECT_EQ(synced, 1);
  }
}

// Under locks bytes are not written again in their place; the places of the write before serve.
TEST_F(ObjectFileTest, WhoOverwritesItsOwnBytesUnderLocksDoesNotFillTheDisk) {
  auto objects = open(true);
  ASSERT_TRUE(write(*objects, 0, std::string(200000, 'i')));
  ObjectFile::WriteTerms terms;
  terms.confirm = [] { return base::Result<void>(); };
  Bytes bytes(200000 / 2);
  Move every_other;
  every_other.direction = Direction::kWrite;
  every_other.file = pattern::repeat(Pattern::run({{0}}, 50).value(), 2000, {{100}}).value();
  every_other.memory = Pattern::run({{0}}, std::ssize(bytes)).value();
  every_other.base = bytes.data();
  for (int i = 0; i < 100; ++i) {
    std::fill(bytes.begin(), bytes.end(), static_cast<std::byte>('a' + i % 26));
    ASSERT_TRUE(objects->write(every_other, terms));
    const char letter = static_cast<char>('a' + i % 26);
    EXPECT_EQ(read(*objects, 49, 52), std::string(1, letter) + std::string(50, 'i') + letter);
  }
  EXPECT_LT(file_->size().value(), int64_t{1} << 20);
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(read(*objects, 199949, 51), "v" + std::string(50, 'i'));
  EXPECT_TRUE(container::check(*file_).value().sound());
}

// A write that is placed and does not come is no part of the file.
TEST_F(ObjectFileTest, PlacesCanBeGivenBack) {
  auto objects = open(true);
  ASSERT_TRUE(write(*objects, 0, "first"));
  Move move;
  move.direction = Direction::kWrite;
  move.file = Pattern::run({{100}}, 100000).value();
  const auto given_up = objects->place(move);
  const auto later = objects->place(move);
  ASSERT_TRUE(given_up && later);
  objects->give_back(*given_up);
  objects->give_back(*later);
  ASSERT_TRUE(write(*objects, 5, "second"));
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(read(*objects, 0, 100), "firstsecond");
  EXPECT_TRUE(container::check(*file_).value().sound());
}

TEST_F(ObjectFileTest, WhatIsWrittenToAFileWithoutANameIsAnErrorAtTheSync) {
  bool named = true;
  ranks_.has_name = [&] { return named; };
  auto objects = open(true);
  named = false;
  EXPECT_TRUE(objects->commit()) << "nothing was written";
  ASSERT_TRUE(write(*objects, 0, "lost"));
  for (int i = 0; i < 2; ++i) {
    const auto committed = i == 0 ? objects->commit() : objects->close();
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, base::Code::kNotFound);
  }
  named = true;
  EXPECT_TRUE(objects->commit());
  named = false;
  EXPECT_FALSE(objects->close()) << "what was committed is lost too";
}

TEST_F(ObjectFileTest, ADamagedBlockIsAnErrorAndNotBytes) {
  auto objects = open(true);
  ASSERT_TRUE(write(*objects, 0, std::string(100000, 'q')));
  ASSERT_TRUE(objects->commit());
  Bytes bytes(static_cast<size_t>(file_->size().value()));
  ASSERT_TRUE(file_->read_at(0, bytes));
  const auto blocks = bytes.begin() + container::header_end(container::kBlockBytes);
  const auto at = std::search_n(blocks, bytes.end(), 100, std::byte{'q'}) - bytes.begin();
  ASSERT_TRUE(file_->write_at(at + 5000, base::bytes_of("Q")));
  objects = open(false);
  LinearFile linear(*objects);
  Bytes out(100000);
  EXPECT_FALSE(linear.read_at(0, out));
  // The control: without verification nobody notices.
  objects->set_hints(false, owner::SharedWrites::kForward);
  EXPECT_TRUE(linear.read_at(0, out));
}

// Two readers of every other 1,000 bytes, and rows that writers write.
TEST_F(ObjectFileTest, WhatIsLaidOutBeforeIsOneRunForEachReader) {
  auto objects = open(true);
  std::vector<Shelf> shelves;
  map::FileMap map;
  for (int reader = 0; reader < 2; ++reader) {
    const Pattern run = Pattern::run({{reader * 1000}}, 1000).value();
    shelves.push_back(
        {reader, pattern::ByteSet::of_ascending(pattern::repeat(run, 50, {{2000}}).value())});
    ASSERT_TRUE(map.add({shelves.back().bytes, reader, 0, 0}));
  }
  const auto views = shelves;
  ASSERT_TRUE(objects->lay_out(std::move(shelves), std::move(map)));
  std::string row(5000, ' ');
  for (int64_t i = 0; i < 20; ++i) {
    std::fill(row.begin(), row.end(), static_cast<char>('a' + i));
    ASSERT_TRUE(write(*objects, i * 5000, row));
  }
  EXPECT_EQ(read(*objects, 4999, 2), "ab");
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(objects->size().value(), 100000);
  EXPECT_TRUE(container::check(*file_).value().sound());
  for (const Shelf& view : views) {
    Move move;
    move.file = view.bytes.ascending();
    move.memory = Pattern::run({{0}}, move.file.size()).value();
    Bytes memory(static_cast<size_t>(move.file.size()));
    move.base = memory.data();
    const ObjectFileCounts before = objects->counts();
    ASSERT_TRUE(objects->read(move));
    EXPECT_EQ(objects->counts().parts_read - before.parts_read, 1);
    for (int64_t i = 0; i < move.file.size(); ++i) {
      ASSERT_EQ(static_cast<char>(memory[static_cast<size_t>(i)]),
                'a' + move.file.position(i)[0] / 5000);
    }
  }
}

TEST_F(ObjectFileTest, ANameStaysWithItsView) {
  const auto name_after = [&](int64_t displacement, bool create) {
    auto objects = open(create);
    objects->set_view({0, displacement, 1, 100, Pattern::run({{0}}, 10).value()});
    EXPECT_TRUE(write(*objects, 0, "x"));
    EXPECT_TRUE(objects->close());
    auto container = container::Container::open(*file_).value();
    return container::view_name(container.read_contents().value(), 0);
  };
  EXPECT_EQ(name_after(0, true), "");
  {
    auto container = container::Container::open(*file_).value();
    ASSERT_TRUE(container.begin_writing());
    container::Contents contents = container.read_contents().value();
    container::set_view_name(contents, 0, "left tile");
    ASSERT_TRUE(container.commit(contents));
  }
  EXPECT_EQ(name_after(0, false), "left tile");
  EXPECT_EQ(name_after(50, false), "");
}

// A write of bytes that are on no shelf moves some that are; later writes must find them there.
TEST_F(ObjectFileTest, ShelvesAreLeftWhenBytesAreMappedAnew) {
  auto objects = open(true);
  std::vector<Shelf> shelves(2);
  map::FileMap map;
  for (int reader = 0; reader < 2; ++reader) {
    shelves[static_cast<size_t>(reader)] = {reader, pattern::ByteSet::of({0, 1000}).value()};
  }
  ASSERT_TRUE(map.add({shelves[0].bytes, 0, 0, 0}));
  ASSERT_TRUE(map.add_replica({shelves[1].bytes, 1, 0, 0}));
  ASSERT_TRUE(objects->lay_out(std::move(shelves), std::move(map)));
  ASSERT_TRUE(write(*objects, 0, std::string(1000, 'a')));
  ASSERT_TRUE(write(*objects, 900, std::string(200, 'b')));
  ASSERT_TRUE(write(*objects, 0, std::string(950, 'c')));
  const std::string expected = std::string(950, 'c') + std::string(150, 'b');
  EXPECT_EQ(read(*objects, 0, 2000), expected);
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(read(*objects, 0, 2000), expected);
  EXPECT_EQ(read(*objects, 10, 20), std::string(20, 'c'));
  EXPECT_TRUE(container::check(*file_).value().sound());
}

TEST_F(ObjectFileTest, BytesWrittenAgainThatLieScatteredComeToTheirWriter) {
  constexpr int64_t kRecords = 4096;
  auto objects = open(true);
  ASSERT_TRUE(write(*objects, 0, std::string(kRecords * 2, 'a')));
  Bytes ones(kRecords, std::byte{'b'});
  Move every_other;
  every_other.direction = move::Direction::kWrite;
  every_other.file = pattern::repeat(Pattern::run({{0}}, 1).value(), kRecords, {{2}}).value();
  every_other.memory = Pattern::run({{0}}, kRecords).value();
  every_other.base = ones.data();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(objects->write(every_other));
  EXPECT_EQ(objects->counts().migrated_bytes, kRecords) << "once: then they lie together";
  EXPECT_EQ(objects->counts().rewritten_bytes, 2 * kRecords);
  EXPECT_EQ(read(*objects, 0, 4), "baba");
  objects->set_hints(true, owner::SharedWrites::kForward);
  ASSERT_TRUE(write(*objects, 0, std::string(kRecords * 2, 'c')));
  EXPECT_EQ(objects->counts().migrated_bytes, kRecords);
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(read(*objects, 0, 4), "cccc");
  EXPECT_TRUE(container::check(*file_).value().sound());
}

TEST_F(ObjectFileTest, BytesWrittenAgainBeforeACommitStayInTheirPlace) {
  auto objects = open(true);
  ASSERT_TRUE(write(*objects, 0, std::string(50000, 'a')));
  ASSERT_TRUE(write(*objects, 10000, std::string(20000, 'b')));
  EXPECT_EQ(objects->counts().rewritten_bytes, 20000);
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(read(*objects, 9999, 3), "abb");
  EXPECT_TRUE(container::check(*file_).value().sound());
}

// Of the two parts of a write the first changes its bytes, and the second fails.
TEST_F(ObjectFileTest, AWriteInPlaceThatFailsPartWayLeavesBytesThatCanBeRead) {
  auto objects = open(true);
  objects->set_hints(true, owner::SharedWrites::kForward);
  ASSERT_TRUE(write(*objects, 0, std::string(50000, 'a')));
  ASSERT_TRUE(write(*objects, 200000, std::string(100, 'x')));
  ASSERT_TRUE(write(*objects, 50000, std::string(50000, 'a')));
  disk_.fail_operation(2, EIO);
  EXPECT_FALSE(write(*objects, 0, std::string(100000, 'b')));
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(read(*objects, 0, 100000), std::string(50000, 'b') + std::string(50000, 'a'));
  EXPECT_TRUE(container::check(*file_).value().sound());
}

// Two ranks write the same bytes under locks that can be taken away: rank 1 is stopped between its
// write and the publication, meanwhile rank 0 has the lock, writes less, and gives it back. Rank 2
// writes other bytes, of which both hear.
class LateWriteTest : public ::testing::TestWithParam<std::tuple<Hearing, bool, bool>> {
 protected:
  // The parameters: how they hear of each other, whether what both overwrite was committed, and
  // whether rank 1 is told of its loss before it publishes.
  enum Stage { kBegun, kStamped, kBeside, kStopped, kOvertaken };

  void run(port::Team& team) {
    const auto& [hearing, committed, noticed] = GetParam();
    ObjectFileOptions options;
    options.write = true;
    options.create = true;
    port::SeededRandom ids(7);
    port::Team* const common = hearing == Hearing::kCommonMemory ? &team : nullptr;
    auto opened =
        ObjectFile::open(*file_, {team, common, numbers_, team.rank() == 0}, ids, options);
    ASSERT_TRUE(opened) << opened.error().message();
    ObjectFile& objects = **opened;
    ASSERT_TRUE(objects.set_coherent(hearing == Hearing::kFile));
    LinearFile linear(objects);
    if (team.rank() == 0) {
      ASSERT_TRUE(linear.write_at(0, base::bytes_of(std::string(100, 'i'))));
    }
    ASSERT_TRUE(committed ? objects.commit() : objects.meet({}));
    if (team.rank() == 0) {
      write_when(objects, kStopped, 0, std::string(50, 'h'));
    } else if (team.rank() == 1) {
      write_late(objects, noticed);
    } else {
      write_when(objects, kStamped, 200, std::string(10, 'b'));
    }
    ASSERT_TRUE(team.barrier());
    const std::string expected = std::string(50, 'h') + std::string(50, noticed ? 'i' : 't');
    for (int i = 0; i < 2; ++i) {
      Bytes bytes(100);
      ASSERT_TRUE(linear.read_at(0, bytes));
      EXPECT_EQ(base::text_of(bytes), expected) << "rank " << team.rank() << ", commits: " << i;
      ASSERT_TRUE(objects.commit());
    }
    ASSERT_TRUE(objects.close());
  }

  static port::Transfer write(ObjectFile& objects, int64_t at, std::string bytes,
                              const ObjectFile::WriteTerms& terms) {
    Move move;
    move.direction = Direction::kWrite;
    move.file = Pattern::run({{at}}, std::ssize(bytes)).value();
    move.memory = Pattern::run({{0}}, std::ssize(bytes)).value();
    move.base = reinterpret_cast<std::byte*>(bytes.data());
    return objects.write(move, terms);
  }

  void wait_for(Stage wanted) {
    for (Stage now = stage_; now < wanted; now = stage_) stage_.wait(now);
  }
  void enter(Stage stage) {
    stage_ = stage;
    stage_.notify_all();
  }

  void write_when(ObjectFile& objects, Stage stage, int64_t at, const std::string& bytes) {
    wait_for(stage);
    ObjectFile::WriteTerms terms;
    terms.confirm = [] { return base::Result<void>(); };
    const port::Transfer written = write(objects, at, bytes, terms);
    EXPECT_TRUE(written) << written.status.error().message();
    enter(static_cast<Stage>(stage + 1));
  }

  void write_late(ObjectFile& objects, bool noticed) {
    int asked = 0;
    ObjectFile::WriteTerms terms;
    terms.confirm = [&]() -> base::Result<void> {
      const bool first = ++asked == 1;
      enter(first ? kStamped : kStopped);
      wait_for(first ? kBeside : kOvertaken);
      if (noticed && !first) return base::fail(base::Code::kDenied, "the lock was taken away");
      return {};
    };
    const port::Transfer written = write(objects, 0, std::string(100, 't'), terms);
    EXPECT_EQ(asked, 2);
    EXPECT_EQ(written.bytes, noticed ? 0 : 100);
    EXPECT_EQ(written.status.has_value(), !noticed);
  }

  port::SimDisk disk_ = {};
  std::unique_ptr<port::File> file_ = disk_.create("o").value();
  OwnNumbers numbers_ = {};
  std::atomic<Stage> stage_ = kBegun;
};

TEST_P(LateWriteTest, NeverReplacesBytesOfTheNextHolder) {
  port::run_team(3, [&](port::Team& team) { run(team); });
  EXPECT_TRUE(container::check(*file_).value().sound());
}

INSTANTIATE_TEST_SUITE_P(Hearing, LateWriteTest,
                         ::testing::Combine(::testing::Values(Hearing::kCommonMemory,
                                                              Hearing::kFile),
                                            ::testing::Bool(), ::testing::Bool()));

// (N3): the first is more than the log takes, the second would fit; both have the same epoch.
TEST(ObjectFileRanks, WhatCannotBeToldNowIsNotOvertakenByWhatIsWrittenLater) {
  constexpr int64_t kRuns = 600'000;
  port::SimDisk disk;
  const auto file = disk.create("o").value();
  OwnNumbers numbers;
  port::run_team(2, [&](port::Team& team) {
    ObjectFileOptions options;
    options.write = true;
    options.create = true;
    port::SeededRandom ids(7);
    const Ranks ranks = {team, &team, numbers, team.rank() == 0};
    const auto objects = ObjectFile::open(*file, ranks, ids, options).value();
    int64_t end = 0;
    if (team.rank() == 1) {
      port::SeededRandom gaps(1);
      pattern::Assembler<1> assembler;
      for (int64_t i = 0; i < kRuns; ++i) {
        assembler.append(Pattern::run({{end}}, 1).value());
        end += 2 + static_cast<int64_t>(gaps.uniform(uint64_t{1} << 40));
      }
      Bytes bytes(kRuns, std::byte{'a'});
      Move move;
      move.direction = Direction::kWrite;
      move.file = assembler.finish().value();
      move.memory = Pattern::run({{0}}, kRuns).value();
      move.base = bytes.data();
      ASSERT_TRUE(objects->write(move));
      // Also of bytes that nobody has written, so not in their place.
      LinearFile linear(*objects);
      ASSERT_TRUE(linear.write_at(0, base::bytes_of("bb")));
    }
    ASSERT_TRUE(objects->meet({}));
    LinearFile linear(*objects);
    for (int i = 0; i < 2; ++i) {
      Bytes first(2);
      ASSERT_TRUE(linear.read_at(0, first));
      EXPECT_EQ(base::text_of(first), "bb") << "rank " << team.rank() << ", commits: " << i;
      ASSERT_TRUE(objects->commit());
    }
    ASSERT_TRUE(objects->close());
  });
}

TEST(ObjectFileRanks, WhatWasToldInAtomicModeIsHeardBeforeItEnds) {
  port::SimDisk disk;
  const auto file = disk.create("o").value();
  OwnNumbers numbers;
  port::run_team(2, [&](port::Team& team) {
    ObjectFileOptions options;
    options.write = true;
    options.create = true;
    port::SeededRandom ids(7);
    auto opened = ObjectFile::open(*file, {team, nullptr, numbers, team.rank() == 0}, ids, options);
    ASSERT_TRUE(opened) << opened.error().message();
    ObjectFile& objects = **opened;
    LinearFile linear(objects);
    ASSERT_TRUE(objects.set_coherent(true));
    const std::string text = "of rank 1";
    if (team.rank() == 1) {
      ASSERT_TRUE(linear.write_at(0, base::bytes_of(text)));
    }
    ASSERT_TRUE(objects.set_coherent(false));
    for (int i = 0; i < 2; ++i) {
      Bytes bytes(text.size());
      EXPECT_EQ(linear.read_at(0, bytes).bytes, std::ssize(text));
      EXPECT_EQ(base::text_of(bytes), text);
      ASSERT_TRUE(objects.commit());
    }
    ASSERT_TRUE(objects.close());
  });
}

// A file that no program of ours has written, with checksums that are right all the same.
class ForgedObjectFileTest : public ObjectFileTest {
 protected:
  void SetUp() override {
    port::SeededRandom random(7);
    auto made = container::TestObjectFile::create(*file_, random).value();
    ASSERT_TRUE(made.write(container::test_set(0, 1500), random));
    ASSERT_TRUE(made.commit());
    contents_ = made.contents();
    superblock_ = made.container().superblock();
  }

  // Writes contents and superblock as they are, behind everything else.
  void forge() {
    const Bytes blob = container::encode_contents(contents_);
    const int64_t begin = base::ceil_div(file_->size().value(), int64_t{16384}) * 16384;
    superblock_.blob = {begin, begin + std::ssize(blob)};
    superblock_.blob_checksum = base::checksum(blob);
    superblock_.end = begin + 16384;
    ++superblock_.sequence;
    ASSERT_TRUE(file_->write_at(begin, blob));
    ASSERT_TRUE(file_->truncate(superblock_.end));
    for (const size_t copy : {size_t{0}, size_t{1}}) {
      const int64_t at = container::copy_offset(superblock_.version, copy);
      ASSERT_TRUE(file_->write_at(at, container::encode_superblock(superblock_)));
    }
  }

  base::Result<std::unique_ptr<ObjectFile>> try_open(bool write) {
    ObjectFileOptions options;
    options.write = write;
    port::SeededRandom ids(7);
    return ObjectFile::open(*file_, {team_, &team_, numbers_, true}, ids, options);
  }

  void expect_refused(bool write) {
    const auto opened = try_open(write);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, base::Code::kIntegrity) << opened.error().message();
  }

  container::Contents contents_;
  container::Superblock superblock_;
};

TEST_F(ForgedObjectFileTest, WhatIsWholeIsOpened) {
  forge();
  auto objects = open(false);
  ASSERT_TRUE(write(*objects, 0, "new"));
  ASSERT_TRUE(objects->commit());
  EXPECT_EQ(read(*objects, 0, 3), "new");
}

TEST_F(ForgedObjectFileTest, ASuperblockOfOtherBlocksIsRefused) {
  superblock_.block_bytes = 8192;
  contents_.allocations.clear();
  contents_.map = {};
  forge();
  expect_refused(false);
  expect_refused(true);
}

TEST_F(ForgedObjectFileTest, SmallerBlocksThanThoseWithChecksumsAreRefused) {
  contents_.block_bytes = 1024;
  contents_.allocations.front().place = {16384, 16384 + 2048};
  contents_.allocations.front().checksums.resize(2);
  forge();
  expect_refused(false);
  expect_refused(true);
}

TEST_F(ForgedObjectFileTest, ASuperblockOfAnotherSizeIsRefused) {
  superblock_.logical_size = 1400;
  forge();
  expect_refused(false);
}

TEST_F(ForgedObjectFileTest, AllocationsBehindTheEndAreRefused) {
  container::Allocation far;
  far.id = contents_.next_id();
  far.place = {pattern::kMaxPosition - 512, pattern::kMaxPosition};
  far.checksums = {0};
  contents_.add(far);
  forge();
  expect_refused(false);
  expect_refused(true);
}

// New writes would be older than those that are there.
TEST_F(ForgedObjectFileTest, EpochsWithoutSuccessorsCanBeReadOnly) {
  const auto bytes = container::test_set(0, 10);
  ASSERT_TRUE(contents_.map.add({bytes, 0, 0, std::numeric_limits<uint64_t>::max() - 5}));
  forge();
  expect_refused(true);
  EXPECT_TRUE(try_open(false));
}

TEST_F(ForgedObjectFileTest, AllocationsWithoutSuccessorsCanBeReadOnly) {
  for (const int64_t left : {int64_t{0}, int64_t{1000}}) {
    const map::AllocationId last = std::numeric_limits<map::AllocationId>::max() - left;
    contents_.map.renumber([&](map::AllocationId) { return last; });
    contents_.allocations.front().id = last;
    forge();
    expect_refused(true);
    EXPECT_TRUE(try_open(false));
  }
}

}  // namespace
}  // namespace tessera::cache
