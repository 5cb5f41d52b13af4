// Placement: which of many lock servers serves a file.
//
// One server has to arbitrate all of a file, so all clients must come to the same one without
// asking anybody. Each server is given a score for the file, and the highest wins (rendezvous
// hashing). The order in which servers are listed does not matter; their spelling does: all clients
// must be given the same names.
//   (P1) The server of a file depends on the names of the file and the servers alone.
//   (P2) Without one of the servers only its files move, evenly to the others.
// The score is a part of the protocol (docs/formats/lock-messages.md): FNV-1a of 64 bits over the
// server's name, a zero byte and the file's name; then the finalizer of MurmurHash3.
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::lock {

[[nodiscard]] uint64_t placement_score(std::string_view server, std::string_view file);

// The index of the file's server. Requires at least one server, and that no two are equal.
// O(servers).
[[nodiscard]] size_t server_of(std::string_view file, std::span<const std::string> servers);

// Reads "host:port[,host:port]", the value of TESSERA_LOCKS; entries may also be unix:PATH and
// tcp:HOST:PORT. Answers the full texts of the addresses, which are the servers' names. Fails with
// kInvalid on a list that is empty, names a server twice or leaves a port to chance.
[[nodiscard]] base::Result<std::vector<std::string>> parse_server_list(const std::string& text);

}  // namespace tessera::lock
