#include "tessera/lock/lock_index.hpp"

#include "tessera/lock/block_index.hpp"
#include "tessera/lock/pattern_index.hpp"
#include "tessera/lock/run_index.hpp"

namespace tessera::lock {

std::unique_ptr<LockIndex> make_index(IndexKind kind, int64_t block_bytes) {
  switch (kind) {
    case IndexKind::kRuns:
      return std::make_unique<RunIndex>();
    case IndexKind::kBlocks:
      return std::make_unique<BlockIndex>(block_bytes);
    case IndexKind::kPatterns:
      break;
  }
  return std::make_unique<PatternIndex>();
}

}  // namespace tessera::lock
