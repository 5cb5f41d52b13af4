#include "tessera/owner/writers_codec.hpp"

#include <array>
#include <limits>

#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"

namespace tessera::owner {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Code;
using base::fail;
using base::Result;

namespace {

// A byte that is no text, a name, and line ends that a careless copy would change.
constexpr char kMagic[] = "\x89TsrW\r\n\x1a";
constexpr size_t kMagicBytes = 8;
constexpr size_t kChecksumBytes = sizeof(uint64_t);
constexpr size_t kIntervalBytesMin = 2;

// No features yet.
constexpr uint64_t kKnownIncompatible = 0;

// The number of a section; its tag is twice that, and one more if readers may skip it.
enum Section : uint64_t { kShape = 1, kIntervals = 2, kLabel = 3, kSectionEnd = 4 };
constexpr uint64_t kOptional = 1;

// By number; absent ones are empty.
using Sections = std::array<ByteView, kSectionEnd>;

static_assert(sizeof(WriterInterval) <= kIntervalBytesMin * kPlanMemoryFactor);

void put_section(ByteWriter& to, uint64_t tag, ByteView bytes) {
  to.varint(tag);
  to.sized_bytes(bytes);
}

Bytes encode_shape(const WriterPlan& plan) {
  Bytes bytes;
  ByteWriter to(bytes);
  to.u64(plan.fingerprint);
  to.varint(static_cast<uint64_t>(plan.writers.processes()));
  to.varint(static_cast<uint64_t>(plan.writers.items()));
  to.sized_bytes(base::bytes_of(plan.policy));
  return bytes;
}

Bytes encode_intervals(const Writers& writers) {
  Bytes bytes;
  ByteWriter to(bytes);
  to.varint(writers.intervals().size());
  Process before = 0;
  for (const WriterInterval& interval : writers.intervals()) {
    to.signed_varint(int64_t{interval.writer} - before);
    to.varint(static_cast<uint64_t>(interval.end - interval.begin));
    before = interval.writer;
  }
  return bytes;
}

Result<void> check_bounds(const WriterPlan& plan) {
  const int processes = plan.writers.processes();
  if (processes < 1 || processes > kPlanMaxProcesses) {
    return fail(Code::kInvalid, "a plan of writers has from 1 to " +
                                    std::to_string(kPlanMaxProcesses) + " processes, not " +
                                    std::to_string(processes));
  }
  if (plan.writers.items() > kPlanMaxItems) {
    return fail(Code::kInvalid, "a plan of writers has at most 2^62 items");
  }
  if (plan.policy.size() > kPlanMaxTextBytes || plan.label.size() > kPlanMaxTextBytes) {
    return fail(Code::kInvalid, "the policy and the label of a plan of writers have at most " +
                                    std::to_string(kPlanMaxTextBytes) + " bytes");
  }
  return {};
}

base::Failure damaged(size_t byte, const std::string& why) {
  return fail(Code::kIntegrity,
              "a plan of writers is damaged at byte " + std::to_string(byte) + ": " + why);
}

// A reader of a part of the plan that knows where in the whole it is.
class PartReader {
 public:
  PartReader(ByteView whole, ByteView part)
      : begin_(static_cast<size_t>(part.data() - whole.data())), from_(part) {}

  Result<uint64_t> u64() { return named(from_.u64()); }
  Result<uint64_t> varint() { return named(from_.varint()); }
  Result<int64_t> signed_varint() { return named(from_.signed_varint()); }
  Result<ByteView> sized_bytes() { return named(from_.sized_bytes()); }
  [[nodiscard]] size_t remaining() const { return from_.remaining(); }

  Result<void> expect_end() {
    field_ = from_.position();
    if (remaining() > 0) return wrong("bytes follow where the section should end");
    return {};
  }
  // What is wrong with the field read last.
  [[nodiscard]] base::Failure wrong(const std::string& why) const {
    return damaged(begin_ + field_, why);
  }

 private:
  template <typename T>
  Result<T> named(Result<T> read) {
    field_ = end_;
    end_ = from_.position();
    if (read) return read;
    return wrong(read.error().context);
  }

