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
#include <optional>
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
  std::string key = {};  // over TCP; empty: the one of TESSERA_KEY_FILE
  // To start a server for when there is none any more; needed while the agent is made.
  const port::PlainFile* file = nullptr;
};

// The service of a file, as open files of this process reach it.
struct FileService {
  std::string name;  // of the file in messages
  LockServerPlace place;
  std::shared_ptr<lock::LockAgent> agent;
};

// The service that some open file of this process uses for this file; nothing if none does.
[[nodiscard]] std::optional<FileService> known_service(const port::PlainFile::Identity& identity);
// It is known for as long as somebody has the agent.
void note_service(const port::PlainFile::Identity& identity, const FileService& service);

// Whether a server that was started for a file of this machine is there, or was a moment ago.
[[nodiscard]] bool has_own_server(const port::PlainFile::Identity& identity);

// The agent of this process at a place, shared by all who need it.
[[nodiscard]] base::Result<std::shared_ptr<lock::LockAgent>> lock_agent_at(
    const LockServerPlace& place);

}  // namespace tessera::mpiio
