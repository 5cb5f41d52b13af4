#include "tessera/lock/admin_connection.hpp"

#include <cerrno>

namespace tessera::lock {

namespace {

using base::Code;
using base::Result;

constexpr int64_t kPatienceNs = 5'000'000'000;

// The reason why there was no connection, as one that a caller can react to.
base::Failure unreachable(const std::string& address, const base::Error& reason) {
  const bool nobody = reason.errno_value == ENOENT || reason.errno_value == ECONNREFUSED;
  if (!nobody) return base::fail(reason.code, address + ": " + reason.message());
  return {{Code::kNotFound, reason.errno_value, "there is no lock server at " + address}};
}

}  // namespace

Result<AdminConnection> AdminConnection::connect(
    std::unique_ptr<port::AuthenticatedSockets> sockets, const std::string& address) {
  TESSERA_TRY(const port::ConnectionId connection, sockets->transport().connect(address));
  AdminConnection made(address, std::move(sockets), connection);
  const auto connected = made.wait(port::Event::Kind::kConnected);
  if (!connected) return unreachable(address, connected.error());
  return made;
}

Result<port::Event> AdminConnection::wait(port::Event::Kind kind) {
  return sockets_->wait_for(kind, kPatienceNs);
}

Result<AdminMessage> AdminConnection::exchange(const AdminMessage& message) {
  TESSERA_TRY_VOID(sockets_->transport().send(connection_, encode(message)));
  const auto event = wait(port::Event::Kind::kFrame);
  if (!event) {
    return base::fail(event.error().code,
                      "the lock server at " + address_ + ": " + event.error().message());
  }
  return decode_admin(event->frame);
}

}  // namespace tessera::lock
