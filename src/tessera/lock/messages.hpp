// Messages of the lock service: what clients and servers say to each other.
//
// A session is a process that takes locks. It numbers its requests; a lock is named by its session
// and that number, so nobody can name a lock of another. Connections come and go: a session lives
// as long as the server hears of it within its lease, and resumes on any connection with its
// secret.
//
//   client                                     server
//   Hello{session, secret, epoch, active}  ->
//                                          <-  Welcome{epoch, session, secret, lease}
//   Acquire{sequence, file, mode, bytes}   ->
//                                          <-  Granted{sequence}, or Refused{sequence, why}
//   Release{sequence}                      ->  (no answer)
//   Renew{active}                          ->
//                                          <-  Renewed
//                                          <-  Recall{sequence}: somebody waits for it
//                                          <-  Lost{sequence, why}: it is not yours any more
//   Goodbye                                ->  (all its locks are released)
//
// Everything a client sends carries a stamp, its own clock; answers carry the stamp of the last
// message that the server has seen, which is from when the client counts its lease.
// docs/formats/lock-messages.md describes the bytes.
//   (W1) decode(encode(m)) is m.
//   (W2) decode() answers any input with a message or with an error, in time and memory
//        proportional to the input.
// Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/lock/locks.hpp"

namespace tessera::lock {

using SessionId = uint64_t;  // never 0, never given twice in an epoch
using Sequence = uint64_t;   // of a request within its session, from 1

inline constexpr uint8_t kMessageVersion = 1;
// Which file: whatever its users agree on, a device and a number for a plain file.
inline constexpr size_t kFileNameBytesMax = 512;
inline constexpr size_t kClientNameBytesMax = 128;
// Encoded, of one request: a frame of the transport holds it and all that stands beside it.
inline constexpr size_t kPatternBytesMax = size_t{15} << 20;
// Sequences that a session may name at once.
inline constexpr size_t kActiveMax = 4096;

// What a store knows a session by.
struct Identity {
  uint64_t epoch = 0;
  SessionId session = 0;
  friend auto operator<=>(const Identity&, const Identity&) = default;
};

struct Hello {
  uint64_t epoch = 0;  // these three are 0 for a new session
  SessionId session = 0;
  uint64_t secret = 0;
  int64_t stamp_ns = 0;
  std::string client = {};            // for those who look at the server
  std::vector<Sequence> active = {};  // asked for and not released; all others are released by this
  bool is_proxy = false;              // asks on behalf of clients of its own
  friend bool operator==(const Hello&, const Hello&) = default;
};

struct Welcome {
  uint64_t epoch = 0;
  SessionId session = 0;
  uint64_t secret = 0;
  int64_t lease_ns = 0;
  int64_t stamp_ns = 0;
  bool resumed = false;  // the session is the one that was asked for, with all its locks
  Identity via = {};     // of the proxy at the server behind it; nobody's if there is no proxy
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

struct Acquire {
  Sequence sequence = 0;
  Sequence oldest = 0;  // all before are over, and the client never asks for them again
  int64_t stamp_ns = 0;
  std::string file = {};
  Mode mode = Mode::kExclusive;
  bool reclaims = false;    // it was held when the server went away
  bool recallable = false;  // it is given back soon after somebody else asks for its bytes
  int64_t wait_ns = -1;     // 0: now or never; negative: for ever
  int64_t hold_ns = 0;      // taken away after so long; 0: never
  base::Bytes bytes = {};   // an encoded pattern (pattern/encode.hpp)
  friend bool operator==(const Acquire&, const Acquire&) = default;
};

struct Granted {
  Sequence sequence = 0;
  int64_t stamp_ns = 0;
  friend bool operator==(const Granted&, const Granted&) = default;
};

enum class Refusal : uint8_t {
  kWouldWait = 1,  // somebody has it, and the request may not wait, or has waited long enough
  kInvalid = 2,    // no such bytes, or more than the server takes
  kTooLate = 3,    // reclaimed after the grace period, or while somebody else has it
  kBusy = 4,       // the server has too many requests
};

struct Refused {
  Sequence sequence = 0;
  int64_t stamp_ns = 0;
  Refusal why = Refusal::kInvalid;
  std::string text = {};
  friend bool operator==(const Refused&, const Refused&) = default;
};

// Gives back what is held, or gives up what is waited for.
struct Release {
  Sequence sequence = 0;
  Sequence oldest = 0;
  int64_t stamp_ns = 0;
  friend bool operator==(const Release&, const Release&) = default;
};

// Says that the client is alive, and what it has asked for: of the requests up to `last`, those
// that it does not name are released.
struct Renew {
  int64_t stamp_ns = 0;
  Sequence last = 0;
  std::vector<Sequence> active = {};
  friend bool operator==(const Renew&, const Renew&) = default;
};

struct Renewed {
  int64_t stamp_ns = 0;
  friend bool operator==(const Renewed&, const Renewed&) = default;
};

enum class Loss : uint8_t {
  kExpired = 1,   // the session was not heard of for its lease
  kHeldLong = 2,  // for more than its hold_ns
  kBroken = 3,    // by an administrator
  kUpstream = 4,  // by the server behind a proxy
  kFull = 5,      // the server has no room for the session that Hello asks for
};

// Sequence 0: all of the session, and the session itself.
struct Lost {
  Sequence sequence = 0;
  Loss why = Loss::kExpired;
  friend bool operator==(const Lost&, const Lost&) = default;
};

// Somebody waits for bytes of a lock that was asked for as recallable. It takes nothing away: the
// holder releases the lock when it can, and has it until then.
struct Recall {
  Sequence sequence = 0;
  friend bool operator==(const Recall&, const Recall&) = default;
};

struct Goodbye {
  friend bool operator==(const Goodbye&, const Goodbye&) = default;
};

// What servers of older versions say after Welcome; whatever it holds is passed over.
struct Retired {
  friend bool operator==(const Retired&, const Retired&) = default;
};

using Message = std::variant<Hello, Welcome, Acquire, Granted, Refused, Release, Renew, Renewed,
                             Lost, Goodbye, Recall, Retired>;

[[nodiscard]] base::Bytes encode(const Message& message);
// Fails with kIntegrity on bytes that no program of this version writes.
[[nodiscard]] base::Result<Message> decode(base::ByteView frame);

// Whether it is a server's answer to Hello that it has no room for another session.
[[nodiscard]] bool says_full(base::ByteView frame);

}  // namespace tessera::lock
