#include "tessera/port/process_team.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/hot.hpp"
#include "tessera/base/page.hpp"
#include "tessera/port/system_random.hpp"

namespace tessera::port {

namespace {

constexpr auto kPageBytes = static_cast<uint64_t>(base::kPageBytes);
// Windows begin and grow in units of large pages, for systems that give them to shared memory.
constexpr int64_t kWindowUnit = int64_t{2} << 20;
// Contributions up to this size travel beside the header of the mailbox.
constexpr size_t kSmallBytes = 496;
// Fits the second-level cache of a core, beside what the rank is working on.
constexpr size_t kLargeBytes = size_t{64} << 10;

enum class Function : uint32_t {
  kBarrier,
  kAllToAll,
  kAllGather,
  kGather,
  kBroadcast,
  kAllMax,
};

const char* function_name(uint64_t function) {
  constexpr const char* kNames[] = {"barrier", "all_to_all", "all_gather",
                                    "gather",  "broadcast",  "all_max"};
  return function < std::size(kNames) ? kNames[function] : "something else";
}

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

struct ProcessTeam::Header {
  uint64_t token;
  int64_t size;
  SharedBarrier barrier;
  alignas(64) std::array<std::atomic<int64_t>, kCounters> counters;
};

// What a rank says in a round. `total` is the length of its whole stream.
struct alignas(64) ProcessTeam::Slot {
  uint64_t call;
  uint64_t total;
  std::array<std::byte, kSmallBytes> bytes;
};

// Where things are in the memory file: the header, two sets of small mailboxes, two sets of large
// ones, the window.
struct ProcessTeam::Layout {
  explicit Layout(uint64_t ranks)
      : slots(round_up(sizeof(Header), kPageBytes)),
        large_slots(round_up(slots + 2 * ranks * sizeof(Slot), kPageBytes)),
        window(round_up(large_slots + 2 * ranks * kLargeBytes, kWindowUnit)) {}

  uint64_t slots;
  uint64_t large_slots;
  uint64_t window;
};

// The bytes that a rank gives: its parts one after the other. The parts outlive it.
class ProcessTeam::Stream {
 public:
  Stream() = default;
  explicit Stream(std::span<const base::ByteView> parts) : parts_(parts) {
    for (const base::ByteView part : parts) total_ += part.size();
  }

  [[nodiscard]] uint64_t total() const { return total_; }
  [[nodiscard]] bool is_small() const { return total_ <= kSmallBytes; }

  // Fills `to` with the bytes from `begin` on. Requires that there are as many.
  void copy(uint64_t begin, std::span<std::byte> to) const {
    for (const base::ByteView part : parts_) {
      if (to.empty()) return;
      if (begin >= part.size()) {
        begin -= part.size();
        continue;
      }
      const size_t bytes = std::min(part.size() - begin, to.size());
      std::memcpy(to.data(), part.data() + begin, bytes);
      to = to.subspan(bytes);
      begin = 0;
    }
    TESSERA_ASSERT(to.empty());
  }

 private:
  std::span<const base::ByteView> parts_;
  uint64_t total_ = 0;
};

struct ProcessTeam::Call {
  Function function;
  int root = 0;

