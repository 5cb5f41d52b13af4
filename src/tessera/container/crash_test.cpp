// Promise: an object file opens after a crash at any point, as of its last sync.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <limits>

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

constexpr size_t kForever = std::numeric_limits<size_t>::max();
constexpr char kPath[] = "data.obj";

// What a crash after [0, point) operations may show, for points in [from, to).
struct Allowed {
  size_t from = 0;
  size_t to = kForever;
  std::string text;
};

// A life of an object file on a simulated disk, with a list of what each crash may leave of it.
class Life {
 public:
  Life(uint64_t seed, int skipped_sync) : random_(seed), skipped_sync_(skipped_sync) {}

  void run(int steps) {
    create();
    for (int i = 0; i < steps; ++i) step();
  }

  // Making a file costs no sync, so before its first commit a crash may leave nothing of it.
  void create() {
    file_ = disk_.create(kPath).value();
    test_ = std::make_unique<TestFile>(*file_);
    object_ = TestObjectFile::create(*test_, random_).value();
    EXPECT_TRUE(disk_.sync_directory(""));
    allowed_.push_back({});
  }

  void write() {
    const auto begin = static_cast<int64_t>(random_.uniform(3000));
    const auto length = static_cast<int64_t>(1 + random_.uniform(900));
    const auto count = static_cast<int64_t>(1 + random_.uniform(6));
    const int64_t stride = length + 1 + static_cast<int64_t>(random_.uniform(300));
    const auto manager = static_cast<int32_t>(random_.uniform(3));
    EXPECT_TRUE(object_->write(test_set(begin, length, count, stride), random_, manager));
  }

  // The commit's own first sync covers what was written through the same file.
  void sync_data_sometimes() {
    const bool syncs = random_.chance(1, 2);
    EXPECT_TRUE(!syncs || object_->sync_data());
  }

  void commit() {
    sync_data_sometimes();
    const size_t begin = disk_.log_size();
    if (skipped_sync_ > 0) test_->skip_sync(skipped_sync_);
    const auto committed = object_->commit();
    EXPECT_TRUE(committed) << committed.error().message();
    succeed(begin);
  }

  // A commit in which the nth operation fails, counted from 1. The changes stay for the next one.
  void failing_commit(uint64_t nth) {
    EXPECT_TRUE(object_->sync_data()) << "else a sync that fails would have to be made good";
    disk_.fail_operation(nth, random_.chance(1, 2) ? EIO : ENOSPC);
    if (random_.chance(1, 2)) disk_.fail_operation(nth + 1, EIO);
    commit_with_faults(disk_.operation_count() + nth + 1);
  }

  // A commit whose first sync fails.
  void commit_without_sync() {
    EXPECT_TRUE(object_->sync_data());
    test_->before_next_sync([&] { disk_.fail_operation(1, EIO); });
    commit_with_faults(0);
  }

  // Faults are set up to that operation.
  void commit_with_faults(uint64_t last) {
    const size_t begin = disk_.log_size();
    const bool committed = object_->commit().has_value();
    // A fault that did not strike is used up.
    while (disk_.operation_count() < last) static_cast<void>(disk_.list(""));
    if (committed) return succeed(begin);
    while (object_->container().doubtful()) static_cast<void>(object_->container().begin_writing());
    EXPECT_TRUE(read_all(*file_).value() == allowed_.back().text) << "see (K4)";
    // Until now a crash may have shown the new state.
    const Allowed current = allowed_.back();
    allowed_.back() = {begin, disk_.log_size(), object_->text()};
    allowed_.push_back(current);
  }

  // The process is killed in a commit, and another one goes on from what it left.
  void killed_commit() {
    sync_data_sometimes();
    const size_t begin = disk_.log_size();
    test_->kill_after(static_cast<int>(random_.uniform(10)));
    const bool committed = object_->commit().has_value();
    const std::string text = object_->text();
    object_.reset();
    reopen();
    if (committed) {
      EXPECT_TRUE(object_->text() == text);
    }
    if (object_->text() == text) return succeed(begin);
    EXPECT_TRUE(object_->text() == allowed_.back().text);
  }

  void compact_file() {
    commit();
    object_.reset();
    EXPECT_TRUE(compact(disk_, kPath));
    reopen();
    EXPECT_TRUE(object_->text() == allowed_.back().text);
  }

  void step() {
    const uint64_t kind = random_.uniform(10);
    if (kind < 5) return write();
    if (kind == 5) return object_->truncate(static_cast<int64_t>(random_.uniform(5000)));
    if (kind == 6 && skipped_sync_ == 0) return failing_commit(1 + random_.uniform(10));
    if (kind == 7 && skipped_sync_ == 0) return killed_commit();
    if (kind == 8 && random_.chance(1, 2)) return compact_file();
    commit();
  }

