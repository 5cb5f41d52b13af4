#include "tessera/lock/messages.hpp"

#include <gtest/gtest.h>

#include "tessera/base/crc32c.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/pattern/model_test_support.hpp"

namespace tessera::lock {
namespace {

using pattern::model::Engine;
using pattern::model::uniform;

// One of each, with fields that are not their defaults.
std::vector<Message> examples() {
  return {Hello{1, 2, 3, -4, "rank 5 of job", {1, 2, 300}, true},
          Welcome{~uint64_t{0}, 2, 3, 5'000'000'000, 17, true, {}},
          Welcome{1, 2, 3, 4, 5, false, {6, 7}},
          Acquire{7, 3, 123, "plain:8:42", Mode::kShared, true, false, 0, 99, {std::byte{1}}},
          Acquire{.sequence = 2, .file = "f", .recallable = true, .bytes = {}},
          Acquire{.sequence = 1, .file = "", .mode = Mode::kExclusive, .bytes = {}},
          Granted{9, 1},
          Refused{9, 1, Refusal::kBusy, "too many"},
          Release{8, 8, -1},
          Renew{5, 10, {7, 10}},
          Renewed{5},
          Lost{0, Loss::kExpired},
          Lost{3, Loss::kUpstream},
          Lost{0, Loss::kFull},
          Goodbye{},
          Recall{300},
          Retired{}};
}

// Content with the checksum that belongs to it.
base::Bytes sealed(base::Bytes content) {
  base::ByteWriter writer(content);
  writer.u32(base::crc32c(content));
  return content;
}

TEST(LockMessages, W1WhatIsWrittenIsRead) {
  for (const Message& message : examples()) {
    const auto read = decode(encode(message));
    ASSERT_TRUE(read) << message.index();
    EXPECT_TRUE(*read == message) << message.index();
  }
}

TEST(LockMessages, EveryFlippedBitIsSeen) {
  for (const Message& message : examples()) {
    base::Bytes frame = encode(message);
    for (size_t bit = 0; bit < 8 * frame.size(); ++bit) {
      frame[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      EXPECT_EQ(decode(frame).error().code, base::Code::kIntegrity);
      frame[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
  }
}

// Also where the checksum is right: whoever sends garbage can compute one.
TEST(LockMessages, W2GarbageIsRefusedOrAMessage) {
  Engine engine(pattern::model::seed());
  const std::vector<Message> all = examples();
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
    const auto read = decode(sealed(content));
    // What is read at all is read the same way again.
    if (read) {
      EXPECT_TRUE(decode(encode(*read)).value() == *read);
    }
  }
}

TEST(LockMessages, BoundsHold) {
  const auto code_of = [](const Message& message) { return decode(encode(message)).error().code; };
  EXPECT_EQ(code_of(Granted{0, 1}), base::Code::kIntegrity);
  EXPECT_EQ(code_of(Recall{0}), base::Code::kIntegrity);
  EXPECT_EQ(code_of(Welcome{1, 0, 1, 1, 1, false, {}}), base::Code::kIntegrity);
  EXPECT_EQ(code_of(Welcome{1, 1, 1, 0, 1, false, {}}), base::Code::kIntegrity);
  EXPECT_EQ(code_of(Hello{.active = {2, 2}}), base::Code::kIntegrity);
  Hello crowded;
  for (Sequence i = 1; i <= kActiveMax + 1; ++i) crowded.active.push_back(i);
  EXPECT_EQ(code_of(crowded), base::Code::kIntegrity);
  EXPECT_FALSE(decode({}));
  EXPECT_FALSE(decode(sealed({std::byte{2}, std::byte{1}})));
  EXPECT_FALSE(decode(sealed({std::byte{1}, std::byte{0}})));
  EXPECT_FALSE(decode(sealed({std::byte{1}, std::byte{200}})));
}

// A request for a million runs is as short as one for a thousand.
TEST(LockMessages, StridedRequestsAreShort) {
  for (const int64_t runs : {1'000, 1'000'000}) {
    const auto pattern =
        pattern::repeat(pattern::Pattern::run({{int64_t{1} << 40}}, 4096).value(), runs, {{65'536}})
            .value();
    Acquire asked;
    asked.sequence = asked.oldest = 1'000'000;
    asked.stamp_ns = int64_t{1} << 60;
    asked.file = "plain:64769:123456789012";
    asked.bytes = pattern::encode(pattern);
    EXPECT_LT(encode(asked).size(), 80U);
  }
}

}  // namespace
}  // namespace tessera::lock
