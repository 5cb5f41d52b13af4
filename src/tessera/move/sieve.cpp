#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>

#include "tessera/base/checked.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/islands.hpp"
#include "tessera/move/phase_timer.hpp"

namespace tessera::move {

namespace {

constexpr int64_t kPieceBytesMin = 4096;
// More than this per piece would leave a core's cache between the system's copy and ours.
constexpr int64_t kPieceBytesMax = int64_t{512} << 10;

// A sieved transfer under way, an island at a time.
class Sieve {
 public:
  Sieve(const Move& move, Context& context);

  Transfer run();

 private:
  // What happened to one island: bytes of its stream that were moved.
  Transfer read_island();
  Transfer write_island();
  Transfer rewrite_island();
  Transfer load();
  Transfer store();
  // The bytes of the island's stream in the first `bytes` of its piece of the file.
  [[nodiscard]] int64_t wanted_in(int64_t bytes) const;
  [[nodiscard]] std::span<std::byte> piece() const;

  const Move& move_;
  Context& context_;
  IslandWalk walk_;
  std::unique_ptr<std::byte[]> buffer_;
  Island island_;
  Move part_;
};

int64_t piece_bytes(const Move& move, const Hints& hints) {
  const int64_t hint =
      move.direction == Direction::kRead ? hints.ind_rd_buffer_size : hints.ind_wr_buffer_size;
  return std::clamp(hint, kPieceBytesMin, kPieceBytesMax);
}

Sieve::Sieve(const Move& move, Context& context)
    : move_(move),
      context_(context),
      walk_(move.file,
            {sieved_gap_max(move.direction, context.costs), piece_bytes(move, context.hints)}) {
  const int64_t bytes = std::min(piece_bytes(move, context.hints), move.file.span().length());
  buffer_ = std::make_unique_for_overwrite<std::byte[]>(base::exact_cast<size_t>(bytes));
}

std::span<std::byte> Sieve::piece() const {
  return {buffer_.get(), base::exact_cast<size_t>(island_.file.length())};
}

int64_t Sieve::wanted_in(int64_t bytes) const {
  if (bytes == island_.file.length()) return island_.stream.length();
  return part_.file.offset_of(island_.file.begin + bytes);
}

Transfer Sieve::load() {
  const PhaseTimer timer(context_.phases, &Phases::io_ns);
  return context_.file.read_at(island_.file.begin, piece());
}

Transfer Sieve::store() {
  const PhaseTimer timer(context_.phases, &Phases::io_ns);
  Transfer stored = context_.file.write_at(island_.file.begin, piece());
  stored.bytes = wanted_in(stored.bytes);
  return stored;
}

Transfer Sieve::read_island() {
  Transfer loaded = load();
  loaded.bytes = wanted_in(loaded.bytes);
  const PhaseTimer timer(context_.phases, &Phases::copy_ns);
  copy_from_buffer(part_.clip({0, loaded.bytes}), buffer_.get(), island_.file.begin);
  return loaded;
}

// Puts the wanted bytes among those that the file has there now. The lock is held from the first
// byte read to the last one written back, so that no other rewriter's bytes are lost.
Transfer Sieve::rewrite_island() {
  auto held = [this] {
    const PhaseTimer timer(context_.phases, &Phases::lock_ns);
    return context_.locks.acquire(pattern::ByteSet::of(island_.file).value(),
                                  lock::Mode::kExclusive);
  }();
  if (!held) return {0, base::failure_of(held)};
  Transfer loaded = load();
  if (!loaded) return {0, std::move(loaded.status)};
  {
    const PhaseTimer timer(context_.phases, &Phases::copy_ns);
    // Behind the end of the file there are zeros, as if the gap had been skipped.
    const auto rest = piece().subspan(base::exact_cast<size_t>(loaded.bytes));
    if (!rest.empty()) std::memset(rest.data(), 0, rest.size());
    copy_to_buffer(part_, buffer_.get(), island_.file.begin);
  }
  return store();
}

Transfer Sieve::write_island() {
  if (island_.has_gaps()) return rewrite_island();
  {
    const PhaseTimer timer(context_.phases, &Phases::copy_ns);
    copy_to_buffer(part_, buffer_.get(), island_.file.begin);
  }
  return store();
}

Transfer Sieve::run() {
  Transfer done;
  while (walk_.next(island_)) {
    part_ = move_.clip(island_.stream);
    Transfer moved = move_.direction == Direction::kRead ? read_island() : write_island();
    done.bytes += moved.bytes;
    done.status = std::move(moved.status);
    if (!done || moved.bytes < island_.stream.length()) break;
  }
  return done;
}

// Whether a write could not look at the file first because it is open for writing only.
bool cannot_read(const Move& move, const Transfer& done) {
  return move.direction == Direction::kWrite && !done && done.status.error().errno_value == EBADF;
}

}  // namespace

int64_t sieved_gap_max(Direction direction, const Costs& costs) {
  const bool reads = direction == Direction::kRead;
  const double piece_ns = reads ? costs.request_ns : 2 * costs.request_ns + costs.lock_ns;
  const double byte_ns = costs.read_byte_ns + (reads ? 0 : costs.write_byte_ns);
  constexpr double kMax = 1e15;
  return std::llround(std::min(piece_ns / std::max(byte_ns, 1e-9), kMax));
}

Transfer execute_sieve(const Move& move, Context& context) {
  if (move.file.empty()) return {};
  Transfer done = Sieve(move, context).run();
  if (!cannot_read(move, done)) return done;
  Transfer rest = execute_list(move.clip({done.bytes, move.size()}), context);
  context.choice = {Engine::kList, "the file cannot be read, so its gaps cannot be rewritten"};
  return {done.bytes + rest.bytes, std::move(rest.status)};
}

}  // namespace tessera::move
