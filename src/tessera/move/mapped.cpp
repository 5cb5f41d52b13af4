#include <algorithm>
#include <memory>

#include "tessera/base/checked.hpp"
#include "tessera/base/page.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/islands.hpp"
#include "tessera/move/large_pages.hpp"
#include "tessera/move/phase_timer.hpp"
#include "tessera/pattern/copy.hpp"
#include "tessera/port/file_mapping.hpp"

namespace tessera::move {

namespace {

constexpr int64_t kStagingBytes = int64_t{256} << 10;
constexpr int64_t kLineBytes = 64;
// Smaller stretches of the stream are copied before companions could meet in them.
constexpr int64_t kStretchBytesMin = int64_t{32} << 10;

// A mapped transfer under way, a window at a time. Each step answers whether it could be done.
class MappedTransfer {
 public:
  MappedTransfer(const Move& move, port::PlainFile& file, Context& context)
      : move_(move), file_(file), context_(context), mode_(copy_mode(move, context.companions)) {}

  // Moves what it can and answers how many bytes of the stream that was.
  int64_t run();

 private:
  [[nodiscard]] bool reads() const { return move_.direction == Direction::kRead; }
  // Whether space for all of a window may be taken: enough of it is used, by the companions too.
  [[nodiscard]] bool is_filled(const Island& window) const;
  bool extend_file(const Island& window);
  bool is_stored(const Island& window);
  bool move_window(const Island& window);
  [[nodiscard]] int64_t gap_max() const;
  MappingCache::Mapping find_mapping(const Island& window);
  bool move_part(Interval part, const port::FileMapping& mapping);
  [[nodiscard]] int64_t stretches_of(Interval part) const;
  bool move_run(Interval part, const port::FileMapping& mapping);
  bool move_packed(Interval part, const port::FileMapping& mapping);
  bool move_paired(Interval part, const port::FileMapping& mapping);
  bool copy(std::byte* stream, Interval part, const port::FileMapping& mapping);

