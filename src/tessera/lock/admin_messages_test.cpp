#include "tessera/lock/admin_messages.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tessera/lock/message_codec.hpp"
#include "tessera/pattern/model_test_support.hpp"

namespace tessera::lock {
namespace {

using pattern::model::Engine;
using pattern::model::uniform;

LockRow held_row() {
  return {.lock = {12, 7},
          .file = "plain:8:42",
          .client = "rank 5 of job",
          .mode = Mode::kShared,
          .state = LockState::kHeld,
          .age_ns = 5'000'000'000,
          .lease_left_ns = -1,
          .size_bytes = 500'000,
          .runs = 2500,
          .begin = 0,
          .end = int64_t{1} << 62};
}

// One of each, with fields that are not their defaults.
std::vector<AdminMessage> examples() {
  LockRow waiting = held_row();
  waiting.lock = {~uint64_t{0}, ~uint64_t{0}};
  waiting.mode = Mode::kExclusive;
  waiting.state = LockState::kWaiting;
  waiting.waits_for = {12, 7};
  const LockServer::Counts counts = {1, 2, 3, 4, 5, 6, std::numeric_limits<int64_t>::max()};
  const ServerFacts facts = {~uint64_t{0}, true, 5'000'000'000, 99, 3, 4, 2, 1, 8, 1000, counts};
  return {ListLocks{},
          ListLocks{{3, 9}, 17, "a file"},
          ListLocks{{3, 0}, kRowsMax, ""},
          LockList{},
          LockList{facts, {held_row(), waiting}, {12, 8}, false},
          BreakLock{5, {1, 2}},
          LockBroken{BreakOutcome::kBroken},
          OpenToNodes{"node7"},
          OpenedToNodes{},
          OpenedToNodes{"tcp:node7:4321", std::string(64, 'a')},
          LockBroken{BreakOutcome::kOtherEpoch}};
}

// Content with the checksum that belongs to it.
base::Bytes sealed(base::Bytes content) {
  codec::seal(content);
  return content;
}

TEST(AdminMessages, A1WhatIsWrittenIsRead) {
  for (const AdminMessage& message : examples()) {
    const auto read = decode_admin(encode(message));
    ASSERT_TRUE(read) << message.index();
    EXPECT_TRUE(*read == message) << message.index();
  }
}

TEST(AdminMessages, EveryFlippedBitIsSeen) {
  for (const AdminMessage& message : examples()) {
    base::Bytes frame = encode(message);
    for (size_t bit = 0; bit < 8 * frame.size(); ++bit) {
      frame[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      EXPECT_EQ(decode_admin(frame).error().code, base::Code::kIntegrity);
      frame[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
  }
}

// Also where the checksum is right: whoever sends garbage can compute one.
TEST(AdminMessages, A2GarbageIsRefusedOrAMessage) {
  Engine engine(pattern::model::seed());
  const std::vector<AdminMessage> all = examples();
  int read_again = 0;
  for (int round = 0; round < pattern::model::rounds(20'000); ++round) {
    base::Bytes content = encode(all[static_cast<size_t>(uniform(engine, 0, std::ssize(all) - 1))]);
    content.resize(content.size() - 4);
    for (int64_t i = uniform(engine, 1, 4); i > 0; --i) {
      const auto at = static_cast<size_t>(uniform(engine, 0, std::ssize(content) - 1));
      content[at] = static_cast<std::byte>(uniform(engine, 0, 255));
    }
    if (uniform(engine, 0, 3) == 0) {
      content.resize(static_cast<size_t>(uniform(engine, 0, std::ssize(content))));
    }
    const auto read = decode_admin(sealed(content));
    if (!read) continue;
    EXPECT_TRUE(decode_admin(encode(*read)).value() == *read);
    ++read_again;
  }
  EXPECT_GT(read_again, 0);
}

TEST(AdminMessages, A3NoFrameIsOfBothKinds) {
  for (const AdminMessage& message : examples()) {
    const base::Bytes frame = encode(message);
    EXPECT_TRUE(is_admin_frame(frame));
    EXPECT_FALSE(decode(frame));
  }
  for (const Message& message : {Message(Hello{}), Message(Goodbye{}), Message(Granted{1, 1})}) {
    const base::Bytes frame = encode(message);
    EXPECT_FALSE(is_admin_frame(frame));
    EXPECT_TRUE(decode(frame));
    EXPECT_FALSE(decode_admin(frame));
  }
  EXPECT_FALSE(is_admin_frame({}));
}

TEST(AdminMessages, BoundsHold) {
  const auto code_of = [](const AdminMessage& message) {
    return decode_admin(encode(message)).error().code;
  };
  EXPECT_EQ(code_of(ListLocks{.rows_max = 0}), base::Code::kIntegrity);
  EXPECT_EQ(code_of(ListLocks{.rows_max = kRowsMax + 1}), base::Code::kIntegrity);
  EXPECT_EQ(code_of(BreakLock{1, {0, 1}}), base::Code::kIntegrity);
  EXPECT_EQ(code_of(BreakLock{1, {1, 0}}), base::Code::kIntegrity);
  EXPECT_EQ(code_of(LockList{.rows = {kRowsMax + 1, held_row()}}), base::Code::kIntegrity);
  LockRow negative = held_row();
  negative.runs = -1;
  EXPECT_EQ(code_of(LockList{.rows = {negative}}), base::Code::kIntegrity);
}

// A page of the longest rows fits into a frame of a transport.
TEST(AdminMessages, APageHasABoundedSize) {
  LockRow longest = held_row();
  longest.file.assign(kFileNameBytesMax, 'f');
  longest.client.assign(kClientNameBytesMax, 'c');
  longest.waits_for = {~uint64_t{0}, ~uint64_t{0}};
  EXPECT_LT(encode(LockList{.rows = {kRowsMax, longest}}).size(), size_t{1} << 20);
}

TEST(LockId, TextAndBack) {
  const LockId id = {12, ~uint64_t{0}};
  EXPECT_EQ(to_string(id), "12.18446744073709551615");
  EXPECT_EQ(parse_lock_id(to_string(id)).value(), id);
  for (const char* text : {"", ".", "1", "1.", ".1", "0.1", "1.0", "1.2.3", "-1.2", "1.x", " 1.2",
                           "1.18446744073709551616"}) {
    EXPECT_EQ(parse_lock_id(text).error().code, base::Code::kInvalid) << text;
  }
}

TEST(WaitHistogram, EachWaitIsInItsClass) {
  WaitHistogram waits;
  for (const int64_t wait_ns : {int64_t{0}, int64_t{1'000}, int64_t{1'001}, int64_t{1} << 60}) {
    waits.add(wait_ns);
  }
  EXPECT_EQ(waits.counts().front(), 2U);
  EXPECT_EQ(waits.counts()[1], 1U);
  EXPECT_EQ(waits.counts().back(), 1U);
}

}  // namespace
}  // namespace tessera::lock
