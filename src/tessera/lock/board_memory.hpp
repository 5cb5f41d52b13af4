// BoardMemory: how a claim board lies in the memory that its processes share (claim_board.hpp).
//
// A desk is what one process writes: some slots, each for one claim. The server has desks of its
// own behind those of the clients. A slot has a word that tells whether it is used, and a body. All
// are atomic words, and zeroed memory is a board that is closed, with nothing on it.
//   (M1) Each word and body has one writer: the process whose desk it is. Nobody else changes it,
//        whatever has become of that process.
//   (M2) The version in a word grows with each claim, so whoever sees the same word before and
//        after reading a body has read the body of that claim.
// Thread safety: all members from any process and thread, as (M1) says.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tessera::lock {

inline constexpr size_t kClientDesks = 256;
inline constexpr size_t kServerDesks = 64;
inline constexpr size_t kDesks = kClientDesks + kServerDesks;
inline constexpr size_t kDeskSlots = 7;
inline constexpr size_t kBodyWords = 59;
inline constexpr size_t kBoardPatternBytesMax = kBodyWords * sizeof(uint64_t);
// "tessboar", and the version of this layout.
inline constexpr uint64_t kBoardMagic = 0x7465737362'6f6172 + 1;

// The word of a slot, from its lowest bit on: 2 of the state, 1 exclusive, 32 of the version, 29 of
// the generation of the board in which it counts.
struct SlotWord {
  enum class State : uint64_t { kFree, kTrying, kHeld };
  static constexpr uint64_t kGenerationMax = (uint64_t{1} << 29) - 1;

  uint64_t generation = 0;
  uint32_t version = 0;
  bool exclusive = false;
  State state = State::kFree;

  [[nodiscard]] constexpr uint64_t packed() const {
    return generation << 35 | uint64_t{version} << 3 | uint64_t{exclusive} << 2 |
           static_cast<uint64_t>(state);
  }
  [[nodiscard]] static constexpr SlotWord of(uint64_t packed) {
    return {packed >> 35, static_cast<uint32_t>(packed >> 3), (packed >> 2 & 1) != 0,
            static_cast<State>(packed & 3)};
  }
  // Whether there is a claim, or one that is being made, on the board of this generation.
  [[nodiscard]] constexpr bool counts_in(uint64_t of_board) const {
    return generation == of_board && state != State::kFree;
  }
};

using BoardWord = std::atomic<uint64_t>;
static_assert(BoardWord::is_always_lock_free && sizeof(BoardWord) == sizeof(uint64_t));

struct alignas(64) BoardDesk {
  BoardWord granted;  // claims, ever
  std::array<BoardWord, kDeskSlots> words;
};
static_assert(sizeof(BoardDesk) == 64);

struct BoardBody {
  BoardWord session;
  BoardWord sequence;
  BoardWord begin;  // of the span of the bytes
  BoardWord end;
  BoardWord size;  // of the encoded pattern
  std::array<BoardWord, kBodyWords> pattern;
};
static_assert(sizeof(BoardBody) == 512);

struct BoardMemory {
  BoardWord magic;
  BoardWord token;
  // The generation of the open board; 0 while it is closed. Only the server writes it.
  alignas(64) BoardWord open;
  // Desks from the first of the clients, and from the first of the server, that may be in use.
  alignas(64) BoardWord client_desks;
  alignas(64) BoardWord server_desks;
  std::array<BoardDesk, kDesks> desks;
  // By slot, then by desk: most processes have one claim at a time, so those lie close together.
  std::array<std::array<BoardBody, kDesks>, kDeskSlots> bodies;
};

}  // namespace tessera::lock
