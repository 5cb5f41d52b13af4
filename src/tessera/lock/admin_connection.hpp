// AdminConnection: questions to a running lock server, and its answers, one after the other.
//
// Thread safety: none; one thread.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/lock/admin_messages.hpp"
#include "tessera/port/authenticated_sockets.hpp"

namespace tessera::lock {

class AdminConnection {
 public:
  // Fails with kNotFound if nobody listens at the address, with kDenied if they do not let us in.
  [[nodiscard]] static base::Result<AdminConnection> connect(
      std::unique_ptr<port::AuthenticatedSockets> sockets, const std::string& address);

  // Fails with kRetry if the server does not answer in time, with kFailed if it goes away, with
  // kIntegrity if what it says is no answer.
  template <typename Answer>
  [[nodiscard]] base::Result<Answer> ask(const AdminMessage& message) {
    TESSERA_TRY(AdminMessage answer, exchange(message));
    if (auto* expected = std::get_if<Answer>(&answer)) return std::move(*expected);
    return base::fail(base::Code::kIntegrity,
                      "the lock server at " + address_ + " answers something else");
  }

  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  AdminConnection(std::string address, std::unique_ptr<port::AuthenticatedSockets> sockets,
                  port::ConnectionId connection)
      : address_(std::move(address)), sockets_(std::move(sockets)), connection_(connection) {}

  // The next event of the connection that is of this kind.
  [[nodiscard]] base::Result<port::Event> wait(port::Event::Kind kind);
  [[nodiscard]] base::Result<AdminMessage> exchange(const AdminMessage& message);

  std::string address_;
  std::unique_ptr<port::AuthenticatedSockets> sockets_;
  port::ConnectionId connection_;
};

}  // namespace tessera::lock
