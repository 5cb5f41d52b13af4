#include "tessera/move/independent.hpp"

namespace tessera::move {

namespace {

// Whether a mapping cannot pay: all of the span is read in less time than it takes to set one up.
bool is_small_read(const Move& move, const Costs& costs) {
  const auto span = static_cast<double>(move.file.span().length());
  return move.direction == Direction::kRead && span * costs.read_byte_ns < costs.map_ns;
}

// Asks the system only where there is a choice.
FileFacts facts_of(const Move& move, const Context& context) {
  FileFacts facts;
  const bool by_hint = context.hints.engine != EngineHint::kAutomatic;
  if (move.file.runs() <= 1 || (is_small_read(move, context.costs) && !by_hint)) return facts;
  facts.mappable = can_map(context.file);
  if (!facts.mappable || move.direction == Direction::kRead) return facts;
  if (const auto size = context.file.size()) facts.size = *size;
  return facts;
}

}  // namespace

Transfer execute_independent(const Move& move, Context& context) {
  context.choice = choose_independent(move, context.hints, context.costs, facts_of(move, context));
  switch (context.choice.engine) {
    case Engine::kDirect:
      return execute_direct(move, context);
    case Engine::kSieve:
      return execute_sieve(move, context);
    case Engine::kMapped:
      return execute_mapped(move, context);
    default:
      return execute_list(move, context);
  }
}

}  // namespace tessera::move
