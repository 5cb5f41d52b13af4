#include "tessera/pattern/datatype.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/assembler.hpp"

namespace tessera::pattern {

using base::checked_add;
using base::checked_mul;
using base::Code;
using base::fail;
using base::Failure;
using base::Result;

namespace {

bool in_bounds(std::optional<int64_t> position) {
  return position && *position >= -kMaxPosition && *position <= kMaxPosition;
}

Failure out_of_bounds(const std::string& what) {
  return fail(Code::kInvalid,
              what + " leaves the supported range of offsets, which ends at 2^62 bytes");
}

Failure negative(const std::string& what, int64_t value) {
  return fail(Code::kInvalid, what + " is " + std::to_string(value) + ", which is negative");
}

Failure explained(const base::Error& error, const std::string& what) {
  return fail(error.code, what + ": " + error.context);
}

// Neither bytes nor marks: such a type counts for nothing wherever it stands (M3).
bool vacuous(const Datatype& type) { return type.bytes.empty() && !type.marked; }

// (M2)
Result<Datatype> with_natural_bounds(Pattern bytes, int64_t alignment) {
  if (bytes.empty()) return Datatype{};
  const Interval span = bytes.span();
  const auto length = base::checked_sub(span.end, span.begin);
  const auto padding = length ? (alignment - *length % alignment) % alignment : 0;
  if (!length || !in_bounds(checked_add(span.end, padding))) {
    return out_of_bounds("the upper bound of the type");
  }
  return Datatype{std::move(bytes), span.begin, *length + padding, alignment, false};
}

// (M1)
Result<Datatype> with_marks(Pattern bytes, int64_t alignment, Interval marks) {
  const auto extent = base::checked_sub(marks.end, marks.begin);
  if (!in_bounds(marks.begin) || !in_bounds(marks.end) || !extent) {
    return out_of_bounds("a bound of the type");
  }
  return Datatype{std::move(bytes), marks.begin, *extent, alignment, true};
}

// `count` copies, each `stride` bytes after the one before. Requires count >= 0.
Result<Datatype> copies(const Datatype& type, int64_t count, int64_t stride) {
  if (count == 0 || vacuous(type)) return Datatype{};
  if (count == 1) return type;
  const auto last = checked_mul(stride, count - 1);
  if (!last) return out_of_bounds("the last copy");
  TESSERA_TRY(Pattern bytes, repeat(type.bytes, count, {{stride}}));
  if (!type.marked) return with_natural_bounds(std::move(bytes), type.alignment);
  const auto lower = checked_add(type.lower_bound, std::min<int64_t>(0, *last));
  const auto upper = checked_add(type.upper_bound(), std::max<int64_t>(0, *last));
  if (!lower || !upper) return out_of_bounds("a bound of the type");
  return with_marks(std::move(bytes), type.alignment, {*lower, *upper});
}

Result<Datatype> block_of(const Datatype& type, int64_t blocklength, const std::string& name) {
  if (blocklength < 0) return negative(name, blocklength);
  auto block = copies(type, blocklength, type.extent);
  if (!block) {
    return explained(block.error(), name + " " + std::to_string(blocklength) + " of extent " +
                                        std::to_string(type.extent));
  }
  return block;
}

Result<Datatype> blocks_at(const char* constructor, Blocks blocks, int64_t unit,
                           const Datatype& type) {
  const std::string name = constructor;
  if (blocks.count < 0) return negative(name + ": count", blocks.count);
  TESSERA_TRY(const Datatype block, block_of(type, blocks.blocklength, name + ": blocklength"));
  const auto stride = blocks.count > 1 ? checked_mul(blocks.stride, unit) : 0;
  const std::string at_stride = name + ": count " + std::to_string(blocks.count) + " at stride " +
                                std::to_string(blocks.stride);
  if (!stride) return out_of_bounds(at_stride);
  auto result = copies(block, blocks.count, *stride);
  if (!result) return explained(result.error(), at_stride);
  return result;
}

// Puts a type together from blocks in type-map order.
class Composer {
 public:
  explicit Composer(const char* constructor) : constructor_(constructor) {}

  // Adds `block.blocklength` copies at block.displacement units of `unit` bytes.
  Result<void> add(Block block, int64_t unit, const Datatype& type);
  Result<Datatype> finish();

