// New object files whose layout is known before anything is written.
#include <algorithm>

#include "tessera/base/checked.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/cache/place_reader.hpp"
#include "tessera/pattern/join.hpp"

namespace tessera::cache {

namespace {

using base::Result;
using move::Move;
using pattern::ByteSet;
using port::Transfer;

}  // namespace

// Space behind everything, so that bytes nobody writes are zeros: shelf after shelf.
Result<int64_t> ObjectFile::take_shelf_space(const std::vector<Shelf>& shelves) {
  int64_t blocks = 0;
  for (const Shelf& shelf : shelves) blocks += base::ceil_div(shelf.bytes.size(), block_bytes_);
  TESSERA_TRY(const int64_t first, ranks_.numbers.space.fetch_add(blocks));
  TESSERA_TRY(const auto pieces, state_.with([&](const State& state) {
    return state.space.physical_blocks({first, first + blocks}, block_bytes_);
  }));
  if (pieces.size() > 1) {
    return base::fail(base::Code::kInvalid,
                      "the layout of " + file_.path() + " can only be given when the file is new");
  }
  if (pieces.size() == 1) TESSERA_TRY_VOID(file_.truncate(pieces.front().end));
  return first;
}

void ObjectFile::place_shelves(State& state, std::vector<Shelf> shelves, int64_t first) {
  const int ranks = ranks_.exchange.size();
  int64_t block = first;
  for (size_t i = 0; i < shelves.size(); ++i) {
    const int64_t blocks = base::ceil_div(shelves[i].bytes.size(), block_bytes_);
    if (blocks == 0) continue;
    const map::AllocationId id = state.first_id + block;
    const Interval space =
        state.space.physical({block * block_bytes_, (block + blocks) * block_bytes_}).front();
    state.begins[id] = space.begin;
    if (static_cast<int>(i) % ranks == ranks_.exchange.rank()) {
      state.regions.add_filled(id, space, shelves[i].bytes.size(), shelves[i].manager);
    }
    state.shelves.push_back({std::move(shelves[i].bytes), id});
    block += blocks;
  }
}

Result<void> ObjectFile::lay_out(std::vector<Shelf> shelves, map::FileMap map) {
  Result<int64_t> taken = int64_t{0};
  if (ranks_.exchange.rank() == 0) taken = take_shelf_space(shelves);
  TESSERA_TRY_VOID(
      ranks_.exchange.agree(taken ? Result<void>() : Result<void>(base::failure_of(taken))));
  TESSERA_TRY(const uint64_t first, ranks_.exchange.all_max(static_cast<uint64_t>(*taken)));
  int64_t contents_bytes = 0;
  Result<void> placed = state_.with([&](State& state) -> Result<void> {
    std::vector<map::AllocationId> ids;
    map::AllocationId id = state.first_id + static_cast<int64_t>(first);
    for (const Shelf& shelf : shelves) {
      const int64_t blocks = base::ceil_div(shelf.bytes.size(), block_bytes_);
      ids.push_back(id);
      id += blocks;
      contents_bytes += ContentsRoom::added_at_most(shelf.bytes.ascending(), blocks);
    }
    map.renumber([&](map::AllocationId old) { return ids[static_cast<size_t>(old)]; });
    place_shelves(state, std::move(shelves), static_cast<int64_t>(first));
    return state.contents.map.add_all(map);
  });
  if (placed && ranks_.exchange.rank() == 0) placed = hold_contents(contents_bytes);
  return ranks_.exchange.agree(placed);
}

// From now on the map alone says where bytes are, and each write changes it: a byte that was mapped
// anew must not be written to its shelf, nor one that has copies to one of its places only.
void ObjectFile::leave_shelves(State& state) {
  if (state.shelves.empty()) return;
  state.shelves.clear();
  state.rewrites = false;
}

// The parts of the move that shelves hold; nothing unless they hold all of it.
Result<std::vector<Move>> ObjectFile::find_shelves(State& state, const Move& move) {
  std::vector<Move> parts;
  if (state.shelves.empty()) return parts;
  TESSERA_TRY_VOID(hear(state));
  if (state.shelves.empty() || !state.rewrites) return parts;
  ByteSet rest = ByteSet::of_ascending(move.file);
  const ByteSet all = rest;
  for (const Placement& shelf : state.shelves) {
    TESSERA_TRY(const ByteSet bytes, pattern::intersect(all, shelf.bytes));
    if (bytes.empty()) continue;
    TESSERA_TRY(const ByteSet places, pattern::locate(shelf.bytes.ascending(), bytes));
    TESSERA_TRY(auto positions, places.ascending().shifted({{state.begins.at(shelf.allocation)}}));
    TESSERA_TRY(Move part, select_part(move, bytes, std::move(positions)));
    parts.push_back(std::move(part));
    TESSERA_TRY(rest, pattern::subtract(rest, bytes));
  }
  if (!rest.empty()) parts.clear();
  return parts;
}

Transfer ObjectFile::write_to_shelves(const std::vector<Move>& parts, const Move& move) {
  for (const Move& part : parts) {
    Transfer written = execute_on(file_, part);
    if (!written) return {0, std::move(written.status)};
  }
  Result<void> told = state_.with([&](State& state) -> Result<void> {
    state.changed = true;
    state.counts.appended_bytes += move.size();
    const int64_t end = move.file.span().end;
    if (end <= state.contents.size) return {};
    state.contents.size = end;
    Change change;
    change.kind = Change::Kind::kGrow;
    change.size = end;
    return tell(state, change);
  });
  return {told ? move.size() : 0, std::move(told)};
}

}  // namespace tessera::cache
