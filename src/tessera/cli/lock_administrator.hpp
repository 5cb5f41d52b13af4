// LockAdministrator: somebody who looks at a running lock server, or breaks a lock of it.
//
// Which servers there are: those that the user names, those of TESSERA_LOCKS, or those that were
// started on demand for this user, whose sockets lie in the folder of port::runtime_folder().
// Thread safety: none; one thread.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/lock/admin_connection.hpp"
#include "tessera/lock/admin_messages.hpp"

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

  // All functions fail as AdminConnection::ask().

  // All requests, or those of one file.
  [[nodiscard]] base::Result<LockServerState> list(const std::optional<std::string>& file);
  // A server with only this request, or none if it is not there.
  [[nodiscard]] base::Result<LockServerState> find(lock::LockId lock);
  [[nodiscard]] base::Result<lock::BreakOutcome> break_lock(uint64_t epoch, lock::LockId lock);

  [[nodiscard]] const std::string& address() const { return server_.address(); }

 private:
  explicit LockAdministrator(lock::AdminConnection server) : server_(std::move(server)) {}

  lock::AdminConnection server_;
};

}  // namespace tessera::cli
