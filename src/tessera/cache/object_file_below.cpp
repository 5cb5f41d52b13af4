// Object files as caches of plain files.
#include <algorithm>

#include "tessera/base/checked.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/cache/place_reader.hpp"

namespace tessera::cache {

namespace {

using base::Result;
using move::Direction;
using move::Move;
using pattern::ByteSet;

// Read from the cache and written below at a time.
constexpr int64_t kPieceBytes = int64_t{16} << 20;

}  // namespace

Result<std::unique_ptr<ObjectFile>> ObjectFile::open_cache(port::File& file, const Ranks& ranks,
                                                           ObjectFileOptions options) {
  std::unique_ptr<ObjectFile> opened(new ObjectFile(file, ranks, options, container::kBlockBytes));
  const auto size = options.below->size();
  if (size) opened->state_.with([&](State& state) { state.contents.size = *size; });
  Result<void> started = size ? Result<void>() : Result<void>(base::failure_of(size));
  if (started && ranks.exchange.rank() == 0) started = ranks.numbers.space.store(0);
  opened->begin_epoch({});
  TESSERA_TRY_VOID(ranks.exchange.agree(started));
  TESSERA_TRY_VOID(opened->begin_common_news());
  return opened;
}

// The bytes of this rank's share, in pieces.
Result<void> ObjectFile::write_share(const ByteSet& bytes) {
  base::Bytes buffer;
  for (int64_t done = 0; done < bytes.size();) {
    Move move;
    move.file = bytes.ascending().clip({done, done + kPieceBytes});
    buffer.resize(std::max(buffer.size(), base::exact_cast<size_t>(move.size())));
    TESSERA_TRY(move.memory, pattern::Pattern::run({{0}}, move.size()));
    move.base = buffer.data();
    TESSERA_TRY_VOID(read(move).status);
    move.direction = Direction::kWrite;
    TESSERA_TRY_VOID(execute_on(*options_.below, move).status);
    done += move.size();
  }
  return {};
}

// Every rank writes as many bytes, in the order of the file.
Result<void> ObjectFile::write_below(bool durable) {
  const auto written = state_.with([](const State& state) { return state.contents.map.covered(); });
  Result<void> mine = written ? Result<void>() : Result<void>(base::failure_of(written));
  if (mine) {
    const int64_t share = base::ceil_div(written->size(), ranks_.exchange.size());
    const int64_t begin = share * ranks_.exchange.rank();
    mine = write_share(ByteSet::of_ascending(written->ascending().clip({begin, begin + share})));
  }
  const int64_t size = state_.with([](const State& state) { return state.contents.size; });
  TESSERA_TRY_VOID(ranks_.exchange.agree(mine));
  const auto below = options_.below->size();
  if (ranks_.exchange.rank() == 0 && below && *below < size) mine = options_.below->truncate(size);
  TESSERA_TRY_VOID(ranks_.exchange.agree(mine));
  TESSERA_TRY_VOID(
      ranks_.exchange.agree(durable && ranks_.leads_node ? options_.below->sync() : mine));
  return settle_below();
}

// What was written is in the file below: the cache is empty again.
Result<void> ObjectFile::settle_below() {
  state_.with([](State& state) { state.contents.map = map::FileMap(); });
  begin_epoch({});
  Result<void> begun;
  if (ranks_.exchange.rank() == 0) {
    begun = ranks_.numbers.space.store(0);
    if (begun) begun = file_.truncate(0);
  }
  TESSERA_TRY_VOID(ranks_.exchange.agree(begun));
  return clear_news();
}

}  // namespace tessera::cache
