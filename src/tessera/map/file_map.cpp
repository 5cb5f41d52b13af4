#include "tessera/map/file_map.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/map/chains.hpp"
#include "tessera/map/set_union.hpp"
#include "tessera/pattern/assembler.hpp"
#include "tessera/pattern/cursor.hpp"
#include "tessera/pattern/join.hpp"
#include "tessera/pattern/line.hpp"

namespace tessera::map {

using base::Code;
using base::fail;
using base::Result;
using pattern::Budget;
using pattern::ByteSet;
using pattern::Interval;
using pattern::Join;
using pattern::Pattern;

namespace {

Result<Piece> piece_of(const Mapping& mapping, Budget budget) {
  const Interval span = mapping.bytes.span();
  if (span.begin < 0 || span.end > pattern::kMaxLine || mapping.place < 0) {
    return fail(Code::kInvalid,
                "a mapping of bytes [" + std::to_string(span.begin) + ", " +
                    std::to_string(span.end) + ") at place " + std::to_string(mapping.place) +
                    " leaves a file or an allocation, which end just below 2^62 bytes");
  }
  TESSERA_TRY(const Pattern places, Pattern::run({{mapping.place}}, mapping.bytes.size()));
  const Pattern& bytes = mapping.bytes.ascending();
  if (bytes.shape().is_run()) {
    return Piece{mapping.allocation, mapping.epoch,
                 Join({{bytes.at()[0], mapping.place}}, {bytes.size(), nullptr})};
  }
  TESSERA_TRY(Join pairs, join(bytes, places, budget));
  return Piece{mapping.allocation, mapping.epoch, std::move(pairs)};
}

int64_t size_of(const std::vector<Piece>& pieces) {
  int64_t size = 0;
  for (const Piece& piece : pieces) size += piece.pairs.size();
  return size;
}

// Two streams that are assembled side by side.
class PartMaker {
 public:
  void append(const Piece& piece) {
    const Join& pairs = piece.pairs;
    if (pairs.shape().is_run()) return append_run(pairs.at(), pairs.size());
    bytes_.append(side(pairs, 0));
    places_.append(side(pairs, 1));
  }
  void append_run(const pattern::Point<2>& at, int64_t length) {
    bytes_.append_run({{at[0]}}, length);
    places_.append_run({{at[1]}}, length);
  }
  Result<Part> finish(AllocationId allocation) {
    TESSERA_TRY(Pattern bytes, bytes_.finish());
    TESSERA_TRY(Pattern places, places_.finish());
    return Part{allocation, ByteSet::of_ascending(std::move(bytes)), std::move(places)};
  }

