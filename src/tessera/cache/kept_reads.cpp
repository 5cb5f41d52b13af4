#include "tessera/cache/kept_reads.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "tessera/base/page.hpp"
#include "tessera/lock/no_locks.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/large_pages.hpp"

namespace tessera::cache {

namespace {

using base::kPageBytes;
using move::Direction;
using pattern::Interval;

int64_t bytes_of(std::span<const iovec> memory) {
  int64_t bytes = 0;
  for (const iovec& one : memory) bytes += static_cast<int64_t>(one.iov_len);
  return bytes;
}

std::span<std::byte> span_of(const iovec& one) {
  return {static_cast<std::byte*>(one.iov_base), one.iov_len};
}

}  // namespace

KeptReads::KeptReads(port::File& file, move::Experience& experience, int companions)
    : port::File(file.path()),
      file_(file),
      plain_(dynamic_cast<port::PlainFile*>(&file)),
      experience_(experience),
      companions_(companions) {}

void KeptReads::expect(Interval part, std::byte* memory) {
  if (plain_ == nullptr || part.empty() || !plain_->may_map()) return;
  if (maps(part) || part.length() > move::kMappedWindowBytes) return;
  // Short reads are many: they do without patterns and prices.
  const bool pays = part.length() < move::kMappedRunMin ? has_paid(part) : would_map(part, memory);
  if (pays) map(part);
}

// Whether reads of this short part have cost as much by now as mapping it does.
bool KeptReads::has_paid(Interval part) {
  const move::Costs costs;
  const auto bytes = static_cast<double>(part.length());
  const double byte_ns = costs.read_byte_ns * costs.cached_share;
  const double saved_ns = costs.request_ns + bytes * byte_ns * (1 - costs.mapped_byte_share);
  const double price_ns = costs.map_ns + (1 + bytes / kPageBytes) * costs.mapped_read_ns;
  move::MappingCache& cache = experience_.mapping;
  cache.note_missed(part, Direction::kRead, saved_ns);
  return cache.holds(part, Direction::kRead) || cache.missed_ns(part, Direction::kRead) >= price_ns;
}

// Whether one read of all of the part to this memory would be made through a mapping; if not, notes
// what it misses.
bool KeptReads::would_map(Interval part, std::byte* memory) {
  const move::Hints hints;
  const move::Costs costs;
  lock::NoLocks none;
  const move::Context context{*plain_, none, hints,       costs, {},
                              {},      {},   companions_, 0,     &experience_};
  const auto run = [&](int64_t begin) {
    return pattern::Pattern::run({{begin}}, part.length()).value();
  };
  const move::Move whole = {Direction::kRead, run(part.begin), run(0), memory};
  const move::Choice choice =
      move::choose_independent(whole, hints, costs, move::facts_of(whole, context));
  const bool maps = choice.engine == move::Engine::kMapped;
  if (!maps) experience_.mapping.note_missed(part, Direction::kRead, choice.missed_ns);
  return maps;
}

// Leaves a mapping of the part for the reads to come, if it lies in the file.
void KeptReads::map(Interval part) {
  const auto size = plain_->size();
  if (!size || part.end > *size) return;
  move::MappingCache& cache = experience_.mapping;
  if (!cache.holds(part, Direction::kRead)) {
    const Interval pages = move::large_pages_around(part);
    auto made = port::FileMapping::map(*plain_, pages.begin, pages.end, port::Access::kRead);
    if (!made) return;
    cache.keep(std::make_shared<const port::FileMapping>(*std::move(made)));
  }
  cache.note_committed(*size);
}

bool KeptReads::maps(Interval part) {
  return plain_ != nullptr && plain_->may_map() && experience_.mapping.reaches(part);
}

bool KeptReads::touch(Interval part, const std::function<void(const std::byte*)>& body) {
  return experience_.mapping.touch(part, body);
}

int64_t KeptReads::copy(int64_t offset, std::span<const iovec> memory) {
  int64_t done = 0;
  for (const iovec& one : memory) {
    const auto length = static_cast<int64_t>(one.iov_len);
    const Interval part = {offset + done, offset + done + length};
    const bool copied = touch(
        part, [&one](const std::byte* from) { std::memcpy(one.iov_base, from, one.iov_len); });
    if (!copied) break;
    done += length;
  }
  return done;
}

port::File::Attempt KeptReads::read_some(int64_t offset, std::span<const iovec> memory) {
  if (maps({offset, offset + bytes_of(memory)})) {
    if (const int64_t bytes = copy(offset, memory); bytes > 0) return {bytes, 0};
  }
  std::vector<port::ReadSegment> segments;
  int64_t at = offset;
  for (const iovec& one : memory) {
    segments.push_back({at, span_of(one)});
    at += static_cast<int64_t>(one.iov_len);
  }
  const port::Transfer read = file_.read_list(segments);
  if (read || read.bytes > 0) return {read.bytes, 0};
  const int cause = read.status.error().errno_value;
  return {0, cause != 0 ? cause : EIO};
}

port::File::Attempt KeptReads::write_some(int64_t /*offset*/, std::span<const iovec> /*memory*/) {
  return {0, EBADF};
}

base::Result<void> KeptReads::truncate(int64_t /*size*/) {
  return base::fail_errno(EBADF, "truncate " + path() + ", which is open for reading");
}

int64_t KeptReads::read_bulk(std::span<const port::ReadSegment> segments) {
  const bool mapped = std::all_of(segments.begin(), segments.end(), [&](const auto& segment) {
    return maps({segment.offset, segment.offset + std::ssize(segment.memory)});
  });
  return mapped ? 0 : file_.read_list(segments).bytes;
}

}  // namespace tessera::cache
