#include "tessera/container/container.hpp"

#include <algorithm>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/container/page.hpp"

namespace tessera::container {
namespace {

using base::Code;
using base::Result;

// Contents that another process keeps replacing are read again so often, then it is an error.
constexpr int kReadAttempts = 8;

base::Failure with_context(const base::Error& error, const std::string& context) {
  return {{error.code, error.errno_value, context + ": " + error.context}};
}

Interval whole_blocks(Interval bytes, int64_t block) {
  return {bytes.begin, base::ceil_div(bytes.end, block) * block};
}

// Intervals that may overlap, as ascending ones that do not.
std::vector<Interval> united(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](Interval interval) { return interval.empty(); });
  std::sort(intervals.begin(), intervals.end(),
            [](Interval a, Interval b) { return a.begin < b.begin; });
  std::vector<Interval> result;
  for (const Interval interval : intervals) {
    if (result.empty() || result.back().end < interval.begin) {
      result.push_back(interval);
    } else {
      result.back().end = std::max(result.back().end, interval.end);
    }
  }
  return result;
}

Result<void> check_size(port::File& file, const Superblock& superblock) {
  TESSERA_TRY(const int64_t size, file.size());
  if (size >= superblock.end) return {};
  return base::fail(Code::kIntegrity, file.path() + " is cut off: it has " + std::to_string(size) +
                                          " of " + std::to_string(superblock.end) +
                                          " bytes; restore it from a copy");
}

// Empty if the file ends before.
Result<base::Bytes> read_bytes(port::File& file, Interval bytes) {
  base::Bytes memory(static_cast<size_t>(bytes.length()));
  const port::Transfer transfer = file.read_at(bytes.begin, memory);
  if (!transfer) return base::failure_of(transfer.status);
  memory.resize(static_cast<size_t>(transfer.bytes));
  return memory;
}

}  // namespace

Result<Container> Container::create(port::File& file, port::Random& random, int64_t block_bytes) {
  TESSERA_ASSERT(valid_block_bytes(block_bytes));
  Superblock before;
  random.fill(before.file_id);
  before.block_bytes = block_bytes;
  return start(file, before);
}

Result<Container> Container::create_successor(port::File& file, const Superblock& of) {
  Superblock before;
  before.file_id = of.file_id;  // the version is the present one
  before.block_bytes = of.block_bytes;
  before.sequence = of.sequence;
  return start(file, before);
}

// Where it cannot be made the file is left empty, as something that can be opened again.
Result<Container> Container::start(port::File& file, const Superblock& before) {
  TESSERA_TRY_VOID(file.truncate(0));
  Result<Container> started = write_first(file, before);
  if (!started) static_cast<void>(file.truncate(0));
  return started;
}

Result<Container> Container::write_first(port::File& file, const Superblock& before) {
  Container container(file, before);
  container.used_ = {{0, header_end(before.block_bytes)}};
  container.page_.resize(static_cast<size_t>(kPageBytes));
  Contents contents;
  contents.block_bytes = before.block_bytes;
  TESSERA_TRY(const Superblock first, container.write_blob(contents, {}));
  container.current_ = first;
  container.fresh_ = true;
  TESSERA_TRY_VOID(container.write_page(container.page_));
  TESSERA_TRY_VOID(container.rewrite_doubtful());
  TESSERA_TRY(container.used_, used_space(first, {}));
  container.writing_ = true;
  return container;
}

Result<Container> Container::open(port::File& file) {
  Container container(file, {});
  TESSERA_TRY(const ChosenSuperblock chosen, container.read_superblock());
  TESSERA_TRY_VOID(container.adopt(chosen));
  return container;
}

Result<ChosenSuperblock> Container::read_superblock() {
  TESSERA_TRY(const base::Bytes header, read_bytes(*file_, {0, kHeaderBytes}));
  return choose_superblock(header, file_->path());
}

Result<void> Container::adopt(const ChosenSuperblock& chosen) {
  TESSERA_TRY_VOID(check_size(*file_, chosen.superblock));
  current_ = chosen.superblock;
  last_sequence_ = current_.sequence;
  complaints_ = chosen.complaints();
  return {};
}

