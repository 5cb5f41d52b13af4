// The lock service as this process reaches it: servers that the user names, or one that is started
// for a file because it is needed.
//
//   TESSERA_LOCKS=host:port[,host:port]  servers of `tesserad --lock`, files spread over them
//   TESSERA_KEY_FILE=path                the key that servers over TCP ask for
//   TESSERAD=path                        the program to start; else found beside this library or in
//                                        PATH
// Thread safety: all functions from any thread.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/lock/admin_messages.hpp"
#include "tessera/lock/lock_agent.hpp"
#include "tessera/port/plain_file.hpp"

namespace tessera::mpiio {

// Whether TESSERA_LOCKS names servers.
[[nodiscard]] bool has_lock_servers();

// The address of the server that serves a file, by the name of the file in messages. Requires
// has_lock_servers(). Fails with kInvalid if the variable makes no sense.
[[nodiscard]] base::Result<std::string> lock_server_of(const std::string& file_name);

// Starts the server of one file of this machine, if there is none. Fails if it cannot be.
[[nodiscard]] base::Result<void> start_lock_server(const port::PlainFile& file);

// Where ranks of other nodes reach the server of a file of this machine. Fails if they cannot.
[[nodiscard]] base::Result<lock::OpenedToNodes> open_lock_server(const port::PlainFile& file);

// Where an agent finds its server.
struct LockServerPlace {
  std::string address;
  std::string key = {};                   // over TCP; empty: the one of TESSERA_KEY_FILE
  const port::PlainFile* file = nullptr;  // to start a server for when there is none any more
};

// The agent of this process at a place, shared by all who need it.
[[nodiscard]] base::Result<std::shared_ptr<lock::LockAgent>> lock_agent_at(
    const LockServerPlace& place);

}  // namespace tessera::mpiio
