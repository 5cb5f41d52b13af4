#include "tessera/pattern/encode.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/nodes.hpp"

namespace tessera::pattern {

using base::Code;
using base::fail;
using base::Result;

namespace {

constexpr uint8_t kDimensionsMask = 0x03;
constexpr uint8_t kEmptyFlag = 0x04;
constexpr uint8_t kOptionalFlag = 0x08;  // a sized block follows that a reader may skip
constexpr uint8_t kKnownFlags = kDimensionsMask | kEmptyFlag | kOptionalFlag;

// The two lowest bits of a shape's first number.
enum Kind : uint64_t { kRun = 0, kRepeat = 1, kSequence = 2, kReference = 3 };
constexpr int kKindBits = 2;

int64_t wrapping_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t wrapping_sub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

template <int D>
class Encoder {
 public:
  base::Bytes encode(const Trace<D>& trace) {
    writer_.u8(kEncodingVersion);
    writer_.u8(static_cast<uint8_t>(D | (trace.empty() ? kEmptyFlag : 0)));
    if (!trace.empty()) {
      write(trace.at());
      write(trace.shape());
    }
    return std::move(bytes_);
  }

 private:
  struct Hash {
    size_t operator()(const Shape<D>& shape) const { return shape.hash(); }
  };
  struct Alike {
    bool operator()(const Shape<D>& a, const Shape<D>& b) const { return same_shape(a, b); }
  };

  void write(Kind kind, uint64_t value) { writer_.varint(value << kKindBits | kind); }

  // Coordinates often move together, so each is written as its difference from the one before.
  void write(const Point<D>& point) {
    for (int d = 0; d < D; ++d) {
      writer_.signed_varint(wrapping_sub(point[d], d == 0 ? 0 : point[d - 1]));
    }
  }

  void write(const Shape<D>& shape) {
    if (shape.is_run()) return write(kRun, static_cast<uint64_t>(shape.size) - 1);
    const auto known = sequences_ > 0 ? written_.find(shape) : written_.end();
    if (known != written_.end()) return write(kReference, nodes_ - 1 - known->second);
    if (shape.is_repeat()) {
      write(kRepeat, static_cast<uint64_t>(shape.node->count) - 2);
      write(shape.node->stride);
      write(shape.node->child);
    } else {
      write_sequence(*shape.node);
    }
    // A shape comes again only below a sequence.
    if (sequences_ > 0) written_.emplace(shape, nodes_);
    ++nodes_;
  }

  void write_sequence(const Node<D>& node) {
    const size_t items = node.at.size();
    const Shape<D> first = node.item_shape(0);
    bool uniform = true;
    for (size_t i = 1; uniform && i < items; ++i) uniform = same_shape(first, node.item_shape(i));
    write(kSequence, (items - 2) << 1 | (uniform ? 1U : 0U));
    ++sequences_;
    write(first);
    for (size_t i = 1; i < items; ++i) {
      const Point<D> before = node.at[i - 1] + node.item_shape(i - 1).end();
      Point<D> gap;
      for (int d = 0; d < D; ++d) gap[d] = wrapping_sub(node.at[i][d], before[d]);
      if (!uniform) write(node.item_shape(i));
      write(gap);
    }
    --sequences_;
  }

  base::Bytes bytes_;
  base::ByteWriter writer_{bytes_};
  uint64_t nodes_ = 0;  // that are complete
  int sequences_ = 0;   // that are being written
  // Nodes that may come again, by the order of completion.
  std::unordered_map<Shape<D>, uint64_t, Hash, Alike> written_;
};

base::Failure damaged(const std::string& why) { return fail(Code::kIntegrity, why); }

bool in_bounds(std::optional<int64_t> position) {
  return position && *position >= -kMaxPosition && *position <= kMaxPosition;
}

bool in_bounds(Interval hull, int64_t moved_by) {
  return in_bounds(moved_by) && in_bounds(base::checked_add(hull.begin, moved_by)) &&
         in_bounds(base::checked_add(hull.end, moved_by));
}

// (T4), for a shape that lies at a place inside the node above it.
template <int D>
Result<void> check_place(const Point<D>& at, const Shape<D>& shape) {
  for (int d = 0; d < D; ++d) {
    if (!in_bounds(shape.hull(d), at[d])) return damaged("a position is beyond 2^62");
  }
  return {};
}

template <int D>
class Decoder {
 public:
  Decoder(base::ByteView bytes, DecodeLimits limits) : reader_(bytes), limits_(limits) {}

