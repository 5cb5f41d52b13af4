#include "tessera/capi/requests.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tessera/pattern/assembler.hpp"

namespace tessera::capi {

namespace {

using base::Code;
using base::Result;
using pattern::ByteSet;

constexpr double kNsPerSecond = 1e9;
constexpr double kSecondsMax = 1e9;  // thirty years

Result<void> check_range(const std::string& name, int64_t offset, int64_t length) {
  if (offset < 0) {
    return base::fail(Code::kInvalid, name + " begins at " + std::to_string(offset));
  }
  if (length < 0) {
    return base::fail(Code::kInvalid, name + " has " + std::to_string(length) + " bytes");
  }
  if (offset > pattern::kMaxPosition || length > pattern::kMaxPosition - offset) {
    return base::fail(Code::kInvalid, name + " at " + std::to_string(offset) + " of " +
                                          std::to_string(length) + " bytes ends beyond 2^62");
  }
  return {};
}

Result<ByteSet> unless_empty(Result<ByteSet> bytes) {
  if (bytes && bytes->empty()) return base::fail(Code::kInvalid, "no byte is asked for");
  return bytes;
}

// A time that is not zero stays so.
Result<int64_t> ns_of(double seconds, const std::string& name) {
  if (!(seconds <= kSecondsMax)) {
    return base::fail(Code::kInvalid, name + " is no number of seconds up to 1e9");
  }
  return static_cast<int64_t>(std::ceil(seconds * kNsPerSecond));
}

Result<lock::Mode> mode_of(tessera_lock_mode mode) {
  switch (mode) {
    case TESSERA_LOCK_EXCLUSIVE:
      return lock::Mode::kExclusive;
    case TESSERA_LOCK_SHARED:
      return lock::Mode::kShared;
  }
  return base::fail(Code::kInvalid, "there is no mode " + std::to_string(static_cast<int>(mode)));
}

}  // namespace

Result<ByteSet> bytes_of(std::span<const tessera_lock_range> ranges) {
  std::vector<pattern::Run> runs;
  runs.reserve(ranges.size());
  for (const tessera_lock_range& range : ranges) {
    const std::string name = "range " + std::to_string(runs.size());
    TESSERA_TRY_VOID(check_range(name, range.offset, range.length));
    runs.push_back({range.offset, range.length});
  }
  TESSERA_TRY(const auto pattern, pattern::pattern_of_runs(runs));
  return unless_empty(ByteSet::of(pattern));
}

Result<ByteSet> bytes_of(const tessera_lock_strided& ranges) {
  TESSERA_TRY_VOID(check_range("the first range", ranges.offset, ranges.length));
  if (ranges.count < 0) {
    return base::fail(Code::kInvalid, "a count of " + std::to_string(ranges.count));
  }
  if (ranges.count > 1 && ranges.stride < ranges.length) {
    return base::fail(Code::kInvalid, "ranges of " + std::to_string(ranges.length) +
                                          " bytes overlap at a stride of " +
                                          std::to_string(ranges.stride));
  }
  TESSERA_TRY(const auto first, pattern::Pattern::run({{ranges.offset}}, ranges.length));
  TESSERA_TRY(const auto all, pattern::repeat(first, ranges.count, {{ranges.stride}}));
  return unless_empty(ByteSet::of(all));
}

Result<lock::LockClient::Asked> request_of(const char* file, ByteSet bytes,
                                           const tessera_lock_terms* terms) {
  const size_t length = file == nullptr ? 0 : ::strnlen(file, lock::kFileNameBytesMax + 1);
  if (length == 0) return base::fail(Code::kInvalid, "the file has no name");
  if (length > lock::kFileNameBytesMax) {
    return base::fail(Code::kInvalid, "the name of the file has more than " +
                                          std::to_string(lock::kFileNameBytesMax) + " bytes");
  }
  lock::LockClient::Asked asked;
  asked.file = std::string(file, length);
  asked.claim.bytes = std::move(bytes);
  if (terms == nullptr) return asked;
  TESSERA_TRY(asked.claim.mode, mode_of(terms->mode));
  if (!(terms->wait_s < 0)) {
    TESSERA_TRY(asked.wait_ns, ns_of(terms->wait_s, "wait_s"));
  }
  if (terms->hold_s < 0) return base::fail(Code::kInvalid, "hold_s is negative");
  TESSERA_TRY(asked.hold_ns, ns_of(terms->hold_s, "hold_s"));
  return asked;
}

}  // namespace tessera::capi
