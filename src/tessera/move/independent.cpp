#include "tessera/move/independent.hpp"

namespace tessera::move {

Transfer execute_independent(const Move& move, Context& context) {
  context.choice = choose_independent(move, context.hints, context.costs);
  switch (context.choice.engine) {
    case Engine::kDirect:
      return execute_direct(move, context);
    case Engine::kSieve:
      return execute_sieve(move, context);
    default:
      return execute_list(move, context);
  }
}

}  // namespace tessera::move
