#include "tessera/cli/lock_administrator.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tessera/cli/lock_sockets.hpp"
#include "tessera/lock/placement.hpp"
#include "tessera/port/posix_clock.hpp"
#include "tessera/port/runtime_folder.hpp"

namespace tessera::cli {

namespace {

using base::Code;
using base::Result;
using lock::LockRow;

constexpr int64_t kPatienceNs = 5'000'000'000;
// What the socket of a server that was started on demand is called.
constexpr const char* kSocketSuffix = ".locks";

Result<std::vector<std::string>> sockets_of_user() {
  TESSERA_TRY(const std::string folder, port::runtime_folder());
  std::vector<std::string> addresses;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.path().extension() == kSocketSuffix && entry.is_socket(ignored)) {
      addresses.push_back("unix:" + entry.path().string());
    }
  }
  if (error) return base::fail_errno(error.value(), "list the folder " + folder);
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

// The reason why there was no connection, as one that a caller can react to.
base::Failure unreachable(const std::string& address, const base::Error& reason) {
  const bool nobody = reason.errno_value == ENOENT || reason.errno_value == ECONNREFUSED;
  if (!nobody) return base::fail(reason.code, address + ": " + reason.message());
  return {{Code::kNotFound, reason.errno_value, "there is no lock server at " + address}};
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
  TESSERA_TRY(const port::ConnectionId connection, sockets->transport().connect(address));
  LockAdministrator made(address, std::move(sockets), connection);
  const auto connected = made.wait(port::Event::Kind::kConnected);
  if (!connected) return unreachable(address, connected.error());
  return made;
}

Result<port::Event> LockAdministrator::wait(port::Event::Kind kind) {
  const port::PosixClock clock;
  const int64_t end_ns = clock.now_ns() + kPatienceNs;
  for (int64_t now_ns = clock.now_ns(); now_ns < end_ns; now_ns = clock.now_ns()) {
    auto event = sockets_->transport().next_event(end_ns - now_ns);
    if (!event) continue;
    if (event->kind == kind) return *std::move(event);
    if (event->kind == port::Event::Kind::kClosed) return base::Failure{event->reason};
  }
  return base::fail(Code::kRetry, "no answer for some seconds");
}

template <typename Answer>
Result<Answer> LockAdministrator::ask(const lock::AdminMessage& message) {
  TESSERA_TRY_VOID(sockets_->transport().send(connection_, lock::encode(message)));
  const auto event = wait(port::Event::Kind::kFrame);
  if (!event) {
    return base::fail(event.error().code,
                      "the lock server at " + address_ + ": " + event.error().message());
  }
  TESSERA_TRY(lock::AdminMessage answer, lock::decode_admin(event->frame));
  if (auto* expected = std::get_if<Answer>(&answer)) return std::move(*expected);
  return base::fail(Code::kIntegrity, "the lock server at " + address_ + " answers something else");
}

Result<LockServerState> LockAdministrator::list(const std::optional<std::string>& file) {
  LockServerState state = {address_};
  lock::ListLocks asked = {.file = file};
  for (;;) {
    TESSERA_TRY(lock::LockList page, ask<lock::LockList>(asked));
    state.facts = page.facts;
    std::move(page.rows.begin(), page.rows.end(), std::back_inserter(state.rows));
    if (page.complete) return state;
    if (page.next <= asked.after) {
      return base::fail(Code::kIntegrity, "the lock server at " + address_ + " lists in circles");
    }
    asked.after = page.next;
  }
}

Result<LockServerState> LockAdministrator::find(lock::LockId lock) {
  const lock::ListLocks asked = {.after = {lock.session, lock.sequence - 1}, .rows_max = 1};
  TESSERA_TRY(lock::LockList page, ask<lock::LockList>(asked));
  std::erase_if(page.rows, [&](const LockRow& row) { return row.lock != lock; });
  return LockServerState{address_, page.facts, std::move(page.rows)};
}

Result<lock::BreakOutcome> LockAdministrator::break_lock(uint64_t epoch, lock::LockId lock) {
  TESSERA_TRY(const lock::LockBroken answer, ask<lock::LockBroken>(lock::BreakLock{epoch, lock}));
  return answer.outcome;
}

}  // namespace tessera::cli
