// Saved plans: a choice of writers as bytes, made once and used for every file of the same shape.
//
// docs/formats/writer-plan.md describes the bytes.
//   (P1) decode_plan(encode(p)) is p; equal plans have equal bytes.
//   (P2) decode_plan() answers any input with a plan whose writers keep (W1), or with an error. Its
//        memory is at most kPlanMemoryFactor times the input.
//   (P3) Sections that a reader does not know are skipped if they are optional; features and other
//        sections that it does not know are refused.
// Whether a plan belongs to what is written is told by its fingerprint, which who uses a plan
// compares. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/owner/writers.hpp"

namespace tessera::owner {

inline constexpr uint32_t kPlanVersion = 1;
// More would let a small file ask for large tables by process.
inline constexpr int kPlanMaxProcesses = 1 << 24;
inline constexpr int64_t kPlanMaxItems = int64_t{1} << 62;
inline constexpr size_t kPlanMaxTextBytes = 4096;  // of the policy and of the label
inline constexpr int64_t kPlanMemoryFactor = 16;

struct WriterPlan {
  std::string policy;        // its name; also one that this program does not know
  uint64_t fingerprint = 0;  // of what it was made for
  std::string label;         // any text
  Writers writers;
  friend bool operator==(const WriterPlan&, const WriterPlan&) = default;
};

// Fails with kInvalid if the plan is beyond the bounds above. Cost: O(intervals).
[[nodiscard]] base::Result<base::Bytes> encode_plan(const WriterPlan& plan);

// How many bytes a plan begins with that tell how long it is.
inline constexpr size_t kPlanHeadBytes = 40;

// Fails as decode_plan() would, if the first kPlanHeadBytes of a file of this size, or all of a
// shorter one, show that it is no plan, or cut off. Cost: O(1).
[[nodiscard]] base::Result<void> check_plan_head(base::ByteView head, int64_t size);

// Fails with kInvalid if the bytes are no plan, or of a version or with features that this program
// does not know, and with kIntegrity if they are damaged, naming the byte. Cost: O(bytes).
[[nodiscard]] base::Result<WriterPlan> decode_plan(base::ByteView bytes);

}  // namespace tessera::owner
