#include "tessera/daemon/translate_daemon.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tessera/cache/object_file.hpp"
#include "tessera/container/checker.hpp"
#include "tessera/container/writer_claim.hpp"
#include "tessera/port/self_exchange.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/shared_number.hpp"
#include "tessera/port/system_random.hpp"
#include "tessera/port/test_directory.hpp"
#include "tessera/port/thread_exchange.hpp"

namespace tessera::daemon {
namespace {

using port::PlainFile;

constexpr int64_t kRecord = 1000;
constexpr int64_t kSteps = 5;
constexpr int64_t kStepRecords = 200;

// Byte i of the file.
std::byte letter(int64_t i) { return static_cast<std::byte>('a' + (i / 7 + i / kRecord) % 26); }

// A job that writes records step by step, each step committed.
class Producer {
 public:
  explicit Producer(const std::string& path) {
    file_ = PlainFile::open(path, {.read = true, .write = true, .create = true}).value();
    EXPECT_TRUE(container::claim_for_writing(*file_));
    port::SystemRandom random;
    cache::ObjectFileOptions options;
    options.write = options.create = true;
    objects_ =
        cache::ObjectFile::open(*file_, {team_, &team_, numbers_, true}, random, options).value();
  }

  void write_step() {
    const int64_t bytes = kStepRecords * kRecord;
    base::Bytes memory(static_cast<size_t>(bytes));
    for (int64_t i = 0; i < bytes; ++i) memory[static_cast<size_t>(i)] = letter(written_ + i);
    move::Move moved;
    moved.direction = move::Direction::kWrite;
    moved.base = memory.data();
    moved.file = pattern::Pattern::run({{written_}}, bytes).value();
    moved.memory = pattern::Pattern::run({{0}}, bytes).value();
    EXPECT_TRUE(objects_->write(moved));
    EXPECT_TRUE(objects_->commit());
    written_ += bytes;
  }

 private:
  std::unique_ptr<PlainFile> file_;
  port::SelfTeam team_;
  cache::OwnNumbers numbers_;
  std::unique_ptr<cache::ObjectFile> objects_;
  int64_t written_ = 0;
};

// Two readers take turns with the records.
constexpr const char* kViews = R"({"size": 10000000, "views": [
  {"type": {"vector": {"count": 5000, "blocklength": 1000, "stride": 2000}}},
  {"type": {"vector": {"count": 5000, "blocklength": 1000, "stride": 2000}},
   "displacement": 1000}]})";

class Following : public testing::Test {
 protected:
  Following() {
    std::ofstream(folder_.path("views.json")) << kViews;
    settings_.request.in = folder_.path("in");
    settings_.request.out = folder_.path("out");
    settings_.request.views = folder_.path("views.json");
    settings_.poll_ns = 2'000'000;
    settings_.linger_ns = 20'000'000;
    settings_.threads = 2;
  }

  // The second file holds the first `bytes` of the first, and each reader has `runs` runs.
  void expect_out(int64_t bytes, int64_t allocations) {
    const auto file = PlainFile::open(folder_.path("out"), {.read = true}).value();
    EXPECT_TRUE(container::check(*file).value().sound());
    const auto source = remap::ObjectSource::open(*file).value();
    ASSERT_EQ(source->size(), bytes);
    base::Bytes found(static_cast<size_t>(bytes));
    ASSERT_TRUE(source->read(0, found));
    int64_t wrong = 0;
    for (int64_t i = 0; i < bytes; ++i) wrong += found[static_cast<size_t>(i)] != letter(i) ? 1 : 0;
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(std::ssize(source->contents().allocations), allocations);
  }

  port::TestDirectory folder_;
  TranslateSettings settings_;
  static void quiet(const std::string& /*line*/) {}
};