  Result<Trace<D>> decode() {
    TESSERA_TRY(const bool empty, read_header());
    Trace<D> trace;
    if (!empty) {
      TESSERA_TRY(const Point<D> at, read_point());
      TESSERA_TRY(Shape<D> shape, read_shape(0));
      TESSERA_TRY_VOID(check_place(at, shape));
      trace = Trace<D>(at, std::move(shape));
    }
    TESSERA_TRY_VOID(reader_.expect_end());
    return trace;
  }

  // Reads up to the shape. Where the trace is, or nothing if it is empty.
  Result<std::optional<Point<D>>> read_place_only() {
    TESSERA_TRY(const bool empty, read_header());
    if (empty) return std::optional<Point<D>>();
    TESSERA_TRY(const Point<D> at, read_point());
    return std::optional(at);
  }
  [[nodiscard]] size_t remaining() const { return reader_.remaining(); }

 private:
  Result<bool> read_header();
  Result<Point<D>> read_point();
  Result<Shape<D>> read_shape(int depth);
  Result<Shape<D>> read_reference(uint64_t back);
  Result<Shape<D>> read_repeat(uint64_t header, int depth);
  Result<Shape<D>> read_sequence(uint64_t header, int depth);
  Result<Shape<D>> read_item(int depth);
  // Reads where an item lies and appends it.
  Result<void> read_place(std::vector<Trace<D>>& items, const Shape<D>& shape);
  Result<void> keep(const Shape<D>& node);

