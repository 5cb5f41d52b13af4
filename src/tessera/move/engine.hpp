// Engines: the ways to execute a move, and the choice among them.
//
//   direct   one transfer: the file's bytes are one run
//   list     one transfer for each run, many in a system call (io_uring, preadv, pwritev)
//   sieve    large pieces of the file with their gaps; a write reads them first, under a lock
//   mapped   straight to and from a mapping of the file; local file systems only
//   window   collective, ranks of one node: through windows of common memory, written as large runs
//   two-phase  collective, ranks of many nodes: messages to aggregators, which do the same
//   object   not of move/: through an object file or a cache (cache/object_file.hpp)
//
// The choice is made by cost, says why in one line, and can be overruled by hints.
// Thread safety: Context belongs to one operation at a time.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/lock/locks.hpp"
#include "tessera/move/costs.hpp"
#include "tessera/move/experience.hpp"
#include "tessera/move/hints.hpp"
#include "tessera/move/move.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::move {

enum class Engine { kDirect, kList, kSieve, kMapped, kWindow, kTwoPhase, kObject };

[[nodiscard]] const char* engine_name(Engine engine);

// What was chosen, and a sentence fragment that says why, for example
// "131072 runs of 8 bytes fill 25 % of 4.0 MiB: 3.1 ms sieved against 52 ms by list".
struct Choice {
  Engine engine = Engine::kDirect;
  std::string reason;
  double missed_ns = 0;  // what a mapping would have saved, had one been kept
};

// Where the time of an operation went; for reports.
struct Phases {
  bool measured = false;    // whether anybody wants to know
  int64_t exchange_ns = 0;  // meeting other ranks
  int64_t io_ns = 0;        // in the file system
  int64_t lock_ns = 0;      // waiting for locks
  int64_t copy_ns = 0;      // in memory
};

// What an engine works with.
struct Context {
  port::File& file;
  lock::Locks& locks;
  const Hints& hints;
  const Costs& costs;
  Phases phases;  // added to, if measured
  Choice choice;  // filled in
  // What went wrong on this rank before a collective move: it then fails on all ranks, and those
  // who have not moved their bytes yet do not. Independent moves do not look at it.
  base::Result<void> before = {};
  // Processes of this node that are likely to move as much at the same time, this one among them.
  int companions = 1;
  int place = 0;  // of this one among them
  // Of this rank with the file; used and added to. May be null.
  Experience* experience = nullptr;
  // hints.without_gaps(), if somebody has them; else they are made where they are needed.
  const Hints* gapless_hints = nullptr;
};

}  // namespace tessera::move
