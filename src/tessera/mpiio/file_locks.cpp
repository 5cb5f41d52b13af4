#include "tessera/mpiio/file_locks.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/lock/plain_names.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/lock_service.hpp"
#include "tessera/mpiio/open_file.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/pattern/overlap.hpp"

namespace tessera::mpiio {

namespace {

using base::Result;
using lock::Held;
using lock::Mode;
using move::LockHint;
using pattern::ByteSet;

constexpr pattern::Interval kAllBytes = {0, pattern::kMaxPosition};
// Views whose description is longer are not compared.
constexpr size_t kViewBytesMax = size_t{64} << 10;
// A kept lock that is recalled sooner was not worth it, and is not asked for again for a while.
constexpr int64_t kWorthNs = 100'000'000;
constexpr int64_t kWithoutNs = 2'000'000'000;

ByteSet span_of(pattern::Interval span) { return ByteSet::of(span).value(); }

// All bytes of a view, encoded; nothing if they are too many to compare.
std::optional<base::Bytes> encoded(const FileView& view) {
  if (view.empty) return base::Bytes();
  if (view.overlapping) return std::nullopt;
  const auto bytes = view.ascending.within(kAllBytes);
  if (!bytes) return std::nullopt;
  base::Bytes text = pattern::encode(bytes->ascending());
  return text.size() <= kViewBytesMax ? std::optional(std::move(text)) : std::nullopt;
}

Result<ByteSet> decoded(base::ByteView text) {
  TESSERA_TRY(auto bytes, pattern::decode<1>(text));
  return ByteSet::of_ascending(std::move(bytes));
}

// Whether two views surely have no byte in common.
bool apart(const ByteSet& mine, base::ByteView theirs) {
  if (theirs.empty()) return true;
  const auto others = decoded(theirs);
  if (!others) return false;
  const auto overlap = pattern::overlaps(mine, *others);
  return overlap && !*overlap;
}

base::Bytes pack(const std::array<std::string, 3>& texts) {
  base::Bytes packed;
  base::ByteWriter writer(packed);
  for (const std::string& text : texts) writer.sized_bytes(base::bytes_of(text));
  return packed;
}

Result<std::array<std::string, 3>> unpack(base::ByteView packed) {
  std::array<std::string, 3> texts;
  base::ByteReader reader(packed);
  for (std::string& text : texts) {
    TESSERA_TRY(const base::ByteView bytes, reader.sized_bytes());
    text = base::text_of(bytes);
  }
  return texts;
}

}  // namespace

// What a rank tells the others: facts as bits, the extent, and its view if that may be compared.
struct FileLocks::Share {
  bool dense = false;
  bool ranges = false;   // the file system has them, for this way of opening
  bool servers = false;  // TESSERA_LOCKS names some
  LockHint extent = LockHint::kList;
  std::optional<base::Bytes> view = {};

  [[nodiscard]] base::Bytes bytes() const {
    const int facts = (dense ? 1 : 0) | (ranges ? 2 : 0) | (servers ? 4 : 0) | (view ? 8 : 0);
    base::Bytes told;
    base::ByteWriter writer(told);
    writer.u8(static_cast<uint8_t>(facts));
    writer.u8(static_cast<uint8_t>(extent));
    if (view) writer.bytes(*view);
    return told;
  }

