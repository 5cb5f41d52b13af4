// Connection: a program's way to its lock servers, and the locks that it has there.
//
// One agent for each server, among which files are spread (lock/placement.hpp). Locks have numbers,
// so that one that is over, or never was, is told and harms nobody.
//   (N1) A connection has at most kActiveMax requests and locks, which is what a server takes.
// Thread safety: all functions from any thread, but for the end.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/lock/lock_agent.hpp"
#include "tessera/port/guarded.hpp"

namespace tessera::capi {

using LockNumber = uint64_t;  // from 1

class Connection {
 public:
  // To the servers of a list, as lock::parse_server_list() reads it; with a key file where one of
  // them is at TCP. Fails with kInvalid on a list that is none, and as port::read_key_file().
  [[nodiscard]] static base::Result<std::unique_ptr<Connection>> open(
      const std::string& servers, const std::optional<std::string>& key_file);

  // These as LockAgent; with kInvalid where there is no such lock. A loss is told as often as it is
  // asked for.
  [[nodiscard]] base::Result<LockNumber> acquire(const lock::LockClient::Asked& asked);
  [[nodiscard]] base::Result<void> confirm(LockNumber number);
  // The lock is over, also where it fails.
  [[nodiscard]] base::Result<void> release(LockNumber number);

 private:
  struct Lock {
    lock::LockAgent* agent = nullptr;
    lock::Sequence sequence = 0;
    std::optional<base::Error> loss = {};  // once it is known
  };
  struct Locks {
    LockNumber last = 0;
    size_t asking = 0;
    std::map<LockNumber, Lock> held;
  };

  [[nodiscard]] lock::LockAgent& agent_of(const std::string& file) const;
  // Makes room for one more (N1).
  [[nodiscard]] base::Result<void> begin_asking();
  [[nodiscard]] base::Result<Lock> find(LockNumber number);
  [[nodiscard]] static base::Result<void> confirm(const Lock& lock);

  std::vector<std::string> names_;  // of the servers
  std::vector<std::shared_ptr<lock::LockAgent>> agents_;
  port::Guarded<Locks> locks_;
};

}  // namespace tessera::capi
