// PosixTransport: frames over Unix sockets and TCP, in an event loop without threads.
//
// Addresses are those of socket_address.hpp. A Unix socket that its owner left behind is replaced
// by the next listen(), belongs to its user alone (mode 0600), and is removed with the transport.
// listen() on one fails with kRetry while another process sets one up in the same directory.
// Sockets never block; only next_event() waits, for all of them at once (epoll): what it costs
// follows from how many have something to say, not from how many there are.
// Thread safety: one thread at a time, except wake(), which any thread may call.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tessera/port/descriptor.hpp"
#include "tessera/port/frame_assembler.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/transport.hpp"

namespace tessera::port {

class PosixTransport final : public Transport {
 public:
  // Requires limits.frame_bytes_max < 4 GiB. Fails when the process has no descriptor left.
  static base::Result<std::unique_ptr<PosixTransport>> create(TransportLimits limits = {});
  ~PosixTransport() override;
  PosixTransport(const PosixTransport&) = delete;
  PosixTransport& operator=(const PosixTransport&) = delete;

  [[nodiscard]] base::Result<std::string> listen(const std::string& address) override;
  [[nodiscard]] base::Result<ConnectionId> connect(const std::string& address) override;
  [[nodiscard]] base::Result<void> send(ConnectionId connection, base::ByteView frame) override;
  void limit_frames(ConnectionId connection, size_t frame_bytes_max) override;
  void close(ConnectionId connection) override;
  [[nodiscard]] std::optional<Event> next_event(int64_t wait_ns_max) override;

  // Makes a next_event() that waits, or else the next one, answer early with nothing.
  void wake();

  // For whoever expects an answer at once: next_event() looks for so long before it sleeps, and
  // offers its core between two looks. Waking a core takes longer than most answers. 0 at first.
  void look_before_sleep(int64_t nanoseconds) { look_ns_ = nanoseconds; }

 private:
  struct Listener {
    Descriptor socket;
    std::string address;
    std::string unix_path;  // empty for TCP
    int64_t paused_until_ns = 0;
  };

  struct Connection {
    Connection(Descriptor descriptor, size_t frame_bytes_max)
        : socket(std::move(descriptor)), assembler(frame_bytes_max) {}

    Descriptor socket;
    FrameAssembler assembler;
    bool connecting = false;
    uint32_t watched = 0;      // the events that are waited for
    bool send_failed = false;  // the peer takes nothing more, but what it sent is still read
    base::Bytes unsent = {};
    size_t unsent_begin = 0;
  };

  PosixTransport(TransportLimits limits, Descriptor wake, Descriptor events)
      : limits_(limits), wake_(std::move(wake)), watch_(std::move(events)) {}

  using Connections = std::map<ConnectionId, Connection>;

  ConnectionId add(Descriptor socket);
  void end(Connections::iterator connection, base::Error reason);
  void erase(Connections::iterator connection);
  // Waits for any socket once, at most until the deadline, and serves those that are ready.
  // Answers whether wake() was called.
  bool poll_once(int64_t deadline_ns);
  // Waits for the events of a connection that it can make use of now.
  void watch(ConnectionId id, Connection& connection);
  // Of a listener.
  void pause(size_t index);
  // Listens again where a pause is over. Answers when the next one is.
  std::optional<int64_t> end_pauses();
  // Serves what the number given to watch_ stands for; whether it was wake().
  bool serve(uint64_t tag, uint32_t ready);
  void serve_connection(ConnectionId id, uint32_t ready);
  void finish_connect(Connections::iterator connection);
  void accept_all(size_t index);
  void receive(Connections::iterator connection);
  void flush(ConnectionId id, Connection& connection);
  size_t send_now(Connection& connection, base::ByteView header, base::ByteView content);

  const TransportLimits limits_;
  const PosixClock clock_;
  Descriptor wake_;
  Descriptor watch_;  // of all sockets, and of wake_
  uint64_t next_id_ = 1;
  int64_t look_ns_ = 0;
  std::vector<Listener> listeners_;
  Connections connections_;
  std::deque<Event> events_;
};

}  // namespace tessera::port
