// FileGuard: keeps the clients of a lock server and the programs that lock the file by fcntl apart.
//
// It stands behind the server of one file (lock::Backing): what has its turn there is granted while
// this process holds an fcntl lock of all bytes of the file.
//   (GUARD-1) A client is granted a lock only while the range lock is held. (A lock that survived
//        its server is used while the next server still tries to take the file.)
//   (GUARD-2) The range lock is given back at once when no client has a lock or waits for one. In
//        the grace period after a restart clients may have some.
//   (GUARD-3) Clients that leave no such moment have the file for kTurnNs at a time. Then nothing
//        more is granted, locks that may be recalled are recalled, and when the last is given back
//        programs outside have the file for kPauseNs at least: one of them waits for kTurnNs and
//        for the accesses that have begun.
//   (GUARD-4) While clients have the file or wait for it, the mark is locked, shared with the
//        guards of other nodes (lock/fcntl_locks.hpp). Processes of Tessera that lock by fcntl look
//        for it, and then use the server; so they do not starve it, and the file has one arbiter.
//
//   free --begin()--> taking --range lock taken--> held --turn over--> draining
//     ^                 ^                           |                     |
//     |                 +-- kPauseNs -- pausing <---+---- last end() -----+
//     +------------------ nobody has or wants a lock
//
// On file systems without range locks it is held for ever.
// Time is what the caller says. Thread safety: none; one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "tessera/lock/lock_server.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::daemon {

class FileGuard final : public lock::Backing {
 public:
  static constexpr int64_t kTurnNs = 60'000'000;
  // Enough for a program that waits in the system to wake up and take the file.
  static constexpr int64_t kPauseNs = 3'000'000;

  // A server with this backing serves no other file.
  explicit FileGuard(std::unique_ptr<port::PlainFile> file) : file_(std::move(file)) {}

  Answer begin(const Turn& turn, int64_t now_ns) override;
  void end(lock::Ticket ticket, int64_t now_ns) override;

  // Does what has become due, or possible by what the server has done. To be called after each
  // change of the server, which is the one that this stands behind.
  void advance(lock::LockServer& server, int64_t now_ns);
  [[nodiscard]] std::optional<int64_t> next_due_ns() const;

  // Whether the range lock is held, as far as the file system has such locks.
  [[nodiscard]] bool holds_file() const {
    return state_ == State::kHeld || state_ == State::kDraining;
  }
  // Whether the file has been deleted: nobody can open it any more.
  [[nodiscard]] bool is_deleted() const;

 private:
  enum class State { kFree, kTaking, kHeld, kDraining, kPausing };

  void try_to_take(int64_t now_ns);
  [[nodiscard]] bool take_range();
  [[nodiscard]] bool is_over(int64_t now_ns) const;
  void give_back(int64_t now_ns);
  void drain(lock::LockServer& server);

  const std::unique_ptr<port::PlainFile> file_;
  State state_ = State::kFree;
  bool has_ranges_ = true;  // the file system, as far as is known
  std::set<lock::Ticket> granted_;
  std::vector<lock::Ticket> waiting_;  // in their order
  std::optional<int64_t> given_back_ns_;
  bool in_grace_ = false;    // the server, when it was last looked at
  int64_t since_ns_ = 0;     // of the turn
  int64_t next_try_ns_ = 0;  // while taking or pausing
  int64_t retry_ns_ = 0;
};

}  // namespace tessera::daemon
