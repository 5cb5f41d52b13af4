// LockAdmin: answers administrators who look at a lock server, or break a lock of it.
//
// A page of a list costs a bounded amount of work whatever is asked for, so that whoever looks does
// not keep clients waiting: a filter that matches nothing is answered by pages without rows.
// Thread safety: none; the thread of the server.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "tessera/lock/admin_messages.hpp"
#include "tessera/lock/lock_server.hpp"

namespace tessera::daemon {

// What there is to say of a server besides its locks.
[[nodiscard]] lock::ServerFacts facts_of(const lock::LockServer& server, int64_t uptime_ns);

class LockAdmin {
 public:
  using Log = std::function<void(const std::string& line)>;

  // The server was started at `start_ns`. Requires that it outlives this.
  LockAdmin(lock::LockServer& server, int64_t start_ns, Log log);

  // What is to be done for a job of several nodes: listen for TCP at the host. Without it nothing.
  using Open = std::function<base::Result<lock::OpenedToNodes>(const std::string& host)>;
  void set_open(Open open) { open_ = std::move(open); }

  // The frame that answers an administrator's. Fails, and the connection is to be ended, if no
  // administrator sends such a one.
  [[nodiscard]] base::Result<base::Bytes> answer(base::ByteView frame, int64_t now_ns);

 private:
  [[nodiscard]] lock::LockList list(const lock::ListLocks& asked, int64_t now_ns);
  [[nodiscard]] lock::LockBroken break_lock(const lock::BreakLock& asked);
  [[nodiscard]] lock::OpenedToNodes open(const lock::OpenToNodes& asked) const;

  lock::LockServer& server_;
  const int64_t start_ns_;
  const Log log_;
  Open open_;
};

}  // namespace tessera::daemon