  size_t begin_;
  ByteReader from_;
  size_t field_ = 0;  // begin of the field read last
  size_t end_ = 0;    // and its end
};

// The body of a whole plan.
// What the checksum is of, less the head.
Result<ByteView> read_frame(ByteView bytes) {
  TESSERA_TRY_VOID(check_plan_head(bytes, std::ssize(bytes)));
  const ByteView content = bytes.first(bytes.size() - kChecksumBytes);
  if (base::load_le<uint64_t>(bytes.subspan(content.size())) != base::checksum(content)) {
    return damaged(content.size(), "its checksum does not match");
  }
  return content.subspan(kPlanHeadBytes);
}

Result<void> check_head(ByteView bytes) {
  const auto version = base::load_le<uint32_t>(bytes.subspan(kMagicBytes));
  const auto incompatible = base::load_le<uint64_t>(bytes.subspan(24));
  if (version != kPlanVersion) {
    return fail(Code::kInvalid, "a plan of writers of version " + std::to_string(version) +
                                    ", and this program knows version " +
                                    std::to_string(kPlanVersion) + " only");
  }
  if ((incompatible & ~kKnownIncompatible) != 0) {
    return fail(Code::kInvalid, "a plan of writers uses features (" + std::to_string(incompatible) +
                                    ") that this program does not know: use a newer one");
  }
  return {};
}

Result<Sections> read_sections(ByteView whole, ByteView body) {
  Sections sections;
  PartReader at(whole, body);
  uint64_t before = 0;
  while (at.remaining() > 0) {
    TESSERA_TRY(const uint64_t tag, at.varint());
    if (tag / 2 <= before) return at.wrong("its sections are not in order");
    before = tag / 2;
    TESSERA_TRY(const ByteView bytes, at.sized_bytes());
    if (before < kSectionEnd) {
      sections[before] = bytes;
    } else if ((tag & kOptional) == 0) {
      return fail(Code::kInvalid, "a plan of writers has a section (" + std::to_string(before) +
                                      ") that this program does not know: use a newer one");
    }
  }
  return sections;
}

// Fills in all but the intervals, and says how many items there are.
Result<int64_t> read_shape(PartReader at, WriterPlan& plan) {
  TESSERA_TRY(plan.fingerprint, at.u64());
  TESSERA_TRY(const uint64_t processes, at.varint());
  if (processes < 1 || processes > static_cast<uint64_t>(kPlanMaxProcesses)) {
    return at.wrong("it has no processes, or too many");
  }
  plan.writers = Writers(static_cast<int>(processes));
  TESSERA_TRY(const uint64_t items, at.varint());
  if (items > static_cast<uint64_t>(kPlanMaxItems)) return at.wrong("it has too many items");
  TESSERA_TRY(const ByteView policy, at.sized_bytes());
  if (policy.size() > kPlanMaxTextBytes) return at.wrong("the name of its policy is too long");
  plan.policy = base::text_of(policy);
  TESSERA_TRY_VOID(at.expect_end());
  return static_cast<int64_t>(items);
}

// One interval, whose writer differs from the one before it.
Result<void> read_interval(PartReader& at, int64_t items, Writers& writers) {
  const auto intervals = writers.intervals();
  const int64_t before = intervals.empty() ? 0 : intervals.back().writer;
  TESSERA_TRY(const int64_t step, at.signed_varint());
  const auto writer = base::checked_add(before, step);
  if (!writer || *writer < 0 || *writer >= writers.processes()) {
    return at.wrong("a writer is not one of its processes");
  }
  if (step == 0 && !intervals.empty()) return at.wrong("two intervals that touch have one writer");
  TESSERA_TRY(const uint64_t count, at.varint());
  if (count == 0 || count > static_cast<uint64_t>(items - writers.items())) {
    return at.wrong("an interval is empty, or ends behind the last item");
  }
  writers.append(static_cast<int64_t>(count), static_cast<Process>(*writer));
  return {};
}

Result<void> read_intervals(PartReader at, int64_t items, Writers& writers) {
  TESSERA_TRY(const uint64_t count, at.varint());
  // So the count cannot ask for more memory than the input has bytes for.
  if (count > at.remaining() / kIntervalBytesMin) return at.wrong("intervals are missing");
  writers.reserve(count);
  for (uint64_t i = 0; i < count; ++i) TESSERA_TRY_VOID(read_interval(at, items, writers));
  if (writers.items() != items) return at.wrong("items have no writer");
  return at.expect_end();
}

}  // namespace

Result<Bytes> encode_plan(const WriterPlan& plan) {
  TESSERA_TRY_VOID(check_bounds(plan));
  Bytes body;
  ByteWriter sections(body);
  put_section(sections, 2 * kShape, encode_shape(plan));
  put_section(sections, 2 * kIntervals, encode_intervals(plan.writers));
  if (!plan.label.empty()) {
    put_section(sections, 2 * kLabel + kOptional, base::bytes_of(plan.label));
  }
  Bytes bytes;
  bytes.reserve(kPlanHeadBytes + body.size() + kChecksumBytes);
  ByteWriter to(bytes);
  to.bytes(base::bytes_of({kMagic, kMagicBytes}));
  to.u32(kPlanVersion);
  to.u32(0);
  to.u64(0);
  to.u64(kKnownIncompatible);
  to.u64(body.size());
  to.bytes(body);
  to.u64(base::checksum(bytes));
  return bytes;
}

Result<void> check_plan_head(ByteView head, int64_t size) {
  if (head.size() < kMagicBytes ||
      !base::equal(head.first(kMagicBytes), base::bytes_of({kMagic, kMagicBytes}))) {
    return fail(Code::kInvalid, "this is not a plan of writers: its first bytes are others");
  }
  const auto bytes = static_cast<size_t>(size);
  if (bytes < kPlanHeadBytes + kChecksumBytes) return damaged(bytes, "it is cut off");
  const auto length = base::load_le<uint64_t>(head.subspan(kPlanHeadBytes - sizeof(uint64_t)));
  const size_t space = bytes - kPlanHeadBytes - kChecksumBytes;
  if (length > space) return damaged(bytes, "it is cut off");
  if (length < space) return damaged(bytes - (space - length), "bytes follow behind it");
  return {};
}

Result<WriterPlan> decode_plan(ByteView bytes) {
  TESSERA_TRY(const ByteView body, read_frame(bytes));
  TESSERA_TRY_VOID(check_head(bytes));
  TESSERA_TRY(const Sections sections, read_sections(bytes, body));
  WriterPlan plan;
  for (const Section needed : {kShape, kIntervals}) {
    if (sections[needed].data() == nullptr) {
      return damaged(bytes.size(), "section " + std::to_string(needed) + " is missing");
    }
  }
  TESSERA_TRY(const int64_t items, read_shape(PartReader(bytes, sections[kShape]), plan));
  TESSERA_TRY_VOID(read_intervals(PartReader(bytes, sections[kIntervals]), items, plan.writers));
  if (sections[kLabel].size() > kPlanMaxTextBytes) return damaged(0, "its label is too long");
  plan.label = base::text_of(sections[kLabel]);
  return plan;
}

}  // namespace tessera::owner
