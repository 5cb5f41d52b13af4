// Opening object files, meeting, and commits.
#include "tessera/cache/object_file.hpp"

#include <algorithm>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::cache {

namespace {

using base::Bytes;
using base::ByteView;
using base::Result;
using container::Allocation;

// Space taken at a time, at first; twice as much each time, up to a bound.
constexpr int64_t kChunkBytesMin = int64_t{1} << 20;

void write_allocation(base::ByteWriter& writer, const Allocation& allocation) {
  writer.signed_varint(allocation.id);
  writer.signed_varint(allocation.place.begin);
  writer.signed_varint(allocation.place.end);
  writer.varint(allocation.checksums.size());
  for (const uint64_t sum : allocation.checksums) writer.u64(sum);
}

Result<Allocation> read_allocation(base::ByteReader& reader, int manager) {
  Allocation allocation;
  allocation.manager = manager;
  TESSERA_TRY(allocation.id, reader.signed_varint());
  TESSERA_TRY(allocation.place.begin, reader.signed_varint());
  TESSERA_TRY(allocation.place.end, reader.signed_varint());
  TESSERA_TRY(const uint64_t count, reader.varint());
  for (uint64_t i = 0; i < count; ++i) {
    TESSERA_TRY(const uint64_t sum, reader.u64());
    allocation.checksums.push_back(sum);
  }
  return allocation;
}

// What a rank contributes to a commit.
struct Share {
  bool changed = false;
  bool nameless = false;  // the file; the first rank knows
  int64_t size = 0;
  std::vector<Bytes> untold;
  std::vector<Allocation> allocations;
  std::optional<container::WriterView> view;
};

Bytes encode_share(const Share& share) {
  Bytes bytes;
  base::ByteWriter writer(bytes);
  writer.u8(static_cast<uint8_t>((share.changed ? 1 : 0) | (share.nameless ? 2 : 0)));
  writer.signed_varint(share.size);
  writer.varint(share.untold.size());
  for (const Bytes& change : share.untold) writer.sized_bytes(change);
  writer.varint(share.allocations.size());
  for (const Allocation& allocation : share.allocations) write_allocation(writer, allocation);
  writer.u8(share.view ? 1 : 0);
  if (!share.view) return bytes;
  writer.signed_varint(share.view->displacement);
  writer.signed_varint(share.view->etype_size);
  writer.signed_varint(share.view->extent);
  writer.sized_bytes(pattern::encode(share.view->tile));
  return bytes;
}

Result<std::optional<container::WriterView>> read_view(base::ByteReader& reader, int rank) {
  TESSERA_TRY(const uint8_t there, reader.u8());
  if (there == 0) return std::optional<container::WriterView>();
  container::WriterView view;
  view.process = rank;
  TESSERA_TRY(view.displacement, reader.signed_varint());
  TESSERA_TRY(view.etype_size, reader.signed_varint());
  TESSERA_TRY(view.extent, reader.signed_varint());
  TESSERA_TRY(const ByteView tile, reader.sized_bytes());
  TESSERA_TRY(view.tile, pattern::decode<1>(tile));
  return std::optional(std::move(view));
}

Result<Share> decode_share(ByteView bytes, int rank) {
  base::ByteReader reader(bytes);
  Share share;
  TESSERA_TRY(const uint8_t facts, reader.u8());
  share.changed = (facts & 1) != 0;
  share.nameless = (facts & 2) != 0;
  TESSERA_TRY(share.size, reader.signed_varint());
  TESSERA_TRY(const uint64_t changes, reader.varint());
  for (uint64_t i = 0; i < changes; ++i) {
    TESSERA_TRY(const ByteView change, reader.sized_bytes());
    share.untold.push_back(base::copy_of(change));
  }
  TESSERA_TRY(const uint64_t allocations, reader.varint());
  for (uint64_t i = 0; i < allocations; ++i) {
    TESSERA_TRY(Allocation allocation, read_allocation(reader, rank));
    share.allocations.push_back(std::move(allocation));
  }
  TESSERA_TRY(share.view, read_view(reader, rank));
  TESSERA_TRY_VOID(reader.expect_end());
  return share;
}

bool is_same(const container::WriterView& a, const container::WriterView& b) {
  return a.process == b.process && a.displacement == b.displacement &&
         a.etype_size == b.etype_size && a.extent == b.extent && a.tile.at() == b.tile.at() &&
         pattern::same_shape(a.tile.shape(), b.tile.shape());
}

// The name of a view is not that of the view which comes in its place.
void replace_view(container::Contents& contents, container::WriterView view) {
  auto& views = contents.views;
  const auto old = std::find_if(views.begin(), views.end(), [&](const auto& candidate) {
    return candidate.process == view.process;
  });
  if (old == views.end() || !is_same(*old, view))
    container::set_view_name(contents, view.process, {});
  if (old != views.end()) views.erase(old);
  views.push_back(std::move(view));
}

void add_allocations(std::vector<Allocation>& all, std::vector<Allocation> more) {
  std::sort(more.begin(), more.end(),
            [](const Allocation& a, const Allocation& b) { return a.id < b.id; });
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

Result<ObjectFile::Found> ObjectFile::open_container(port::File& file, port::Random& random,
                                                     ObjectFileOptions options,
                                                     std::optional<container::Container>& opened) {
  if (options.create) {
    TESSERA_TRY(auto made, container::Container::create(file, random));
    opened.emplace(std::move(made));
  } else {
    TESSERA_TRY(auto there, container::Container::open(file));
    opened.emplace(std::move(there));
    if (options.write) TESSERA_TRY_VOID(opened->begin_writing());
  }
  Found found;
  TESSERA_TRY(found.blob, opened->read_blob());
  found.superblock = opened->superblock();
  if (!options.write) {
    found.contents = KeptContents::of_process().take(found.superblock, found.blob);
    if (found.contents) return found;
  }
  // For all ranks: what this one takes for good, they all do.
  TESSERA_TRY(found.contents, opened->contents_of(found.blob));
  if (options.write) {
    const Result<void> checked = found.contents->check_numbers();
    if (!checked)
      return base::fail(checked.error().code, file.path() + ": " + checked.error().context);
  }
  return found;
}

// What holds until the next commit, at the first rank: all space is free that is not in use, and
// not spared for those who read an older state.
Result<ObjectFile::Found> ObjectFile::begin_anew(const Ranks& ranks,
                                                 container::Container& container, Found found) {
  if (ranks.has_readers && ranks.has_readers()) {
    TESSERA_TRY(found.spared_end, container.spare_all());
  }
  const Numbers& numbers = ranks.numbers;
  for (port::SharedNumber* number :
       {&numbers.space, &numbers.contents, &numbers.room, &numbers.turn}) {
    TESSERA_TRY_VOID(number->store(0));
  }
  found.superblock = container.superblock();
  found.room = container.contents_room();
  return found;
}

// The blob, which may be long, is moved out, and the rest stands behind it.
Bytes ObjectFile::encode_found(Found& found) {
  Bytes told = std::move(found.blob);
  const Bytes superblock = container::encode_superblock(found.superblock);
  told.insert(told.end(), superblock.begin(), superblock.end());
  base::ByteWriter writer(told);
  for (const int64_t number : {found.spared_end, found.room.begin, found.room.end}) {
    writer.u64(static_cast<uint64_t>(number));
  }
  return told;
}

Result<ObjectFile::Found> ObjectFile::decode_found(Bytes heard) {
  const auto superblock_bytes = static_cast<size_t>(container::kSuperblockBytes);
  const size_t rest = superblock_bytes + 3 * sizeof(uint64_t);
  TESSERA_ASSERT(heard.size() >= rest);
  const ByteView behind = ByteView(heard).last(rest);
  const container::SuperblockCopy copy =
      container::decode_superblock(behind.first(superblock_bytes));
  TESSERA_ASSERT(copy.state == container::CopyState::kGood);
  base::ByteReader reader(behind.subspan(superblock_bytes));
  Found found;
  found.superblock = copy.superblock;
  for (int64_t* const number : {&found.spared_end, &found.room.begin, &found.room.end}) {
    TESSERA_TRY(const uint64_t told, reader.u64());
    *number = static_cast<int64_t>(told);
  }
  heard.resize(heard.size() - rest);
  found.blob = std::move(heard);
  return found;
}

// Nothing is told where the first rank has failed, and then it says why.
Result<ObjectFile::Found> ObjectFile::share(const Ranks& ranks, Result<Found> mine) {
  Bytes told;
  if (ranks.exchange.rank() == 0 && mine) told = encode_found(*mine);
  TESSERA_TRY(Bytes heard, ranks.exchange.broadcast(0, std::move(told)));
  if (!heard.empty()) {
    TESSERA_TRY(Found found, decode_found(std::move(heard)));
    if (ranks.exchange.rank() == 0) found.contents = std::move(mine->contents);
    return found;
  }
  const Result<void> verdict =
      ranks.exchange.agree(mine ? Result<void>() : Result<void>(base::failure_of(mine)));
  TESSERA_ASSERT(!verdict);
  return base::failure_of(verdict);
}

Result<std::unique_ptr<ObjectFile>> ObjectFile::open(port::File& file, const Ranks& ranks,
                                                     port::Random& random,
                                                     ObjectFileOptions options) {
  if (options.below != nullptr) return open_cache(file, ranks, options);
  std::optional<container::Container> container;
  Result<Found> mine = Found();
  int64_t size_before = 0;
  if (ranks.exchange.rank() == 0) {
    mine = open_container(file, random, options, container);
    if (mine && options.write) mine = begin_anew(ranks, *container, *std::move(mine));
    const auto size = file.size();
    if (size && !options.create) size_before = *size;
  }
  TESSERA_TRY(Found found, share(ranks, std::move(mine)));
  std::unique_ptr<ObjectFile> opened(
      new ObjectFile(file, ranks, options, found.superblock.block_bytes));
  opened->container_ = std::move(container);
  opened->size_before_ = size_before;
  // All ranks make the same of the same bytes, so they need not agree.
  TESSERA_TRY_VOID(opened->start(found));
  TESSERA_TRY_VOID(opened->begin_common_news());
  return opened;
}

Result<void> ObjectFile::start(Found& found) {
  if (!found.contents && !options_.write) {
    found.contents = KeptContents::of_process().take(found.superblock, found.blob);
  }
  if (!found.contents) {
    TESSERA_TRY(found.contents, container::decode_contents(found.blob, map::Origin::kChecked));
  }
  state_.with([&](State& state) { state.contents = *std::move(found.contents); });
  TESSERA_TRY_VOID(adopt(found));
  if (!options_.write && KeptContents::suits(found.blob)) {
    origin_ = {found.superblock, std::move(found.blob)};
  }
  return {};
}

// Whoever only reads has the contents as they were decoded, but for the allocations.
ObjectFile::~ObjectFile() {
  if (!origin_) return;
  state_.with([&](State& state) {
    state.contents.allocations = *state.committed;
    KeptContents::of_process().keep(*std::move(origin_), std::move(state.contents));
  });
}

// All empty their logs before anybody tells anything: the memory may have been another file's.
Result<void> ObjectFile::replace_news(std::unique_ptr<News> news) {
  Result<void> cleared;
  if (news) cleared = news->clear();
  state_.with([&](State& state) { state.news = std::move(news); });
  return ranks_.exchange.agree(cleared);
}

Result<void> ObjectFile::begin_common_news() {
  // Readers have nothing to tell.
  if (ranks_.team == nullptr || !options_.write) return {};
  const int ranks = ranks_.team->size();
  if (ranks == 1) return {};
  TESSERA_TRY(const auto memory, ranks_.team->common_memory(CommonNews::memory_bytes(ranks)));
  return replace_news(std::make_unique<CommonNews>(memory, ranks_.team->rank(), ranks));
}

// A part of the free space in one piece; what comes in several is left to the next commit.
Result<Interval> ObjectFile::take_whole_space(int64_t bytes) {
  const int64_t blocks = base::ceil_div(bytes, block_bytes_);
  for (;;) {
    TESSERA_TRY(const int64_t first, ranks_.numbers.space.fetch_add(blocks));
    TESSERA_TRY(const auto pieces, state_.with([&](const State& state) {
      return state.space.physical_blocks({first, first + blocks}, block_bytes_);
    }));
    if (pieces.size() == 1) return pieces.front();
  }
}

Result<void> ObjectFile::begin_file_news() {
  Result<Interval> taken = Interval();
  if (ranks_.exchange.rank() == 0) {
    taken = take_whole_space(FileNews::file_bytes(ranks_.exchange.size()));
  }
  TESSERA_TRY_VOID(
      ranks_.exchange.agree(taken ? Result<void>() : Result<void>(base::failure_of(taken))));
  TESSERA_TRY(const uint64_t told, ranks_.exchange.all_max(static_cast<uint64_t>(taken->begin)));
  return replace_news(std::make_unique<FileNews>(file_, static_cast<int64_t>(told),
                                                 ranks_.exchange.rank(), ranks_.exchange.size()));
}

Result<void> ObjectFile::set_coherent(bool coherent) {
  if (!options_.write || coherent == coherent_) return {};
  coherent_ = coherent;
  // What was told by means that end here is heard before.
  TESSERA_TRY([[maybe_unused]] const Gathered gathered, gather_changes(false));
  if (ranks_.team != nullptr) return {};
  return coherent ? begin_file_news() : replace_news(nullptr);
}

// What holds from one commit to the next.
Result<void> ObjectFile::adopt(const Found& found) {
  TESSERA_TRY(auto used, state_.with([&](const State& state) {
    return container::used_space(found.superblock, state.contents.allocations);
  }));
  if (found.spared_end > 0) used = {{0, found.spared_end}};
  if (!found.room.empty()) {
    const auto behind = [](Interval a, Interval b) { return a.begin < b.begin; };
    used.insert(std::upper_bound(used.begin(), used.end(), found.room, behind), found.room);
  }
  begin_epoch(used);
  state_.with([&](State& state) {
    state.contents_room = ContentsRoom(found.room, found.superblock.blob.length());
  });
  return {};
}

void ObjectFile::begin_epoch(const std::vector<Interval>& used) {
  state_.with([&](State& state) {
    state.first_id = state.contents.next_id();
    // Whoever only reads needs them once.
    state.committed = std::make_shared<const Allocations>(
        options_.write ? state.contents.allocations
                       : std::exchange(state.contents.allocations, {}));
    state.space = container::Space(used);
    state.begins.clear();
    state.shelves.clear();
    state.regions.clear();
    state.rewrites = true;
    state.doubtful = false;
    state.untold.clear();
    state.changed = false;
    state.choice = owner::ManagerChoice();
    state.migrated_bytes = 0;
    state.chunk_bytes = std::max(kChunkBytesMin, block_bytes_);
    state.stamp = state.contents.map.epoch_max() / kEpochsPerStamp + 1;
  });
}

Result<int64_t> ObjectFile::size() {
  return state_.with([&](State& state) -> Result<int64_t> {
    TESSERA_TRY_VOID(hear(state));
    return state.contents.size;
  });
}

void ObjectFile::set_view(container::WriterView view) {
  const int64_t bytes = ContentsRoom::added_at_most(view.tile, 0);
  if (bytes > view_bytes_max_) {
    state_.with([&](State& state) { state.contents_room.use(bytes - view_bytes_max_); });
    view_bytes_max_ = bytes;
  }
  view_ = std::move(view);
}

ObjectFileCounts ObjectFile::counts() {
  return state_.with([](const State& state) { return state.counts; });
}

Result<void> ObjectFile::apply(State& state, int from, ByteView record) {
  TESSERA_TRY(const Change change, decode_change(record));
  if (change.kind == Change::Kind::kGrow) {
    state.contents.size = std::max(state.contents.size, change.size);
    return {};
  }
  const map::Mapping& mapping = change.mapping;
  if (change.kind == Change::Kind::kRewrite) {
    state.regions.note_rewritten(mapping.allocation, change.places);
    return {};
  }
  if (change.kind == Change::Kind::kRoom) {
    state.contents_room.take(change.places);
    return {};
  }
  TESSERA_ASSERT(from != ranks_.exchange.rank());
  leave_shelves(state);
  state.begins[mapping.allocation] = change.allocation_begin;
  state.stamp = std::max(state.stamp, mapping.epoch / kEpochsPerStamp + 1);
  state.contents.size = std::max(state.contents.size, mapping.bytes.span().end);
  return state.contents.map.add(mapping);
}

Result<void> ObjectFile::hear(State& state) {
  if (!state.news) return {};
  return state.news->hear([&](int from, ByteView record) { return apply(state, from, record); });
}

// One meeting where all is well and nobody has anything to tell.
Result<void> ObjectFile::meet(const Result<void>& mine) {
  constexpr uint64_t kQuiet = 0;
  constexpr uint64_t kUntold = 1;
  constexpr uint64_t kFailed = 2;
  const bool quiet = state_.with([](const State& state) { return state.untold.empty(); });
  const uint64_t word = mine ? (quiet ? kQuiet : kUntold) : kFailed;
  TESSERA_TRY(const uint64_t loudest, ranks_.exchange.all_max(word));
  if (loudest == kQuiet) return {};
  TESSERA_TRY([[maybe_unused]] const Gathered gathered, gather_changes(false));
  return ranks_.exchange.agree(mine);
}

// Tells all ranks the changes that they could not hear, lets them hear the others, which all ranks
// have told when they meet here, and answers what they know together.
Result<ObjectFile::Gathered> ObjectFile::gather_changes(bool commits) {
  Share mine;
  mine.nameless = commits && container_ && ranks_.has_name && !ranks_.has_name();
  state_.with([&](State& state) {
    mine.changed = state.changed;
    mine.size = state.contents.size;
    mine.untold = std::move(state.untold);
    state.untold.clear();
  });
  TESSERA_TRY(const auto all, ranks_.exchange.all_gather(encode_share(mine)));
  Gathered gathered;
  Result<void> applied = state_.with([&](State& state) { return hear(state); });
  for (int rank = 0; rank < ranks_.exchange.size() && applied; ++rank) {
    const Result<Gathered> theirs = apply_share(rank, all[static_cast<size_t>(rank)]);
    if (!theirs) applied = base::failure_of(theirs);
    gathered.changed = gathered.changed || (theirs && theirs->changed);
    gathered.nameless = gathered.nameless || (theirs && theirs->nameless);
  }
  TESSERA_TRY_VOID(ranks_.exchange.agree(applied));
  wrote_ = wrote_ || gathered.changed;
  return gathered;
}

// Answers what that rank has found.
Result<ObjectFile::Gathered> ObjectFile::apply_share(int from, ByteView told) {
  TESSERA_TRY(const Share share, decode_share(told, from));
  const Gathered theirs = {share.changed, share.nameless};
  if (from == ranks_.exchange.rank()) return theirs;
  return state_.with([&](State& state) -> Result<Gathered> {
    state.contents.size = std::max(state.contents.size, share.size);
    for (const Bytes& change : share.untold) TESSERA_TRY_VOID(apply(state, from, change));
    return theirs;
  });
}

Result<void> ObjectFile::set_size(int64_t size) {
  TESSERA_TRY_VOID(meet({}));
  Result<void> mine = state_.with([&](State& state) -> Result<void> {
    TESSERA_TRY_VOID(hear(state));
    leave_shelves(state);
    TESSERA_TRY_VOID(state.contents.map.truncate(size));
    state.contents.size = size;
    state.changed = true;
    return {};
  });
  // Else bytes that were cut off would be seen again when the file grows.
  const bool cuts_below = options_.below != nullptr && ranks_.exchange.rank() == 0;
  if (mine && cuts_below) mine = options_.below->truncate(size);
  return ranks_.exchange.agree(mine);
}

Result<void> ObjectFile::extend(int64_t size) {
  TESSERA_TRY_VOID(meet({}));
  state_.with([&](State& state) {
    state.changed = state.changed || state.contents.size < size;
    state.contents.size = std::max(state.contents.size, size);
  });
  return ranks_.exchange.barrier();
}

Result<void> ObjectFile::commit() {
  // A sync makes a new file durable, be it empty; its making did not. Nobody can open one that has
  // lost its name.
  const bool fresh = container_ && container_->superblock().sequence == 1;
  const bool named = !ranks_.has_name || ranks_.has_name();
  if (fresh && named) state_.with([](State& state) { state.changed = true; });
  return commit(true);
}

Result<void> ObjectFile::commit(bool durable) {
  TESSERA_TRY(const Gathered gathered, gather_changes(true));
  // Also of what was committed before: that is lost as well.
  if (gathered.nameless && wrote_) {
    return base::fail(base::Code::kNotFound,
                      file_.path() +
                          " was replaced or removed while it was open for writing; what was "
                          "written to it is lost when it is closed");
  }
  if (!gathered.changed) return {};
  if (options_.below != nullptr) return write_below(durable);
  const Result<Found> committed = commit_changes();
  if (committed) return settle(*committed);
  // What was written stays written, and its allocations are not committed yet (O4).
  state_.with([](State& state) {
    state.contents.allocations = *state.committed;
    state.regions.seal();
    state.rewrites = false;
    state.doubtful = true;
  });
  return base::failure_of(committed);
}

Result<ObjectFile::Found> ObjectFile::commit_changes() {
  Result<void> gathered = gather_allocations();
  // The container syncs its file before it refers to anything in it: that is all of this node.
  const bool syncs = ranks_.leads_node && !container_;
  if (gathered && syncs) gathered = file_.sync();
  TESSERA_TRY_VOID(ranks_.exchange.agree(gathered));
  return share(ranks_, container_ ? commit_container() : Found());
}

Result<ObjectFile::Found> ObjectFile::commit_container() {
  // Also of a file that was made and closed before, which took no sync.
  const bool fresh = container_->superblock().sequence == 1;
  if (fresh && ranks_.sync_name) TESSERA_TRY_VOID(ranks_.sync_name());
  ranks_.sync_name = {};
  const Result<void> committed = state_.with([&](State& state) -> Result<void> {
    TESSERA_TRY_VOID(reach_last_block(state.contents.allocations));
    return container_->commit(state.contents, state.contents_room.room());
  });
  if (!committed) return base::failure_of(committed);
  return begin_anew(ranks_, *container_, {});
}

// Where a disk was too full for the zeros behind the last bytes the file is made longer, which
// takes no space. Nobody writes now.
Result<void> ObjectFile::reach_last_block(const Allocations& allocations) {
  int64_t end = 0;
  for (const Allocation& allocation : allocations) end = std::max(end, allocation.place.end);
  TESSERA_TRY(const int64_t size, file_.size());
  return size < end ? file_.truncate(end) : Result<void>();
}

// A rank that cannot say what it wrote tells nothing, and then all of them fail.
Result<void> ObjectFile::gather_allocations() {
  const int rank = ranks_.exchange.rank();
  auto closed = state_.with([&](State& state) -> Result<std::vector<Allocation>> {
    TESSERA_TRY(auto allocations, state.regions.close(file_, rank));
    if (state.doubtful) TESSERA_TRY_VOID(state.regions.write_again(file_));
    return allocations;
  });
  Result<void> outcome;
  Bytes mine;
  if (closed) {
    Share share;
    share.allocations = *std::move(closed);
    share.view = view_;
    mine = encode_share(share);
  } else {
    outcome = base::failure_of(closed);
  }
  TESSERA_TRY(const auto all, ranks_.exchange.all_gather(std::move(mine)));
  if (!outcome) return outcome;
  std::vector<Allocation> added;
  for (int from = 0; from < ranks_.exchange.size(); ++from) {
    const Bytes& told = all[static_cast<size_t>(from)];
    if (told.empty()) return base::fail(base::Code::kRetry, "another rank has failed");
    TESSERA_TRY(Share share, decode_share(told, from));
    std::move(share.allocations.begin(), share.allocations.end(), std::back_inserter(added));
    if (!share.view) continue;
    state_.with([&](State& state) { replace_view(state.contents, *std::move(share.view)); });
  }
  state_.with([&](State& state) {
    add_allocations(state.contents.allocations, std::move(added));
    state.contents.drop_unused();
  });
  return {};
}

// All ranks begin anew from what was committed, alike.
Result<void> ObjectFile::settle(const Found& committed) {
  TESSERA_TRY_VOID(adopt(committed));
  return clear_news();
}

// After a commit. News in the file lay in space that is free again now.
Result<void> ObjectFile::clear_news() {
  if (coherent_ && ranks_.team == nullptr) return begin_file_news();
  return ranks_.exchange.agree(
      state_.with([](State& state) { return state.news ? state.news->clear() : Result<void>(); }));
}

Result<void> ObjectFile::close() {
  if (!options_.write) return {};
  // A container must not reach the disk before its bytes do; a plain file may.
  TESSERA_TRY_VOID(commit(options_.below == nullptr));
  return ranks_.exchange.agree(container_ ? trim() : Result<void>());
}

// Gives back what was taken and not filled, and news; readers may still need an older end. What the
// file had before stays, up to as much again as it holds now: whoever writes a file over and over
// finds the space of the state before last.
Result<void> ObjectFile::trim() {
  if (ranks_.has_readers && ranks_.has_readers()) return {};
  const int64_t end = container_->superblock().end;
  const int64_t kept = std::max(end, size_before_ / 2 < end ? size_before_ : 2 * end);
  TESSERA_TRY(const int64_t size, file_.size());
  return size > kept ? file_.truncate(kept) : Result<void>();
}

}  // namespace tessera::cache
