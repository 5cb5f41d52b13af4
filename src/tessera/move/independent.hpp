// Independent moves: one process executes its own, meeting nobody.
//
// Thread safety: calls with different contexts may run at the same time, also on one file.
#pragma once

#include <cstdint>
#include <optional>

#include "tessera/move/engine.hpp"
#include "tessera/move/move.hpp"

namespace tessera::move {

// What the choice depends on besides the move.
struct FileFacts {
  bool mappable = false;  // can_map()
  bool cached = true;     // its pages are had without the disk, as far as was looked
  // Writes behind it make new pages, and so does this part of those before.
  int64_t size = pattern::kMaxPosition;
  double hole_share = 0;
  std::optional<double> page_ns = {};  // what pages of a mapping were seen to cost
  bool kept = false;                   // a mapping of all of it is there
  double missed_ns = 0;                // what one would have saved the last times
  int companions = 1;                  // processes that move as much at the same time
};

// What a move costs alone, by the engine that costs least.
struct Price {
  Engine engine = Engine::kDirect;
  double ns = 0;
  // Writers of one file by system calls take turns; those through mappings do not.
  bool takes_turns = false;
};

// Whether a file can be reached through memory: a plain file of this machine.
[[nodiscard]] bool can_map(const port::File& file);
// Whether the hints leave room for mappings: an engine that was named goes by system calls alone.
[[nodiscard]] bool wants_mapping(const Hints& hints);
// Whether it lies on a file system of this machine (PlainFile::is_local()).
[[nodiscard]] bool is_local(const port::File& file);

// The engine that costs least for this move, among those the hints allow. Cost: O(1); a bounded
// number of runs is looked at. Where the file can be mapped, writes are never sieved unless a hint
// asks for it: a write that rewrites gaps takes locks, but those who write in the gaps do not.
[[nodiscard]] Choice choose_independent(const Move& move, const Hints& hints, const Costs& costs,
                                        const FileFacts& facts = {});

// What a way that takes so long costs beyond a mapping of the move, were one kept; 0 if none can
// be.
[[nodiscard]] double missed_beside(double ns, const Move& move, const Costs& costs, int companions);

// The same as a price, whatever the hints; `rewrites_gaps` allows to sieve writes.
[[nodiscard]] Price price_independent(const Move& move, const Costs& costs, const FileFacts& facts,
                                      bool rewrites_gaps);

// What the choice depends on, as far as it does. A few system calls.
[[nodiscard]] FileFacts facts_of(const Move& move, const Context& context);

// Executes the move and says in context.choice how. A write that reads first does so under an
// exclusive lock of exactly the piece that it rewrites, piece by piece; where the file cannot be
// read (opened for writing only) the list engine writes instead.
[[nodiscard]] Transfer execute_independent(const Move& move, Context& context);
// The same for whoever has looked at the file already: `facts` are of this move.
[[nodiscard]] Transfer execute_independent(const Move& move, Context& context,
                                           const FileFacts& facts);

// The engines themselves, for whoever has chosen. execute_direct requires a move whose file bytes
// are one run. Memory used: less than 1 MB each.
[[nodiscard]] Transfer execute_direct(const Move& move, Context& context);
[[nodiscard]] Transfer execute_list(const Move& move, Context& context);
[[nodiscard]] Transfer execute_sieve(const Move& move, Context& context);
// Requires can_map(context.file). What cannot be mapped is moved by list. A write that fails may
// leave the file larger than what was moved, by a window at most.
[[nodiscard]] Transfer execute_mapped(const Move& move, Context& context);

// The widest gap that sieving moves together with the runs around it: beyond, a piece of its own
// costs less.
[[nodiscard]] int64_t sieved_gap_max(Direction direction, const Costs& costs);
// A run of its own is moved by a system call below this.
inline constexpr int64_t kMappedRunMin = int64_t{4} << 20;
[[nodiscard]] inline bool is_short_run(const Pattern& file) {
  return file.runs() <= 1 && file.size() < kMappedRunMin;
}
// Mapped at a time: enough that setting up a mapping does not show.
inline constexpr int64_t kMappedWindowBytes = int64_t{64} << 20;
// The widest gap inside one mapped window.
inline constexpr int64_t kMappedGapMax = int64_t{1} << 20;

}  // namespace tessera::move