Result<bool> Container::refresh() {
  TESSERA_ASSERT(!writing_);
  TESSERA_TRY(const ChosenSuperblock chosen, read_superblock());
  if (chosen.superblock.sequence <= current_.sequence) return false;
  TESSERA_TRY_VOID(adopt(chosen));
  return true;
}

Result<base::Bytes> Container::read_blob() {
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    TESSERA_TRY(base::Bytes blob, read_bytes(*file_, current_.blob));
    const bool whole = static_cast<int64_t>(blob.size()) == current_.blob.length();
    if (whole && base::checksum(blob) == current_.blob_checksum) return blob;
    if (writing_) break;
    TESSERA_TRY(const bool newer, refresh());
    if (!newer) break;
  }
  if (current_.sequence == 1) {  // empty, and made without a sync
    return base::fail(Code::kIntegrity, file_->path() +
                                            ": its creation did not reach the disk, and nothing "
                                            "was synced to it; remove it and write it again");
  }
  return base::fail(Code::kIntegrity,
                    file_->path() + ": the contents (bytes [" +
                        std::to_string(current_.blob.begin) + ", " +
                        std::to_string(current_.blob.end) +
                        ") of the container) are damaged, their checksum does not match; restore "
                        "the file from a copy");
}

Result<Contents> Container::contents_of(base::ByteView blob) const {
  Result<Contents> contents = decode_contents(blob);
  if (!contents) return with_context(contents.error(), file_->path());
  if (contents->block_bytes != current_.block_bytes || contents->size != current_.logical_size) {
    return base::fail(Code::kIntegrity,
                      file_->path() +
                          ": superblock and contents contradict each other; restore "
                          "the file from a copy");
  }
  return contents;
}

Result<Contents> Container::read_contents() {
  TESSERA_TRY(const base::Bytes blob, read_blob());
  return contents_of(blob);
}

Result<void> Container::begin_writing() {
  if (writing_) {
    TESSERA_TRY_VOID(rewrite_doubtful());
    return sync();
  }
  TESSERA_TRY(const ChosenSuperblock chosen, read_superblock());
  TESSERA_TRY_VOID(adopt(chosen));
  TESSERA_TRY(const base::Bytes blob, read_blob());
  const Result<std::vector<Allocation>> allocations = decode_allocations(blob);
  if (!allocations) return with_context(allocations.error(), file_->path());
  TESSERA_TRY(used_, used_space(current_, *allocations));
  TESSERA_TRY_VOID(take_page(chosen, blob));
  TESSERA_TRY_VOID(make_durable(chosen));
  writing_ = true;
  return {};
}

// A process that was killed may have left copy 0 in the system's memory only: what was found is
// made durable before anybody relies on it, unless copy 1 says that it was. A copy that can be read
// need not be durable, nor become so by a sync: an earlier one may have failed.
Result<void> Container::make_durable(const ChosenSuperblock& chosen) {
  if (chosen.settled) {
    copies_ = {Copy::kDurable, Copy::kDoubtful};
    return {};
  }
  TESSERA_TRY_VOID(sync());
  // The copy that was chosen goes last.
  const auto last = static_cast<size_t>(chosen.copy);
  for (const size_t copy : {1 - last, last}) {
    TESSERA_TRY_VOID(write_copy(copy, current_));
    TESSERA_TRY_VOID(sync());
  }
  return {};
}

// What page 0 holds. Where a commit was interrupted it is made anew; the sync that follows covers
// it before the copies become equal (K6).
Result<void> Container::take_page(const ChosenSuperblock& chosen, base::ByteView blob) {
  if (!has_page(current_.version)) return {};
  if (chosen.both_current() && !chosen.page_in_flux) {
    TESSERA_TRY(page_, read_bytes(*file_, {0, kPageBytes}));
    return {};
  }
  TESSERA_TRY(const Contents contents, contents_of(blob));
  std::optional<base::Bytes> page = page_of(contents);
  page_in_flux_ = !page;
  if (!page) return {};
  page_ = *std::move(page);
  return write_page(page_);
}

// Nothing if it cannot be read, which is no reason to refuse a commit: then the mark stays.
std::optional<base::Bytes> Container::page_of(const Contents& contents) const {
  if (!has_page(current_.version)) return base::Bytes();
  Result<base::Bytes> page = read_page(*file_, contents);
  return page ? std::optional(*std::move(page)) : std::nullopt;
}