  // That there is none has one meaning (P2): a rank gives nothing to all_gather().
  [[nodiscard]] bool has_payload(const Stream& mine) const {
    return function != Function::kAllGather || mine.total() > 0;
  }
  [[nodiscard]] uint64_t word() const {
    return uint64_t{static_cast<uint32_t>(function)} << 32 | static_cast<uint32_t>(root);
  }
  static std::string text(uint64_t word) {
    return std::string(function_name(word >> 32)) + " with root " +
           std::to_string(static_cast<uint32_t>(word));
  }
};

ProcessTeam::ProcessTeam(int rank, int size, Idle idle)
    : rank_(rank),
      size_(size),
      process_(::getpid()),
      awake_(SharedBarrier::policy_for(size, idle)),
      asleep_{awake_.spin_ns, awake_.spin_ns > 0 ? awake_.awake_ns : 0, std::move(idle)} {}

base::Result<std::unique_ptr<ProcessTeam>> ProcessTeam::found(int size, Idle idle) {
  TESSERA_ASSERT(1 <= size && size <= kRanksMax);
  const Layout layout(static_cast<uint64_t>(size));
  TESSERA_TRY(MemoryFile file, MemoryFile::create(base::exact_cast<int64_t>(layout.window)));
  std::unique_ptr<ProcessTeam> team(new ProcessTeam(0, size, std::move(idle)));
  TESSERA_TRY_VOID(team->map(std::move(file)));
  auto* header = new (team->meeting_place_.bytes().data()) Header{};
  header->size = size;
  header->token = team->token_ = SystemRandom().next();
  return team;
}

base::Result<std::unique_ptr<ProcessTeam>> ProcessTeam::join(const TeamAddress& address, int rank,
                                                             Idle idle) {
  TESSERA_TRY(MemoryFile file, MemoryFile::open(address.process, address.descriptor));
  const auto stranger = base::fail(base::Code::kInvalid,
                                   "file " + std::to_string(address.descriptor) + " of process " +
                                       std::to_string(address.process) + " is not the team's");
  TESSERA_TRY(const int64_t bytes, file.size());
  if (bytes < base::exact_cast<int64_t>(Layout(1).window)) return stranger;
  TESSERA_TRY(const Mapping head, file.map(0, sizeof(Header)));
  const auto* header = reinterpret_cast<const Header*>(head.bytes().data());
  if (header->token != address.token) return stranger;
  if (rank < 1 || rank >= header->size) {
    return base::fail(base::Code::kInvalid, "rank " + std::to_string(rank) + " joins a team of " +
                                                std::to_string(header->size));
  }
  std::unique_ptr<ProcessTeam> team(
      new ProcessTeam(rank, static_cast<int>(header->size), std::move(idle)));
  TESSERA_TRY_VOID(team->map(std::move(file)));
  team->token_ = address.token;
  return team;
}

ProcessTeam::~ProcessTeam() {
  if (meeting_place_.bytes().empty() || process_ != ::getpid()) return;
  header().barrier.break_up(static_cast<uint32_t>(rank_) + 1);
}

base::Result<void> ProcessTeam::map(MemoryFile file) {
  const Layout layout(static_cast<uint64_t>(size_));
  TESSERA_TRY(meeting_place_, file.map(0, base::exact_cast<int64_t>(layout.window)));
  file_ = std::move(file);
  return {};
}

TeamAddress ProcessTeam::address() const {
  TESSERA_ASSERT(rank_ == 0);
  return {int64_t{process_}, int64_t{file_.descriptor()}, token_};
}

TESSERA_HOT ProcessTeam::Header& ProcessTeam::header() const {
  return *std::launder(reinterpret_cast<Header*>(meeting_place_.bytes().data()));
}

TESSERA_HOT ProcessTeam::Slot& ProcessTeam::slot(uint64_t round, int rank) const {
  const auto ranks = static_cast<uint64_t>(size_);
  const uint64_t index = round % 2 * ranks + static_cast<uint64_t>(rank);
  return *std::launder(reinterpret_cast<Slot*>(meeting_place_.bytes().data() + Layout(ranks).slots +
                                               index * sizeof(Slot)));
}

std::span<std::byte> ProcessTeam::large_slot(uint64_t round, int rank) const {
  const auto ranks = static_cast<uint64_t>(size_);
  const uint64_t index = round % 2 * ranks + static_cast<uint64_t>(rank);
  return meeting_place_.bytes().subspan(Layout(ranks).large_slots + index * kLargeBytes,
                                        kLargeBytes);
}

// The error of a team that was broken up; for good (E3).
base::Failure ProcessTeam::broken() {
  const uint32_t reason = header().barrier.broken();
  failed_ = base::Error{base::Code::kFailed, 0, "rank " + std::to_string(reason - 1) + " has left"};
  return base::Failure{*failed_};
}

// One round (P1): gives a chunk of the stream and waits for the others. The mailboxes of the round
// may be read until the next one begins.
TESSERA_HOT base::Result<ProcessTeam::Met> ProcessTeam::meet(const Call& call, const Stream& mine,
                                                             uint64_t chunk) {
  if (failed_) return base::Failure{*failed_};
  const uint64_t round = rounds_++;
  Slot& to = slot(round, rank_);
  to.call = call.word();
  to.total = mine.total();
  if (mine.is_small()) {
    if (chunk == 0) mine.copy(0, std::span(to.bytes).first(mine.total()));
  } else if (chunk * kLargeBytes < mine.total()) {
    const uint64_t begin = chunk * kLargeBytes;
    const uint64_t bytes = std::min<uint64_t>(kLargeBytes, mine.total() - begin);
    mine.copy(begin, large_slot(round, rank_).first(bytes));
  }
  const auto& policy = call.function == Function::kBarrier ? asleep_ : awake_;
  switch (header().barrier.wait({round, call.has_payload(mine)}, size_, policy)) {
    case SharedBarrier::Outcome::kBroken:
      return broken();
    case SharedBarrier::Outcome::kMetWithoutPayload:
      return Met{round, false};
    case SharedBarrier::Outcome::kMet:
      break;
  }
  TESSERA_TRY_VOID(check_calls(round, call));
  return Met{round, true};
}

// (P2): every rank compares with every other, so they all come to the same answer.
base::Result<void> ProcessTeam::check_calls(uint64_t round, const Call& call) {
  for (int rank = 0; rank < size_; ++rank) {
    const uint64_t theirs = slot(round, rank).call;
    if (theirs == call.word()) continue;
    failed_ = base::Error{base::Code::kInvalid, 0,
                          "rank " + std::to_string(rank_) + " called " + Call::text(call.word()) +
                              ", rank " + std::to_string(rank) + " " + Call::text(theirs)};
    return base::Failure{*failed_};
  }
  return {};
}

base::ByteView ProcessTeam::chunk_of(uint64_t round, int from, uint64_t chunk) const {
  const Slot& theirs = slot(round, from);
  if (theirs.total <= kSmallBytes) {
    return chunk == 0 ? base::ByteView(theirs.bytes).first(theirs.total) : base::ByteView();
  }
  const uint64_t begin = chunk * kLargeBytes;
  if (begin >= theirs.total) return {};
  return large_slot(round, from).first(std::min<uint64_t>(kLargeBytes, theirs.total - begin));
}

// Gives a stream and answers the wanted parts of the others', by rank; nothing of the own.
base::Result<std::vector<base::Bytes>> ProcessTeam::swap_streams(const Call& call,
                                                                 const Stream& mine,
                                                                 const Wanted& wanted) {
  TESSERA_TRY(const Met met, meet(call, mine, 0));
  if (!met.has_payload) return std::vector<base::Bytes>(static_cast<size_t>(size_));
  return take_streams(call, mine, wanted, met.round);
}

// What swap_streams() does once the ranks have met for the first chunk.
base::Result<std::vector<base::Bytes>> ProcessTeam::take_streams(const Call& call,
                                                                 const Stream& mine,
                                                                 const Wanted& wanted,
                                                                 uint64_t round) {
  std::vector<base::Bytes> taken(static_cast<size_t>(size_));
  std::vector<Part> parts(taken.size());
  uint64_t chunks = 1;
  for (uint64_t chunk = 0; chunk < chunks; ++chunk) {
    if (chunk > 0) {
      TESSERA_TRY(const Met met, meet(call, mine, chunk));
      round = met.round;
    }
    for (int from = 0; from < size_; ++from) {
      const base::ByteView bytes = chunk_of(round, from, chunk);
      Part& part = parts[static_cast<size_t>(from)];
      base::Bytes& to = taken[static_cast<size_t>(from)];
      if (chunk == 0) {
        const uint64_t total = slot(round, from).total;
        if (total > kSmallBytes) chunks = std::max(chunks, (total - 1) / kLargeBytes + 1);
        if (from != rank_) part = wanted(from, bytes, total);
        to.reserve(part.end - part.begin);
      }
      const uint64_t base = chunk * kLargeBytes;
      const uint64_t begin = std::max(part.begin, base);
      const uint64_t end = std::min(part.end, base + bytes.size());
      if (begin >= end) continue;
      const base::ByteView piece = bytes.subspan(begin - base, end - begin);
      to.insert(to.end(), piece.begin(), piece.end());
    }
  }
  return taken;
}

ProcessTeam::Part ProcessTeam::everything(int, base::ByteView, uint64_t total) {
  return {0, total};
}

base::Result<void> ProcessTeam::barrier() {
  TESSERA_TRY_VOID(meet({Function::kBarrier}, Stream(), 0));
  return {};
}

// The stream of a rank is the lengths of what it sends to each, and then all of that.
base::Result<std::vector<base::Bytes>> ProcessTeam::all_to_all(std::vector<base::Bytes> outgoing) {
  TESSERA_ASSERT(outgoing.size() == static_cast<size_t>(size_));
  const auto me = static_cast<size_t>(rank_);
  std::vector<uint64_t> lengths;
  std::vector<base::ByteView> parts(1);
  for (size_t to = 0; to < outgoing.size(); ++to) {
    if (to != me) parts.emplace_back(outgoing[to]);
    lengths.push_back(to != me ? outgoing[to].size() : 0);
  }
  parts[0] = std::as_bytes(std::span(lengths));
  const auto wanted = [&](int, base::ByteView first_chunk, uint64_t) {
    std::vector<uint64_t> theirs(lengths.size());
    std::memcpy(theirs.data(), first_chunk.data(), parts[0].size());
    Part part{parts[0].size(), 0};
    for (size_t to = 0; to < me; ++to) part.begin += theirs[to];
    part.end = part.begin + theirs[me];
    return part;
  };
  TESSERA_TRY(auto incoming, swap_streams({Function::kAllToAll}, Stream(parts), wanted));
  incoming[me] = std::move(outgoing[me]);
  return incoming;
}

base::Result<std::vector<base::Bytes>> ProcessTeam::all_gather(base::Bytes mine) {
  const base::ByteView part(mine);
  TESSERA_TRY(auto all, swap_streams({Function::kAllGather}, Stream({&part, 1}), everything));
  all[static_cast<size_t>(rank_)] = std::move(mine);
  return all;
}

TESSERA_HOT base::Result<std::vector<base::Bytes>> ProcessTeam::listen() {
  const Call call = {Function::kAllGather};
  const Stream nothing;
  TESSERA_TRY(const Met met, meet(call, nothing, 0));
  if (!met.has_payload) return std::vector<base::Bytes>();
  return take_streams(call, nothing, everything, met.round);
}

base::Result<std::vector<base::Bytes>> ProcessTeam::gather(int root, base::Bytes mine) {
  TESSERA_ASSERT(0 <= root && root < size_);
  const base::ByteView part(rank_ != root ? base::ByteView(mine) : base::ByteView());
  const auto at_root = [&](int, base::ByteView, uint64_t total) {
    return rank_ == root ? Part{0, total} : Part{};
  };
  TESSERA_TRY(auto all, swap_streams({Function::kGather, root}, Stream({&part, 1}), at_root));
  if (rank_ != root) return std::vector<base::Bytes>();
  all[static_cast<size_t>(rank_)] = std::move(mine);
  return all;
}

base::Result<base::Bytes> ProcessTeam::broadcast(int root, base::Bytes value) {
  TESSERA_ASSERT(0 <= root && root < size_);
  const base::ByteView part(rank_ == root ? base::ByteView(value) : base::ByteView());
  const auto from_root = [&](int from, base::ByteView, uint64_t total) {
    return from == root ? Part{0, total} : Part{};
  };
  TESSERA_TRY(auto all, swap_streams({Function::kBroadcast, root}, Stream({&part, 1}), from_root));
  if (rank_ == root) return value;
  return std::move(all[static_cast<size_t>(root)]);
}

base::Result<uint64_t> ProcessTeam::all_max(uint64_t mine) {
  const base::ByteView part = std::as_bytes(std::span(&mine, 1));
  TESSERA_TRY(const Met met, meet({Function::kAllMax}, Stream({&part, 1}), 0));
  uint64_t largest = mine;
  for (int rank = 0; rank < size_; ++rank) {
    uint64_t theirs = 0;
    std::memcpy(&theirs, slot(met.round, rank).bytes.data(), sizeof(theirs));
    largest = std::max(largest, theirs);
  }
  return largest;
}

base::Result<std::span<std::byte>> ProcessTeam::common_memory(int64_t bytes) {
  TESSERA_ASSERT(bytes >= 0);
  if (base::exact_cast<int64_t>(window_.bytes().size()) >= bytes) return window_.bytes();
  const auto begin = base::exact_cast<int64_t>(Layout(static_cast<uint64_t>(size_)).window);
  const int64_t length = base::ceil_div(bytes, kWindowUnit) * kWindowUnit;
  base::Result<void> grown;
  if (rank_ == 0) grown = file_.grow(begin + length);
  TESSERA_TRY_VOID(agree(grown));
  auto mapped = file_.map(begin, length);
  TESSERA_TRY_VOID(agree(mapped ? base::Result<void>() : base::failure_of(mapped)));
  window_ = *std::move(mapped);
  return window_.bytes();
}

int64_t ProcessTeam::fetch_add(int index, int64_t by) {
  return header().counters.at(static_cast<size_t>(index)).fetch_add(by);
}

void ProcessTeam::store(int index, int64_t value) {
  header().counters.at(static_cast<size_t>(index)).store(value);
}

int64_t ProcessTeam::load(int index) const {
  return header().counters.at(static_cast<size_t>(index)).load();
}

}  // namespace tessera::port
