// Engines: the ways to execute a move, and the choice among them.
//
//   direct   one transfer: the file's bytes are one run
//   list     one transfer for each run, many in a system call (io_uring, preadv, pwritev)
//   sieve    large pieces of the file with their gaps; a write reads them first, under a lock
//   mapped   straight to and from a mapping of the file; local file systems only
//   window   collective, ranks of one node: through windows of common memory, written as large runs
//   two-phase  collective, ranks of many nodes: messages to aggregators, which do the same
//
// The choice is made by cost, says why in one line, and can be overruled by hints.
// Thread safety: Context belongs to one operation at a time.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/lock/locks.hpp"
#include "tessera/move/hints.hpp"
#include "tessera/move/move.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::move {

enum class Engine { kDirect, kList, kSieve, kMapped, kWindow, kTwoPhase };

[[nodiscard]] const char* engine_name(Engine engine);

// What was chosen, and a sentence fragment that says why, for example
// "131072 runs of 8 bytes fill 25 % of 4.0 MB: 3.1 ms sieved against 52 ms by list".
struct Choice {
  Engine engine = Engine::kDirect;
  std::string reason;
};

// Costs of the file system at hand, in nanoseconds; a cost model's only numbers. The defaults were
// measured on a local file system with a warm cache (docs/decisions/0008-engines-and-costs.md).
struct Costs {
  double request_ns = 700;           // one small transfer by itself
  double listed_ns = 600;            // one small read in a list
  double listed_write_ns = 2000;     // one small write in a list
  double read_byte_ns = 0.10;        // a byte of a large read
  double write_byte_ns = 0.10;       // a byte of a large write
  double copy_byte_ns = 0.08;        // a byte copied in memory, in long runs
  double copy_run_ns = 1.0;          // a run copied in memory
  double lock_ns = 1500;             // taking and giving back a range lock
  double new_run_ns = 1600;          // a listed write behind the end of the file, besides
  double new_page_ns = 300;          // a page behind the end of the file that is written
  double map_ns = 5500;              // mapping a window of the file, first fault and return
  double mapped_read_ns = 100;       // a page of it that is read
  double mapped_write_ns = 250;      // a page of it that is written
  double mapped_group_ns = 8000;     // written pages that lie together, far from others
  double mapped_new_page_ns = 2000;  // a page behind the end of the file that is written there
  double rendezvous_ns = 15000;  // a barrier among the ranks of a node, for each rank over one core
};

// Where the time of an operation went; for reports.
struct Phases {
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
  Phases phases;  // added to
  Choice choice;  // filled in
  // What went wrong on this rank before a collective move: it then fails on all ranks, and moves
  // nothing. Independent moves do not look at it.
  base::Result<void> before = {};
};

}  // namespace tessera::move
