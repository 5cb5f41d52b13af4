#include "tessera/lock/board_file.hpp"

#include <unistd.h>

#include <utility>

#include "tessera/base/checked.hpp"

namespace tessera::lock {

namespace {

using base::Code;

constexpr auto kBoardBytes = static_cast<int64_t>(sizeof(BoardMemory));

// What keeps a desk: the open file, whose lock it is, and the memory.
struct OpenBoard {
  port::MemoryFile file;
  port::Mapping mapping;
};

base::Result<size_t> take_desk(const OpenBoard& board, const BoardMemory& memory) {
  for (size_t desk = 0; desk < kClientDesks; ++desk) {
    const auto number = base::exact_cast<int64_t>(desk);
    if (!board.file.try_own(number)) continue;
    if (desk_is_clear(memory, desk)) return desk;
    board.file.disown(number);
  }
  return base::fail(Code::kRetry, "all desks of the claim board are taken");
}

}  // namespace

BoardFile::BoardFile(port::MemoryFile file, port::Mapping mapping, BoardAt place)
    : file_(std::move(file)),
      mapping_(std::move(mapping)),
      place_(std::move(place)),
      keeper_(board_in(mapping_.bytes()), place_.token) {}

base::Result<std::unique_ptr<BoardFile>> BoardFile::create(const std::string& file_name,
                                                           port::Random& random) {
  TESSERA_TRY(auto file, port::MemoryFile::create(kBoardBytes));
  TESSERA_TRY(auto mapping, file.map(0, kBoardBytes));
  const BoardAt place = {.file = file_name,
                         .process = ::getpid(),
                         .descriptor = file.descriptor(),
                         .token = random.next() | 1};
  return std::unique_ptr<BoardFile>(new BoardFile(std::move(file), std::move(mapping), place));
}

base::Result<std::unique_ptr<BoardSeat>> open_board(const BoardAt& place) {
  TESSERA_TRY(auto file, port::MemoryFile::open(place.process, place.descriptor));
  TESSERA_TRY(const int64_t size, file.size());
  if (size != kBoardBytes) return base::fail(Code::kInvalid, "another file than the claim board");
  TESSERA_TRY(auto mapping, file.map(0, kBoardBytes));
  const auto board = std::make_shared<OpenBoard>(OpenBoard{std::move(file), std::move(mapping)});
  BoardMemory& memory = board_in(board->mapping.bytes());
  if (memory.magic != kBoardMagic || memory.token != place.token) {
    return base::fail(Code::kInvalid, "the claim board of another server");
  }
  TESSERA_TRY(const size_t desk, take_desk(*board, memory));
  return std::make_unique<BoardSeat>(memory, desk, board);
}

std::function<std::unique_ptr<BoardSeat>(const BoardAt& place)> boards_at(
    const std::string& address) {
  if (!address.starts_with("unix:")) return {};
  return [](const BoardAt& place) -> std::unique_ptr<BoardSeat> {
    auto seat = open_board(place);
    return seat ? *std::move(seat) : nullptr;
  };
}

}  // namespace tessera::lock