Space Container::space(int64_t gap_bytes_min) const {
  TESSERA_ASSERT(writing_);
  return Space(taken({}), gap_bytes_min);
}

Result<int64_t> Container::spare_all() {
  TESSERA_ASSERT(writing_);
  TESSERA_TRY(const int64_t size, file_->size());
  if (size > pattern::kMaxPosition) return no_room();
  used_ = {whole_blocks({0, size}, current_.block_bytes)};
  return used_.front().end;
}

Interval Container::contents_room() const {
  TESSERA_ASSERT(writing_);
  const int64_t grown = current_.blob.length() + current_.blob.length() / 2;
  const Interval blocks = whole_blocks({0, grown}, current_.block_bytes);
  const Interval room = Space(taken({})).first_fit(blocks.length());
  return room.end <= pattern::kMaxPosition ? room : Interval();
}

// Where nothing new may be written while the allocations become the current state.
std::vector<Interval> Container::taken(const std::vector<Allocation>& allocations) const {
  std::vector<Interval> all = used_;
  all.push_back(abandoned_);
  for (const Allocation& allocation : allocations) all.push_back(allocation.place);
  return united(std::move(all));
}

Result<void> Container::write_copy(size_t copy, const Superblock& superblock) {
  copies_[copy] = Copy::kDoubtful;
  const int64_t offset = copy_offset(superblock.version, copy);
  Superblock written = superblock;
  if (copy == 1 && page_in_flux_) written.compatible |= kPageInFlux;
  const port::Transfer transfer = file_->write_at(offset, encode_superblock(written));
  if (!transfer) return base::failure_of(transfer.status);
  copies_[copy] = Copy::kWritten;
  return {};
}

// Requires copies that differ, or a mark, until a sync has covered it (K6).
Result<void> Container::write_page(base::ByteView page) {
  page_state_ = Copy::kDoubtful;
  const port::Transfer transfer = file_->write_at(0, page);
  if (!transfer) return base::failure_of(transfer.status);
  page_state_ = Copy::kWritten;
  return {};
}

// Before page 0 changes: copy 1, which is not the last good one, says so.
Result<void> Container::mark_page() {
  if (!fresh_ && copies_[0] != Copy::kDurable) TESSERA_TRY_VOID(sync());  // (K2)
  page_in_flux_ = true;
  return write_copy(1, current_);
}

Result<void> Container::rewrite_doubtful() {
  TESSERA_ASSERT(fresh_ || copies_[0] == Copy::kDurable || copies_[1] == Copy::kDurable);  // (K2)
  if (page_state_ == Copy::kDoubtful) TESSERA_TRY_VOID(write_page(page_));
  for (size_t copy = 0; copy < copies_.size(); ++copy) {
    if (copies_[copy] == Copy::kDoubtful) TESSERA_TRY_VOID(write_copy(copy, current_));
  }
  return {};
}

// Copies that were written are durable now, or doubtful: after a sync that failed, a later one may
// succeed although it does not cover them.
Result<void> Container::sync() {
  Result<void> synced = file_->sync();
  for (Copy* copy : {&copies_[0], &copies_[1], &page_state_}) {
    if (*copy == Copy::kWritten) *copy = synced ? Copy::kDurable : Copy::kDoubtful;
  }
  if (synced && copies_[0] == Copy::kDurable) abandoned_ = {};
  fresh_ = fresh_ && !synced;
  return synced;
}

// Where neither this state nor the next has anything; answers the superblock that refers to it.
Result<Superblock> Container::write_blob(const Contents& contents, Interval room) {
  if (last_sequence_ == kSequenceMax) {
    return base::fail(Code::kIntegrity,
                      "its commits are numbered to the last number there is, which no program "
                      "reaches; export the file and import it again");
  }
  base::Bytes blob = encode_contents(contents);
  const auto length = static_cast<int64_t>(blob.size());
  const Interval blocks = whole_blocks({0, length}, current_.block_bytes);
  Superblock next = current_;
  next.sequence = ++last_sequence_;
  next.logical_size = contents.size;
  next.blob_checksum = base::checksum(blob);
  const std::vector<Interval> used = taken(contents.allocations);
  const bool fits =
      blocks.length() <= room.length() &&
      std::none_of(used.begin(), used.end(), [&](Interval taken) { return taken.meets(room); });
  if (!fits) room = Space(used).first_fit(blocks.length());
  room.end = room.begin + blocks.length();
  if (room.end > pattern::kMaxPosition) return no_room();
  next.blob = {room.begin, room.begin + length};
  next.end = room.end;
  for (const Allocation& allocation : contents.allocations) {
    next.end = std::max(next.end, allocation.place.end);
  }
  blob.resize(static_cast<size_t>(blocks.length()));
  const port::Transfer transfer = file_->write_at(room.begin, blob);
  if (!transfer) return base::failure_of(transfer.status);
  return next;
}

