// Checker: looks at every byte of an object file that matters and says what is wrong with it.
//
// Page 0, both superblocks, the contents' checksum and structure, allocations (inside the file,
// aligned, disjoint), every mapping inside its allocation, the map's invariants, every block's
// checksum, and the zeros that fill up header and blob. So every byte of the file is either
// covered, or lies in a block that nothing refers to. What `tessera check` prints. Thread safety:
// none; the file may be shared with readers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/container/superblock.hpp"
#include "tessera/port/disk.hpp"

namespace tessera::container {

struct CheckOptions {
  bool blocks = true;  // false: only what can be checked without reading the bytes
  // Called now and then with bytes verified and bytes to verify.
  std::function<void(int64_t done_bytes, int64_t total_bytes)> progress;
};

struct CheckReport {
  static constexpr size_t kFindingsMax = 100;

  std::vector<std::string> findings;  // sentences about damage; the first kFindingsMax
  int64_t finding_count = 0;          // all of them
  // Sentences about a superblock copy that is torn or old while the other serves, and about page 0
  // then: as a crash may leave them. Nothing is lost, and whoever opens the file for writing
  // repairs it. A copy that something else has overwritten is damage.
  std::vector<std::string> repairable;
  // Of what could be read:
  Superblock superblock;
  int64_t allocations = 0;
  int64_t mappings = 0;
  int64_t blocks_checked = 0;
  int64_t free_bytes = 0;  // in gaps below the end
  int64_t dead_bytes = 0;  // in allocations, but not visible; compaction frees them

  // All bytes are there.
  [[nodiscard]] bool sound() const { return finding_count == 0; }
  // Not a bit that matters is other than it should be.
  [[nodiscard]] bool flawless() const { return sound() && repairable.empty(); }
};

// Fails only where the file cannot be read at all; damage is a finding.
[[nodiscard]] base::Result<CheckReport> check(port::File& file, const CheckOptions& options = {});

}  // namespace tessera::container
