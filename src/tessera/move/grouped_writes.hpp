// Grouped writes: collective writes whose ranks hold equal copies of the bytes that they share.
//
// The program promises (hint tessera_replicated) that ranks which write the same byte in one
// collective write have the same value for it, as codes with ghost layers do. One of them is then
// enough: the objects of all ranks' writes get writers as owner/writers.hpp says, and each rank
// makes its share. Checkpoints have one shape, so the last grouping is kept and serves again where
// all ranks come with the same bytes, or with the same bytes at one distance from them.
//
// Whether they do, they learn by meeting before they write, or, once they came with the same bytes,
// when they meet after it: a rank that came with others then says so, and all begin again.
//
//   asking --all come with the same bytes--> expecting --somebody does not--> asking
//
//   (G1) Every byte of the ranks' moves is in the share of one rank whose move has it, and of no
//        other unless a rank finds its share too complex to be told from its move and makes it all.
//   (G2) Whether ranks ask or expect depends only on what all of them know.
// Thread safety: as Exchange, one thread at a time for each rank.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "tessera/base/result.hpp"
#include "tessera/move/move.hpp"
#include "tessera/owner/writers.hpp"
#include "tessera/pattern/byte_set.hpp"
#include "tessera/port/exchange.hpp"

namespace tessera::move {

class GroupedWrites {
 public:
  // Makes a rank's part of a collective write: the move with the bytes that it writes, and what
  // went wrong on this rank. Answers the verdict of all ranks; kRetry only if a rank gave it.
  using Write = std::function<Transfer(const Move& share, const base::Result<void>& before)>;

  // The write of all ranks together, `before` being what went wrong on this one already. All bytes
  // of the move are written and counted if it succeeds. Collective, with one policy, which new
  // groupings follow; kBalanced as kOptimal where no choice is even enough. Requires a move that
  // ascends in the file. Cost: where the last grouping serves, no meeting or one besides those of
  // `write`; else O(objects of all moves).
  [[nodiscard]] Transfer execute(const Move& move, const base::Result<void>& before,
                                 owner::Policy policy, port::Exchange& exchange,
                                 const Write& write);

  // How much of the last move that was grouped this rank writes; nothing if it makes all of it,
  // because what others write could not be told apart.
  [[nodiscard]] std::optional<int64_t> share_bytes() const {
    return last_ && last_->stream ? std::optional(last_->stream->size()) : std::nullopt;
  }

 private:
  // A move that was grouped, and its share.
  struct Grouped {
    Pattern file;                            // of the whole move
    std::optional<pattern::ByteSet> stream;  // what of it this rank writes, if not all
    Pattern share_file;
    Pattern memory;  // of a move of these bytes; empty before the first
    Pattern share_memory;
  };

  [[nodiscard]] Transfer expect(const Move& move, const base::Result<void>& before,
                                const Write& write);
  // The share of a move after the ranks have met.
  [[nodiscard]] base::Result<Move> ask(const Move& move, owner::Policy policy,
                                       port::Exchange& exchange);
  [[nodiscard]] base::Result<bool> serves_again(const Move& move, port::Exchange& exchange);
  [[nodiscard]] base::Result<void> group(const Move& move, owner::Policy policy,
                                         port::Exchange& exchange);
  // The share of a move of the bytes that were grouped, at any distance.
  [[nodiscard]] base::Result<Move> cut(const Move& move);

  std::optional<Grouped> last_;
  bool expects_ = false;  // the same on all ranks
};

}  // namespace tessera::move
