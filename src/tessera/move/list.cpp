#include <algorithm>
#include <memory>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/phase_timer.hpp"
#include "tessera/move/segments.hpp"
#include "tessera/pattern/copy.hpp"

namespace tessera::move {

namespace {

constexpr size_t kBatchSegments = 1024;
// Packed for one transfer: as much as stock libraries move at once. The system keeps what is
// written at once in one page if it can, and larger pages make the next access of them cheaper.
constexpr int64_t kStagingBytes = int64_t{512} << 10;
// Memory in shorter runs than this is packed first: copying a run then costs less than naming it to
// the system.
constexpr int64_t kPackedRunMax = 512;

// A list transfer under way. Memory is reached in place, or through a packed buffer that holds the
// bytes of one batch in stream order.
class ListTransfer {
 public:
  ListTransfer(const Move& move, Context& context);

  Transfer run();

 private:
  [[nodiscard]] static bool is_packed(const Move& move);
  [[nodiscard]] static Pattern stream_of(const Move& move) {
    return Pattern::run({{0}}, move.size()).value();
  }

  bool fill();
  void pack();
  void unpack(int64_t bytes);
  Transfer transfer_batch();

  const Move& move_;
  Context& context_;
  const bool packed_;
  SegmentWalk walk_;
  std::unique_ptr<std::byte[]> staging_;
  std::vector<Segment> room_;
  std::span<const Segment> batch_;
  Interval stream_;  // of the batch
  std::vector<port::ReadSegment> reads_;
  std::vector<port::WriteSegment> writes_;
};

bool ListTransfer::is_packed(const Move& move) {
  return move.memory.runs() > 1 && move.size() / move.memory.runs() < kPackedRunMax;
}

ListTransfer::ListTransfer(const Move& move, Context& context)
    : move_(move),
      context_(context),
      packed_(is_packed(move)),
      walk_(move.file, packed_ ? stream_of(move) : move.memory) {
  const int64_t runs = move.file.runs() + (packed_ ? 0 : move.memory.runs());
  room_.resize(std::min(kBatchSegments, base::exact_cast<size_t>(std::max<int64_t>(runs, 1))));
  if (!packed_) return;
  const int64_t bytes = std::min(move.size(), kStagingBytes);
  staging_ = std::make_unique_for_overwrite<std::byte[]>(base::exact_cast<size_t>(bytes));
}

bool ListTransfer::fill() {
  const int64_t bytes_max = packed_ ? kStagingBytes : pattern::kMaxPosition;
  batch_ = std::span(room_).first(walk_.next(room_, bytes_max));
  stream_ = {stream_.end, stream_.end};
  for (const Segment& segment : batch_) stream_.end += segment.length;
  return !batch_.empty();
}

void ListTransfer::pack() {
  const PhaseTimer timer(context_.phases, &Phases::copy_ns);
  pattern::gather(staging_.get(), move_.base, move_.memory, stream_, pattern::CopyMode::kCached);
}

void ListTransfer::unpack(int64_t bytes) {
  const PhaseTimer timer(context_.phases, &Phases::copy_ns);
  const Interval moved = {stream_.begin, stream_.begin + bytes};
  pattern::scatter(move_.base, staging_.get(), move_.memory, moved, pattern::CopyMode::kCached);
}

Transfer ListTransfer::transfer_batch() {
  const PhaseTimer timer(context_.phases, &Phases::io_ns);
  std::byte* memory = packed_ ? staging_.get() : move_.base;
  const int64_t origin = packed_ ? stream_.begin : 0;
  const auto place = [memory, origin](const Segment& segment) {
    return std::span(memory + (segment.memory - origin), base::exact_cast<size_t>(segment.length));
  };
  if (move_.direction == Direction::kRead) {
    reads_.clear();
    for (const Segment& segment : batch_) reads_.push_back({segment.file, place(segment)});
    return context_.file.read_list(reads_);
  }
  writes_.clear();
  for (const Segment& segment : batch_) writes_.push_back({segment.file, place(segment)});
  return context_.file.write_list(writes_);
}

Transfer ListTransfer::run() {
  Transfer done;
  const bool reads = move_.direction == Direction::kRead;
  while (fill()) {
    if (packed_ && !reads) pack();
    Transfer batch = transfer_batch();
    if (packed_ && reads) unpack(batch.bytes);
    done.bytes += batch.bytes;
    done.status = std::move(batch.status);
    if (!done || batch.bytes < stream_.length()) break;
  }
  return done;
}

}  // namespace

Transfer execute_list(const Move& move, Context& context) {
  return ListTransfer(move, context).run();
}

}  // namespace tessera::move