 private:
  pattern::Assembler<1> bytes_;
  pattern::Assembler<1> places_;
};

Part part_of(const Piece& piece) {
  return {piece.allocation, bytes_of(piece), side(piece.pairs, 1)};
}

// A part for every chain of pieces, which are sorted by first byte.
Result<std::vector<Part>> parts_of(std::span<const Piece> pieces) {
  std::vector<Part> parts;
  if (pieces.size() == 1) {
    parts.push_back(part_of(pieces.front()));
    return parts;
  }
  for (const Chain& chain : chains_of(pieces)) {
    PartMaker maker;
    for (const size_t i : chain.pieces) maker.append(pieces[i]);
    TESSERA_TRY(Part part, maker.finish(chain.allocation));
    parts.push_back(std::move(part));
  }
  return parts;
}

// One part of pieces that interleave: their runs are sorted.
Result<Part> sorted_part(std::span<const Piece> pieces, Budget budget) {
  std::vector<pattern::Piece<2>> runs;
  for (const Piece& piece : pieces) {
    if (piece.pairs.runs() > budget.max_runs - static_cast<int64_t>(runs.size())) {
      return fail(Code::kTooComplex, "mappings of too many runs interleave");
    }
    const std::vector<pattern::Piece<2>> some = expand(piece.pairs);
    runs.insert(runs.end(), some.begin(), some.end());
  }
  std::sort(runs.begin(), runs.end(), [](const pattern::Piece<2>& a, const pattern::Piece<2>& b) {
    return a.at[0] < b.at[0];
  });
  PartMaker part;
  for (const pattern::Piece<2>& run : runs) part.append_run(run.at, run.length);
  return part.finish(pieces.front().allocation);
}

// One part of all pieces, which are of one allocation and sorted by first byte.
Result<Part> whole_part(std::span<const Piece> pieces, Budget budget) {
  TESSERA_TRY(std::vector<Part> parts, parts_of(pieces));
  if (parts.size() > 1) return sorted_part(pieces, budget);
  return std::move(parts.front());
}

constexpr int64_t kItemsMax = 64;

// Where the whole request would lie in one run, to judge by these pairs of its bytes: the place of
// its first byte. Nothing if the pairs are not such, or if their shapes alone do not tell.
std::optional<int64_t> begin_of_run(const Join& pairs, const Pattern& request) {
  const auto& held = pairs.shape();
  if (held.is_sequence()) {
    if (held.node->item_count() > kItemsMax) return std::nullopt;
    const auto first = begin_of_run(pairs.part(0), request);
    for (int64_t i = 1; first && i < pairs.part_count(); ++i) {
      if (begin_of_run(pairs.part(i), request) != first) return std::nullopt;
    }
    return first;
  }
  const int64_t offset = request.offset_of(pairs.at()[0]);
  const int64_t run_bytes = held.is_run() ? held.size : held.node->child.size;
  if (offset + run_bytes > request.run_at(offset).end) return std::nullopt;
  if (held.is_repeat()) {
    const auto& wanted = request.shape();
    const bool simple =
        wanted.is_repeat() && wanted.node->child.is_run() && held.node->child.is_run();
    if (!simple || held.node->stride[0] % wanted.node->stride[0] != 0) return std::nullopt;
    const int64_t rows = held.node->stride[0] / wanted.node->stride[0];
    if (held.node->stride[1] != rows * wanted.node->child.size) return std::nullopt;
  }
  return pairs.at()[1] - offset;
}

// The same for all pieces, which together are the request.
std::optional<int64_t> begin_of_run(std::span<const Piece> pieces, const Pattern& request) {
  const auto first = begin_of_run(pieces.front().pairs, request);
  const bool agreed = first && std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
                        return begin_of_run(piece.pairs, request) == first;
                      });
  return agreed ? first : std::nullopt;
}

// The allocations of the pieces, the one with most of their bytes first.
std::vector<AllocationId> by_bytes(const std::vector<Piece>& pieces) {
  std::map<AllocationId, int64_t> bytes;
  for (const Piece& piece : pieces) bytes[piece.allocation] += piece.pairs.size();
  std::vector<AllocationId> order;
  for (const auto& [allocation, ignored] : bytes) order.push_back(allocation);
  std::stable_sort(order.begin(), order.end(),
                   [&](AllocationId a, AllocationId b) { return bytes.at(a) > bytes.at(b); });
  return order;
}

void keep_allocation(std::vector<Piece>& pieces, AllocationId allocation) {
  std::erase_if(pieces, [&](const Piece& piece) { return piece.allocation != allocation; });
}

}  // namespace

Result<void> FileMap::add(const Mapping& mapping, Budget budget) {
  TESSERA_TRY(const Piece piece, piece_of(mapping, budget));
  return add_piece(piece, mapping.bytes, budget);
}

Result<void> FileMap::add_piece(Piece piece, ByteSet bytes, Budget budget) {
  if (visible_.epoch_max() > piece.epoch) {
    TESSERA_TRY(std::vector<Piece> newer, visible_.meeting(bytes, budget));
    std::erase_if(newer, [&](const Piece& shown) { return shown.epoch <= piece.epoch; });
    if (!newer.empty()) {
      TESSERA_TRY(const ByteSet hidden, bytes_of_all(newer, budget));
      TESSERA_TRY(bytes, subtract(bytes, hidden, budget));
      TESSERA_TRY(piece.pairs, restrict(piece.pairs, bytes, budget));
    }
  }
  epoch_max_ = std::max(epoch_max_, piece.epoch);
  if (bytes.empty()) return {};
  TESSERA_TRY_VOID(visible_.cut(bytes, budget));
  cut_replicas(bytes, budget);
  visible_.append(piece);
  return {};
}

// A replica that cannot be trimmed is given up: nobody depends on it.
void FileMap::cut_replicas(const ByteSet& bytes, Budget budget) {
  for (auto entry = replicas_.begin(); entry != replicas_.end();) {
    const bool kept = entry->second.cut(bytes, budget) && !entry->second.empty();
    entry = kept ? std::next(entry) : replicas_.erase(entry);
  }
}

