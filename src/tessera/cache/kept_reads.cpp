#include "tessera/cache/kept_reads.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "tessera/move/plain_run.hpp"

namespace tessera::cache {

namespace {

using move::Direction;
using move::KeptMapping;
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
  static const move::Hints hints;
  static const move::Costs costs;
  if (plain_ == nullptr || part.empty()) return;
  move::expect_reads(part, {{*plain_, hints, costs, experience_}, companions_, memory});
}

bool KeptReads::maps(Interval part) { return experience_.mapping.reaches(part, Direction::kRead); }

bool KeptReads::touch(Interval part, const std::function<void(const std::byte*)>& body) {
  return experience_.mapping.touch(part, body);
}

int64_t KeptReads::copy(int64_t offset, std::span<const iovec> memory) {
  int64_t done = 0;
  for (const iovec& one : memory) {
    const KeptMapping::Run run = {Direction::kRead, offset + done, span_of(one)};
    if (!experience_.mapping.copy(run)) break;
    done += std::ssize(run.memory);
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