TEST_F(Following, EndsWhenTheProducerHasGone) {
  TranslateDaemon daemon(settings_, quiet);
  base::Result<remap::TranslatorCounts> counts = remap::TranslatorCounts{};
  std::thread follower([&] { counts = daemon.run(); });
  {
    Producer producer(folder_.path("in"));
    for (int64_t step = 0; step < kSteps; ++step) {
      producer.write_step();
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    // Longer than it lingers: the producer is still there.
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  follower.join();
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_GE(counts->steps, 1);
  EXPECT_EQ(counts->stored_bytes, kSteps * kStepRecords * kRecord);
  expect_out(kSteps * kStepRecords * kRecord, 2);
}

TEST_F(Following, ReplacesWhatIsThereOnlyIfItIsAskedTo) {
  { Producer(folder_.path("in")).write_step(); }
  std::ofstream(folder_.path("out")) << "somebody's";
  settings_.request.options.existing = port::Existing::kKeep;
  const auto refused = TranslateDaemon(settings_, quiet).run();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::kInvalid);
  EXPECT_EQ(PlainFile::open(folder_.path("out"), {.read = true}).value()->size().value(), 10);
  settings_.request.options.existing = port::Existing::kReplace;
  EXPECT_TRUE(TranslateDaemon(settings_, quiet).run());
  expect_out(kStepRecords * kRecord, 2);
  settings_.request.out = settings_.request.in;
  EXPECT_FALSE(TranslateDaemon(settings_, quiet).run());
}

// With helpers, who open the new file by its name, and without.
TEST_F(Following, WhatIsReplacedStaysUntilTheRequestIsKnownToBeGood) {
  { Producer(folder_.path("in")).write_step(); }
  settings_.request.options.existing = port::Existing::kReplace;
  const auto run = [&](const std::string& views, const std::string& out, bool helped) {
    TranslateSettings settings = settings_;
    settings.request.views = folder_.path(views);
    settings.request.out = folder_.path(out);
    port::SelfExchange alone;
    remap::Helpers helpers(alone, true);
    if (helped) settings.helpers = &helpers;
    const auto counts = TranslateDaemon(settings, quiet).run();
    return counts ? std::string() : counts.error().message();
  };
  const std::string old = "the old file";
  std::ofstream(folder_.path("out")) << old;
  std::ofstream(folder_.path("bad.json")) << "{";
  for (const bool helped : {false, true}) {
    EXPECT_NE(run("misspelt.json", "out", helped), "");
    EXPECT_NE(run("bad.json", "out", helped), "");
    EXPECT_NE(run("views.json", "views.json", helped).find("is the views file"), std::string::npos);
    EXPECT_EQ(PlainFile::open(folder_.path("out"), {.read = true}).value()->size().value(),
              std::ssize(old));
    EXPECT_EQ(run("views.json", "new", helped), "");
    EXPECT_EQ(run("views.json", "new", helped), "");
  }
  EXPECT_EQ(run("views.json", "out", true), "");
  expect_out(kStepRecords * kRecord, 2);
}

// The ranks of an exchange follow a producer together: the first with the daemon, others help.
TEST_F(Following, ProcessesTranslateTogether) {
  constexpr int kRanks = 3;
  base::Result<remap::TranslatorCounts> counts = remap::TranslatorCounts{};
  std::atomic<int> pauses = 0;
  std::atomic<int> good = 0;
  std::thread followers([&] {
    port::run_ranks(kRanks, [&](port::Exchange& exchange) {
      if (exchange.rank() != 0) {
        const auto pause = [&] { ++pauses; };
        if (remap::help(exchange, settings_.request, false, pause)) ++good;
        return;
      }
      remap::Helpers helpers(exchange, true);
      TranslateSettings settings = settings_;
      settings.helpers = &helpers;
      counts = TranslateDaemon(settings, quiet).run();
    });
  });
  {
    Producer producer(folder_.path("in"));
    for (int64_t step = 0; step < kSteps; ++step) {
      producer.write_step();
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
  }
  followers.join();
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_GE(counts->steps, 1);
  EXPECT_EQ(good, kRanks - 1);
  EXPECT_GT(pauses, 0);
  expect_out(kSteps * kStepRecords * kRecord, 2);
}

// What one rank cannot do fails on all, and leaves the last state.
TEST_F(Following, AHelperThatCannotHelpEndsAll) {
  { Producer(folder_.path("in")).write_step(); }
  base::Result<remap::TranslatorCounts> counts = remap::TranslatorCounts{};
  base::Result<void> helped;
  port::run_ranks(2, [&](port::Exchange& exchange) {
    TranslateSettings settings = settings_;
    if (exchange.rank() != 0) {
      settings.request.in = folder_.path("elsewhere");
      helped = remap::help(exchange, settings.request, false, [] {});
      return;
    }
    remap::Helpers helpers(exchange, true);
    settings.helpers = &helpers;
    counts = TranslateDaemon(settings, quiet).run();
  });
  ASSERT_FALSE(counts);
  EXPECT_NE(counts.error().message().find("rank 1"), std::string::npos);
  ASSERT_FALSE(helped);
  const auto out = PlainFile::open(folder_.path("out"), {.read = true}).value();
  EXPECT_EQ(container::Container::open(*out).value().superblock().logical_size, 0);
}

TEST_F(Following, ReadersSeeStatesBeforeTheEnd) {
  TranslateDaemon daemon(settings_, quiet);
  Producer producer(folder_.path("in"));
  producer.write_step();
  std::thread follower([&] { EXPECT_TRUE(daemon.run()); });
  int64_t size = 0;
  for (int tries = 0; tries < 2000 && size == 0; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto file = PlainFile::open(folder_.path("out"), {.read = true});
    if (!file) continue;
    const auto opened = container::Container::open(**file);
    if (opened) size = opened->superblock().logical_size;
  }
  EXPECT_EQ(size, kStepRecords * kRecord);
  daemon.stop();
  follower.join();
  expect_out(kStepRecords * kRecord, 2);
}

TEST_F(Following, StopsWhileItWaitsForTheFile) {
  TranslateDaemon daemon(settings_, quiet);
  std::thread follower([&] { EXPECT_EQ(daemon.run().value().steps, 0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  daemon.stop();
  follower.join();
  EXPECT_FALSE(PlainFile::open(folder_.path("out"), {.read = true}));
}

TEST_F(Following, RefusesPlainFilesAndFilesInUse) {
  std::ofstream(folder_.path("in")) << "plain";
  const auto plain = TranslateDaemon(settings_, quiet).run();
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().code, base::Code::kInvalid);
  const Producer in(folder_.path("other"));
  const Producer out(folder_.path("out"));
  settings_.request.in = folder_.path("other");
  const auto used = TranslateDaemon(settings_, quiet).run();
  ASSERT_FALSE(used);
  EXPECT_EQ(used.error().code, base::Code::kRetry);
}

}  // namespace
}  // namespace tessera::daemon