 private:
  std::string argument(const char* name) const {
    return std::string(constructor_) + ": " + name + " of block " + std::to_string(blocks_);
  }
  Result<void> prepare(int64_t blocklength, const Datatype& type);
  Result<void> place(int64_t displacement);

  const char* constructor_;
  int64_t blocks_ = 0;
  int64_t dissolved_ = 0;
  Assembler<1> bytes_;
  std::optional<Interval> marks_;
  int64_t alignment_ = 1;

  // The block at displacement 0, kept because lists often repeat their block length.
  const Datatype* block_type_ = nullptr;
  int64_t blocklength_ = -1;
  Datatype block_;
};

Result<void> Composer::prepare(int64_t blocklength, const Datatype& type) {
  if (block_type_ == &type && blocklength_ == blocklength) return {};
  // Every block may have its own length, so the argument is given a name only in an error.
  auto block = copies(type, std::max<int64_t>(0, blocklength), type.extent);
  if (blocklength < 0 || !block) {
    return failure_of(block_of(type, blocklength, argument("blocklength")));
  }
  block_ = *std::move(block);
  block_type_ = &type;
  blocklength_ = blocklength;
  return {};
}

Result<void> Composer::place(int64_t displacement) {
  const auto bytes = block_.bytes.shifted({{displacement}});
  if (!bytes) return explained(bytes.error(), argument("displacement"));
  bytes_.append(*bytes);
  if (block_.marked) {
    const auto lower = checked_add(block_.lower_bound, displacement);
    const auto upper = checked_add(block_.upper_bound(), displacement);
    if (!lower || !upper) return out_of_bounds(argument("displacement"));
    if (!marks_) marks_ = {*lower, *upper};
    marks_ = {std::min(marks_->begin, *lower), std::max(marks_->end, *upper)};
  }
  alignment_ = std::max(alignment_, block_.alignment);
  return {};
}

Result<void> Composer::add(Block block, int64_t unit, const Datatype& type) {
  TESSERA_TRY_VOID(prepare(block.blocklength, type));
  if (!vacuous(block_)) {
    const auto displacement = checked_mul(block.displacement, unit);
    if (!displacement) return out_of_bounds(argument("displacement"));
    TESSERA_TRY_VOID(place(*displacement));
  }
  // A sequence inside a sequence is dissolved, which multiplies their lengths.
  if (block_.bytes.shape().is_sequence()) dissolved_ += block_.bytes.part_count();
  if (dissolved_ - blocks_ * kMaxDissolvedEach > kMaxDissolved) {
    return fail(Code::kTooComplex, std::string(constructor_) + ": more than " +
                                       std::to_string(kMaxDissolved) +
                                       " irregular blocks inside irregular blocks");
  }
  ++blocks_;
  return {};
}

Result<Datatype> Composer::finish() {
  auto bytes = bytes_.finish();
  if (!bytes) return explained(bytes.error(), constructor_);
  auto result = marks_ ? with_marks(*std::move(bytes), alignment_, *marks_)
                       : with_natural_bounds(*std::move(bytes), alignment_);
  if (!result) return explained(result.error(), constructor_);
  return result;
}

Result<Datatype> of_blocks(const char* constructor, std::span<const Block> blocks, int64_t unit,
                           const Datatype& type) {
  Composer composer(constructor);
  for (const Block& block : blocks) TESSERA_TRY_VOID(composer.add(block, unit, type));
  return composer.finish();
}

struct EqualBlocks {
  int64_t blocklength = 0;
  std::span<const int64_t> displacements;
};

Result<Datatype> of_equal_blocks(const char* constructor, EqualBlocks blocks, int64_t unit,
                                 const Datatype& type) {
  Composer composer(constructor);
  if (blocks.blocklength < 0) {
    return negative(std::string(constructor) + ": blocklength", blocks.blocklength);
  }
  for (const int64_t displacement : blocks.displacements) {
    TESSERA_TRY_VOID(composer.add({blocks.blocklength, displacement}, unit, type));
  }
  return composer.finish();
}

std::string dimension_name(size_t dimension) {
  return "subarray: dimension " + std::to_string(dimension);
}

Result<void> check_slice(const Slice& slice, size_t dimension) {
  if (slice.size < 1 || slice.subsize < 1 || slice.subsize > slice.size || slice.start < 0 ||
      slice.start > slice.size - slice.subsize) {
    return fail(Code::kInvalid, dimension_name(dimension) + ": " + std::to_string(slice.subsize) +
                                    " elements from " + std::to_string(slice.start) +
                                    " are not a part of an array of " + std::to_string(slice.size));
  }
  return {};
}

// Takes the slice of a dimension whose elements are `bytes`, `stride` apart.
Result<Pattern> sliced(const Pattern& bytes, const Slice& slice, int64_t stride) {
  TESSERA_TRY(const Pattern part, repeat(bytes, slice.subsize, {{stride}}));
  const auto start = checked_mul(slice.start, stride);
  if (!start) return out_of_bounds("the start");
  return part.shifted({{*start}});
}

}  // namespace

Result<Datatype> basic(int64_t size, int64_t alignment) {
  if (size < 0) return negative("basic type: size", size);
  if (alignment < 1) {
    return fail(Code::kInvalid, "basic type: alignment is " + std::to_string(alignment) +
                                    ", which is not positive");
  }
  TESSERA_TRY(Pattern bytes, Pattern::run({{0}}, size));
  return with_natural_bounds(std::move(bytes), alignment);
}

Result<Datatype> contiguous(int64_t count, const Datatype& type) {
  return block_of(type, count, "contiguous: count");
}

Result<Datatype> resized(const Datatype& type, int64_t lower_bound, int64_t extent) {
  const auto upper = checked_add(lower_bound, extent);
  if (!in_bounds(lower_bound) || !in_bounds(upper)) {
    return out_of_bounds("resized: lower bound " + std::to_string(lower_bound) + " with extent " +
                         std::to_string(extent));
  }
  return with_marks(type.bytes, type.alignment, {lower_bound, *upper});
}

Result<Datatype> vector(Blocks blocks, const Datatype& type) {
  return blocks_at("vector", blocks, type.extent, type);
}

Result<Datatype> hvector(Blocks blocks, const Datatype& type) {
  return blocks_at("hvector", blocks, 1, type);
}

Result<Datatype> indexed(std::span<const Block> blocks, const Datatype& type) {
  return of_blocks("indexed", blocks, type.extent, type);
}

Result<Datatype> hindexed(std::span<const Block> blocks, const Datatype& type) {
  return of_blocks("hindexed", blocks, 1, type);
}

Result<Datatype> indexed_block(int64_t blocklength, std::span<const int64_t> displacements,
                               const Datatype& type) {
  return of_equal_blocks("indexed_block", {blocklength, displacements}, type.extent, type);
}

Result<Datatype> hindexed_block(int64_t blocklength, std::span<const int64_t> displacements,
                                const Datatype& type) {
  return of_equal_blocks("hindexed_block", {blocklength, displacements}, 1, type);
}

Result<Datatype> structure(std::span<const Member> members) {
  Composer composer("structure");
  for (const Member& member : members) {
    TESSERA_TRY_VOID(composer.add({member.blocklength, member.displacement}, 1, member.type));
  }
  return composer.finish();
}

Result<Datatype> subarray(std::span<const Slice> slices, Order order, const Datatype& type) {
  if (slices.empty()) return fail(Code::kInvalid, "subarray: there are no dimensions");
  Pattern bytes = type.bytes;
  int64_t stride = type.extent;
  for (size_t i = 0; i < slices.size(); ++i) {
    const size_t dimension = order == Order::kC ? slices.size() - 1 - i : i;
    const Slice& slice = slices[dimension];
    TESSERA_TRY_VOID(check_slice(slice, dimension));
    auto part = sliced(bytes, slice, stride);
    if (!part) return explained(part.error(), dimension_name(dimension));
    bytes = *std::move(part);
    const auto whole = checked_mul(stride, slice.size);
    if (!in_bounds(whole)) return out_of_bounds(dimension_name(dimension) + ": the whole array");
    stride = *whole;
  }
  return with_marks(std::move(bytes), type.alignment, {0, stride});
}

}  // namespace tessera::pattern
