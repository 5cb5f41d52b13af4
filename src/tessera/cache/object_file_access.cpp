// Writing and reading object files.
#include <algorithm>
#include <cerrno>

#include "tessera/base/checked.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/cache/packed_write.hpp"
#include "tessera/cache/place_reader.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/port/size_limit.hpp"
#include "tessera/port/yield.hpp"

namespace tessera::cache {

namespace {

using base::Result;
using move::Move;
using pattern::ByteSet;
using pattern::Pattern;
using port::Transfer;

constexpr int64_t kChunkBytesMax = int64_t{64} << 20;
// Of bytes that leave dead ones behind, between two commits; of a larger file as many as it has.
constexpr int64_t kMigratedBytesMax = int64_t{64} << 20;
// A limit of file sizes has room for so many chunks of each rank, so that little of it is lost in
// chunks that are not filled.
constexpr int64_t kLimitedChunks = 16;
// How often a rank looks whether another one has reserved room.
constexpr int kTurnLooksMax = 10'000;

}  // namespace

uint64_t ObjectFile::epoch(uint64_t stamp) const {
  return stamp * kEpochsPerStamp + static_cast<uint64_t>(ranks_.exchange.rank());
}

// Takes at least so much space that the bytes fit.
Result<void> ObjectFile::take_space(int64_t bytes) {
  const int64_t chunk_max = port::size_limit() / (kLimitedChunks * ranks_.exchange.size());
  const int64_t wanted = state_.with([&](State& state) {
    const int64_t chunk = std::max(bytes, std::min(state.chunk_bytes, chunk_max));
    state.chunk_bytes = std::min(2 * state.chunk_bytes, kChunkBytesMax);
    return base::ceil_div(chunk, block_bytes_);
  });
  TESSERA_TRY(const int64_t first, ranks_.numbers.space.fetch_add(wanted));
  return state_.with([&](State& state) -> Result<void> {
    TESSERA_TRY(const auto pieces,
                state.space.physical_blocks({first, first + wanted}, block_bytes_));
    int64_t block = first;
    for (const Interval& piece : pieces) {
      const map::AllocationId id = state.first_id + block;
      state.regions.add_room(id, piece);
      state.begins[id] = piece.begin;
      block += piece.length() / block_bytes_;
    }
    return {};
  });
}

// A commit writes whole blocks, and the contents. What a limit of file sizes (ulimit -f) refuses of
// them is refused before: the write that needs it fails, and no commit of others.
Result<void> ObjectFile::check_limit(int64_t end) {
  if (end <= allowed_end_.load(std::memory_order_relaxed)) return {};
  const int64_t limit = port::size_limit();
  if (end <= limit) {
    allowed_end_.store(end, std::memory_order_relaxed);
    return {};
  }
  const port::File& file = options_.below != nullptr ? *options_.below : file_;
  return base::fail_errno(EFBIG, "write to " + file.path() + " below the limit of file sizes, " +
                                     std::to_string(limit) + " bytes");
}

Result<void> ObjectFile::reserve(Interval room) {
  TESSERA_TRY_VOID(check_limit(room.end));
  Result<void> reserved = file_.reserve_range(room.begin, room.end);
  if (reserved || reserved.error().errno_value != EOPNOTSUPP) return reserved;
  const base::Bytes zeros(base::exact_cast<size_t>(room.length()));
  return file_.write_at(room.begin, zeros).status;
}

// Whether room for contents of so many bytes is reserved; where it is, all know at the commit.
Result<bool> ObjectFile::has_room(int64_t need) const {
  TESSERA_TRY(const int64_t reserved, ranks_.numbers.room.load());
  return need <= reserved;
}

// Room for all that was counted in so far, also by those who wait for it.
Result<void> ObjectFile::reserve_room() {
  TESSERA_TRY(const int64_t counted, ranks_.numbers.contents.load());
  const ContentsRoom kept = state_.with([](const State& state) { return state.contents_room; });
  Interval room = kept.room();
  if (!kept.fits(kept.need(counted))) {
    TESSERA_TRY(room, take_whole_space(2 * kept.need(counted)));
  }
  TESSERA_TRY_VOID(reserve(room));
  TESSERA_TRY_VOID(state_.with([&](State& state) {
    state.contents_room.take(room);
    Change change;
    change.kind = Change::Kind::kRoom;
    change.places = room;
    return tell(state, change);
  }));
  return ranks_.numbers.room.store(room.length());
}

// One rank at a time reserves room, for those who wait as well, so that not each takes a place of
// its own. Whoever waits in vain, since the one that reserves was stopped, does without that: two
// places are as good as one.
Result<void> ObjectFile::keep_room(int64_t counted_bytes) {
  const int64_t need =
      state_.with([&](const State& state) { return state.contents_room.need(counted_bytes); });
  port::SharedNumber& turn = ranks_.numbers.turn;
  for (int look = 0;; ++look) {
    TESSERA_TRY(const bool reserved, has_room(need));
    if (reserved) return {};
    const bool waits = look < kTurnLooksMax;
    TESSERA_TRY(const int64_t before, turn.fetch_add(waits ? 1 : 0));
    if (before == 0 || !waits) {
      Result<void> made = reserve_room();
      if (waits) TESSERA_TRY_VOID(turn.store(0));
      return made;
    }
    port::yield();
  }
}

// Before bytes are written that add so many to the contents. What it holds is released later.
Result<void> ObjectFile::hold_contents(int64_t added_bytes) {
  const int64_t more =
      state_.with([&](State& state) { return state.contents_room.hold(added_bytes); });
  if (more == 0) return {};
  const auto before = ranks_.numbers.contents.fetch_add(more);
  Result<void> kept = before ? keep_room(*before + more) : Result<void>(base::failure_of(before));
  if (kept) {
    state_.with([&](State& state) { state.contents_room.count_in(more); });
    return {};
  }
  release_contents(added_bytes);
  if (before) static_cast<void>(ranks_.numbers.contents.fetch_add(-more));
  return kept;
}

void ObjectFile::release_contents(int64_t added_bytes) {
  state_.with([&](State& state) { state.contents_room.release(added_bytes); });
}

// In space that is there, or in new space; in one run if it can be.
Result<std::vector<Extent>> ObjectFile::take_places(int64_t bytes) {
  const auto again = state_.with([&](State& state) { return state.regions.take_again(bytes); });
  if (again) return std::vector{*again};
  // Other threads take places meanwhile.
  for (;;) {
    auto taken = state_.with([&](State& state) -> std::optional<std::vector<Extent>> {
      if (state.regions.room() < bytes) return std::nullopt;
      return state.regions.take(bytes);
    });
    if (taken) return *std::move(taken);
    TESSERA_TRY_VOID(take_space(bytes));
  }
}

// Whether the places lie below the limit of file sizes; of a cache the move does, in the file.
Result<void> ObjectFile::check_limit(const Move& move, const Placed& placed) {
  if (options_.below != nullptr) return check_limit(move.file.span().end);
  int64_t end = 0;
  for (const Extent& extent : placed.extents) {
    end = std::max(end, extent.position() + extent.bytes);
  }
  return check_limit(base::ceil_div(end, block_bytes_) * block_bytes_);
}

Result<ObjectFile::Placed> ObjectFile::place(const Move& move) {
  Placed placed;
  if (move.size() == 0) return placed;
  if (options_.below == nullptr) {
    placed.contents_bytes =
        ContentsRoom::added_at_most(move.file, base::ceil_div(move.size(), block_bytes_));
    TESSERA_TRY_VOID(hold_contents(placed.contents_bytes));
  }
  auto taken = take_places(move.size());
  if (!taken) {
    release_contents(placed.contents_bytes);
    return base::failure_of(taken);
  }
  placed.extents = *std::move(taken);
  const Result<void> fits = check_limit(move, placed);
  if (fits) return placed;
  give_back(placed);
  return base::failure_of(fits);
}

void ObjectFile::give_back(const Placed& placed) {
  give_back_space(placed.extents);
  release_contents(placed.contents_bytes);
}

void ObjectFile::give_back_space(std::span<const Extent> extents) {
  for (const Extent& extent : extents) {
    if (ranks_.free_space) {
      ranks_.free_space({extent.position(), extent.position() + extent.bytes});
    }
    state_.with([&](State& state) { state.regions.give_back(extent); });
  }
}

Result<void> ObjectFile::tell(State& state, const Change& change) {
  return tell(state, encode_change(change));
}

// What other ranks cannot be told of now they hear when they meet; in atomic mode that is an error.
// Behind one that is told later, all are (N3).
Result<void> ObjectFile::tell(State& state, base::Bytes record) {
  Result<bool> told = ranks_.exchange.size() == 1;
  if (state.news && state.untold.empty()) told = state.news->tell(record);
  if (told && *told) return {};
  state.untold.push_back(std::move(record));
  if (!told) return base::failure_of(told);
  if (!coherent_) return {};
  return base::fail(base::Code::kFailed,
                    file_.path() +
                        ": too many writes in atomic mode since the last "
                        "MPI_File_sync for other ranks to hear of them; call it");
}

Result<void> ObjectFile::map_extent(State& state, const Extent& extent,
                                    const std::vector<BlockSum>& sums, const Change& change,
                                    int64_t record_bytes) {
  TESSERA_TRY_VOID(state.contents.map.add(change.mapping));
  state.regions.note_written(extent, sums);
  state.contents_room.use(
      ContentsRoom::added(record_bytes, base::ceil_div(extent.bytes, block_bytes_)));
  state.contents.size = std::max(state.contents.size, change.mapping.bytes.span().end);
  state.changed = true;
  state.counts.appended_bytes += extent.bytes;
  return {};
}

// Under locks, what a write of this rank hides of its own earlier ones nobody needs any more:
// whoever reads these bytes has their lock before or after it. So who writes the same bytes over
// and over does not fill the disk.
std::vector<Extent> ObjectFile::find_own(State& state, const ByteSet& bytes) const {
  std::vector<Extent> own;
  const auto found = state.contents.map.find(bytes);
  if (!found) return own;
  for (const map::Part& part : found->parts) {
    if (!state.regions.holds(part.allocation) || part.places.runs() != 1) continue;
    own.push_back({part.allocation, part.places.at()[0], part.places.size(),
                   state.begins.at(part.allocation)});
  }
  return own;
}

void ObjectFile::give_back_hidden(State& state, const Extent& by, const ByteSet& bytes,
                                  const std::vector<Extent>& own) {
  // A write that came late hides nothing.
  const auto shown = state.contents.map.find_whole(bytes, by.allocation);
  if (!shown || shown->allocation != by.allocation || shown->places.at()[0] != by.place) return;
  for (const Extent& extent : own) state.regions.give_back(extent);
}

// Here bytes that were written become part of the file.
Transfer ObjectFile::publish(State& state, const Move& move, const Written& written,
                             const WriteTerms& terms) {
  // Whatever was told before this write is older than it, unless its lock was lost meanwhile.
  if (Result<void> heard = hear(state); !heard) return {0, std::move(heard)};
  leave_shelves(state);
  const uint64_t epoch = this->epoch(written.stamp.value_or(state.stamp));
  int64_t done = 0;
  for (size_t i = 0; i < written.extents.size(); ++i) {
    const Extent& extent = written.extents[i];
    Change change;
    change.mapping = {ByteSet::of_ascending(move.file.clip({done, done + extent.bytes})),
                      extent.allocation, extent.place, epoch};
    change.allocation_begin = extent.begin;
    base::Bytes record = encode_change(change);
    const auto own = terms.confirm ? find_own(state, change.mapping.bytes) : std::vector<Extent>();
    // As late as can be: what is told after the lock was lost cannot be taken back.
    if (terms.confirm) {
      if (Result<void> held = terms.confirm(); !held) return {done, std::move(held)};
    }
    Result<void> mapped = map_extent(state, extent, written.sums[i], change, std::ssize(record));
    if (!mapped) return {done, std::move(mapped)};
    give_back_hidden(state, extent, change.mapping.bytes, own);
    done += extent.bytes;
    if (Result<void> told = tell(state, std::move(record)); !told) return {done, std::move(told)};
  }
  return {done, {}};
}

Result<void> ObjectFile::write_bytes(const Move& move, Written& written) {
  // Every container is synced, at its close if not before; the store of a cache never is.
  const auto write_back = options_.below == nullptr ? WriteBack::kAtOnce : WriteBack::kLater;
  int64_t done = 0;
  for (const Extent& extent : written.extents) {
    const Move part = move.clip({done, done + extent.bytes});
    TESSERA_TRY_VOID(write_packed(file_, part, extent.position(), block_bytes_, write_back,
                                  written.sums.emplace_back())
                         .status);
    done += extent.bytes;
  }
  return {};
}

// Under a lock that can be taken away: a stamp that was taken while it was surely held yet, so that
// whoever is granted the lock next takes a larger one (N4).
Result<std::optional<uint64_t>> ObjectFile::take_stamp(const WriteTerms& terms) {
  if (!terms.confirm) return std::optional<uint64_t>();
  const auto stamp = state_.with([&](State& state) -> Result<uint64_t> {
    TESSERA_TRY_VOID(hear(state));
    if (!state.news) return state.stamp;
    TESSERA_TRY(state.stamp, state.news->take_stamp(state.stamp));
    return state.stamp;
  });
  if (!stamp) return base::failure_of(stamp);
  TESSERA_TRY_VOID(terms.confirm());
  return std::optional(*stamp);
}

Transfer ObjectFile::write_anew(const Move& move, const Placed& placed, const WriteTerms& terms) {
  const auto stamp = take_stamp(terms);
  Result<void> made = stamp ? Result<void>() : Result<void>(base::failure_of(stamp));
  Written written = {placed.extents, {}, stamp ? *stamp : std::nullopt};
  if (made) made = write_bytes(move, written);
  Transfer published = {0, std::move(made)};
  if (published) {
    published = state_.with([&](State& state) { return publish(state, move, written, terms); });
  }
  // What was published is used now, and needs to be held no longer.
  release_contents(placed.contents_bytes);
  if (published) return published;
  std::vector<Extent> rest;
  int64_t done = 0;
  for (const Extent& extent : placed.extents) {
    if (done >= published.bytes) rest.push_back(extent);
    done += extent.bytes;
  }
  give_back_space(rest);
  return published;
}

// What can be refused has to be written where nobody looks yet, so not in its place.
Transfer ObjectFile::write(const Move& move, const WriteTerms& terms) {
  if (move.size() == 0) return {0, {}};
  if (terms.placed != nullptr) return write_anew(move, *terms.placed, terms);
  if (!terms.confirm) {
    const auto shelves = state_.with([&](State& state) { return find_shelves(state, move); });
    if (!shelves) return {0, base::failure_of(shelves)};
    if (!shelves->empty()) return write_to_shelves(*shelves, move);
    auto rewrites = state_.with([&](State& state) { return find_rewrites(state, move); });
    if (!rewrites) return {0, base::failure_of(rewrites)};
    if (!rewrites->empty()) return rewrite(*rewrites, move.size());
  }
  const auto placed = place(move);
  if (!placed) return {0, base::failure_of(placed)};
  return write_anew(move, *placed, terms);
}

// Where all bytes of the move were written since the last commit: in ascending places, so that they
// can be written as lists. Nothing if that is not so, or if they shall go to their new writer.
Result<std::vector<ObjectFile::Rewrite>> ObjectFile::find_rewrites(State& state, const Move& move) {
  std::vector<Rewrite> rewrites;
  if (state.begins.empty() || !state.rewrites) return rewrites;
  TESSERA_TRY_VOID(hear(state));
  TESSERA_TRY(const map::Found found, state.contents.map.find(ByteSet::of_ascending(move.file)));
  if (!found.missing.empty()) return rewrites;
  for (const map::Part& part : found.parts) {
    const auto begin = state.begins.find(part.allocation);
    if (begin == state.begins.end() || !part.places.ascending()) return std::vector<Rewrite>();
    Rewrite one = {part.allocation, part.places.span(), {}};
    TESSERA_TRY(Pattern positions, part.places.shifted({{begin->second}}));
    TESSERA_TRY(one.move, select_part(move, part.bytes, std::move(positions)));
    rewrites.push_back(std::move(one));
  }
  if (!migrates(state, rewrites, move)) return rewrites;
  state.migrated_bytes += move.size();
  state.counts.migrated_bytes += move.size();
  return std::vector<Rewrite>();
}

// Whether bytes that could be written in their place go to new space of this rank instead.
bool ObjectFile::migrates(State& state, const std::vector<Rewrite>& rewrites,
                          const Move& move) const {
  const bool mine = std::all_of(rewrites.begin(), rewrites.end(), [&](const Rewrite& one) {
    return state.regions.holds(one.allocation);
  });
  if (options_.shared_writes != owner::SharedWrites::kAutomatic) {
    return options_.shared_writes == owner::SharedWrites::kMigrate && !mine;
  }
  const int64_t limit = std::max(kMigratedBytesMax, state.contents.size);
  if (state.migrated_bytes + move.size() > limit) return false;
  static const move::Costs costs;
  move::FileFacts facts;
  facts.mappable = move::can_map(file_);
  owner::Rewriting rewriting;
  rewriting.bytes = move.size();
  for (const Rewrite& one : rewrites) {
    const double ns = price_independent(one.move, costs, facts, false).ns;
    const bool together = one.move.file.runs() == 1;
    rewriting.in_place_ns += ns;
    rewriting.in_new_space_ns +=
        together ? ns : static_cast<double>(one.move.size()) * costs.write_byte_ns;
    if (!together) rewriting.hashed_again_bytes += one.places.length();
  }
  return state.choice.migrates(rewriting);
}

Result<void> ObjectFile::note_rewrite(State& state, const Rewrite& rewrite) {
  state.regions.note_rewritten(rewrite.allocation, rewrite.places);
  if (state.regions.holds(rewrite.allocation)) return {};
  Change change;
  change.kind = Change::Kind::kRewrite;
  change.mapping.allocation = rewrite.allocation;
  change.places = rewrite.places;
  return tell(state, change);
}

// Noted before bytes change: a transfer that fails may have changed some all the same, and their
// blocks no longer have the checksums that were known.
Transfer ObjectFile::rewrite(const std::vector<Rewrite>& rewrites, int64_t bytes) {
  Result<void> noted = state_.with([&](State& state) -> Result<void> {
    state.changed = true;
    state.counts.rewritten_bytes += bytes;
    for (const Rewrite& one : rewrites) TESSERA_TRY_VOID(note_rewrite(state, one));
    return {};
  });
  if (!noted) return {0, std::move(noted)};
  for (const Rewrite& one : rewrites) {
    Transfer written = execute_on(file_, one.move);
    if (!written) return {0, std::move(written.status)};
  }
  return {bytes, {}};
}

Result<void> ObjectFile::add_fetch(State& state, const Move& move, const map::Part& part,
                                   Search& search) const {
  Fetch fetch;
  TESSERA_TRY(fetch.move, select_part(move, part.bytes, part.places));
  const auto begin = state.begins.find(part.allocation);
  if (begin != state.begins.end()) {
    fetch.unchecked.id = part.allocation;
    fetch.unchecked.place = {begin->second, begin->second + part.places.span().end};
  } else {
    const auto& all = *state.committed;
    const auto at = std::lower_bound(all.begin(), all.end(), part.allocation,
                                     [](const container::Allocation& allocation,
                                        map::AllocationId id) { return allocation.id < id; });
    TESSERA_ASSERT(at != all.end() && at->id == part.allocation);
    fetch.keeps = state.committed;
    fetch.allocation = &*at;
  }
  search.fetches.push_back(std::move(fetch));
  return {};
}

// From one place, if there is one that has all of them. The map of a file that is only read does
// not change, so whoever reads the same bytes again need not search again.
Result<map::Found> ObjectFile::find(State& state, const ByteSet& request) const {
  const Pattern& bytes = request.ascending();
  const bool again = state.last && state.last->request.at() == bytes.at() &&
                     pattern::same_shape(state.last->request.shape(), bytes.shape());
  if (again) return state.last->found;
  map::Found found;
  if (const auto one = state.contents.map.find_whole(request, 0)) {
    found.parts.push_back(*one);
  } else {
    TESSERA_TRY(found, state.contents.map.find(request));
  }
  if (!options_.write) state.last.emplace(Searched{bytes, found});
  return found;
}

// Under the state's mutex: which bytes are where. Nothing is read.
Result<ObjectFile::Search> ObjectFile::search(State& state, const Move& whole) {
  TESSERA_TRY_VOID(hear(state));
  Search search;
  search.bytes = whole.file.offset_of(state.contents.size);
  const Move move = search.bytes == whole.size() ? whole : whole.clip({0, search.bytes});
  if (move.size() == 0) return search;
  const ByteSet request = ByteSet::of_ascending(move.file);
  ++state.counts.reads;
  TESSERA_TRY(const map::Found found, find(state, request));
  state.counts.parts_read += std::ssize(found.parts);
  for (const map::Part& part : found.parts) {
    TESSERA_TRY_VOID(add_fetch(state, move, part, search));
  }
  if (!found.missing.empty()) {
    TESSERA_TRY(search.missing, select_part(move, found.missing, found.missing.ascending()));
  }
  return search;
}

// Bytes that nobody has written are those of the file below, as far as it goes, and else zeros.
Result<void> ObjectFile::read_missing(const Move& missing) const {
  int64_t done = 0;
  if (options_.below != nullptr) {
    const Transfer read = execute_on(*options_.below, missing);
    TESSERA_TRY_VOID(read.status);
    done = read.bytes;
  }
  fill_with_zeros(missing.base, missing.memory.clip({done, missing.size()}));
  return {};
}

Result<void> ObjectFile::read_committed(const Fetch& fetch) {
  PlaceSettings settings = {block_bytes_, options_.verify, !move::is_local(file_)};
  if (ranks_.team != nullptr) settings.companions = ranks_.team->size();
  // Of bytes that lie scattered a mapping would be mostly of others.
  const bool dense = 2 * fetch.move.size() >= fetch.move.file.span().length();
  if (dense && !settings.remote) settings.experience = &experience_;
  return read_places(file_, *fetch.allocation, fetch.move, settings);
}

Transfer ObjectFile::read(const Move& move) {
  auto found = state_.with([&](State& state) { return search(state, move); });
  if (!found) return {0, base::failure_of(found)};
  if (found->missing) {
    Result<void> read = read_missing(*found->missing);
    if (!read) return {0, std::move(read)};
  }
  for (const Fetch& one : found->fetches) {
    const bool committed = one.allocation != nullptr;
    Result<void> read = committed
                            ? read_committed(one)
                            : read_places(file_, one.unchecked, one.move, {block_bytes_, false});
    if (!read) return {0, std::move(read)};
  }
  return {found->bytes, {}};
}

}  // namespace tessera::cache
