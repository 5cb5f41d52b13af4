#include "tessera/capi/connection.hpp"

#include <utility>

#include "tessera/lock/placement.hpp"
#include "tessera/port/key_file.hpp"
#include "tessera/port/this_process.hpp"

namespace tessera::capi {

namespace {

using base::Code;
using base::Result;

base::Failure no_such_lock(LockNumber number) {
  return base::fail(Code::kInvalid, "the connection has no lock " + std::to_string(number));
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::open(const std::string& servers,
                                                     const std::optional<std::string>& key_file) {
  auto made = std::make_unique<Connection>();
  TESSERA_TRY(made->names_, lock::parse_server_list(servers));
  for (const std::string& server : made->names_) {
    TESSERA_TRY(auto key, port::key_for(server, key_file.value_or("")));
    TESSERA_TRY(auto agent,
                lock::LockAgent::on_sockets(server, port::process_name(), std::move(key)));
    made->agents_.push_back(std::move(agent));
  }
  return made;
}

lock::LockAgent& Connection::agent_of(const std::string& file) const {
  return *agents_[lock::server_of(file, names_)];
}

Result<void> Connection::begin_asking() {
  return locks_.with([](Locks& locks) -> Result<void> {
    if (locks.held.size() + locks.asking >= lock::kActiveMax) {
      return base::fail(Code::kRetry, "the connection has " + std::to_string(lock::kActiveMax) +
                                          " locks, as many as it may have");
    }
    ++locks.asking;
    return {};
  });
}

Result<LockNumber> Connection::acquire(const lock::LockClient::Asked& asked) {
  lock::LockAgent& agent = agent_of(asked.file);
  TESSERA_TRY_VOID(begin_asking());
  const auto granted = agent.acquire(asked);
  return locks_.with([&](Locks& locks) -> Result<LockNumber> {
    --locks.asking;
    if (!granted) return base::failure_of(granted);
    locks.held[++locks.last] = {&agent, *granted};
    return locks.last;
  });
}

Result<Connection::Lock> Connection::find(LockNumber number) {
  return locks_.with([&](Locks& locks) -> Result<Lock> {
    const auto at = locks.held.find(number);
    if (at == locks.held.end()) return no_such_lock(number);
    return at->second;
  });
}

Result<void> Connection::confirm(const Lock& lock) {
  if (lock.loss) return base::Failure{*lock.loss};
  return lock.agent->confirm(lock.sequence);
}

Result<void> Connection::confirm(LockNumber number) {
  TESSERA_TRY(const Lock lock, find(number));
  auto confirmed = confirm(lock);
  if (confirmed) return {};
  // The agent tells the reason once: whoever was told first has it.
  return locks_.with([&](Locks& locks) -> Result<void> {
    const auto at = locks.held.find(number);
    if (at == locks.held.end()) return no_such_lock(number);
    if (!at->second.loss) at->second.loss = confirmed.error();
    return base::Failure{*at->second.loss};
  });
}

Result<void> Connection::release(LockNumber number) {
  // Of two threads that release it, one does.
  const auto taken = locks_.with([&](Locks& locks) { return locks.held.extract(number); });
  if (taken.empty()) return no_such_lock(number);
  const Lock& lock = taken.mapped();
  auto confirmed = confirm(lock);
  lock.agent->release(lock.sequence);
  return confirmed;
}

}  // namespace tessera::capi