  // One crash; empty if the file is what it should be.
  std::string crash(const port::CrashStates& states) {
    const port::CrashState state = states.sample(random_);
    port::SimDisk disk(state.image);
    const auto file = disk.open(kPath, port::Access::kReadWrite);
    if (synced_ == 0 || state.point < synced_) return {};
    const std::string where = "at point " + std::to_string(state.point) + ": ";
    if (!file) return where + file.error().message();
    const auto text = read_all(**file);
    if (!text) return where + text.error().message();
    const bool fits = std::any_of(allowed_.begin(), allowed_.end(), [&](const Allowed& a) {
      return a.from <= state.point && state.point < a.to && a.text == *text;
    });
    if (!fits) return where + "not the last commit";
    const CheckReport before = check(**file).value();
    if (!before.sound()) return where + before.findings.front();
    return where_nothing(go_on(**file), where);
  }

  [[nodiscard]] port::CrashStates states() const { return port::CrashStates(disk_.log()); }
  port::SeededRandom& random() { return random_; }

 private:
  static std::string where_nothing(const std::string& complaint, const std::string& where) {
    return complaint.empty() ? complaint : where + complaint;
  }

  // After a crash the file is used as before.
  std::string go_on(port::File& file) {
    auto object = TestObjectFile::open(file);
    if (!object) return object.error().message();
    const CheckReport repaired = check(file).value();
    if (!repaired.flawless()) return "not repaired";
    if (!object->write(test_set(100, 700), random_) || !object->sync_data() || !object->commit()) {
      return "cannot be written any more";
    }
    const auto text = read_all(file);
    if (!text || *text != object->text()) return "does not keep what was written after it";
    return {};
  }

  void succeed(size_t begin) {
    const bool first = synced_ == 0 && object_->container().superblock().sequence > 1;
    if (first) synced_ = disk_.log_size();
    allowed_.back().to = disk_.log_size();
    allowed_.push_back({begin, kForever, object_->text()});
  }

  void reopen() {
    file_ = disk_.open(kPath, port::Access::kReadWrite).value();
    test_ = std::make_unique<TestFile>(*file_);
    auto object = TestObjectFile::open(*test_);
    ASSERT_TRUE(object) << object.error().message();
    object_ = *std::move(object);
  }

  port::SeededRandom random_;
  const int skipped_sync_;
  port::SimDisk disk_;
  std::unique_ptr<port::File> file_;
  std::unique_ptr<TestFile> test_;
  std::optional<TestObjectFile> object_;
  size_t synced_ = 0;  // by the first commit that succeeded
  std::vector<Allowed> allowed_;
};

int lives() { return std::getenv("TESSERA_SOAK") != nullptr ? 4000 : 400; }
constexpr int kStatesOfALife = 30;

TEST(ContainerCrash, EveryStateOpensAsOfTheLastCommit) {
  port::SeededRandom random(port::test_seed());
  for (int i = 0; i < lives(); ++i) {
    Life life(random.next(), 0);
    life.run(25);
    const port::CrashStates states = life.states();
    for (int j = 0; j < kStatesOfALife; ++j) ASSERT_EQ(life.crash(states), "");
  }
}

// A failed sync may have lost the second copy for good, whatever later syncs say.
TEST(ContainerCrash, ACopyWhoseSyncFailedIsWrittenAgain) {
  port::SeededRandom random(port::test_seed());
  for (int i = 0; i < 20; ++i) {
    Life life(random.next(), 0);
    life.create();
    life.write();
    life.commit();
    life.commit_without_sync();
    life.commit();
    const port::CrashStates states = life.states();
    for (int j = 0; j < 50; ++j) ASSERT_EQ(life.crash(states), "");
  }
}

// Whether one of so many crash states is not as promised when that sync of each commit is left out.
bool breaks(int skipped_sync, int states_max) {
  port::SeededRandom random(port::test_seed());
  constexpr int kStates = 20;
  for (int i = 0; i < states_max / kStates; ++i) {
    Life life(random.next(), skipped_sync);
    life.create();
    for (int j = 0; j < 4; ++j) {
      life.write();
      life.commit();
    }
    const port::CrashStates states = life.states();
    for (int j = 0; j < kStates; ++j) {
      if (!life.crash(states).empty()) return true;
    }
  }
  return false;
}

TEST(ContainerCrash, ControlAllSyncsAreNeeded) {
  EXPECT_FALSE(breaks(0, 1000));
  EXPECT_TRUE(breaks(1, 20000)) << "without the sync before the superblock";
  EXPECT_TRUE(breaks(2, 20000)) << "without the sync between the superblock copies";
}

}  // namespace
}  // namespace tessera::container