Result<void> FileMap::add_replica(const Mapping& mapping, Budget budget) {
  TESSERA_TRY(const Piece piece, piece_of(mapping, budget));
  return insert_copies(piece, 0, budget);
}

// Makes replicas of a piece where the visible epoch is at least `oldest` and at most the piece's.
Result<void> FileMap::insert_copies(const Piece& piece, uint64_t oldest, Budget budget) {
  TESSERA_TRY(const std::vector<Piece> shown, visible_.meeting(bytes_of(piece), budget));
  std::vector<Piece> copies;
  for (const Piece& visible : shown) {
    if (visible.epoch < oldest || visible.epoch > piece.epoch) continue;
    TESSERA_TRY(Join pairs, restrict(piece.pairs, bytes_of(visible), budget));
    copies.push_back({piece.allocation, visible.epoch, std::move(pairs)});
  }
  if (copies.empty()) return {};
  TESSERA_TRY(const ByteSet bytes, bytes_of_all(copies, budget));
  const auto table = replicas_.find(piece.allocation);
  if (table != replicas_.end()) TESSERA_TRY_VOID(table->second.cut(bytes, budget));
  PieceTable& target = replicas_[piece.allocation];
  for (const Piece& copy : copies) target.append(copy);
  return {};
}

Result<void> FileMap::add_all(const FileMap& other, Budget budget) {
  Result<void> result;
  other.visible_.for_each([&](const Piece& piece) {
    if (result) result = add_piece(piece, bytes_of(piece), budget);
  });
  if (!result) return result;
  epoch_max_ = std::max(epoch_max_, other.epoch_max_);
  // Where this map shows the epoch of a copy it shows what was copied, since that was added last.
  other.for_each_replica([&](const Piece& copy) {
    if (result) result = insert_copies(copy, copy.epoch, budget);
  });
  return result;
}

Result<FileMap> FileMap::of(std::span<const Piece> visible, std::span<const Piece> replicas,
                            uint64_t epoch_max, Origin origin) {
  // What a stranger may cost, all tables together, and all copies together.
  constexpr Budget kTables = {int64_t{1} << 22, int64_t{1} << 24};
  constexpr Budget kCheck = {int64_t{1} << 22, int64_t{1} << 22};
  Budget tables = kTables;
  FileMap map;
  TESSERA_TRY(map.visible_, PieceTable::of(visible, origin, tables));
  if (map.visible_.epoch_max() > epoch_max) {
    return fail(Code::kIntegrity, "a mapping is newer than the map that it is in");
  }
  map.epoch_max_ = epoch_max;
  std::map<AllocationId, std::vector<Piece>> copies;
  for (const Piece& copy : replicas) {
    if (!copy.pairs.empty()) copies[copy.allocation].push_back(copy);
  }
  for (const auto& [allocation, pieces] : copies) {
    TESSERA_TRY(map.replicas_[allocation], PieceTable::of(pieces, origin, tables));
  }
  if (origin == Origin::kChecked) return map;
  // The tables have seen to it that pieces are such as bytes_of() demands.
  Budget budget = kCheck;
  for (const auto& [allocation, pieces] : copies) {
    for (const Piece& copy : pieces) TESSERA_TRY_VOID(map.check_shown(copy, budget));
  }
  return map;
}

// Whether what a copy holds is what the map shows.
Result<void> FileMap::check_shown(const Piece& copy, Budget& budget) const {
  TESSERA_TRY(std::vector<Piece> shown, visible_.meeting_within(bytes_of(copy), budget));
  std::erase_if(shown, [&](const Piece& piece) { return piece.epoch != copy.epoch; });
  if (size_of(shown) == copy.pairs.size()) return {};
  return fail(Code::kIntegrity, "a replica holds bytes that are not visible in its epoch");
}

Result<FileMap> FileMap::merge(std::span<const FileMap> maps, Budget budget) {
  std::vector<Piece> visible;
  std::vector<Piece> replicas;
  uint64_t epoch_max = 0;
  for (const FileMap& map : maps) {
    map.for_each([&](const Piece& piece) { visible.push_back(piece); });
    map.for_each_replica([&](const Piece& piece) { replicas.push_back(piece); });
    epoch_max = std::max(epoch_max, map.epoch_max_);
  }
  // Processes mostly write apart, and then all pieces are those of the whole.
  if (Result<FileMap> apart = of(visible, replicas, epoch_max)) return apart;
  FileMap merged;
  for (const FileMap& map : maps) TESSERA_TRY_VOID(merged.add_all(map, budget));
  return merged;
}

