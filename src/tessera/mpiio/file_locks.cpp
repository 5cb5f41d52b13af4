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
// A cached lock that covered fewer accesses was not worth it, and is not asked for again for a
// while.
constexpr int64_t kWorthUses = 8;
constexpr int64_t kWithoutNs = 2'000'000'000;
// How often those who lock by ranges look for a server of the file.
constexpr int64_t kLookNs = 10'000'000;

ByteSet span_of(pattern::Interval span) { return ByteSet::of(span).value(); }

Result<FileService> service_at(const std::string& name, const LockServerPlace& place) {
  TESSERA_TRY(auto agent, lock_agent_at(place));
  return FileService{name, place, std::move(agent)};
}

// The one that TESSERA_LOCKS names.
Result<FileService> named_server(const std::string& name) {
  TESSERA_TRY(const std::string address, lock_server_of(name));
  return service_at(name, {.address = address});
}

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

}  // namespace

// What a rank tells the others: facts as bits, the extent, and its view if that may be compared.
struct FileLocks::Share {
  bool dense = false;
  bool ranges = false;   // the file system has them, for this way of opening
  bool servers = false;  // TESSERA_LOCKS names some
  bool served = false;   // this process uses the service for this file already
  LockHint extent = LockHint::kList;
  std::optional<base::Bytes> view = {};

  [[nodiscard]] base::Bytes bytes() const {
    const int facts =
        (dense ? 1 : 0) | (ranges ? 2 : 0) | (servers ? 4 : 0) | (view ? 8 : 0) | (served ? 16 : 0);
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
    share.served = (facts & 16) != 0;
    share.extent = static_cast<LockHint>(told[1]);
    if ((facts & 8) != 0) share.view = base::copy_of(told.subspan(2));
    return share;
  }
};

// The name of the file in messages, since devices have different numbers on different nodes, and
// where ranks find its server: on the first rank's node (empty: at its own socket), and elsewhere.
struct FileLocks::Offer {
  std::string name = {};
  std::string near = {};
  std::string far = {};
  std::string key = {};

  [[nodiscard]] base::Bytes bytes() const {
    base::Bytes packed;
    base::ByteWriter writer(packed);
    for (const std::string& text : {name, near, far, key}) {
      writer.sized_bytes(base::bytes_of(text));
    }
    return packed;
  }

  static Result<Offer> of(base::ByteView packed) {
    Offer offer;
    base::ByteReader reader(packed);
    for (std::string* text : {&offer.name, &offer.near, &offer.far, &offer.key}) {
      TESSERA_TRY(const base::ByteView bytes, reader.sized_bytes());
      *text = base::text_of(bytes);
    }
    return offer;
  }
};

FileLocks::~FileLocks() { drop_cached_lock(); }

// --- accesses

Result<Held> FileLocks::acquire(const ByteSet& bytes, Mode mode) {
  if (bytes.empty()) return Held();
  return is_served() ? lock_by_service(bytes, mode) : lock_by_range(bytes.span(), mode);
}

Result<Held> FileLocks::lock_access(const pattern::Pattern& bytes, move::Direction direction) {
  if (!locks_ || bytes.empty()) return Held();
  const Mode mode = mode_of(direction);
  if (extent_ == LockHint::kFile) return acquire(span_of(kAllBytes), mode);
  if (extent_ == LockHint::kRange || !bytes.ascending()) {
    return acquire(span_of(bytes.span()), mode);
  }
  if (is_served()) {
    if (auto held = lock_by_cached()) return *std::move(held);
  }
  return acquire(ByteSet::of_ascending(bytes), mode);
}

Result<Held> FileLocks::lock_by_range(pattern::Interval bytes, Mode mode) {
  if (is_served()) return lock_by_service(span_of(bytes), mode);
  auto held = ranges_.acquire_run(bytes, mode);
  if (!held || ranges_.supported()) return held;
  TESSERA_TRY_VOID(reach_service_alone());
  return lock_by_service(span_of(bytes), mode);
}

