// LockAdministrator: somebody who looks at a running lock server, or breaks a lock of it.
//
// Which servers there are: those that the user names, those of TESSERA_LOCKS, or those that were
// started on demand for this user, whose sockets lie in the folder of port::runtime_folder().
// Thread safety: none; one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/lock/admin_messages.hpp"
#include "tessera/port/authenticated_sockets.hpp"

namespace tessera::cli {

struct LockServerAddresses {
  std::vector<std::string> all;
  bool found = false;  // in the folder of running programs, so some may be left over
};

// `named` is what the user has written, or empty. Fails with kInvalid if it is no address, with
// kNotFound if there is no server to look at.
[[nodiscard]] base::Result<LockServerAddresses> lock_server_addresses(const std::string& named);

// What a server holds.
struct LockServerState {
  std::string address;
  lock::ServerFacts facts = {};
  std::vector<lock::LockRow> rows = {};  // in the order of their names
};

class LockAdministrator {
 public:
  // Fails with kNotFound if nobody listens at the address, with kDenied if they do not let us in.
  static base::Result<LockAdministrator> connect(const std::string& address);

  // All functions fail with kRetry if the server does not answer in time, with kFailed if it goes
  // away, with kIntegrity if what it says is no answer.

  // All requests, or those of one file.
  [[nodiscard]] base::Result<LockServerState> list(const std::optional<std::string>& file);
  // A server with only this request, or none if it is not there.
  [[nodiscard]] base::Result<LockServerState> find(lock::LockId lock);
  [[nodiscard]] base::Result<lock::BreakOutcome> break_lock(uint64_t epoch, lock::LockId lock);

  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  LockAdministrator(std::string address, std::unique_ptr<port::AuthenticatedSockets> sockets,
                    port::ConnectionId connection)
      : address_(std::move(address)), sockets_(std::move(sockets)), connection_(connection) {}

  // The next event of the connection that is of this kind.
  [[nodiscard]] base::Result<port::Event> wait(port::Event::Kind kind);
  template <typename Answer>
  [[nodiscard]] base::Result<Answer> ask(const lock::AdminMessage& message);

  std::string address_;
  std::unique_ptr<port::AuthenticatedSockets> sockets_;
  port::ConnectionId connection_;
};

}  // namespace tessera::cli
