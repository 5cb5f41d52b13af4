// Key files: where a SecretKey lives between two runs of a program.
//
// The file has 64 hexadecimal digits and perhaps an end of line. It must be a plain file, belong to
// the user and be readable by nobody else (mode 0600 or stricter), else it is refused: a key that
// others can read proves nothing. Error texts name the file and never its contents.
// Thread safety: pure functions on files.
#pragma once

#include <optional>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/port/random.hpp"
#include "tessera/port/secret_key.hpp"

namespace tessera::port {

// Fails with kNotFound, with kDenied where others may read or write it, with kInvalid where it
// holds something else.
[[nodiscard]] base::Result<SecretKey> read_key_file(const std::string& path);

// The key for a server at an address: none for a Unix socket, else the one in the file, or where
// none is named, in the file that TESSERA_KEY_FILE names. Fails with kDenied if neither is.
[[nodiscard]] base::Result<std::optional<SecretKey>> key_for(const std::string& address,
                                                             const std::string& file = {});

// Makes a new key and its file, durably. Fails with EEXIST where there is a file already.
[[nodiscard]] base::Result<void> make_key_file(const std::string& path, Random& random);

}  // namespace tessera::port