  const Move& move_;
  port::PlainFile& file_;
  Context& context_;
  const pattern::CopyMode mode_;
  std::unique_ptr<std::byte[]> staging_;
};

bool MappedTransfer::is_filled(const Island& window) const {
  return fills(window.stream.length(), window.file.length(), context_.companions);
}

// Makes the file long enough to be stored to, also where an earlier move has done so, for others
// may have cut it since. Setting its size could cut what another process has written meanwhile;
// reserving and writing only extend. Either is done even where the file is long enough: another
// process that extends it may still be in the system call that does, which clears the page behind
// the old end after the new size can be seen; both wait for it.
bool MappedTransfer::extend_file(const Island& window) {
  const PhaseTimer timer(context_.phases, &Phases::io_ns);
  const auto size = file_.size();
  if (!size) return false;
  const int64_t end = window.file.end;
  // Pages of reserved space are quicker to come by, and a byte that is written makes a small page
  // where a large one could be; but gaps would take space too.
  const int64_t begin = std::min(std::max(*size, window.file.begin), end - 1);
  if (is_filled(window) && file_.reserve_range(begin, end)) return true;
  const int64_t last = move_.memory.position(window.stream.end - 1)[0];
  return static_cast<bool>(file_.write_at(end - 1, {move_.base + last, 1}));
}

// Copies part of the stream between memory, where it lies in one piece, and the mapping.
bool MappedTransfer::copy(std::byte* stream, Interval part, const port::FileMapping& mapping) {
  const Pattern places = move_.file.shifted({{-mapping.begin()}}).value();
  return mapping.touch([this, stream, part, &places, &mapping] {
    if (reads()) {
      pattern::gather(stream, mapping.data(), places, part, mode_);
    } else {
      pattern::scatter(mapping.data(), stream, places, part, mode_);
    }
  });
}

bool MappedTransfer::move_packed(Interval part, const port::FileMapping& mapping) {
  if (!staging_) {
    staging_ = std::make_unique_for_overwrite<std::byte[]>(
        base::exact_cast<size_t>(std::min(move_.size(), kStagingBytes)));
  }
  constexpr auto kCached = pattern::CopyMode::kCached;
  for (int64_t at = part.begin; at < part.end; at += kStagingBytes) {
    const Interval piece = {at, std::min(part.end, at + kStagingBytes)};
    if (!reads()) pattern::gather(staging_.get(), move_.base, move_.memory, piece, kCached);
    if (!copy(staging_.get(), piece, mapping)) return false;
    if (reads()) pattern::scatter(move_.base, staging_.get(), move_.memory, piece, kCached);
  }
  return true;
}

// Copies part of the stream run by run.
bool MappedTransfer::move_paired(Interval part, const port::FileMapping& mapping) {
  const Move piece = move_.clip(part);
  return mapping.touch([this, &piece, &mapping] {
    if (reads()) {
      copy_from_buffer(piece, mapping.data(), mapping.begin());
    } else {
      copy_to_buffer(piece, mapping.data(), mapping.begin());
    }
  });
}

bool MappedTransfer::move_part(Interval part, const port::FileMapping& mapping) {
  if (!move_.memory_is_run()) {
    return has_long_runs(move_) ? move_paired(part, mapping) : move_packed(part, mapping);
  }
  return move_run(part, mapping);
}

// How many stretches the part is copied in, if its runs are shorter than a cache line and stored
// between those of others: one for each core.
int64_t MappedTransfer::stretches_of(Interval part) const {
  const bool short_runs = move_.size() / move_.file.runs() < kLineBytes;
  if (reads() || !short_runs) return 1;
  const int64_t cores = cores_for(context_.companions);
  return std::clamp(part.length() / kStretchBytesMin, int64_t{1}, cores);
}

// Copies a part that is one run in memory. Cores in the same stretch would take every line out of
// each other's caches, so each begins in another.
bool MappedTransfer::move_run(Interval part, const port::FileMapping& mapping) {
  std::byte* const stream = move_.base + move_.memory.at()[0];
  const int64_t cores = cores_for(context_.companions);
  const int64_t stretches = stretches_of(part);
  int64_t index = context_.place % cores * stretches / cores;
  for (int64_t i = 0; i < stretches; ++i, index = (index + 1) % stretches) {
    const Interval stretch = {part.begin + part.length() * index / stretches,
                              part.begin + part.length() * (index + 1) / stretches};
    if (!copy(stream + stretch.begin, stretch, mapping)) return false;
  }
  return true;
}

// Whether what was stored is in the file: if others have cut it meanwhile, what lies behind its end
// in its last page was stored nowhere, without a fault.
bool MappedTransfer::is_stored(const Island& window) {
  const auto size = file_.size();
  return size && *size >= window.file.end;
}

bool MappedTransfer::move_window(const Island& window) {
  if (!reads() && !extend_file(window)) return false;
  {
    const PhaseTimer timer(context_.phases, &Phases::copy_ns);
    MappingCache::Mapping mapping = find_mapping(window);
    if (!mapping || !move_part(window.stream, *mapping)) return false;
    if (context_.experience != nullptr) context_.experience->mapping.keep(std::move(mapping));
  }
  return reads() || is_stored(window);
}

// The one that an earlier move has left, or a new one; null if there is none to be had.
MappingCache::Mapping MappedTransfer::find_mapping(const Island& window) {
  const Interval part = large_pages_around(window.file);
  if (context_.experience != nullptr) {
    if (auto kept = context_.experience->mapping.take(part, move_.direction)) return kept;
  }
  auto made = port::FileMapping::map(file_, part.begin, part.end, access_for(move_.direction));
  if (!made) return nullptr;
  if (!reads() && is_filled(window)) made->prefer_large_pages();
  return std::make_shared<const port::FileMapping>(*std::move(made));
}

// Where a mapping of all of it is kept, no gap is too wide.
int64_t MappedTransfer::gap_max() const {
  if (context_.experience == nullptr) return kMappedGapMax;
  const Interval span = move_.file.span();
  const bool kept = context_.experience->mapping.holds(large_pages_around(span), move_.direction);
  return kept ? span.length() : kMappedGapMax;
}

int64_t MappedTransfer::run() {
  int64_t done = 0;
  IslandWalk walk(move_.file, {gap_max(), kMappedWindowBytes});
  for (Island window; walk.next(window) && move_window(window);) done = window.stream.end;
  return done;
}

// The part of a move that is made through a mapping: reads end at the end of the file. So does a
// write that makes a file longer, at its last whole page: a file that ends inside a page has that
// page in memory, small, and no large page can be made around it. What follows is written.
Move in_mapping(const Move& move, Context& context) {
  const auto size = context.file.size();
  const pattern::Interval span = move.file.span();
  if (move.direction == Direction::kRead) {
    return move.clip({0, size ? move.file.offset_of(*size) : 0});
  }
  const int64_t whole_end = span.end / base::kPageBytes * base::kPageBytes;
  const bool lengthens = size && *size < span.end && span.begin < whole_end;
  if (!lengthens || !fills(move.size(), span.length(), context.companions)) return move;
  return move.clip({0, move.file.offset_of(whole_end)});
}

}  // namespace

bool can_map(const port::File& file) {
  const auto* plain = dynamic_cast<const port::PlainFile*>(&file);
  return plain != nullptr && plain->may_map();
}

bool wants_mapping(const Hints& hints) {
  return hints.engine != EngineHint::kList && hints.engine != EngineHint::kDirect;
}

bool is_local(const port::File& file) {
  const auto* plain = dynamic_cast<const port::PlainFile*>(&file);
  return plain != nullptr && plain->is_local();
}

Transfer execute_mapped(const Move& move, Context& context) {
  auto& file = dynamic_cast<port::PlainFile&>(context.file);
  const Move there = in_mapping(move, context);
  const int64_t done = there.size() > 0 ? MappedTransfer(there, file, context).run() : 0;
  if (done == move.size()) return {done, {}};
  // System calls find the end of the file, or the reason why a page could not be had; and what was
  // stored behind the end of a file that others have cut is written again.
  Transfer rest = execute_list(move.clip({done, move.size()}), context);
  return {done + rest.bytes, std::move(rest.status)};
}

}  // namespace tessera::move
