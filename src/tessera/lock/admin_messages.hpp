// Messages of administrators: looking at the locks of a running server, and breaking one; and of
// jobs that have the server of a file opened to their other nodes.
//
//   administrator                            server
//   ListLocks{after, rows_max, file}     ->
//                                        <-  LockList{facts, rows, next, complete}
//   BreakLock{epoch, lock}               ->
//                                        <-  LockBroken{outcome}
//   OpenToNodes{host}                    ->
//                                        <-  OpenedToNodes{address, key}, or with neither
//
// An administrator has no session: it says no Hello, holds nothing, and is not heard of again when
// its connection ends. Its messages travel beside those of clients, which have other types.
// docs/formats/lock-admin-messages.md describes the bytes.
//
// A list comes in pages, in the order of the locks' names, each with a bound on its rows and on the
// requests that were looked at for it; the next page begins after `next`. Between two pages locks
// come and go: what was there all the time is listed once.
//   (A1) decode_admin(encode(m)) is m.
//   (A2) decode_admin() answers any input with a message or with an error, in time and memory
//        proportional to the input.
//   (A3) No frame is of both kinds: is_admin_frame() tells which decoder it belongs to.
//   (A4) A lock is broken only in the epoch in which it was seen; after a restart the same name is
//        another's.
// Thread safety: pure functions on values.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/lock/lock_id.hpp"
#include "tessera/lock/lock_server.hpp"

namespace tessera::lock {

// Of the name of a machine, and of an address there.
inline constexpr size_t kHostBytesMax = 256;
inline constexpr size_t kAddressBytesMax = 512;
// Of one page.
inline constexpr uint64_t kRowsMax = 1024;

struct ListLocks {
  LockId after = {};  // 0.0 for the first page
  uint64_t rows_max = kRowsMax;
  std::optional<std::string> file = {};  // only the locks of this one
  friend bool operator==(const ListLocks&, const ListLocks&) = default;
};

// A lock or a request, as LockServer::View.
struct LockRow {
  LockId lock = {};
  std::string file = {};
  std::string client = {};
  Mode mode = Mode::kExclusive;
  LockState state = LockState::kWaiting;
  int64_t age_ns = 0;  // since it was granted, or asked for
  int64_t lease_left_ns = 0;
  std::optional<LockId> waits_for = {};  // the latest of those before it
  // Its bytes: how many, in how many runs, between which positions.
  int64_t size_bytes = 0;
  int64_t runs = 0;
  int64_t begin = 0;
  int64_t end = 0;
  friend bool operator==(const LockRow&, const LockRow&) = default;
};

struct ServerFacts {
  uint64_t epoch = 0;
  bool in_grace = false;
  int64_t lease_ns = 0;
  int64_t uptime_ns = 0;
  int64_t sessions = 0;
  int64_t requests = 0;
  int64_t held = 0;   // of the requests; the others wait
  int64_t early = 0;  // besides: came in the grace period
  int64_t files = 0;
  int64_t pattern_bytes = 0;
  LockServer::Counts counts = {};
  friend bool operator==(const ServerFacts&, const ServerFacts&) = default;
};

struct LockList {
  ServerFacts facts = {};
  std::vector<LockRow> rows = {};
  LockId next = {};      // the last that was looked at
  bool complete = true;  // there is nothing after it
  friend bool operator==(const LockList&, const LockList&) = default;
};

struct BreakLock {
  uint64_t epoch = 0;
  LockId lock = {};
  friend bool operator==(const BreakLock&, const BreakLock&) = default;
};

enum class BreakOutcome : uint8_t {
  kBroken = 1,      // its client is told, and who waited for it may go on
  kNotThere = 2,    // released before, or never there
  kOtherEpoch = 3,  // the server was restarted since the lock was seen
};

struct LockBroken {
  BreakOutcome outcome = BreakOutcome::kNotThere;
  friend bool operator==(const LockBroken&, const LockBroken&) = default;
};

// Asks a server that was started on demand, and is reached by a Unix socket, to listen for TCP too:
// at a name of its own machine.
struct OpenToNodes {
  std::string host = {};
  friend bool operator==(const OpenToNodes&, const OpenToNodes&) = default;
};

// Where it listens, and the key of those who may come, as port::SecretKey reads it. Both are empty
// if it does not do such a thing.
struct OpenedToNodes {
  std::string address = {};
  std::string key = {};
  friend bool operator==(const OpenedToNodes&, const OpenedToNodes&) = default;
};

using AdminMessage =
    std::variant<ListLocks, LockList, BreakLock, LockBroken, OpenToNodes, OpenedToNodes>;

// The counts of a server, as they are called wherever they are shown; in the order of the messages.
struct CountName {
  const char* name;
  const char* about;
  uint64_t LockServer::Counts::*count;
};
inline constexpr std::array<CountName, 7> kCountNames = {{
    {"granted", "Locks granted", &LockServer::Counts::granted},
    {"waited", "Locks granted after their request had to wait", &LockServer::Counts::waited},
    {"refused", "Requests refused", &LockServer::Counts::refused},
    {"released", "Locks and requests given up by their clients", &LockServer::Counts::released},
    {"expired_sessions", "Sessions not heard of for their lease",
     &LockServer::Counts::expired_sessions},
    {"lost", "Locks and requests taken away", &LockServer::Counts::lost},
    {"reclaimed", "Locks reclaimed after a restart", &LockServer::Counts::reclaimed},
}};

[[nodiscard]] base::Bytes encode(const AdminMessage& message);
// Fails with kIntegrity on bytes that no program of this version writes.
[[nodiscard]] base::Result<AdminMessage> decode_admin(base::ByteView frame);

// Whether the frame, if it is whole, is one of these and none of messages.hpp.
[[nodiscard]] bool is_admin_frame(base::ByteView frame);

}  // namespace tessera::lock
