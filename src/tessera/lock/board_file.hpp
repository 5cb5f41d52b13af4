// The memory of a claim board, as a file without a name (port/memory_file.hpp).
//
// The server makes it and tells its clients where it is; they open it through the server's process.
// So only processes of the same user and node reach it, nothing is left behind whoever dies, and
// the next server has another one. A client owns its desk by a lock of the file, which ends with
// its process: the desks of those who were killed are used again, those of who stands still are
// not. Thread safety: as for any value type.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "tessera/base/result.hpp"
#include "tessera/lock/claim_board.hpp"
#include "tessera/lock/messages.hpp"
#include "tessera/port/memory_file.hpp"
#include "tessera/port/random.hpp"

namespace tessera::lock {

// The server's.
class BoardFile {
 public:
  // A board for a file, closed. To be made by the process that will keep it, not before a fork().
  [[nodiscard]] static base::Result<std::unique_ptr<BoardFile>> create(const std::string& file_name,
                                                                       port::Random& random);
  [[nodiscard]] BoardKeeper& keeper() { return keeper_; }
  [[nodiscard]] const BoardAt& place() const { return place_; }

 private:
  BoardFile(port::MemoryFile file, port::Mapping mapping, BoardAt place);

  const port::MemoryFile file_;
  const port::Mapping mapping_;
  const BoardAt place_;
  BoardKeeper keeper_;
};

// A desk at the board of a server. Fails where this process may not open the server's files, where
// they are not what was meant, and with kRetry if all desks are taken.
[[nodiscard]] base::Result<std::unique_ptr<BoardSeat>> open_board(const BoardAt& place);

// How clients of the server at an address take their places; empty, if it is no process of this
// node.
[[nodiscard]] std::function<std::unique_ptr<BoardSeat>(const BoardAt& place)> boards_at(
    const std::string& address);

}  // namespace tessera::lock
