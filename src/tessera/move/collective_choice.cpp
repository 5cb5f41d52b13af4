#include "tessera/move/collective_choice.hpp"

#include <algorithm>

#include "tessera/move/amounts.hpp"
#include "tessera/pattern/copy_kernels.hpp"

namespace tessera::move {

namespace {

// The times that the ranks meet when they move together, besides once for each round.
constexpr double kMeetings = 3;

double number(int64_t value) { return static_cast<double>(value); }

double cores_used(const Picture& picture) {
  return std::max(1.0, std::min(number(picture.policy.cores), number(std::ssize(picture.ranks))));
}

// One meeting of all ranks.
double meeting_ns(const Picture& picture) {
  return picture.policy.costs.rendezvous_ns * number(std::ssize(picture.ranks)) /
         cores_used(picture);
}

// What is left of the cost of a byte where all of them fit into the caches.
double byte_share(const Picture& picture) {
  const bool fits = pattern::mode_for(picture.bytes) == pattern::CopyMode::kCached;
  return fits ? picture.policy.costs.cached_share : 1;
}

// All ranks at once, each for itself. Ranks that write between each other's bytes may not write
// gaps back.
double separate_ns(const Picture& picture, Direction direction) {
  const bool gapless = direction == Direction::kWrite && !picture.spans_disjoint;
  double in_turns = 0;
  double side_by_side = 0;
  for (const Summary& rank : picture.ranks) {
    const Price& price = gapless ? rank.gapless : rank.alone;
    (price.takes_turns ? in_turns : side_by_side) += price.ns;
  }
  return in_turns + side_by_side / cores_used(picture);
}

// The whole move through windows, as its first rounds promise.
double together_ns(const Picture& picture, const Schedule& schedule, Direction direction) {
  const Costs& costs = picture.policy.costs;
  double window_bytes = 0;
  double bytes = 0;
  for (const Round& round : schedule.rounds) {
    window_bytes += number(round.file.length());
    bytes += number(round.bytes);
  }
  const double scale = bytes > 0 ? number(picture.bytes) / bytes : 1;
  const bool reads = direction == Direction::kRead;
  const bool has_gaps = !reads && bytes < window_bytes;
  const double byte_ns =
      (reads || has_gaps ? costs.read_byte_ns : 0) + (reads ? 0 : costs.write_byte_ns);
  const double share = byte_share(picture);
  const double io_ns = window_bytes * scale * byte_ns * share;
  const double copy_ns = number(picture.bytes) * costs.copy_byte_ns * share +
                         number(picture.runs + picture.memory_runs) * costs.copy_run_ns;
  const double shared_ns = (io_ns + copy_ns) / cores_used(picture);
  const double rounds = number(std::ssize(schedule.rounds)) * scale;
  return (reads ? shared_ns : std::max(io_ns, shared_ns)) +
         (rounds + kMeetings) * meeting_ns(picture);
}

// What moving together costs at least: every byte once, and the meetings.
double least_together_ns(const Picture& picture, Direction direction) {
  const Costs& costs = picture.policy.costs;
  const double byte_ns = direction == Direction::kRead ? costs.read_byte_ns / cores_used(picture)
                                                       : costs.write_byte_ns;
  return number(picture.bytes) * byte_ns * byte_share(picture) +
         (kMeetings + 1) * meeting_ns(picture);
}

}  // namespace

std::string describe(const Picture& picture) {
  if (picture.bytes == 0) return "no bytes";
  const double each = number(picture.bytes) / number(std::max<int64_t>(1, picture.runs));
  return std::to_string(picture.ranks.size()) + " ranks, " + std::to_string(picture.runs) +
         " runs of " + bytes_text(each) + " in " + bytes_text(number(picture.covered));
}

std::optional<WayChoice> way_by_hints(const Picture& picture) {
  const Policy& policy = picture.policy;
  const auto chosen = [](Way way, const char* reason) { return WayChoice{way, reason}; };
  if (picture.bytes == 0) return chosen(Way::kSeparately, "no bytes");
  if (picture.ranks.size() == 1) return chosen(Way::kSeparately, "one rank");
  if (policy.collective == CollectiveHint::kIndependent) {
    return chosen(Way::kSeparately, "tessera_collective=independent");
  }
  if (policy.buffering == Toggle::kDisable) return chosen(Way::kSeparately, "romio_cb=disable");
  if (policy.collective != CollectiveHint::kAutomatic) {
    return chosen(Way::kTogether, "tessera_collective");
  }
  if (policy.buffering == Toggle::kEnable) return chosen(Way::kTogether, "romio_cb=enable");
  return std::nullopt;
}

WayChoice choose_way(const Picture& picture, Direction direction) {
  if (auto way = way_by_hints(picture)) return *std::move(way);
  const double separate = separate_ns(picture, direction);
  if (separate <= least_together_ns(picture, direction)) {
    return {Way::kSeparately, describe(picture) + ": " + time_text(separate) + " apart"};
  }
  return {};
}

WayChoice choose_way(const Picture& picture, const Schedule& schedule, Direction direction) {
  const double apart = separate_ns(picture, direction);
  const double together = together_ns(picture, schedule, direction);
  const std::string shape = describe(picture) + ": ";
  if (apart <= together) {
    return {Way::kSeparately,
            shape + time_text(apart) + " apart against " + time_text(together) + " together"};
  }
  return {Way::kTogether,
          shape + time_text(together) + " together against " + time_text(apart) + " apart",
          together * cores_used(picture) / number(std::ssize(picture.ranks))};
}

}  // namespace tessera::move