  static Share of(base::ByteView told) {
    const int facts = std::to_integer<int>(told[0]);
    Share share;
    share.dense = (facts & 1) != 0;
    share.ranges = (facts & 2) != 0;
    share.servers = (facts & 4) != 0;
    share.extent = static_cast<LockHint>(told[1]);
    if ((facts & 8) != 0) share.view = base::copy_of(told.subspan(2));
    return share;
  }
};

FileLocks::~FileLocks() { stop_keeping(); }

// --- accesses

Result<Held> FileLocks::acquire(const ByteSet& bytes, Mode mode) {
  if (means_ == Means::kService) return lock_by_service(bytes, mode);
  auto held = ranges_.acquire(bytes, mode);
  if (!held || ranges_.supported()) return held;
  TESSERA_TRY_VOID(reach_service_alone());
  return lock_by_service(bytes, mode);
}

Result<void> FileLocks::reach_service_alone() {
  return reached_alone_.with([&](auto& reached) {
    if (reached) return *reached;
    reached = [&]() -> Result<void> {
      TESSERA_TRY(const auto identity, file_.identity());
      name_ = lock::plain_file_name(identity);
      if (has_lock_servers()) return use_server();
      TESSERA_TRY_VOID(start_lock_server(file_));
      return use_own_server(identity);
    }();
    return *reached;
  });
}

Result<Held> FileLocks::lock_access(const pattern::Pattern& bytes, move::Direction direction) {
  if (means_ == Means::kNothing || bytes.empty()) return Held();
  const Mode mode = mode_of(direction);
  if (extent_ == LockHint::kFile) return acquire(span_of(kAllBytes), mode);
  if (extent_ == LockHint::kRange || !bytes.ascending()) {
    return acquire(span_of(bytes.span()), mode);
  }
  if (means_ == Means::kService) {
    if (auto held = lock_by_kept()) return *std::move(held);
  }
  return acquire(ByteSet::of_ascending(bytes), mode);
}

Result<Held> FileLocks::lock_by_service(ByteSet bytes, Mode mode) {
  if (bytes.empty()) return Held();
  const pattern::Interval span = bytes.span();
  auto acquired = agent_->acquire({.file = name_, .claim = {std::move(bytes), mode}});
  // Too irregular for a message: then from first to last byte.
  if (!acquired && acquired.error().code == base::Code::kTooComplex) {
    acquired = agent_->acquire({.file = name_, .claim = {span_of(span), mode}});
  }
  TESSERA_TRY(const lock::Sequence sequence, std::move(acquired));
  return Held([this, sequence] { agent_->release(sequence); },
              [this, sequence] { return agent_->confirm(sequence); });
}

std::optional<Held> FileLocks::lock_by_kept() {
  const auto kept = kept_lock();
  if (!kept || !kept->begin(clock_.now_ns())) return std::nullopt;
  return Held([kept] { kept->end(); }, [this, kept] { return kept->confirm(clock_.now_ns()); });
}

std::shared_ptr<lock::KeptLock> FileLocks::kept_lock() {
  return keeping_.with([&](Keeping& keeping) -> std::shared_ptr<lock::KeptLock> {
    if (!keeping.bytes) return nullptr;
    if (keeping.lock && !keeping.lock->over()) return keeping.lock;
    const int64_t now_ns = clock_.now_ns();
    if (keeping.lock && now_ns - keeping.lock->since_ns() < kWorthNs) {
      keeping.not_before_ns = now_ns + kWithoutNs;
    }
    keeping.lock.reset();
    if (now_ns < keeping.not_before_ns) return nullptr;
    auto kept = agent_->keep({.file = name_, .claim = {*keeping.bytes, keeping.mode}});
    if (kept) keeping.lock = *std::move(kept);
    return keeping.lock;
  });
}

void FileLocks::stop_keeping() {
  keeping_.with([](Keeping& keeping) {
    if (keeping.lock) keeping.lock->recall();
    keeping = {};
  });
}

// --- arrangements

// One byte that nobody uses is locked and given back.
bool FileLocks::has_ranges(bool only_read) {
  const auto lock = only_read ? port::RangeLock::kShared : port::RangeLock::kExclusive;
  const int64_t end = pattern::kMaxPosition;
  const auto taken = file_.try_lock_range(end - 1, end, lock);
  if (taken && *taken) {
    static_cast<void>(file_.try_lock_range(end - 1, end, port::RangeLock::kUnlock));
  }
  return taken.has_value();
}

// What the first rank tells the others: the name of the file, since devices have different numbers
// on different nodes, and where ranks of other nodes reach the server that it has started.
Result<void> FileLocks::reach_service(Group& group, bool servers) {
  const auto identity = file_.identity();
  const bool starts = group.rank() == 0 && !servers;
  base::Result<void> started = starts ? start_lock_server(file_) : Result<void>();
  lock::OpenedToNodes opened;
  if (starts && started && group.node_size() < group.size()) {
    auto asked = open_lock_server(file_);
    if (asked) {
      opened = *std::move(asked);
    } else {
      started = base::failure_of(asked);
    }
  }
  const std::string mine = identity ? lock::plain_file_name(*identity) : std::string();
  TESSERA_TRY(const base::Bytes told,
              group.exchange().broadcast(0, pack({mine, opened.address, opened.key})));
  if (!identity) return base::failure_of(identity);
  if (!started) return started;
  TESSERA_TRY(const auto said, unpack(told));
  name_ = said[0];
  if (servers) return use_server();
  const bool is_here = group.nodes()[static_cast<size_t>(group.rank())] == group.nodes().front();
  return is_here ? use_own_server(*identity) : use_agent({said[1], said[2]});
}

Result<void> FileLocks::use_server() {
  TESSERA_TRY(const std::string address, lock_server_of(name_));
  return use_agent({address});
}

Result<void> FileLocks::use_own_server(const port::PlainFile::Identity& identity) {
  TESSERA_TRY(const std::string address, lock::on_demand_address(identity));
  return use_agent({.address = address, .file = &file_});
}

Result<void> FileLocks::use_agent(const LockServerPlace& place) {
  TESSERA_TRY(agent_, lock_agent_at(place));
  why_ = "by the lock server at " + place.address;
  return {};
}

Result<FileLocks::Means> FileLocks::choose_means(const std::vector<Share>& shares, Group& group) {
  const auto all = [&](auto fact) { return std::all_of(shares.begin(), shares.end(), fact); };
  const bool ranges = all([](const Share& share) { return share.ranges; });
  const bool servers = all([](const Share& share) { return share.servers; });
  const bool one_run =
      extent_ != LockHint::kList || all([](const Share& share) { return share.dense; });
  if (extent_ == LockHint::kNone) return Means::kNothing;
  if (!servers && ranges && one_run) {
    why_ = "by ranges of the file system";
    return Means::kRanges;
  }
  Result<void> reached;
  if (!arranged_) reached = reach_service(group, servers);
  reached = group.exchange().agree(reached);
  arranged_ = reached.has_value();
  if (arranged_) return Means::kService;
  if (!ranges) return base::failure_of(reached);
  why_ = "by ranges of the file system from first to last byte, since " + reached.error().context;
  return Means::kRanges;
}

Result<void> FileLocks::settle(const move::Hints& hints, const FileView& view, bool only_read,
                               Group& group) {
  stop_keeping();
  Share mine;
  mine.dense = view.dense;
  mine.ranges = has_ranges(only_read) && !(only_read && hints.lock_reads_alone);
  mine.servers = has_lock_servers();
  mine.extent = hints.lock;
  if (hints.lock_private) mine.view = encoded(view);
  TESSERA_TRY(const auto told, group.exchange().all_gather(mine.bytes()));
  std::vector<Share> shares;
  for (const base::Bytes& share : told) shares.push_back(Share::of(share));
  extent_ = shares.front().extent;
  reads_alone_ = hints.lock_reads_alone;
  TESSERA_TRY(means_, choose_means(shares, group));
  if (means_ != Means::kService || extent_ != LockHint::kList) return {};
  if (!mine.view || mine.view->empty()) return {};
  const bool shares_locks = only_read && !reads_alone_;
  shares.erase(shares.begin() + group.rank());
  TESSERA_TRY(auto bytes, decoded(*mine.view));
  const auto is_apart = [&](const Share& other) { return other.view && apart(bytes, *other.view); };
  if (!shares_locks && !std::all_of(shares.begin(), shares.end(), is_apart)) return {};
  keeping_.with([&](Keeping& keeping) {
    keeping.bytes = std::move(bytes);
    keeping.mode = shares_locks ? Mode::kShared : Mode::kExclusive;
  });
  return {};
}

std::string FileLocks::explanation() const {
  constexpr const char* kExtents[] = {"nothing", "the whole file", "the span of an access",
                                      "the bytes of an access"};
  const std::string what = kExtents[static_cast<size_t>(extent_)];
  return means_ == Means::kNothing ? what : what + ", " + why_;
}

}  // namespace tessera::mpiio
