// Managers: in whose space bytes lie that are written again before they are committed.
//
// The bytes of an object have one manager, the process in whose space they lie. When they are
// written again, the update can go to their place there (forward), or the bytes can come to the
// space of who writes them, which manages them from then on (migrate). Both give the same file.
//   forward   a request for each run of the bytes where they lie; blocks of which only a part is
//             new are read and hashed again at the commit
//   migrate   one run of new space, which has to reach the disk at the commit as well, and a change
//             of the map that every process hears of
// So bytes that lie together stay, and bytes that lie scattered under the writer's pattern come to
// it, after which they lie together for it. Whether they are written once more or often nobody
// knows; so they come as soon as having forwarded has cost as much more than writing them together
// as coming costs. One count serves all bytes of a file, so a process that forwards many different
// ones lets some of them come earlier than their own writes would have.
// docs/decisions/0017-object-files.md has the figures.
// Thread safety: none.
#pragma once

#include <cstdint>

namespace tessera::owner {

enum class SharedWrites { kAutomatic, kForward, kMigrate };

// Bytes that were written since the last commit, and are written again.
struct Rewriting {
  int64_t bytes = 0;
  int64_t hashed_again_bytes = 0;  // of blocks that the update touches in part, where they lie
  double in_place_ns = 0;          // writing the bytes where they lie
  double in_new_space_ns = 0;      // writing them as one run
};

struct ManagerCosts {
  double new_byte_ns = 1.0;      // of a byte more that the next commit makes durable
  double hashed_byte_ns = 0.15;  // of a byte that it reads and hashes again
  double change_ns = 10000;      // of a change of the map, told and heard
};

// The choices of one process for one file between two commits.
class ManagerChoice {
 public:
  explicit ManagerChoice(const ManagerCosts& costs = {}) : costs_(costs) {}

  // Whether the bytes go to who writes them now. Counts on being followed.
  [[nodiscard]] bool migrates(const Rewriting& rewriting);

 private:
  ManagerCosts costs_;
  double missed_ns_ = 0;  // what writing together would have saved since bytes came last
};

}  // namespace tessera::owner
