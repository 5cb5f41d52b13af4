#include "tessera/move/collective_choice.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace tessera::move {

namespace {

// The times that the ranks meet when they move together, besides once for each round.
constexpr double kMeetings = 3;
constexpr double kPageBytes = 4096;
// Ranks that map the same pages of one file at the same time slow each other.
constexpr double kSharedFault = 2;

double number(int64_t value) { return static_cast<double>(value); }

std::string format(const char* form, double value, const char* unit) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), form, value, unit);
  return text.data();
}

std::string bytes_text(double bytes) {
  if (bytes < 1e3) return format("%.0f %s", bytes, "bytes");
  if (bytes < 1e6) return format("%.1f %s", bytes / 1e3, "kB");
  return bytes < 1e9 ? format("%.1f %s", bytes / 1e6, "MB") : format("%.1f %s", bytes / 1e9, "GB");
}

std::string time_text(double ns) {
  if (ns < 1e6) return format("%.0f %s", ns / 1e3, "us");
  return ns < 1e9 ? format("%.1f %s", ns / 1e6, "ms") : format("%.1f %s", ns / 1e9, "s");
}

double cores_used(const Picture& picture) {
  return std::max(1.0, std::min(number(picture.policy.cores), number(std::ssize(picture.ranks))));
}

// One meeting of all ranks.
double meeting_ns(const Picture& picture) {
  return picture.policy.costs.rendezvous_ns * number(std::ssize(picture.ranks)) /
         cores_used(picture);
}

// What a rank's own move costs while all others execute theirs: a request for each run, or the
// pages that hold them, or all that it spans. Writes by system calls take turns.
double own_ns(const Summary& rank, const Picture& picture, Direction direction) {
  const Costs& costs = picture.policy.costs;
  const bool reads = direction == Direction::kRead;
  const double cores = cores_used(picture);
  const double turns = reads ? cores : 1;
  const double runs = number(rank.runs);
  const double bytes = number(rank.bytes);
  const double span = number(rank.span.length());
  const double list_ns = (runs * (reads ? costs.listed_ns : costs.listed_write_ns) +
                          bytes * (reads ? costs.read_byte_ns : costs.write_byte_ns)) /
                         turns;
  if (rank.runs <= 1) return list_ns;
  const double copy_ns = runs * costs.copy_run_ns + bytes * costs.copy_byte_ns;
  if (picture.policy.mappable) {
    const double pages = std::min(span / kPageBytes, runs + bytes / kPageBytes) + 1;
    const double page_ns = reads ? costs.mapped_read_ns : costs.mapped_write_ns;
    return std::min(list_ns, (pages * page_ns * kSharedFault + copy_ns) / cores);
  }
  // Ranks that write between each other's bytes may not write gaps back.
  if (!reads && !picture.spans_disjoint) return list_ns;
  const double sieved_ns = costs.read_byte_ns + (reads ? 0 : costs.write_byte_ns);
  return std::min(list_ns, (span * sieved_ns + copy_ns) / turns);
}

// All ranks at once, each for itself.
double separate_ns(const Picture& picture, Direction direction) {
  double sum = 0;
  for (const Summary& rank : picture.ranks) sum += own_ns(rank, picture, direction);
  return sum;
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
  const double io_ns = window_bytes * scale * byte_ns;
  const double copy_ns =
      number(picture.bytes) * costs.copy_byte_ns + number(picture.runs) * costs.copy_run_ns;
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
  return number(picture.bytes) * byte_ns + (kMeetings + 1) * meeting_ns(picture);
}

}  // namespace

std::string describe(const Picture& picture) {
  if (picture.bytes == 0) return "no bytes";
  const double each = number(picture.bytes) / number(std::max<int64_t>(1, picture.runs));
  return std::to_string(picture.ranks.size()) + " ranks, " + std::to_string(picture.runs) +
         " runs of " + bytes_text(each) + " in " + bytes_text(number(picture.covered));
}

WayChoice choose_way(const Picture& picture, Direction direction) {
  const Policy& policy = picture.policy;
  if (picture.bytes == 0) return {Way::kSeparately, "no bytes"};
  if (picture.ranks.size() == 1) return {Way::kSeparately, "one rank"};
  if (policy.collective == CollectiveHint::kIndependent) {
    return {Way::kSeparately, "tessera_collective=independent"};
  }
  if (policy.buffering == Toggle::kDisable) return {Way::kSeparately, "romio_cb=disable"};
  if (policy.collective != CollectiveHint::kAutomatic) {
    return {Way::kTogether, "tessera_collective"};
  }
  if (policy.buffering == Toggle::kEnable) return {Way::kTogether, "romio_cb=enable"};
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
          shape + time_text(together) + " together against " + time_text(apart) + " apart"};
}

}  // namespace tessera::move
