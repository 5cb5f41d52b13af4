// ProxyDaemon: a lock proxy behind a transport; the proxy role of tesserad (frame_daemon.hpp).
//
// Processes of the node connect to it; it has one connection to the lock server, on the same
// transport, and makes another when that is gone or silent.
// Administrators are sent to the server: what a proxy has is theirs to see there.
// Thread safety: one thread, but for stop().
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tessera/daemon/frame_daemon.hpp"
#include "tessera/lock/lock_proxy.hpp"

namespace tessera::daemon {

class ProxyDaemon final : public FrameDaemon {
 public:
  // `name` is what those who look at the server see.
  ProxyDaemon(std::string upstream, std::string name, const World& world, Log log);
  ~ProxyDaemon() override;

  [[nodiscard]] const lock::LockProxy& proxy() const { return proxy_; }
  [[nodiscard]] size_t clients() const {
    return proxy_.server() == nullptr ? 0 : proxy_.server()->sessions();
  }

 private:
  [[nodiscard]] base::Result<void> take_frame(const port::Event& event) override;
  void forget(port::ConnectionId peer) override;
  bool take_own(const port::Event& event) override;
  void advance(int64_t now_ns) override;
  [[nodiscard]] std::optional<int64_t> next_due_ns() const override;

  [[nodiscard]] lock::LockProxy::Links links();
  void connect(int64_t now_ns);
  // The connection to the server is to be ended, or has.
  void drop(const base::Error& why);

  const std::string upstream_;
  lock::LockProxy proxy_;
  std::optional<port::ConnectionId> connection_;
  bool reached_ = false;  // the server has answered since this was last logged
  int64_t connect_at_ns_;
};

}  // namespace tessera::daemon