Result<void> Container::replace_copies(const Superblock& next, std::optional<base::Bytes> page) {
  Result<void> replaced = write_copy(0, next);
  const bool changes_page = page && *page != page_;
  if (replaced && changes_page) replaced = write_page(*page);
  if (replaced) replaced = sync();
  if (!replaced) {
    copies_[0] = Copy::kDoubtful;
    if (changes_page) page_state_ = Copy::kDoubtful;
    abandoned_ = whole_blocks(next.blob, next.block_bytes);
    return replaced;
  }
  current_ = next;
  page_in_flux_ = !page;
  if (page) page_ = *std::move(page);
  // If this fails the commit has succeeded all the same, and the next one writes the copy first.
  copies_[1] = Copy::kDoubtful;
  Superblock settled = next;
  settled.compatible |= kSettled;
  static_cast<void>(write_copy(1, settled));
  return {};
}

// Two programs that write one object file would overwrite each other's bytes: the second one to
// commit is told so.
Result<void> Container::check_unchanged() {
  if (copies_[0] == Copy::kDoubtful) return {};
  TESSERA_TRY(const ChosenSuperblock chosen, read_superblock());
  if (chosen.superblock == current_) return {};
  return base::fail(Code::kDenied,
                    "another program has written to " + file_->path() +
                        " since it was opened; open it again, and let one program write at a time");
}

Result<void> Container::commit_in_steps(const Contents& contents, Interval room) {
  TESSERA_TRY_VOID(check_unchanged());
  TESSERA_TRY_VOID(rewrite_doubtful());
  TESSERA_TRY(const Superblock next, write_blob(contents, room));
  TESSERA_TRY(std::vector<Interval> used, used_space(next, contents.allocations));
  std::optional<base::Bytes> page = page_of(contents);
  if (page && *page != page_) TESSERA_TRY_VOID(mark_page());
  TESSERA_TRY_VOID(sync());
  if (Result<void> replaced = replace_copies(next, std::move(page)); !replaced) {
    // Best effort; what remains doubtful is written again before anything else is.
    if (rewrite_doubtful()) static_cast<void>(sync());
    return replaced;
  }
  used_ = std::move(used);
  return {};
}

// The caller's part of the bargain, as far as it can be seen here.
Result<void> Container::check_places(const std::vector<Allocation>& allocations) const {
  TESSERA_TRY(const int64_t size, file_->size());
  const Interval blob = whole_blocks(current_.blob, current_.block_bytes);
  for (const Allocation& allocation : allocations) {
    const std::string which =
        "allocation " + std::to_string(allocation.id) + " of " + file_->path();
    if (allocation.place.meets(blob) || allocation.place.meets(abandoned_)) {
      return base::fail(Code::kInvalid, which +
                                            " lies where the contents are; take its place "
                                            "from space()");
    }
    if (allocation.place.end > size) {
      return base::fail(Code::kInvalid, which +
                                            " lies behind the end of the container; its "
                                            "bytes are written before the commit");
    }
  }
  return {};
}

Result<void> Container::commit(const Contents& contents, Interval room) {
  TESSERA_ASSERT(writing_ && contents.block_bytes == current_.block_bytes);
  TESSERA_TRY_VOID(contents.check());
  TESSERA_TRY_VOID(check_places(contents.allocations));
  if (const Result<void> done = commit_in_steps(contents, room); !done) {
    return with_context(done.error(),
                        "cannot commit " + file_->path() + ", which stays as of its last sync");
  }
  return {};
}

}  // namespace tessera::container