// (ARBITER-2)
bool FileLocks::is_served() {
  if (served_) return true;
  const int64_t now_ns = clock_.now_ns();
  if (now_ns < look_at_ns_) return false;
  look_at_ns_ = now_ns + kLookNs;
  const auto identity = file_.identity();
  const bool known = identity && known_service(*identity);
  if (known || lock::is_marked(file_)) join_server();
  return served_;
}

// The mark may be of a server that cannot be reached from here, or of another program.
void FileLocks::join_server() {
  const auto identity = file_.identity();
  if (!identity) return;
  reaching_.with([&](const auto& /*reached*/) {
    if (served_) return;
    if (auto known = known_service(*identity)) {
      use(*std::move(known));
    } else if (!has_lock_servers() && has_own_server(*identity)) {
      if (auto own = own_server(lock::plain_file_name(*identity))) use(*std::move(own));
    }
  });
}

Result<FileService> FileLocks::find_service_alone() {
  TESSERA_TRY(const auto identity, file_.identity());
  const std::string name = lock::plain_file_name(identity);
  if (has_lock_servers()) return named_server(name);
  if (auto known = known_service(identity)) return *std::move(known);
  TESSERA_TRY_VOID(start_lock_server(file_));
  return own_server(name);
}

Result<void> FileLocks::reach_service_alone() {
  return reaching_.with([&](auto& reached) {
    if (served_) return Result<void>();
    if (reached) return *reached;
    auto found = find_service_alone();
    reached = found ? Result<void>() : base::failure_of(found);
    if (found) use(*std::move(found));
    return *reached;
  });
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

std::optional<Held> FileLocks::lock_by_cached() {
  const auto cached = cached_lock();
  if (!cached || !cached->begin(clock_.now_ns())) return std::nullopt;
  return Held([cached] { cached->end(); },
              [this, cached] { return cached->confirm(clock_.now_ns()); });
}

std::shared_ptr<lock::CachedLock> FileLocks::cached_lock() {
  return caching_.with([&](Caching& caching) -> std::shared_ptr<lock::CachedLock> {
    if (!caching.bytes) return nullptr;
    if (caching.lock && !caching.lock->over()) return caching.lock;
    const int64_t now_ns = clock_.now_ns();
    caching.forget_lock(now_ns);
    if (now_ns < caching.not_before_ns) return nullptr;
    auto made = agent_->acquire_cached({.file = name_, .claim = {*caching.bytes, caching.mode}});
    if (made) caching.lock = *std::move(made);
    return caching.lock;
  });
}

void FileLocks::Caching::forget_lock(int64_t now_ns) {
  if (lock && lock->uses() < kWorthUses) not_before_ns = now_ns + kWithoutNs;
  lock.reset();
}

void FileLocks::drop_cached_lock() {
  caching_.with([&](Caching& caching) {
    if (caching.lock) caching.lock->recall();
    caching.forget_lock(clock_.now_ns());
    caching.bytes.reset();
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

// One that this process uses already serves the other ranks as well.
Result<FileLocks::Offer> FileLocks::offer_service(Group& group) {
  TESSERA_TRY(const auto identity, file_.identity());
  Offer offer = {.name = lock::plain_file_name(identity)};
  if (const auto known = known_service(identity)) {
    offer.name = known->name;
    if (!known->place.key.empty()) {
      offer.near = offer.far = known->place.address;
      offer.key = known->place.key;
      return offer;
    }
  } else {
    TESSERA_TRY_VOID(start_lock_server(file_));
  }
  if (group.node_size() < group.size()) {
    TESSERA_TRY(const auto opened, open_lock_server(file_));
    offer.far = opened.address;
    offer.key = opened.key;
  }
  return offer;
}

Result<FileService> FileLocks::find_service(Group& group, bool servers) {
  const bool first = group.rank() == 0;
  const auto identity = file_.identity();
  Result<Offer> mine = Offer{identity ? lock::plain_file_name(*identity) : std::string()};
  if (first && !servers) mine = offer_service(group);
  TESSERA_TRY(const base::Bytes told,
              group.exchange().broadcast(0, mine ? mine->bytes() : Offer{}.bytes()));
  if (!mine) return base::failure_of(mine);
  TESSERA_TRY(const Offer offer, Offer::of(told));
  if (servers) return named_server(offer.name);
  const bool is_here = group.nodes()[static_cast<size_t>(group.rank())] == group.nodes().front();
  if (is_here && offer.near.empty()) {
    auto own = own_server(offer.name);
    // Ranks of other nodes know this server only, and cannot start it again once it has left.
    if (own && first && !offer.far.empty()) own->agent->keep_session();
    return own;
  }
  return service_at(offer.name, {is_here ? offer.near : offer.far, offer.key});
}

Result<FileService> FileLocks::own_server(const std::string& name) {
  TESSERA_TRY(const auto identity, file_.identity());
  TESSERA_TRY(const std::string address, lock::on_demand_address(identity));
  return service_at(name, {.address = address, .file = &file_});
}

void FileLocks::use(FileService service) {
  if (const auto identity = file_.identity()) note_service(*identity, service);
  why_ = "by the lock server at " + service.place.address;
  name_ = std::move(service.name);
  agent_ = std::move(service.agent);
  served_ = true;
}

Result<bool> FileLocks::choose_service(const std::vector<Share>& shares, Group& group) {
  const auto all = [&](auto fact) { return std::all_of(shares.begin(), shares.end(), fact); };
  const bool ranges = all([](const Share& share) { return share.ranges; });
  const bool servers = all([](const Share& share) { return share.servers; });
  const bool one_run =
      extent_ != LockHint::kList || all([](const Share& share) { return share.dense; });
  const bool unserved = all([](const Share& share) { return !share.served; });
  if (!servers && ranges && one_run && unserved) {
    why_ = "by ranges of the file system";
    return false;
  }
  if (arranged_) return true;
  auto found = find_service(group, servers);
  const Result<void> reached =
      group.exchange().agree(found ? Result<void>() : base::failure_of(found));
  arranged_ = reached.has_value();
  if (arranged_) {
    use(*std::move(found));
    return true;
  }
  if (!ranges) return base::failure_of(reached);
  why_ = "by ranges of the file system from first to last byte, since " + reached.error().context;
  return false;
}

Result<void> FileLocks::settle(const move::Hints& hints, const FileView& view, bool only_read,
                               Group& group) {
  drop_cached_lock();
  const auto identity = file_.identity();
  Share mine;
  mine.dense = view.dense;
  mine.ranges = has_ranges(only_read) && !(only_read && hints.lock_reads_alone);
  mine.servers = has_lock_servers();
  mine.served = served_ || (identity && known_service(*identity));
  mine.extent = hints.lock;
  if (hints.lock_private) mine.view = encoded(view);
  TESSERA_TRY(const auto told, group.exchange().all_gather(mine.bytes()));
  std::vector<Share> shares;
  for (const base::Bytes& share : told) shares.push_back(Share::of(share));
  extent_ = shares.front().extent;
  reads_alone_ = hints.lock_reads_alone;
  locks_ = extent_ != LockHint::kNone;
  if (!locks_) return {};
  TESSERA_TRY(const bool served, choose_service(shares, group));
  if (!served || extent_ != LockHint::kList) return {};
  if (!mine.view || mine.view->empty()) return {};
  const bool shares_locks = only_read && !reads_alone_;
  shares.erase(shares.begin() + group.rank());
  TESSERA_TRY(auto bytes, decoded(*mine.view));
  const auto is_apart = [&](const Share& other) { return other.view && apart(bytes, *other.view); };
  if (!shares_locks && !std::all_of(shares.begin(), shares.end(), is_apart)) return {};
  caching_.with([&](Caching& caching) {
    caching.bytes = std::move(bytes);
    caching.mode = shares_locks ? Mode::kShared : Mode::kExclusive;
  });
  return {};
}

std::string FileLocks::explanation() const {
  constexpr const char* kExtents[] = {"nothing", "the whole file", "the span of an access",
                                      "the bytes of an access"};
  const std::string what = kExtents[static_cast<size_t>(extent_)];
  return locks_ ? what + ", " + why_ : what;
}

}  // namespace tessera::mpiio
