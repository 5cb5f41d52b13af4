#include "tessera/move/grouped_writes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "tessera/object/object_set.hpp"
#include "tessera/owner/sharing_of_objects.hpp"
#include "tessera/owner/writers.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/pattern/join.hpp"

namespace tessera::move {

namespace {

using base::Result;
using pattern::ByteSet;

// What a rank tells of a write before anybody groups it.
enum class Return : int64_t { kNew, kMoved, kNothing };
struct Notice {
  Return kind = Return::kNew;
  int64_t distance = 0;  // of kMoved, from where the bytes were
};

base::Bytes bytes_of(const Notice& notice) {
  base::Bytes bytes(sizeof(notice));
  std::memcpy(bytes.data(), &notice, sizeof(notice));
  return bytes;
}

Notice notice_from(base::ByteView bytes) {
  Notice notice;
  if (bytes.size() == sizeof(notice)) std::memcpy(&notice, bytes.data(), sizeof(notice));
  return notice;
}

// The bytes of all ranks, by rank.
Result<std::vector<ByteSet>> sets_of(const std::vector<base::Bytes>& encoded) {
  std::vector<ByteSet> sets;
  sets.reserve(encoded.size());
  for (const base::Bytes& bytes : encoded) {
    TESSERA_TRY(const Pattern pattern, pattern::decode<1>(bytes));
    TESSERA_TRY(ByteSet set, ByteSet::of(pattern));
    sets.push_back(std::move(set));
  }
  return sets;
}

Interval hull_of(const std::vector<ByteSet>& sets) {
  Interval hull;
  for (const ByteSet& set : sets) {
    if (set.empty()) continue;
    if (hull.length() == 0) hull = set.span();
    hull = {std::min(hull.begin, set.span().begin), std::max(hull.end, set.span().end)};
  }
  return hull;
}

// How even the shares can be depends on the views alone.
Result<owner::Writers> choose_writers(const owner::Sharing& sharing, owner::Policy policy) {
  auto writers = owner::choose_writers(sharing, {.policy = policy});
  const bool uneven = !writers && writers.error().code == base::Code::kNotFound;
  return uneven ? owner::choose_writers(sharing, {}) : std::move(writers);
}

// What of the bytes of all ranks one of them writes.
Result<ByteSet> share_among(const std::vector<ByteSet>& sets, owner::Policy policy, int rank) {
  const Interval hull = hull_of(sets);
  if (hull.end >= pattern::kMaxLine) {
    return base::fail(base::Code::kTooComplex, "bytes too far out to be grouped");
  }
  TESSERA_TRY(const auto objects, object::ObjectSet::of(hull, sets));
  TESSERA_TRY(const owner::ObjectSharing sharing, owner::sharing_of(objects));
  TESSERA_TRY(const owner::Writers writers, choose_writers(sharing.sharing, policy));
  return owner::share_of(sharing, owner::with_aligned_borders(sharing, writers), rank);
}

// The same as offsets in that rank's stream.
Result<ByteSet> stream_among(const std::vector<base::Bytes>& encoded, owner::Policy policy,
                             int rank, const Pattern& file) {
  TESSERA_TRY(const auto sets, sets_of(encoded));
  TESSERA_TRY(const ByteSet share, share_among(sets, policy, rank));
  return pattern::locate(file, share);
}

Result<Pattern> moved_by(const Pattern& pattern, int64_t distance) {
  return pattern.shifted(pattern::Point<1>{{distance}});
}

// How far all ranks have moved with their bytes; nothing if some have others, or moved by
// themselves.
std::optional<int64_t> common_distance(const std::vector<base::Bytes>& told) {
  std::optional<int64_t> distance;
  for (const base::Bytes& bytes : told) {
    const Notice notice = notice_from(bytes);
    if (notice.kind == Return::kNew) return std::nullopt;
    if (notice.kind == Return::kNothing) continue;
    if (distance.value_or(notice.distance) != notice.distance) return std::nullopt;
    distance = notice.distance;
  }
  return distance.value_or(0);
}

int64_t distance_between(const Pattern& from, const Pattern& to) {
  return to.at()[0] - from.at()[0];
}

}  // namespace

Transfer GroupedWrites::execute(const Move& move, const Result<void>& before, owner::Policy policy,
                                port::Exchange& exchange, const Write& write) {
  Transfer done;
  if (expects_) {
    done = expect(move, before, write);
    expects_ = done || done.status.error().code != base::Code::kRetry;
  }
  if (!expects_) {
    const auto share = ask(move, policy, exchange);
    const Move nothing{move.direction, {}, {}, nullptr};
    done = share ? write(*share, before) : write(nothing, base::failure_of(share));
  }
  if (done) done.bytes = move.size();
  return done;
}

Transfer GroupedWrites::expect(const Move& move, const Result<void>& before, const Write& write) {
  const bool same = pattern::same_shape(last_->file.shape(), move.file.shape()) &&
                    (move.file.empty() || distance_between(last_->file, move.file) == 0);
  const auto share = same ? cut(move) : base::fail(base::Code::kRetry, "other bytes than before");
  const Move nothing{move.direction, {}, {}, nullptr};
  if (!before || share) return write(share ? *share : nothing, before);
  return write(nothing, base::failure_of(share));
}

Result<Move> GroupedWrites::ask(const Move& move, owner::Policy policy, port::Exchange& exchange) {
  TESSERA_TRY(const bool serves, serves_again(move, exchange));
  if (!serves) TESSERA_TRY_VOID(group(move, policy, exchange));
  return cut(move);
}

Result<bool> GroupedWrites::serves_again(const Move& move, port::Exchange& exchange) {
  Notice mine;
  if (last_ && pattern::same_shape(last_->file.shape(), move.file.shape())) {
    mine = move.file.empty() ? Notice{Return::kNothing}
                             : Notice{Return::kMoved, distance_between(last_->file, move.file)};
  }
  TESSERA_TRY(const auto told, exchange.all_gather(bytes_of(mine)));
  const std::optional<int64_t> distance = common_distance(told);
  expects_ = distance == 0;
  return distance.has_value();
}

Result<void> GroupedWrites::group(const Move& move, owner::Policy policy,
                                  port::Exchange& exchange) {
  last_.reset();
  TESSERA_TRY(const auto encoded, exchange.all_gather(pattern::encode(move.file)));
  last_ = Grouped{move.file, std::nullopt, move.file, {}, {}};
  auto stream = stream_among(encoded, policy, exchange.rank(), move.file);
  if (!stream) return {};
  auto share = pattern::select(move.file, stream->ascending());
  if (!share) return {};
  last_->stream = *std::move(stream);
  last_->share_file = *std::move(share);
  return {};
}

Result<Move> GroupedWrites::cut(const Move& move) {
  if (!last_->stream) return move;
  const bool same = pattern::same_shape(last_->memory.shape(), move.memory.shape());
  if (!same || last_->memory.empty()) {
    auto memory = pattern::select(move.memory, last_->stream->ascending());
    if (!memory) return move;
    last_->memory = move.memory;
    last_->share_memory = *std::move(memory);
  }
  Move share = move;
  TESSERA_TRY(share.file, moved_by(last_->share_file, distance_between(last_->file, move.file)));
  TESSERA_TRY(share.memory,
              moved_by(last_->share_memory, distance_between(last_->memory, move.memory)));
  return share;
}

}  // namespace tessera::move
