#include "tessera/cli/lock_administrator.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tessera/cli/lock_sockets.hpp"
#include "tessera/lock/placement.hpp"
#include "tessera/port/runtime_folder.hpp"

namespace tessera::cli {

namespace {

using base::Code;
using base::Result;
using lock::LockRow;

// What the socket of a server that was started on demand is called.
constexpr const char* kSocketSuffix = ".locks";

Result<std::vector<std::string>> sockets_of_user() {
  TESSERA_TRY(const std::string folder, port::runtime_folder());
  std::vector<std::string> addresses;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->path().extension() == kSocketSuffix && entry->is_socket(ignored)) {
      addresses.push_back("unix:" + entry->path().string());
    }
  }
  if (error) return base::fail_errno(error.value(), "list the folder " + folder);
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

}  // namespace

Result<LockServerAddresses> lock_server_addresses(const std::string& named) {
  const char* variable = std::getenv("TESSERA_LOCKS");
  const std::string text = named.empty() && variable != nullptr ? variable : named;
  if (!text.empty()) {
    TESSERA_TRY(std::vector<std::string> all, lock::parse_server_list(text));
    return LockServerAddresses{std::move(all), false};
  }
  TESSERA_TRY(std::vector<std::string> all, sockets_of_user());
  if (all.empty()) {
    return base::fail(Code::kNotFound,
                      "no lock server of yours is running here; name one, for example "
                      "unix:PATH, or set TESSERA_LOCKS");
  }
  return LockServerAddresses{std::move(all), true};
}

Result<LockAdministrator> LockAdministrator::connect(const std::string& address) {
  TESSERA_TRY(std::unique_ptr<port::AuthenticatedSockets> sockets, make_lock_sockets(address));
  TESSERA_TRY(auto server, lock::AdminConnection::connect(std::move(sockets), address));
  return LockAdministrator(std::move(server));
}

Result<LockServerState> LockAdministrator::list(const std::optional<std::string>& file) {
  LockServerState state = {address()};
  lock::ListLocks asked = {.file = file};
  for (;;) {
    TESSERA_TRY(lock::LockList page, server_.ask<lock::LockList>(asked));
    state.facts = page.facts;
    std::move(page.rows.begin(), page.rows.end(), std::back_inserter(state.rows));
    if (page.complete) return state;
    if (page.next <= asked.after) {
      return base::fail(Code::kIntegrity, "the lock server at " + address() + " lists in circles");
    }
    asked.after = page.next;
  }
}

Result<LockServerState> LockAdministrator::find(lock::LockId lock) {
  const lock::ListLocks asked = {.after = {lock.session, lock.sequence - 1}, .rows_max = 1};
  TESSERA_TRY(lock::LockList page, server_.ask<lock::LockList>(asked));
  std::erase_if(page.rows, [&](const LockRow& row) { return row.lock != lock; });
  return LockServerState{address(), page.facts, std::move(page.rows)};
}

Result<lock::BreakOutcome> LockAdministrator::break_lock(uint64_t epoch, lock::LockId lock) {
  TESSERA_TRY(const lock::LockBroken answer,
              server_.ask<lock::LockBroken>(lock::BreakLock{epoch, lock}));
  return answer.outcome;
}

}  // namespace tessera::cli