Result<Found> FileMap::find(const ByteSet& request, Budget budget) const {
  TESSERA_TRY(const std::vector<Piece> pieces, visible_.meeting(request, budget));
  Found found;
  TESSERA_TRY(found.parts, parts_of(pieces));
  if (size_of(pieces) == request.size()) return found;
  if (pieces.empty()) {
    found.missing = request;
    return found;
  }
  TESSERA_TRY(const ByteSet held, bytes_of_all(pieces, budget));
  TESSERA_TRY(found.missing, subtract(request, held, budget));
  return found;
}

std::optional<Part> FileMap::find_whole(const ByteSet& request, AllocationId preferred,
                                        Budget budget) const {
  if (request.empty()) return std::nullopt;
  const Result<std::vector<Piece>> visible = visible_.meeting(request, budget);
  if (!visible || size_of(*visible) != request.size()) return std::nullopt;
  if (auto part = whole_in(preferred, request, *visible, budget)) return part;
  std::set<AllocationId> tried = {preferred};
  for (const AllocationId allocation : by_bytes(*visible)) {
    if (!tried.insert(allocation).second) continue;
    if (auto part = whole_in(allocation, request, *visible, budget)) return part;
  }
  for (const auto& [allocation, table] : replicas_) {
    if (!tried.insert(allocation).second) continue;
    if (auto part = whole_in(allocation, request, *visible, budget)) return part;
  }
  return std::nullopt;
}

// What an allocation shows comes first; its replicas fill the rest.
std::optional<Part> FileMap::whole_in(AllocationId allocation, const ByteSet& request,
                                      std::vector<Piece> visible, Budget budget) const {
  keep_allocation(visible, allocation);
  if (size_of(visible) < request.size()) {
    const auto table = replicas_.find(allocation);
    if (table == replicas_.end()) return std::nullopt;
    const Result<ByteSet> shown = bytes_of_all(visible, budget);
    if (!shown) return std::nullopt;
    const Result<ByteSet> rest = subtract(request, *shown, budget);
    if (!rest) return std::nullopt;
    const Result<std::vector<Piece>> copies = table->second.meeting(*rest, budget);
    if (!copies || size_of(*copies) != rest->size()) return std::nullopt;
    visible.insert(visible.end(), copies->begin(), copies->end());
    std::sort(visible.begin(), visible.end(), begins_before);
  }
  if (const auto begin = begin_of_run(visible, request.ascending())) {
    return Part{allocation, request, Pattern({{*begin}}, {request.size(), nullptr})};
  }
  Result<Part> part = whole_part(visible, budget);
  return part ? std::optional(*std::move(part)) : std::nullopt;
}

Result<void> FileMap::erase(const ByteSet& bytes, Budget budget) {
  TESSERA_TRY_VOID(visible_.cut(bytes, budget));
  cut_replicas(bytes, budget);
  return {};
}

Result<void> FileMap::truncate(int64_t size, Budget budget) {
  TESSERA_ASSERT(size >= 0);
  if (size >= end()) return {};
  return erase(ByteSet::of(Interval{size, end()}).value(), budget);
}

Result<void> FileMap::drop_allocation(AllocationId allocation, Budget budget) {
  std::vector<Piece> held;
  visible_.for_each([&](const Piece& piece) {
    if (piece.allocation == allocation) held.push_back(piece);
  });
  std::sort(held.begin(), held.end(), begins_before);
  TESSERA_TRY(const ByteSet lost, bytes_of_all(held, budget));
  TESSERA_TRY(const std::vector<Piece> saved, copies_of(lost, allocation, budget));
  TESSERA_TRY_VOID(visible_.cut(lost, budget));
  replicas_.erase(allocation);
  for (const Piece& copy : saved) {
    visible_.insert(copy);
    PieceTable& table = replicas_.at(copy.allocation);
    if (!table.cut(bytes_of(copy), budget)) table = {};
  }
  std::erase_if(replicas_, [](const auto& entry) { return entry.second.empty(); });
  return {};
}

