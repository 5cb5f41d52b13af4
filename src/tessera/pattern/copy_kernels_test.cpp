#include "tessera/pattern/copy_kernels.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/point.hpp"

namespace tessera::pattern {
namespace {

constexpr std::byte kCanary{0xC5};

// A source byte that tells its position.
std::byte source_byte(int64_t at) {
  return static_cast<std::byte>((static_cast<uint64_t>(at) * 0x9E3779B97F4A7C15u) >> 56);
}

// Memory that ends exactly where it is said to end, so that the address sanitizer sees one byte
// too much; `shift` bytes precede it, for its alignment.
class Buffer {
 public:
  Buffer(int64_t bytes, int64_t shift, bool source)
      : bytes_(bytes), shift_(shift), memory_(new std::byte[static_cast<size_t>(bytes + shift)]) {
    for (int64_t i = 0; i < bytes + shift; ++i) {
      memory_[static_cast<size_t>(i)] = source ? source_byte(i) : kCanary;
    }
  }

  std::byte* data() { return memory_.get() + shift_; }
  [[nodiscard]] bool equals(const Buffer& other) const {
    return std::equal(memory_.get(), memory_.get() + bytes_ + shift_, other.memory_.get());
  }

 private:
  int64_t bytes_;
  int64_t shift_;
  std::unique_ptr<std::byte[]> memory_;
};

// One strided side: where its first run begins in a buffer that its runs exactly span.
struct Side {
  int64_t begin;
  int64_t bytes;
  Side(int64_t length, int64_t count, int64_t stride)
      : begin(stride < 0 ? -stride * (count - 1) : 0),
        bytes(std::abs(stride) * (count - 1) + length) {}
};

void copy_by_bytes(std::byte* out, const std::byte* in, const PairedRuns& runs) {
  for (int64_t i = 0; i < runs.count; ++i) {
    for (int64_t k = 0; k < runs.length; ++k) {
      out[i * runs.out_stride + k] = in[i * runs.in_stride + k];
    }
  }
}

using Parameters = std::tuple<CopyLevel, CopyMode>;

class CopyKernels : public testing::TestWithParam<Parameters> {
 protected:
  void SetUp() override {
    if (!use_copy_level(std::get<0>(GetParam()))) GTEST_SKIP() << "not on this processor";
  }
  void TearDown() override {
    for (const CopyLevel level : kCopyLevels) static_cast<void>(use_copy_level(level));
  }

  static CopyMode mode() { return std::get<1>(GetParam()); }

  // Calls the kernel that fits the strides.
  static void run(std::byte* out, const std::byte* in, const PairedRuns& runs) {
    if (runs.out_stride == runs.length) {
      gather_runs(out, in, {runs.length, runs.count, runs.in_stride}, mode());
    } else if (runs.in_stride == runs.length) {
      scatter_runs(out, in, {runs.length, runs.count, runs.out_stride}, mode());
    } else {
      copy_runs(out, in, runs, mode());
    }
    finish_copy(mode());
  }

  static void expect_exact(const PairedRuns& runs, int64_t out_shift, int64_t in_shift) {
    const Side from(runs.length, runs.count, runs.in_stride);
    const Side to(runs.length, runs.count, runs.out_stride);
    Buffer in(from.bytes, in_shift, true);
    Buffer out(to.bytes, out_shift, false);
    Buffer expected(to.bytes, out_shift, false);
    copy_by_bytes(expected.data() + to.begin, in.data() + from.begin, runs);
    run(out.data() + to.begin, in.data() + from.begin, runs);
    EXPECT_TRUE(out.equals(expected))
        << "length " << runs.length << " count " << runs.count << " out stride " << runs.out_stride
        << " in stride " << runs.in_stride << " shifts " << out_shift << " " << in_shift;
  }

