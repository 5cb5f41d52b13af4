// Summaries: what the ranks of a collective move tell each other before they choose a way.
//
// Each rank gives one small message; from all of them every rank draws the same picture, and only
// this picture decides (C2). What could differ between ranks although it should not (hints, costs,
// the number of cores) counts as the first rank with something to do has it.
// Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/move/engine.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/move.hpp"

namespace tessera::move {

// What one rank tells.
struct Summary {
  bool failed = false;  // something went wrong before
  Interval span;        // of the file's pattern
  int64_t bytes = 0;
  int64_t runs = 0;
  int64_t memory_runs = 0;
  Price alone;          // of executing the move by itself
  Price gapless;        // the same where no gap may be written back
  base::Bytes pattern;  // encoded; empty where it is too long to be told to everybody
};

// What the first rank with a message decides for all.
struct Policy {
  Costs costs;
  int64_t cores = 1;
  int64_t cb_buffer_size = 0;
  int64_t cb_nodes = 0;
  int64_t cb_per_node = 0;
  Toggle buffering = Toggle::kAutomatic;  // romio_cb_read or romio_cb_write
  CollectiveHint collective = CollectiveHint::kAutomatic;
};

// What all ranks know after they have met.
struct Picture {
  std::vector<Summary> ranks;
  Policy policy;
  bool failed = false;  // on some rank
  Interval span;        // of all ranks with bytes
  int64_t covered = 0;  // length of the union of their spans
  int64_t bytes = 0;
  int64_t runs = 0;
  int64_t memory_runs = 0;
  bool spans_disjoint = true;  // no position lies in the spans of two ranks
};

// Of a move with these facts, which one without bytes need not have.
[[nodiscard]] Summary summary_of(const Move& move, const Context& context, FileFacts facts);
[[nodiscard]] Policy policy_of(Direction direction, const Context& context);

// A rank's message. Ranks with nothing to do send an empty one.
[[nodiscard]] base::Bytes encode(const Summary& summary, const Policy& policy);
// The picture that the messages of all ranks give, with the policy of the first one that is not
// empty. Fails with kIntegrity on bytes that no rank writes.
[[nodiscard]] base::Result<Picture> picture_of(const std::vector<base::Bytes>& messages);

}  // namespace tessera::move
