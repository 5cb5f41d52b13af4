#include "bench/expanded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

namespace tessera::bench {
namespace {

constexpr int64_t kUniverse = 40;

uint64_t test_seed() {
  const char* given = std::getenv("TESSERA_SEED");
  return given != nullptr ? std::strtoull(given, nullptr, 10) : 20090717;
}

// Runs with gaps of at least `gap_min` between them.
RunVector random_runs(std::mt19937_64& random, int64_t gap_min) {
  RunVector runs;
  for (int64_t at = static_cast<int64_t>(random() % 5); at < kUniverse - 4;) {
    const auto length = static_cast<int64_t>(1 + random() % 4);
    runs.push_back({at, length});
    at += length + gap_min + static_cast<int64_t>(random() % 5);
  }
  return runs;
}

std::vector<int64_t> bytes_of(const RunVector& runs) {
  std::vector<int64_t> bytes;
  for (const pattern::Run& run : runs) {
    for (int64_t i = 0; i < run.length; ++i) bytes.push_back(run.begin + i);
  }
  return bytes;
}

std::vector<bool> bitmap_of(const RunVector& runs) {
  std::vector<bool> bitmap(kUniverse + 10, false);
  for (const int64_t byte : bytes_of(runs)) bitmap[static_cast<size_t>(byte)] = true;
  return bitmap;
}

TEST(ExpandedModel, OverlapAgreesWithBitmap) {
  SCOPED_TRACE(testing::Message() << "TESSERA_SEED=" << test_seed());
  std::mt19937_64 random(test_seed());
  int met = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const RunVector a = {{static_cast<int64_t>(random() % 30), 3}};
    const RunVector b = random_runs(random, 3);
    const auto a_bits = bitmap_of(a);
    const auto b_bits = bitmap_of(b);
    bool expected = false;
    for (size_t i = 0; i < a_bits.size(); ++i) expected = expected || (a_bits[i] && b_bits[i]);
    ASSERT_EQ(lists_overlap(a, b), expected);
    ASSERT_EQ(lists_overlap(b, a), expected);
    met += expected ? 1 : 0;
  }
  EXPECT_GT(met, 200);
  EXPECT_LT(met, 1800);
}

TEST(ExpandedModel, JoinAgreesByteByByte) {
  SCOPED_TRACE(testing::Message() << "TESSERA_SEED=" << test_seed());
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 500; ++trial) {
    const RunVector p = random_runs(random, 0);
    const std::vector<int64_t> p_bytes = bytes_of(p);
    RunVector q = random_runs(random, 0);
    auto left = static_cast<int64_t>(p_bytes.size());
    for (pattern::Run& run : q) {
      run.length = std::min(run.length, left);
      left -= run.length;
    }
    if (left > 0) q.push_back({1000, left});
    std::erase_if(q, [](const pattern::Run& run) { return run.length == 0; });
    const std::vector<int64_t> q_bytes = bytes_of(q);
    std::vector<JoinedRun> pieces;
    join_lists(p, q, pieces);
    size_t at = 0;
    for (const JoinedRun& piece : pieces) {
      for (int64_t i = 0; i < piece.length; ++i, ++at) {
        ASSERT_EQ(piece.p + i, p_bytes[at]);
        ASSERT_EQ(piece.q + i, q_bytes[at]);
      }
    }
    ASSERT_EQ(at, p_bytes.size());
  }
}

TEST(ExpandedModel, ObjectsAgreeWithBitmaps) {
  SCOPED_TRACE(testing::Message() << "TESSERA_SEED=" << test_seed());
  std::mt19937_64 random(test_seed());
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<RunVector> views(1 + random() % 4);
    for (RunVector& view : views) view = random_runs(random, trial % 2);
    std::vector<std::vector<int32_t>> sharers_of(kUniverse + 10);
    for (size_t process = 0; process < views.size(); ++process) {
      for (const int64_t byte : bytes_of(views[process])) {
        sharers_of[static_cast<size_t>(byte)].push_back(static_cast<int32_t>(process));
      }
    }
    const ListedObjects listed = sweep_objects(views);
    std::vector<std::vector<int32_t>> found(kUniverse + 10);
    for (size_t i = 0; i < listed.objects.size(); ++i) {
      const ListedObject& object = listed.objects[i];
      if (i > 0 && listed.objects[i - 1].end == object.begin) {
        ASSERT_NE(listed.objects[i - 1].sharers, object.sharers) << "objects are maximal";
      }
      for (int64_t byte = object.begin; byte < object.end; ++byte) {
        found[static_cast<size_t>(byte)] = listed.sharers[static_cast<size_t>(object.sharers)];
      }
    }
    ASSERT_EQ(found, sharers_of);
  }
}

}  // namespace
}  // namespace tessera::bench