  // All three pairs of sides, for counts that end inside and outside of the unrolled loops, and one
  // large enough for streaming.
  static void expect_exact_all(int64_t length, int64_t stride) {
    const int64_t many = 3000 / length + 2;
    for (const int64_t count : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, many}) {
      const int64_t shift = (length + count) % 64;
      expect_exact({length, count, length, stride}, shift, shift / 2);
      if (std::abs(stride) < length) continue;
      expect_exact({length, count, stride, length}, shift, shift / 3);
      expect_exact({length, count, stride, 2 * length + 1}, shift, shift / 5);
    }
  }
};

std::vector<int64_t> lengths_of_interest() {
  std::vector<int64_t> lengths;
  for (int64_t length = 1; length <= 140; ++length) lengths.push_back(length);
  for (const int64_t length : {191, 192, 193, 255, 256,  257,  300,  319,  320,  321,
                               511, 512, 513, 777, 1023, 1024, 1025, 4096, 4099, 9000}) {
    lengths.push_back(length);
  }
  return lengths;
}

TEST_P(CopyKernels, EveryLengthAndStride) {
  for (const int64_t length : lengths_of_interest()) {
    for (const int64_t stride : {length, length + 1, length + 3, 3 * length / 2 + 1, 2 * length,
                                 length + 600, -length, -length - 1, -2 * length - 5}) {
      expect_exact_all(length, stride);
    }
  }
}

TEST_P(CopyKernels, SourceRunsMayOverlap) {
  for (const int64_t length : lengths_of_interest()) {
    for (const int64_t stride : {int64_t{0}, int64_t{1}, int64_t{3}, length / 2, length - 1}) {
      expect_exact_all(length, stride);
      expect_exact_all(length, -stride);
    }
  }
}

TEST_P(CopyKernels, EveryAlignment) {
  for (const int64_t length : {5, 8, 12, 33, 64, 100, 128, 256, 600, 2048}) {
    const int64_t count = 2500 / length + 1;
    for (int64_t shift = 0; shift < 64; ++shift) {
      expect_exact({length, count, length, 2 * length}, shift, 0);
      expect_exact({length, count, length, 2 * length}, 0, shift);
      expect_exact({length, count, 2 * length, length}, shift, 0);
      expect_exact({length, count, length + 64, length}, shift, 64 - shift);
      expect_exact({length, count, length, length}, shift, 1);
    }
  }
}

TEST_P(CopyKernels, ARunGoesToTwoPlaces) {
  for (const int64_t length : {0, 1, 63, 64, 65, 1000, 1024, 1087, 1088, 2500, 9000}) {
    for (int64_t shift = 0; shift < 64; shift += shift < 3 ? 1 : 7) {
      Buffer in(length, 64 - shift, true);
      Buffer out(length, shift, false);
      Buffer seen(length, shift / 2, false);
      Buffer expected_out(length, shift, false);
      Buffer expected_seen(length, shift / 2, false);
      std::copy_n(in.data(), length, expected_out.data());
      std::copy_n(in.data(), length, expected_seen.data());
      copy_twice(out.data(), seen.data(), in.data(), length);
      finish_copy(CopyMode::kStreaming);
      EXPECT_TRUE(out.equals(expected_out)) << "length " << length << " shift " << shift;
      EXPECT_TRUE(seen.equals(expected_seen)) << "length " << length << " shift " << shift;
    }
  }
}

TEST_P(CopyKernels, RowsAreRunsAgainAndAgain) {
  for (const int64_t length : {1, 4, 8, 12, 33, 100, 600}) {
    for (const int64_t stride : {length, length + 1, 3 * length}) {
      for (const int64_t count : {1, 2, 8, 19}) {
        const int64_t row_bytes = length * count;
        const Rows rows = {{length, count, stride}, 5, stride * count + 7};
        const int64_t places = rows.stride * rows.count;
        Buffer strided(places, 3, true);
        Buffer packed(row_bytes * rows.count, 1, false);
        Buffer expected(row_bytes * rows.count, 1, false);
        Buffer back(places, 3, false);
        Buffer expected_back(places, 3, false);
        for (int64_t i = 0; i < rows.count; ++i) {
          copy_by_bytes(expected.data() + i * row_bytes, strided.data() + i * rows.stride,
                        {length, count, length, stride});
          copy_by_bytes(expected_back.data() + i * rows.stride, expected.data() + i * row_bytes,
                        {length, count, stride, length});
        }
        gather_rows(packed.data(), strided.data(), rows, mode());
        scatter_rows(back.data(), packed.data(), rows, mode());
        finish_copy(mode());
        EXPECT_TRUE(packed.equals(expected)) << length << " " << stride << " " << count;
        EXPECT_TRUE(back.equals(expected_back)) << length << " " << stride << " " << count;
      }
    }
  }
}

TEST_P(CopyKernels, NothingToDo) {
  gather_runs(nullptr, nullptr, {0, 5, 8}, mode());
  gather_runs(nullptr, nullptr, {8, 0, 16}, mode());
  gather_rows(nullptr, nullptr, {{8, 4, 16}, 0, 100}, mode());
  scatter_rows(nullptr, nullptr, {{8, 0, 16}, 3, 100}, mode());
  scatter_runs(nullptr, nullptr, {0, 5, 8}, mode());
  copy_runs(nullptr, nullptr, {8, 0, 16, 24}, mode());
  gather_list(nullptr, nullptr, {nullptr, nullptr, 0}, mode());
  scatter_list(nullptr, nullptr, {nullptr, nullptr, 0}, mode());
  const int64_t at[] = {100, 200};
  const int64_t prefix[] = {7, 7, 7};
  gather_list(nullptr, nullptr, {at, prefix, 2}, mode());
  scatter_list(nullptr, nullptr, {at, prefix, 2}, mode());
}

TEST_P(CopyKernels, LaterOverlappingRunWins) {  // (C3)
  for (const int64_t length : {3, 8, 12, 64, 100, 130, 700, 1500}) {
    for (const int64_t stride : {int64_t{0}, int64_t{1}, length / 2, -length / 3}) {
      for (const int64_t count : {int64_t{2}, int64_t{9}, 3000 / length}) {
        expect_exact({length, count, stride, length}, 3, 5);
        expect_exact({length, count, stride, length + 2}, 3, 5);
      }
    }
  }
}

// Pages of which only every third is accessible: whoever reads or writes in a gap dies.
class GuardedPages {
 public:
  explicit GuardedPages(int64_t count)
      : page_(sysconf(_SC_PAGESIZE)), bytes_(static_cast<size_t>((3 * count + 1) * page_)) {
    void* memory = mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TESSERA_ASSERT(memory != MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
    for (int64_t i = 0; i < count; ++i) {
      const int done = mprotect(page(i), static_cast<size_t>(page_), PROT_READ | PROT_WRITE);
      TESSERA_ASSERT(done == 0);
      for (int64_t k = 0; k < page_; ++k) page(i)[k] = source_byte(i * page_ + k);
    }
  }
  ~GuardedPages() { munmap(memory_, bytes_); }
  GuardedPages(const GuardedPages&) = delete;
  GuardedPages& operator=(const GuardedPages&) = delete;

  std::byte* page(int64_t i) { return memory_ + (3 * i + 1) * page_; }
  [[nodiscard]] int64_t page_bytes() const { return page_; }
  [[nodiscard]] int64_t stride() const { return 3 * page_; }

 private:
  int64_t page_;
  size_t bytes_;
  std::byte* memory_ = nullptr;
};

constexpr int64_t kPages = 20;

TEST_P(CopyKernels, GapsMayBeUnmapped) {  // (C1) and (C2)
  GuardedPages pages(kPages);
  GuardedPages other(kPages);
  for (const int64_t length : lengths_of_interest()) {
    if (length > pages.page_bytes()) continue;
    for (const int64_t begin : {int64_t{0}, pages.page_bytes() - length}) {
      const StridedRuns runs = {length, kPages, pages.stride()};
      const int64_t bytes = length * kPages;
      Buffer packed(bytes, 1, false);
      gather_runs(packed.data(), pages.page(0) + begin, runs, mode());
      finish_copy(mode());
      for (int64_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(packed.data()[i], pages.page(i / length)[begin + i % length]) << length;
      }
      std::reverse(packed.data(), packed.data() + bytes);
      scatter_runs(other.page(0) + begin, packed.data(), runs, mode());
      copy_runs(pages.page(0) + begin, other.page(0) + begin,
                {length, kPages, pages.stride(), other.stride()}, mode());
      finish_copy(mode());
      for (int64_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(packed.data()[i], pages.page(i / length)[begin + i % length]) << length;
      }
    }
  }
}

TEST_P(CopyKernels, ListRunsMayBorderOnUnmappedPages) {
  GuardedPages pages(kPages);
  for (const int64_t length : lengths_of_interest()) {
    if (length > pages.page_bytes()) continue;
    for (const int64_t begin : {int64_t{0}, pages.page_bytes() - length}) {
      std::vector<int64_t> at;
      std::vector<int64_t> prefix = {11};
      for (int64_t i = 0; i < kPages; ++i) {
        at.push_back(i * pages.stride() + begin);
        prefix.push_back(prefix.back() + length);
      }
      const RunList list = {at.data(), prefix.data(), kPages};
      Buffer packed(length * kPages, 3, false);
      gather_list(packed.data(), pages.page(0), list, mode());
      finish_copy(mode());
      for (int64_t i = 0; i < length * kPages; ++i) {
        ASSERT_EQ(packed.data()[i], pages.page(i / length)[begin + i % length]) << length;
      }
      std::reverse(packed.data(), packed.data() + length * kPages);
      scatter_list(pages.page(0), packed.data(), list, mode());
      finish_copy(mode());
      for (int64_t i = 0; i < length * kPages; ++i) {
        ASSERT_EQ(packed.data()[i], pages.page(i / length)[begin + i % length]) << length;
      }
    }
  }
}

// A random list of disjoint runs in random order, with its exact span.
struct RandomList {
  std::vector<int64_t> at;
  std::vector<int64_t> prefix;
  int64_t span = 0;

