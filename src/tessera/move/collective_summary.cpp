#include "tessera/move/collective_summary.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>

#include "tessera/move/independent.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::move {

namespace {

using base::Code;
using base::Result;

// Patterns up to this weight are told to everybody: some 20 bytes for a view of nested strides.
constexpr int64_t kToldWeightMax = 16;

// Costs travel as they lie in memory: all ranks run the same program.
static_assert(std::is_trivially_copyable_v<Costs>);

Result<Policy> read_policy(base::ByteReader& reader) {
  Policy policy;
  TESSERA_TRY(const base::ByteView costs, reader.bytes(sizeof(Costs)));
  std::memcpy(&policy.costs, costs.data(), sizeof(Costs));
  for (int64_t* number :
       {&policy.cores, &policy.cb_buffer_size, &policy.cb_nodes, &policy.cb_per_node}) {
    TESSERA_TRY(*number, reader.signed_varint());
  }
  TESSERA_TRY(const uint8_t buffering, reader.u8());
  TESSERA_TRY(const uint8_t collective, reader.u8());
  if (policy.cores < 1 || buffering > static_cast<uint8_t>(Toggle::kAutomatic) ||
      collective > static_cast<uint8_t>(CollectiveHint::kTwoPhase)) {
    return base::fail(Code::kIntegrity, "a policy that no rank can have given");
  }
  policy.buffering = static_cast<Toggle>(buffering);
  policy.collective = static_cast<CollectiveHint>(collective);
  return policy;
}

// What a rank asks for executing its move by itself.
Result<Price> read_price(base::ByteReader& reader) {
  Price price;
  TESSERA_TRY(const uint64_t ns, reader.varint());
  TESSERA_TRY(const uint8_t turns, reader.u8());
  price.ns = static_cast<double>(ns);
  price.takes_turns = turns != 0;
  return price;
}

void write_price(base::ByteWriter& writer, const Price& price) {
  constexpr double kLongest = 1e18;
  writer.varint(static_cast<uint64_t>(std::clamp(price.ns, 0.0, kLongest)));
  writer.u8(price.takes_turns ? 1 : 0);
}

Result<Summary> read_summary(base::ByteReader& reader) {
  Summary summary;
  TESSERA_TRY(const uint8_t failed, reader.u8());
  summary.failed = failed != 0;
  for (int64_t* number : {&summary.span.begin, &summary.span.end, &summary.bytes, &summary.runs,
                          &summary.memory_runs}) {
    TESSERA_TRY(*number, reader.signed_varint());
  }
  TESSERA_TRY(summary.alone, read_price(reader));
  TESSERA_TRY(summary.gapless, read_price(reader));
  TESSERA_TRY(const base::ByteView pattern, reader.sized_bytes());
  summary.pattern = base::copy_of(pattern);
  const bool sound = summary.span.begin >= 0 && summary.span.end >= summary.span.begin &&
                     summary.bytes >= 0 && summary.bytes <= summary.span.length() &&
                     summary.runs >= 0 && summary.runs <= summary.bytes &&
                     summary.memory_runs >= 0 && summary.memory_runs <= summary.bytes;
  if (!sound) return base::fail(Code::kIntegrity, "a summary that no rank can have given");
  return summary;
}

void write_summary(base::ByteWriter& writer, const Summary& summary) {
  writer.u8(summary.failed ? 1 : 0);
  for (const int64_t number :
       {summary.span.begin, summary.span.end, summary.bytes, summary.runs, summary.memory_runs}) {
    writer.signed_varint(number);
  }
  write_price(writer, summary.alone);
  write_price(writer, summary.gapless);
  writer.sized_bytes(summary.pattern);
}

void write_policy(base::ByteWriter& writer, const Policy& policy) {
  writer.bytes(std::as_bytes(std::span(&policy.costs, 1)));
  for (const int64_t number :
       {policy.cores, policy.cb_buffer_size, policy.cb_nodes, policy.cb_per_node}) {
    writer.signed_varint(number);
  }
  writer.u8(static_cast<uint8_t>(policy.buffering));
  writer.u8(static_cast<uint8_t>(policy.collective));
}

// Adds up what the ranks said.
void add_up(Picture& picture) {
  std::vector<Interval> spans;
  for (const Summary& rank : picture.ranks) {
    picture.failed |= rank.failed;
    picture.bytes += rank.bytes;
    picture.runs += rank.runs;
    picture.memory_runs += rank.memory_runs;
    if (rank.bytes > 0) spans.push_back(rank.span);
  }
  if (spans.empty()) return;
  std::sort(spans.begin(), spans.end(), [](Interval a, Interval b) { return a.begin < b.begin; });
  picture.span = {spans.front().begin, spans.front().begin};
  for (const Interval span : spans) {
    picture.spans_disjoint &= span.begin >= picture.span.end || picture.covered == 0;
    const int64_t fresh = std::max(span.begin, picture.span.end);
    picture.covered += std::max<int64_t>(0, span.end - fresh);
    picture.span.end = std::max(picture.span.end, span.end);
  }
}

}  // namespace

Summary summary_of(const Move& move, const Context& context, FileFacts facts) {
  Summary summary = {.failed = !context.before,
                     .span = move.file.span(),
                     .bytes = move.file.size(),
                     .runs = move.file.runs(),
                     .memory_runs = move.memory.runs(),
                     .alone = {},
                     .gapless = {},
                     .pattern = {}};
  if (move.file.empty()) return summary;
  // A mapping is kept for the next move (mapping_cache.hpp), a window is not.
  if (facts.page_ns) facts.page_ns = *facts.page_ns / 2;
  summary.alone = price_independent(move, context.costs, facts, true);
  const bool rewrites = move.direction == Direction::kWrite && !facts.mappable;
  summary.gapless = rewrites ? price_independent(move, context.costs, facts, false) : summary.alone;
  if (move.file.shape().weight() <= kToldWeightMax) summary.pattern = pattern::encode(move.file);
  return summary;
}

Policy policy_of(Direction direction, const Context& context) {
  const Hints& hints = context.hints;
  return {.costs = context.costs,
          .cores = cores_for(context.companions),
          .cb_buffer_size = hints.cb_buffer_size,
          .cb_nodes = hints.cb_nodes,
          .cb_per_node = hints.cb_per_node,
          .buffering = direction == Direction::kRead ? hints.cb_read : hints.cb_write,
          .collective = hints.collective};
}

base::Bytes encode(const Summary& summary, const Policy& policy) {
  base::Bytes bytes;
  if (!summary.failed && summary.bytes == 0) return bytes;
  base::ByteWriter writer(bytes);
  write_summary(writer, summary);
  write_policy(writer, policy);
  return bytes;
}

Result<Picture> picture_of(const std::vector<base::Bytes>& messages) {
  Picture picture;
  picture.ranks.resize(messages.size());
  std::optional<Policy> first;
  for (size_t rank = 0; rank < messages.size(); ++rank) {
    if (messages[rank].empty()) continue;
    base::ByteReader reader(messages[rank]);
    TESSERA_TRY(picture.ranks[rank], read_summary(reader));
    TESSERA_TRY(const Policy policy, read_policy(reader));
    TESSERA_TRY_VOID(reader.expect_end());
    if (!first) first = policy;
  }
  if (first) picture.policy = *first;
  add_up(picture);
  return picture;
}

}  // namespace tessera::move
