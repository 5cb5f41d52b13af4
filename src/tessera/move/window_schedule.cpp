#include "tessera/move/window_schedule.hpp"

#include <algorithm>
#include <limits>

#include "tessera/base/assert.hpp"

namespace tessera::move {

namespace {

int64_t cell_of(const CellPart& part, int64_t cell) { return part.begin / cell; }

// The last cell about which every rank has told: lists that were cut short say nothing beyond.
int64_t last_told(std::span<const CellList> lists, int64_t cell) {
  int64_t last = std::numeric_limits<int64_t>::max();
  for (const CellList& list : lists) {
    if (!list.complete) last = std::min(last, cell_of(list.parts.back(), cell));
  }
  return last;
}

void add(Round& round, const CellPart& part) {
  round.file.begin = std::min(round.file.begin, part.begin);
  round.file.end = std::max(round.file.end, part.end);
  round.bytes += part.bytes;
}

bool fills(const CellPart& part, Interval file) {
  return part.begin == file.begin && part.bytes == file.length();
}

}  // namespace

CellList list_cells(const Pattern& file, int64_t cell, int64_t stream) {
  TESSERA_ASSERT(cell > 0 && file.ascending());
  CellList list;
  while (stream < file.size() && std::ssize(list.parts) < kListedCells) {
    const int64_t begin = file.position(stream)[0];
    TESSERA_ASSERT(begin >= 0);
    // The last cell may reach beyond what a position can be.
    const int64_t left = file.span().end - begin;
    const int64_t cell_end = begin + std::min(cell - begin % cell, left);
    const int64_t next = file.offset_of(cell_end);
    const int64_t end = file.position(next - 1)[0] + 1;
    list.parts.push_back({begin, end, stream, next - stream});
    stream = next;
  }
  list.complete = stream == file.size();
  return list;
}

Schedule merge_lists(std::span<const CellList> lists, int64_t cell) {
  const int64_t last = last_told(lists, cell);
  Schedule schedule;
  std::vector<size_t> next(lists.size(), 0);
  const auto part_at = [&](size_t rank) -> const CellPart* {
    const std::vector<CellPart>& parts = lists[rank].parts;
    return next[rank] < parts.size() ? &parts[next[rank]] : nullptr;
  };
  for (;;) {
    int64_t now = std::numeric_limits<int64_t>::max();
    for (size_t rank = 0; rank < lists.size(); ++rank) {
      if (const CellPart* part = part_at(rank)) now = std::min(now, cell_of(*part, cell));
    }
    if (now == std::numeric_limits<int64_t>::max()) break;
    if (now > last || std::ssize(schedule.rounds) == kListedCells) {
      schedule.complete = false;
      return schedule;
    }
    Round round = {{std::numeric_limits<int64_t>::max(), 0}, 0, false};
    std::vector<const CellPart*> parts;
    for (size_t rank = 0; rank < lists.size(); ++rank) {
      const CellPart* part = part_at(rank);
      if (part == nullptr || cell_of(*part, cell) != now) continue;
      add(round, *part);
      parts.push_back(part);
      ++next[rank];
    }
    round.one_has_all = std::any_of(parts.begin(), parts.end(),
                                    [&](const CellPart* part) { return fills(*part, round.file); });
    schedule.rounds.push_back(round);
  }
  schedule.complete = last == std::numeric_limits<int64_t>::max();
  return schedule;
}

}  // namespace tessera::move
