// LockDaemon: a lock server behind a transport; the lock role of tesserad (frame_daemon.hpp).
//
// Administrators come the same way as clients; what they send goes to LockAdmin.
// Thread safety: one thread, but for stop() and metrics().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tessera/daemon/file_guard.hpp"
#include "tessera/daemon/frame_daemon.hpp"
#include "tessera/daemon/inquiry.hpp"
#include "tessera/daemon/lock_admin.hpp"
#include "tessera/lock/lock_server.hpp"

namespace tessera::daemon {

class LockDaemon final : public FrameDaemon {
 public:
  // With a guard it is the server of one file, and keeps its clients and the programs that lock
  // that file by fcntl apart.
  LockDaemon(const lock::LockServerSettings& settings, const World& world, Log log,
             std::unique_ptr<FileGuard> guard = nullptr);

  // Calls the function when the first client has come, before it is granted anything, and when the
  // last has gone.
  void watch_clients(std::function<void(bool has_clients)> watch) { watch_ = std::move(watch); }

  // What is done for jobs of several nodes (lock_admin.hpp).
  void set_open_to_nodes(LockAdmin::Open open) { admin_.set_open(std::move(open)); }

  // The page that Prometheus reads, if serve() runs and finds the time within so long. `wake` wakes
  // the transport. From any other thread.
  [[nodiscard]] std::optional<std::string> metrics(const std::function<void()>& wake,
                                                   int64_t for_ns) {
    return inquiry_.ask(wake, for_ns);
  }

  [[nodiscard]] const lock::LockServer& server() const { return server_; }
  [[nodiscard]] size_t clients() const { return server_.sessions(); }

 private:
  [[nodiscard]] base::Result<void> take_frame(const port::Event& event) override;
  void forget(port::ConnectionId peer) override;
  void advance(int64_t now_ns) override;
  [[nodiscard]] std::optional<int64_t> next_due_ns() const override;
  void tell_clients();

  const std::unique_ptr<FileGuard> guard_;
  lock::LockServer server_;
  const int64_t start_ns_;
  std::function<void(bool has_clients)> watch_;
  bool had_clients_ = false;
  LockAdmin admin_;
  Inquiry inquiry_;
};

}  // namespace tessera::daemon
