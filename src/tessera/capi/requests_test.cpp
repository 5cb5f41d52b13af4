// Requests of C programs against an obvious oracle: the bytes of every range, one by one.
#include "tessera/capi/requests.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tessera/pattern/model_test_support.hpp"

namespace tessera::capi {
namespace {

namespace model = pattern::model;
using Bytes = std::set<int64_t>;

Bytes bytes_in(const pattern::ByteSet& set) {
  Bytes bytes;
  for (const auto& position : model::positions(set.ascending())) bytes.insert(position[0]);
  return bytes;
}

// (R2)
TEST(Requests, AListIsTheBytesOfItsRanges) {
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(model::seed()));
  model::Engine engine(model::seed());
  for (int round = 0; round < model::rounds(2000); ++round) {
    std::vector<tessera_lock_range> ranges;
    Bytes expected;
    for (int64_t i = model::uniform(engine, 0, 8); i > 0; --i) {
      const tessera_lock_range range = {model::uniform(engine, 0, 60),
                                        model::uniform(engine, 0, 6)};
      ranges.push_back(range);
      for (int64_t k = 0; k < range.length; ++k) expected.insert(range.offset + k);
    }
    const auto made = bytes_of(ranges);
    ASSERT_EQ(made.has_value(), !expected.empty());
    if (made) {
      ASSERT_EQ(bytes_in(*made), expected);
    }
  }
}

TEST(Requests, AStrideIsTheBytesOfItsRanges) {
  for (int64_t length = 0; length < 6; ++length) {
    for (int64_t stride = 0; stride < 8; ++stride) {
      for (int64_t count = 0; count < 5; ++count) {
        Bytes expected;
        for (int64_t i = 0; i < count * length; ++i) {
          expected.insert(3 + i / length * stride + i % length);
        }
        const auto made = bytes_of(tessera_lock_strided{3, length, stride, count});
        const bool overlaps = count > 1 && stride < length;
        ASSERT_EQ(made.has_value(), !expected.empty() && !overlaps);
        if (made) {
          ASSERT_EQ(bytes_in(*made), expected);
        }
      }
    }
  }
}

TEST(Requests, TimesAreRoundedUp) {
  const auto bytes = pattern::ByteSet::of({0, 1}).value();
  const auto times = [&](double wait_s, double hold_s) {
    const tessera_lock_terms terms = {TESSERA_LOCK_SHARED, wait_s, hold_s};
    const auto asked = request_of("f", bytes, &terms).value();
    EXPECT_EQ(asked.claim.mode, lock::Mode::kShared);
    return std::pair(asked.wait_ns, asked.hold_ns);
  };
  EXPECT_EQ(times(0, 0), std::pair(int64_t{0}, int64_t{0}));
  EXPECT_EQ(times(1e-30, 1e-30), std::pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(times(1.5, 1e9), std::pair(int64_t{1'500'000'000}, int64_t{1'000'000'000'000'000'000}));
  EXPECT_LT(times(-1e-30, 0).first, 0);
  EXPECT_LT(times(TESSERA_LOCK_FOREVER, 0).first, 0);
}

}  // namespace
}  // namespace tessera::capi
