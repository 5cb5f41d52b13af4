// The claim board: locks of one file that the processes of a node grant themselves.
//
// While nobody wants bytes of another, asking a server is a detour. The board is a piece of memory
// that the server of a file shares with its clients. While it is open, a client writes what it
// claims into a slot of its own, looks whether anything else on the board conflicts, and has the
// lock if nothing does. Whoever finds a conflict, no room, or the board closed takes its claim off
// and asks the server, which then closes the board: it makes a lock of its table of every claim
// that it finds, and from then on decides alone, in order of arrival, until it opens the board
// again. Locks that the server has granted itself stand on the open board in slots of the server.
//   (B1) Of two claims that conflict at most one is granted: each is written before its writer
//        looks for others, so one of them at least sees the other.
//   (B2) A claim that is granted is seen by the server when it closes the board: a client marks its
//        claim as held before it looks whether the board is still open, and the server closes
//        before it reads. What a client takes off after that it also releases by a message.
//   (B3) What is written in one generation of the board does not count in another. So a client that
//        stood still for any time, or was killed at any instruction, harms nobody ((M1) of
//        board_memory.hpp); there is no lock that it could keep.
//   (B4) Nothing that stands in the memory makes these functions fail, wait, or use more than
//        bounded time and memory.
// Who a claim belongs to, and how long, is a matter of sessions and their leases, as for all locks
// (lock_server.hpp, lock_client.hpp): a client claims only while its lease lasts.
// Thread safety: each object by one thread at a time; different ones of one memory at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/lock/board_memory.hpp"
#include "tessera/lock/lock_index.hpp"
#include "tessera/lock/messages.hpp"

namespace tessera::lock {

// The memory of a board. Requires at least its size, aligned as a page is.
[[nodiscard]] BoardMemory& board_in(std::span<std::byte> memory);

// A claim as it stands on the board.
struct BoardClaim {
  SessionId session = 0;
  Sequence sequence = 0;
  Mode mode = Mode::kExclusive;
  base::Bytes bytes = {};  // an encoded pattern
};

// Looks at the slots of a board, and knows what it has seen there before: patterns of another shape
// than the claim's are decoded and compared once, as long as the same ones come back to the same
// slots.
class BoardReader {
 public:
  explicit BoardReader(const BoardMemory& memory) : memory_(memory) {}

  struct Desks {
    size_t begin = 0;
    size_t end = 0;
  };
  [[nodiscard]] Desks client_desks() const;
  [[nodiscard]] Desks server_desks() const;

  // Whether something on these desks may conflict with a claim, whose pattern is `encoded`; `own`
  // is the word of its slot. Cost: a load for each slot; for each one whose span meets the claim's,
  // a comparison of its bytes, and where these are new an exact test.
  [[nodiscard]] bool conflicts(Desks desks, uint64_t generation, const Claim& claim,
                               base::ByteView encoded, const BoardWord& own);
  // All claims that are held on these desks, decoded or not.
  [[nodiscard]] std::vector<BoardClaim> held(Desks desks, uint64_t generation) const;

 private:
  struct Seen;
  // What a slot was found to hold, and whether the last claim that was compared with it is apart.
  struct Known {
    base::Bytes theirs;
    std::optional<pattern::ByteSet> bytes;  // none if they are no pattern
    uint64_t compared = 0;                  // the number of that claim's pattern
    bool apart = false;
  };
  void look_for(base::ByteView encoded);
  [[nodiscard]] bool is_apart(size_t slot, const Seen& seen, const Claim& claim);
  [[nodiscard]] bool conflicts_at(size_t desk, size_t slot, uint64_t generation,
                                  const Claim& claim);

  const BoardMemory& memory_;
  base::Bytes encoded_;   // the pattern that was last looked for
  uint64_t pattern_ = 0;  // its number; patterns are counted as they change
  std::vector<Known> known_;
};

// For tests: what happens between the steps of a claim, and whether it looks if the board is still
// open, as it must (B2).
struct ClaimManner {
  std::function<void()> between = {};
  bool looks_again = true;
};

// A client's place at a board.
class BoardSeat {
 public:
  // Requires that nobody else has this desk, that no claim on it counts (desk_is_clear()), and that
  // `keeper`, which may be null, keeps both so.
  BoardSeat(BoardMemory& memory, size_t desk, std::shared_ptr<void> keeper,
            ClaimManner manner = {});
  BoardSeat(const BoardSeat&) = delete;
  BoardSeat& operator=(const BoardSeat&) = delete;

  // Where a claim stands.
  struct Place {
    size_t slot = 0;
    uint64_t generation = 0;
  };
  // Grants the claim, if nothing is in its way; `asked` is the same with its pattern encoded.
  // Otherwise nothing is on the board when it returns, but the server may have seen it there and
  // hold it for granted.
  [[nodiscard]] std::optional<Place> claim(const BoardClaim& asked, const Claim& claim);
  // Takes a claim off. Whether nobody but this client knows of it: if not, the server is to be
  // told.
  bool release(const Place& place);
  // Whether the board was open all the time since the claim was granted, so that nothing can have
  // happened to it.
  [[nodiscard]] bool undisturbed(const Place& place) const;

 private:
  [[nodiscard]] std::optional<size_t> free_slot() const;
  void mark(size_t slot, SlotWord::State state);
  void pause() const {
    if (manner_.between) manner_.between();
  }

  BoardMemory& memory_;
  const size_t desk_;
  const std::shared_ptr<void> keeper_;
  const ClaimManner manner_;
  BoardReader reader_;
  std::array<SlotWord, kDeskSlots> words_ = {};  // as they stand on the desk
};

// Whether nothing on the desk counts: that of a client that was killed is taken over only then.
[[nodiscard]] bool desk_is_clear(const BoardMemory& memory, size_t desk);

// The server's side.
class BoardKeeper {
 public:
  // Begins with zeroed memory. Requires a token other than 0, and that the memory outlives it.
  BoardKeeper(BoardMemory& memory, uint64_t token);
  BoardKeeper(const BoardKeeper&) = delete;
  BoardKeeper& operator=(const BoardKeeper&) = delete;

  // A lock of the server's table.
  struct Post {
    Ticket ticket = 0;
    BoardClaim claim = {};
  };
  [[nodiscard]] bool is_open() const { return generation_open_ != 0; }
  // Opens it, with these locks on it; false, and it stays closed, if they do not fit. Requires that
  // it is closed.
  [[nodiscard]] bool open(const std::vector<Post>& held);
  // Closes it, and answers what clients had on it (B2). Requires that it is open.
  [[nodiscard]] std::vector<BoardClaim> close();

  // Puts a lock on the open board, if no client's claim conflicts and there is room. Requires that
  // it conflicts with no other post.
  [[nodiscard]] bool post(const Post& post, const Claim& claim);
  // Takes it off; nothing happens if it is not there.
  void unpost(Ticket ticket);

  // Claims that clients were granted, ever, and those that they have now.
  struct Use {
    uint64_t granted = 0;
    size_t claimed = 0;
  };
  [[nodiscard]] Use use() const;

 private:
  [[nodiscard]] std::optional<size_t> take_slot(const BoardClaim& claim);
  void set_desks();
  void mark(size_t slot, const BoardClaim& claim, SlotWord::State state);

  BoardMemory& memory_;
  BoardReader reader_;
  uint64_t generation_ = 0;  // the last that was open
  uint64_t generation_open_ = 0;
  std::map<Ticket, size_t> posts_;  // in slots of the server, numbered from 0
  std::set<size_t> free_;
};

}  // namespace tessera::lock
