#include "tessera/port/disk.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <type_traits>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::port {

namespace {

// Enough to fill a system call with small rows, small enough for the stack.
constexpr size_t kBatchMax = 256;
// Shorter lists are not worth looking for another way.
constexpr size_t kBulkMin = 16;

// Where a list transfer stands: everything before it has moved.
struct Position {
  size_t segment = 0;
  size_t within = 0;
};

struct Batch {
  int64_t offset = 0;
  size_t count = 0;
  std::array<iovec, kBatchMax> memory;

  [[nodiscard]] std::span<const iovec> filled() const { return std::span(memory).first(count); }
};

// Gathers segments that follow each other in the file, from the position on.
template <typename Segment>
void fill_batch(std::span<const Segment> segments, Position from, Batch& batch) {
  batch.count = 0;
  int64_t end = 0;
  for (size_t i = from.segment; i < segments.size() && batch.count < kBatchMax; ++i) {
    const size_t skipped = i == from.segment ? from.within : 0;
    const auto memory = segments[i].memory.subspan(skipped);
    const int64_t offset = segments[i].offset + base::exact_cast<int64_t>(skipped);
    TESSERA_ASSERT(segments[i].offset >= 0);
    if (memory.empty()) continue;
    if (batch.count == 0) batch.offset = end = offset;
    if (offset != end) return;
    // iovec has one form for both directions; write_some only reads through it.
    batch.memory[batch.count++] = {const_cast<std::byte*>(memory.data()), memory.size()};
    const auto next = base::checked_add(offset, base::exact_cast<int64_t>(memory.size()));
    if (!next) return;
    end = *next;
  }
}

template <typename Segment>
void advance(std::span<const Segment> segments, Position& position, int64_t bytes) {
  for (auto left = base::exact_cast<size_t>(bytes); position.segment < segments.size();) {
    const size_t rest = segments[position.segment].memory.size() - position.within;
    if (left < rest) {
      position.within += left;
      return;
    }
    left -= rest;
    position = {position.segment + 1, 0};
  }
}

}  // namespace

std::vector<ReadSegment> in_pieces(int64_t offset, std::span<std::byte> memory,
                                   int64_t piece_bytes) {
  TESSERA_ASSERT(piece_bytes > 0);
  std::vector<ReadSegment> pieces;
  for (size_t at = 0; at < memory.size(); at += static_cast<size_t>(piece_bytes)) {
    const size_t length = std::min(memory.size() - at, static_cast<size_t>(piece_bytes));
    pieces.push_back({offset + static_cast<int64_t>(at), memory.subspan(at, length)});
  }
  return pieces;
}

// What is left of a list, of which so many bytes have moved.
template <typename Segment>
Transfer File::transfer_rest(std::span<const Segment> segments, int64_t moved) {
  constexpr bool kReads = std::is_same_v<Segment, ReadSegment>;
  Transfer transfer = {moved, {}};
  Position position;
  Batch batch;
  advance(segments, position, moved);
  for (;;) {
    fill_batch(segments, position, batch);
    if (batch.count == 0) return transfer;
    const Attempt attempt =
        kReads ? read_some(batch.offset, batch.filled()) : write_some(batch.offset, batch.filled());
    if (attempt.errno_value == EINTR) continue;
    if (attempt.errno_value == 0 && attempt.bytes == 0 && kReads) return transfer;
    if (attempt.errno_value != 0 || attempt.bytes == 0) {
      // A write that moves nothing and gives no reason would be tried for ever.
      const int cause = attempt.errno_value != 0 ? attempt.errno_value : EIO;
      transfer.status = base::fail_errno(cause, std::string(kReads ? "read " : "write ") + path_ +
                                                    " at byte " + std::to_string(batch.offset));
      return transfer;
    }
    transfer.bytes += attempt.bytes;
    advance(segments, position, attempt.bytes);
  }
}

Transfer File::read_at(int64_t offset, std::span<std::byte> memory) {
  const ReadSegment segment{offset, memory};
  return read_list({&segment, 1});
}

Transfer File::write_at(int64_t offset, base::ByteView memory) {
  const WriteSegment segment{offset, memory};
  return write_list({&segment, 1});
}

base::Result<void> File::reserve_range(int64_t /*begin*/, int64_t /*end*/) {
  return base::fail_errno(EOPNOTSUPP, "reserve space of " + path());
}

Transfer File::read_list(std::span<const ReadSegment> segments) {
  return transfer_rest(segments, segments.size() >= kBulkMin ? read_bulk(segments) : 0);
}

Transfer File::write_list(std::span<const WriteSegment> segments) {
  return transfer_rest(segments, segments.size() >= kBulkMin ? write_bulk(segments) : 0);
}

Transfer File::read_together(std::span<const ReadSegment> segments) {
  return transfer_rest(segments, segments.size() > 1 ? read_apart(segments) : 0);
}

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace tessera::port
