#include "tessera/move/engine.hpp"

namespace tessera::move {

const char* engine_name(Engine engine) {
  switch (engine) {
    case Engine::kDirect:
      return "direct";
    case Engine::kList:
      return "list";
    case Engine::kSieve:
      return "sieve";
    case Engine::kMapped:
      return "mapped";
    case Engine::kWindow:
      return "window";
    case Engine::kTwoPhase:
      return "two-phase";
    case Engine::kObject:
      return "object";
  }
  return "unknown";
}

}  // namespace tessera::move
