#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/phase_timer.hpp"

namespace tessera::move {

Transfer execute_direct(const Move& move, Context& context) {
  TESSERA_ASSERT(move.file.runs() <= 1);
  if (move.file.empty()) return {};
  // Pieces of memory that follow each other in the file share system calls in a list.
  if (!move.memory_is_run()) return execute_list(move, context);
  const PhaseTimer timer(context.phases, &Phases::io_ns);
  const std::span memory(move.base + move.memory.at()[0], base::exact_cast<size_t>(move.size()));
  const int64_t offset = move.file.at()[0];
  return move.direction == Direction::kRead ? context.file.read_at(offset, memory)
                                            : context.file.write_at(offset, memory);
}

}  // namespace tessera::move
