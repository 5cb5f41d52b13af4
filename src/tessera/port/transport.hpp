// Transport: framed messages between processes, as events for state machines.
//
// A protocol sees connections, whole frames and ends, never sockets. PosixTransport carries them
// over Unix sockets and TCP, SimNetwork in one thread under a SimClock with faults from a seed.
//   (T1) The events of a connection are: kConnected, then kFrame any number of times, then kClosed.
//        kClosed alone means that the connection never came about. After close() there are none.
//   (T2) Frames arrive whole, in the order sent, once, until the connection ends; those that were
//        under way at its end may be lost. SimNetwork breaks this where its faults say so, because
//        peers that reconnect and repeat see the same.
//   (T3) No frame is longer than the limit; a peer that announces one is cut off.
//   (T4) No function but next_event() waits, and what a peer sends costs bounded memory.
// AuthenticatedTransport lays the proof of a common key over either.
//
//   connect() --> connecting --kConnected--> open --kClosed--> gone
//                     |                       |
//                  kClosed                 close()
//
// Thread safety: one thread at a time, unless an implementation says more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::port {

// Names one side of a connection within its transport. Never used again.
enum class ConnectionId : uint64_t {};

struct Event {
  enum class Kind { kConnected, kFrame, kClosed };

  Kind kind;
  ConnectionId connection;
  bool incoming = false;      // kConnected: the peer called connect()
  std::string listener = {};  // kConnected, incoming: the address, as listen() answered it
  std::string peer = {};      // kConnected, incoming: who it is, for people
  base::Bytes frame = {};     // kFrame
  base::Error reason = {};    // kClosed: errno_value is 0 where the peer just closed
};

struct TransportLimits {
  size_t frame_bytes_max = size_t{16} << 20;
  size_t unsent_bytes_max = size_t{64} << 20;  // of one connection
  size_t connections_max = 1024;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // Accepts connections at the address from now on. Answers the address that peers connect to.
  // Fails with kInvalid on a malformed address, with EADDRINUSE on one that is taken.
  [[nodiscard]] virtual base::Result<std::string> listen(const std::string& address) = 0;

  // Starts a connection; frames may be sent from now on. Failing to reach the peer is a kClosed
  // event. Fails with kInvalid on a malformed address, with kRetry at the limit of connections.
  [[nodiscard]] virtual base::Result<ConnectionId> connect(const std::string& address) = 0;

  // Takes a frame for sending; only an answer of the peer shows that it arrived. Fails with
  // kNotFound when the connection is gone, with kInvalid when the frame is over the limit, with
  // kRetry when too much is unsent.
  [[nodiscard]] virtual base::Result<void> send(ConnectionId connection, base::ByteView frame) = 0;

  // From now on a peer that announces a longer frame is cut off: (T3) for one connection. Takes
  // effect before anything is read from a connection whose kConnected was the last event given.
  // Requires frame_bytes_max at most the transport's own; nothing happens if it is gone.
  virtual void limit_frames(ConnectionId connection, size_t frame_bytes_max) = 0;

  // Ends a connection from this side; nothing happens if it is gone already. Frames that the
  // peer's system has not taken are lost.
  virtual void close(ConnectionId connection) = 0;

  // The next event, or nothing when none came in time. Sends what is unsent meanwhile, so it has
  // to be called while there is something to send.
  [[nodiscard]] virtual std::optional<Event> next_event(int64_t wait_ns_max) = 0;
};

}  // namespace tessera::port