// For each byte that has one, a replica outside of an allocation; they are disjoint.
Result<std::vector<Piece>> FileMap::copies_of(ByteSet bytes, AllocationId but,
                                              Budget budget) const {
  std::vector<Piece> copies;
  for (const auto& [allocation, table] : replicas_) {
    if (allocation == but) continue;
    TESSERA_TRY(const std::vector<Piece> some, table.meeting(bytes, budget));
    TESSERA_TRY(const ByteSet saved, bytes_of_all(some, budget));
    TESSERA_TRY(bytes, subtract(bytes, saved, budget));
    copies.insert(copies.end(), some.begin(), some.end());
  }
  return copies;
}

Result<ByteSet> FileMap::covered(Budget budget) const {
  std::vector<Piece> pieces;
  visible_.for_each([&](const Piece& piece) { pieces.push_back(piece); });
  return bytes_of_all(pieces, budget);
}

int64_t FileMap::covered_bytes() const {
  int64_t bytes = 0;
  for (const auto& [allocation, live] : visible_.live_bytes()) bytes += live;
  return bytes;
}

std::vector<AllocationId> FileMap::allocations() const {
  std::set<AllocationId> all;
  for (const auto& [allocation, live] : visible_.live_bytes()) all.insert(allocation);
  for (const auto& [allocation, table] : replicas_) all.insert(allocation);
  return {all.begin(), all.end()};
}

int64_t FileMap::live_bytes(AllocationId allocation) const {
  const auto of = [allocation](const PieceTable& table) {
    const auto live = table.live_bytes().find(allocation);
    return live == table.live_bytes().end() ? 0 : live->second;
  };
  const auto copies = replicas_.find(allocation);
  return of(visible_) + (copies == replicas_.end() ? 0 : of(copies->second));
}

Result<ByteSet> FileMap::live_places(AllocationId allocation, Budget budget) const {
  std::vector<pattern::Run> runs;
  std::vector<ByteSet> sets;
  Result<void> result;
  const auto take = [&](const Piece& piece) {
    if (piece.allocation != allocation || !result) return;
    if (piece.pairs.shape().is_run()) {
      runs.push_back({piece.pairs.at()[1], piece.pairs.size()});
      return;
    }
    Result<ByteSet> places = ByteSet::of(side(piece.pairs, 1), budget);
    if (places) {
      sets.push_back(*std::move(places));
    } else {
      result = base::failure_of(places);
    }
  };
  for_each(take);
  for_each_replica(take);
  if (!result) return base::failure_of(result);
  TESSERA_TRY(ByteSet places, set_of_runs(std::move(runs)));
  sets.push_back(std::move(places));
  return unite_all(std::move(sets), budget);
}

void FileMap::renumber(const std::function<AllocationId(AllocationId)>& number) {
  visible_.renumber(number);
  std::map<AllocationId, PieceTable> renumbered;
  for (auto& [allocation, table] : replicas_) {
    table.renumber(number);
    TESSERA_ASSERT(renumbered.emplace(number(allocation), std::move(table)).second);
  }
  replicas_ = std::move(renumbered);
}

void FileMap::for_each(const std::function<void(const Piece&)>& visit) const {
  visible_.for_each(visit);
}

void FileMap::for_each_replica(const std::function<void(const Piece&)>& visit) const {
  for (const auto& [allocation, table] : replicas_) table.for_each(visit);
}

int64_t FileMap::piece_count() const {
  int64_t count = visible_.piece_count();
  for (const auto& [allocation, table] : replicas_) count += table.piece_count();
  return count;
}

int64_t FileMap::memory_bytes() const {
  int64_t bytes = visible_.memory_bytes();
  for (const auto& [allocation, table] : replicas_) bytes += table.memory_bytes();
  return bytes;
}

void FileMap::check_invariants() const {
  visible_.check_invariants();
  for (const auto& entry : replicas_) {
    TESSERA_ASSERT(!entry.second.empty());
    entry.second.check_invariants();
    entry.second.for_each([&](const Piece& copy) {
      TESSERA_ASSERT(copy.allocation == entry.first);
      Result<std::vector<Piece>> shown = visible_.meeting(bytes_of(copy), {});
      if (!shown) return;
      std::erase_if(*shown, [&](const Piece& piece) { return piece.epoch != copy.epoch; });
      TESSERA_ASSERT(size_of(*shown) == copy.pairs.size());
    });
  }
}

}  // namespace tessera::map
