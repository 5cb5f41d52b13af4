// Budget: how much work an operation on patterns may do before it refuses.
//
// Nested strides that do not divide each other can make an exact answer enormous. An operation
// first works on compressed traces and spends a step on every pair of parts it looks at; past
// `steps` it falls back to walking the runs of both sides, but only if they are at most `max_runs`
// in all; past that it fails with kTooComplex. So an answer is exact or an explicit refusal, in
// bounded time and memory (about a microsecond a step and 64 bytes a run). Functions that
// take a Budget& take what they used out of it, so that an operation made of many has one budget.
// Thread safety: a value.
#pragma once

#include <cstdint>

namespace tessera::pattern {

struct Budget {
  int64_t steps = int64_t{1} << 18;
  int64_t max_runs = int64_t{1} << 22;
};

}  // namespace tessera::pattern