  base::ByteReader reader_;
  DecodeLimits limits_;
  std::vector<Shape<D>> nodes_;  // by the order of completion, for references
};

// Returns whether the trace is empty.
template <int D>
Result<bool> Decoder<D>::read_header() {
  TESSERA_TRY(const unsigned version, reader_.u8());
  if (version != kEncodingVersion) {
    return damaged("version " + std::to_string(version) + " is not known, only version " +
                   std::to_string(kEncodingVersion));
  }
  TESSERA_TRY(const unsigned flags, reader_.u8());
  if ((flags & ~unsigned{kKnownFlags}) != 0) {
    return damaged("flags " + std::to_string(flags) + " name a feature that is not known");
  }
  if ((flags & kDimensionsMask) != D) {
    return damaged(std::to_string(flags & kDimensionsMask) + " coordinates where " +
                   std::to_string(D) + " are expected");
  }
  if ((flags & kOptionalFlag) != 0) {
    TESSERA_TRY([[maybe_unused]] const base::ByteView skipped, reader_.sized_bytes());
  }
  return (flags & kEmptyFlag) != 0;
}

template <int D>
Result<Point<D>> Decoder<D>::read_point() {
  Point<D> point;
  for (int d = 0; d < D; ++d) {
    TESSERA_TRY(const int64_t difference, reader_.signed_varint());
    point[d] = wrapping_add(difference, d == 0 ? 0 : point[d - 1]);
  }
  return point;
}

template <int D>
Result<Shape<D>> Decoder<D>::read_shape(int depth) {
  if (depth > kMaxDepth) {
    return damaged("nested more than " + std::to_string(kMaxDepth) + " levels deep");
  }
  TESSERA_TRY(const uint64_t header, reader_.varint());
  const uint64_t value = header >> kKindBits;
  switch (header & 3) {
    case kRun:
      return Shape<D>{static_cast<int64_t>(value) + 1, nullptr};
    case kRepeat:
      return read_repeat(value, depth);
    case kSequence:
      return read_sequence(value, depth);
    default:
      return read_reference(value);
  }
}

template <int D>
Result<Shape<D>> Decoder<D>::read_reference(uint64_t back) {
  if (back >= nodes_.size()) {
    return damaged("a reference to the shape " + std::to_string(back + 1) + " before, of " +
                   std::to_string(nodes_.size()));
  }
  return nodes_[nodes_.size() - 1 - static_cast<size_t>(back)];
}

template <int D>
Result<void> Decoder<D>::keep(const Shape<D>& node) {
  for (int d = 0; d < D; ++d) {
    const Interval hull = node.hull(d);
    if (hull.begin < hull.end - kMaxPosition) return damaged("a shape longer than 2^62 bytes");
  }
  if (std::cmp_greater_equal(nodes_.size(), limits_.max_nodes)) {
    return fail(Code::kTooComplex,
                "more than " + std::to_string(limits_.max_nodes) + " repetitions and sequences");
  }
  if (node.weight() > std::min(limits_.max_items, kMaxWeight)) {
    return fail(Code::kTooComplex, "more than " + std::to_string(limits_.max_items) + " items");
  }
  nodes_.push_back(node);
  return {};
}

template <int D>
Result<Shape<D>> Decoder<D>::read_repeat(uint64_t header, int depth) {
  TESSERA_TRY(const Point<D> stride, read_point());
  TESSERA_TRY(const Shape<D> child, read_shape(depth + 1));
  const auto count = static_cast<int64_t>(header) + 2;
  const auto size = base::checked_mul(child.size, count);
  if (!size || *size > kMaxPosition) return damaged("a repetition of more than 2^62 bytes");
  if (child.end() == stride) return damaged("repetitions that continue each other");
  for (int d = 0; d < D; ++d) {
    const auto last = base::checked_mul(stride[d], count - 1);
    if (!in_bounds(last) || std::abs(*last) > kMaxPosition - child.hull(d).length()) {
      return damaged("a repetition that reaches beyond 2^62");
    }
  }
  Shape<D> node = make_repeat_shape(child, count, stride);
  TESSERA_TRY_VOID(keep(node));
  return node;
}

template <int D>
Result<Shape<D>> Decoder<D>::read_item(int depth) {
  TESSERA_TRY(Shape<D> item, read_shape(depth + 1));
  if (item.is_sequence()) return damaged("a sequence inside a sequence");
  return item;
}

template <int D>
Result<void> Decoder<D>::read_place(std::vector<Trace<D>>& items, const Shape<D>& shape) {
  TESSERA_TRY(const Point<D> gap, read_point());
  if (gap == Point<D>{}) return damaged("items that continue each other");
  Point<D> at = items.back().end();
  for (int d = 0; d < D; ++d) {
    const auto moved = base::checked_add(at[d], gap[d]);
    if (!moved) return damaged("a position is beyond 2^62");
    at[d] = *moved;
  }
  TESSERA_TRY_VOID(check_place(at, shape));
  items.emplace_back(at, shape);
  return {};
}

template <int D>
Result<Shape<D>> Decoder<D>::read_sequence(uint64_t header, int depth) {
  const bool uniform = (header & 1) != 0;
  const uint64_t more = (header >> 1) + 1;
  const uint64_t each = D + (uniform ? 0 : 1);
  if (more > reader_.remaining() / each) {
    return damaged(std::to_string(more + 1) + " items announced with " +
                   std::to_string(reader_.remaining()) + " bytes left");
  }
  TESSERA_TRY(Shape<D> shape, read_item(depth));
  std::vector<Trace<D>> items = {Trace<D>({}, shape)};
  int64_t size = shape.size;
  for (uint64_t i = 0; i < more; ++i) {
    if (!uniform) {
      TESSERA_TRY(shape, read_item(depth));
    }
    if (shape.size > kMaxPosition - size) return damaged("a sequence of more than 2^62 bytes");
    size += shape.size;
    TESSERA_TRY_VOID(read_place(items, shape));
  }
  Shape<D> node = make_sequence(std::move(items)).shape();
  TESSERA_TRY_VOID(keep(node));
  return node;
}

}  // namespace

template <int D>
base::Bytes encode(const Trace<D>& trace) {
  return Encoder<D>().encode(trace);
}

template <int D>
Result<Trace<D>> decode(base::ByteView bytes, DecodeLimits limits) {
  auto trace = Decoder<D>(bytes, limits).decode();
  if (!trace) return fail(trace.error().code, "encoded pattern: " + trace.error().context);
  return trace;
}

template <int D>
std::optional<Trace<D>> decode_alike(base::ByteView bytes, const Trace<D>& other,
                                     base::ByteView encoded_other) {
  Decoder<D> theirs(bytes, {});
  Decoder<D> others(encoded_other, {});
  const auto at = theirs.read_place_only();
  const auto other_at = others.read_place_only();
  if (!at || !*at || !other_at) return std::nullopt;
  const base::ByteView shape = bytes.last(theirs.remaining());
  if (!base::equal(shape, encoded_other.last(others.remaining()))) return std::nullopt;
  if (!check_place(**at, other.shape())) return std::nullopt;
  return Trace<D>(**at, other.shape());
}

template base::Bytes encode(const Trace<1>&);
template base::Bytes encode(const Trace<2>&);
template Result<Trace<1>> decode(base::ByteView, DecodeLimits);
template Result<Trace<2>> decode(base::ByteView, DecodeLimits);
template std::optional<Trace<1>> decode_alike(base::ByteView, const Trace<1>&, base::ByteView);
template std::optional<Trace<2>> decode_alike(base::ByteView, const Trace<2>&, base::ByteView);

}  // namespace tessera::pattern
