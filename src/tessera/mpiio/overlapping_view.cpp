#include "tessera/mpiio/overlapping_view.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/copy.hpp"
#include "tessera/pattern/cursor.hpp"

namespace tessera::mpiio {

using base::Code;
using pattern::Interval;
using pattern::Pattern;
using pattern::Piece;

namespace {

// What one step reads at most, gaps included, and how much of the stream it may be.
constexpr int64_t kSpanMax = int64_t{16} << 20;
constexpr int64_t kStepMax = int64_t{1} << 20;

// Calls visit(piece) for the runs of a pattern in order until it answers false.
template <typename Visit>
void walk(const Pattern& pattern, Visit visit) {
  pattern::Cursor<1> cursor(pattern);
  std::array<Piece<1>, 256> batch;
  for (size_t count = cursor.next_pieces(batch); count > 0; count = cursor.next_pieces(batch)) {
    for (size_t i = 0; i < count; ++i) {
      if (!visit(batch[i])) return;
    }
  }
}

bool begins_in_order(const Pattern& tile) {
  int64_t before = std::numeric_limits<int64_t>::min();
  bool ordered = true;
  walk(tile, [&](const Piece<1>& piece) {
    ordered = piece.at[0] >= before;
    before = piece.at[0];
    return ordered;
  });
  return ordered;
}

// The bytes of the stream before the first one that is not before `end`.
int64_t bytes_before(const Pattern& pattern, int64_t end) {
  int64_t bytes = 0;
  walk(pattern, [&](const Piece<1>& piece) {
    const int64_t inside = std::clamp(end - piece.at[0], int64_t{0}, piece.length);
    bytes += inside;
    return inside == piece.length;
  });
  return bytes;
}

// Reads one step of the move.
move::Transfer read_step(const move::Move& step, port::File& file) {
  const Interval span = step.file.span();
  base::Bytes spanned(base::exact_cast<size_t>(span.length()));
  move::Transfer read = file.read_at(span.begin, spanned);
  const int64_t bytes = bytes_before(step.file, span.begin + read.bytes);
  const move::Move there = step.clip({0, bytes});
  base::Bytes packed(base::exact_cast<size_t>(bytes));
  const auto places = there.file.shifted({{-span.begin}});
  if (!places) return {0, base::failure_of(places)};
  pattern::gather(packed.data(), spanned.data(), *places);
  pattern::scatter(there.base, packed.data(), there.memory);
  return {bytes, std::move(read.status)};
}

}  // namespace

base::Result<OverlappingView> OverlappingView::make(int64_t displacement,
                                                    const pattern::Datatype& filetype,
                                                    int64_t etype_size) {
  if (displacement < 0 || filetype.bytes.span().begin < 0) {
    return base::fail(Code::kInvalid, "view: a byte of the filetype has a negative displacement");
  }
  if (filetype.size() % etype_size != 0) {
    return base::fail(Code::kInvalid, "view: the filetype does not hold whole etypes");
  }
  if (filetype.extent <= 0 || !begins_in_order(filetype.bytes)) {
    return base::fail(Code::kInvalid, "view: the displacements of the filetype must not decrease");
  }
  OverlappingView view;
  view.displacement_ = displacement;
  view.extent_ = filetype.extent;
  view.tile_ = filetype.bytes;
  return view;
}

base::Result<Pattern> OverlappingView::bytes(Interval stream) const {
  if (stream.begin < 0 || stream.end < stream.begin) {
    return base::fail(Code::kInvalid, "view: offsets out of range");
  }
  const int64_t first = stream.begin / tile_.size();
  const int64_t count = base::ceil_div(stream.end, tile_.size()) - first;
  const auto skipped = base::checked_mul(first, extent_);
  const auto begin = skipped ? base::checked_add(*skipped, displacement_) : std::nullopt;
  if (!begin) return base::fail(Code::kInvalid, "view: offsets out of range");
  TESSERA_TRY(const Pattern at, tile_.shifted({{*begin}}));
  TESSERA_TRY(const Pattern tiles, pattern::repeat(at, count, {{extent_}}));
  const int64_t origin = first * tile_.size();
  return tiles.clip({stream.begin - origin, stream.end - origin});
}

base::Result<int64_t> OverlappingView::position(int64_t offset) const {
  TESSERA_TRY(const Pattern byte, bytes({offset, offset + 1}));
  return byte.at()[0];
}

int64_t OverlappingView::offset_of(int64_t position) const {
  if (position <= displacement_) return 0;
  return base::ceil_div(position - displacement_, extent_) * tile_.size();
}

move::Transfer read_overlapping(const move::Move& move, port::File& file) {
  int64_t done = 0;
  while (done < move.size()) {
    move::Move step = move.clip({done, done + kStepMax});
    while (step.file.span().length() > kSpanMax && step.file.runs() > 1) {
      step = step.clip({0, step.size() / 2});
    }
    move::Transfer read = read_step(step, file);
    done += read.bytes;
    if (!read.status) return {done, std::move(read.status)};
    if (read.bytes < step.size()) break;
  }
  return {done, {}};
}

}  // namespace tessera::mpiio