  explicit RandomList(std::mt19937_64& random) {
    const auto below = [&](int64_t bound) {
      return std::uniform_int_distribution<int64_t>(0, bound - 1)(random);
    };
    const int64_t count = 1 + below(120);
    const int64_t longest = int64_t{1} << below(12);
    prefix.push_back(below(100));
    std::vector<std::pair<int64_t, int64_t>> runs;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t length = below(longest + 1);
      if (i > 0) span += below(4) == 0 ? 0 : below(70);
      runs.emplace_back(span, length);
      span += length;
    }
    std::shuffle(runs.begin(), runs.end(), random);
    for (const auto& [begin, length] : runs) {
      at.push_back(begin);
      prefix.push_back(prefix.back() + length);
    }
  }
  [[nodiscard]] RunList list() const {
    return {at.data(), prefix.data(), static_cast<int64_t>(at.size())};
  }
  [[nodiscard]] int64_t bytes() const { return prefix.back() - prefix.front(); }
};

TEST_P(CopyKernels, RandomListsAgainstBytes) {
  const char* given = std::getenv("TESSERA_TEST_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20240607;
  SCOPED_TRACE("TESSERA_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 400; ++round) {
    const RandomList runs(random);
    const int64_t shift = round % 64;
    Buffer whole(runs.span, shift, true);
    Buffer packed(runs.bytes(), 63 - shift, false);
    Buffer scattered(runs.span, shift, false);
    Buffer expected_packed(runs.bytes(), 63 - shift, false);
    Buffer expected_scattered(runs.span, shift, false);
    for (size_t i = 0; i < runs.at.size(); ++i) {
      for (int64_t k = 0; k < runs.prefix[i + 1] - runs.prefix[i]; ++k) {
        const std::byte value = whole.data()[runs.at[i] + k];
        expected_packed.data()[runs.prefix[i] - runs.prefix[0] + k] = value;
        expected_scattered.data()[runs.at[i] + k] = value;
      }
    }
    gather_list(packed.data(), whole.data(), runs.list(), mode());
    finish_copy(mode());
    ASSERT_TRUE(packed.equals(expected_packed)) << "round " << round;
    scatter_list(scattered.data(), packed.data(), runs.list(), mode());
    finish_copy(mode());
    ASSERT_TRUE(scattered.equals(expected_scattered)) << "round " << round;
  }
}

TEST(CopyMode, StreamsOnlyWhatCannotStayInTheCache) {
  EXPECT_EQ(mode_for(0), CopyMode::kCached);
  EXPECT_EQ(mode_for(256 << 10), CopyMode::kCached);
  EXPECT_EQ(mode_for(int64_t{64} << 20), CopyMode::kStreaming);
}

TEST(CopyMode, CountsWhatCompanionsMove) {
  EXPECT_EQ(mode_for(256 << 10, 1), CopyMode::kCached);
  EXPECT_EQ(mode_for(256 << 10, 1024), CopyMode::kStreaming);
  EXPECT_EQ(mode_for(kMaxPosition, 1024), CopyMode::kStreaming);  // beyond what can be counted
}

TEST(CopyMode, KnowsWhereLinesBegin) {
  alignas(64) const std::byte memory[65] = {};
  EXPECT_TRUE(is_at_line(memory));
  EXPECT_FALSE(is_at_line(memory + 16));
  EXPECT_TRUE(is_at_line(memory + 64));
  EXPECT_FALSE(is_at_line(memory, 63));
  EXPECT_TRUE(is_at_line(nullptr, 128));
}

std::string parameter_name(const testing::TestParamInfo<Parameters>& info) {
  const char* const levels[] = {"Portable", "Sse2", "Avx2", "Avx512"};
  const bool streaming = std::get<1>(info.param) == CopyMode::kStreaming;
  return std::string(levels[static_cast<int>(std::get<0>(info.param))]) +
         (streaming ? "Streaming" : "Cached");
}

INSTANTIATE_TEST_SUITE_P(Levels, CopyKernels,
                         testing::Combine(testing::ValuesIn(kCopyLevels),
                                          testing::Values(CopyMode::kCached, CopyMode::kStreaming)),
                         parameter_name);

}  // namespace
}  // namespace tessera::pattern
