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

// The agent of this process at an address, shared by all who need it. `file` is what to start a
// server for when there is none any more; may be null.
[[nodiscard]] base::Result<std::shared_ptr<lock::LockAgent>> lock_agent_at(
    const std::string& address, const port::PlainFile* file);

}  // namespace tessera::mpiio
