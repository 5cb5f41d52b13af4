// FrameDaemon: what the roles of tesserad have in common: a state machine behind a transport.
//
// It carries frames between the peers of a transport and a service, and tells the service the time.
// Peers that send what no client sends are cut off; the first of a while is logged, so that whoever
// floods the service does not flood its log.
//   (D1) The service learns that time has passed only after it has seen every frame that had
//        arrived: after a pause of this process, leases are judged by what clients have said
//        meanwhile.
// Who may connect is the transport's matter (authenticated_transport.hpp).
// Thread safety: one thread, but for stop().
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tessera/port/clock.hpp"
#include "tessera/port/random.hpp"
#include "tessera/port/transport.hpp"

namespace tessera::daemon {

class FrameDaemon {
 public:
  using Log = std::function<void(const std::string& line)>;

  // Requires that all outlive it, and that the transport listens.
  struct World {
    port::Transport& transport;
    const port::Clock& clock;
    port::Random& random;
  };

  virtual ~FrameDaemon() = default;
  FrameDaemon(const FrameDaemon&) = delete;
  FrameDaemon& operator=(const FrameDaemon&) = delete;

  // Serves until stop() was called, or for so long.
  void serve(int64_t for_ns);
  // To be followed by whatever wakes the transport. From any thread, and from signal handlers.
  void stop() { stopped_ = true; }
  [[nodiscard]] bool stopped() const { return stopped_; }

 protected:
  FrameDaemon(const World& world, Log log)
      : transport_(world.transport), clock_(world.clock), log_(std::move(log)) {}

  [[nodiscard]] port::Transport& transport() { return transport_; }
  [[nodiscard]] int64_t now_ns() const { return clock_.now_ns(); }
  [[nodiscard]] const Log& log() const { return log_; }
  // Sends a frame, or ends the connection of a peer that does not read what it asked for; it comes
  // back when it does.
  void send(port::ConnectionId connection, const base::Bytes& frame);

 private:
  // A frame of a peer. One for which this fails is cut off.
  [[nodiscard]] virtual base::Result<void> take_frame(const port::Event& event) = 0;
  // The connection of a peer is over.
  virtual void forget(port::ConnectionId peer) = 0;
  // Whether the event was of a connection that the service has made itself, and was taken.
  virtual bool take_own(const port::Event& /*event*/) { return false; }
  // Does what has become due; and when something will.
  virtual void advance(int64_t now_ns) = 0;
  [[nodiscard]] virtual std::optional<int64_t> next_due_ns() const = 0;

  void take(const port::Event& event);
  void cut_off(port::ConnectionId peer, const base::Error& why);
  void log_cut_off(const base::Error& why);
  [[nodiscard]] int64_t wait_ns(int64_t end_ns) const;

  port::Transport& transport_;
  const port::Clock& clock_;
  const Log log_;
  std::atomic<bool> stopped_ = false;
  int64_t quiet_until_ns_ = 0;
};

}  // namespace tessera::daemon
