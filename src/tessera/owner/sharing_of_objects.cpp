#include "tessera/owner/sharing_of_objects.hpp"

#include <algorithm>
#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/pattern/assembler.hpp"

namespace tessera::owner {

using base::Code;
using base::fail;
using base::Result;
using object::Object;
using object::ObjectSet;
using pattern::Interval;

namespace {

// The lists of a sharing for the sets of an object set, each interned when it is met first.
class Lists {
 public:
  Lists(const ObjectSet& objects, Sharing& sharing) : objects_(objects), sharing_(sharing) {}

  HoldersId of(object::SharersId sharers) {
    constexpr HoldersId kUnknown = -1;
    const auto i = static_cast<size_t>(sharers);
    if (i >= known_.size()) known_.resize(i + 1, kUnknown);
    if (known_[i] == kUnknown) known_[i] = sharing_.intern(objects_.sharers(sharers));
    return known_[i];
  }

 private:
  const ObjectSet& objects_;
  Sharing& sharing_;
  std::vector<HoldersId> known_;
};

int process_count(const ObjectSet& objects) {
  const std::vector<Process> processes = objects.processes();
  return processes.empty() ? 1 : *std::max_element(processes.begin(), processes.end()) + 1;
}

// The number in [first, last] that is divisible by the largest power of two.
int64_t most_even(int64_t first, int64_t last) {
  int64_t number = last;
  while ((number & (number - 1)) >= first && number != 0) number &= number - 1;
  return number;
}

// The borders of intervals, each of which may move within what the writers on both sides hold.
class Borders {
 public:
  explicit Borders(const ObjectSharing& objects)
      : sharing_(objects.sharing), pieces_(objects.pieces) {}

  // Where the border between two intervals is best: behind `begin`, where the left one begins now.
  // To be called in order.
  int64_t moved(const WriterInterval& left, const WriterInterval& right, int64_t begin) {
    const int64_t border = right.begin;
    while (item_ + pieces_[piece_].length() <= border) item_ += pieces_[piece_++].length();
    if (item_ == border) return border;  // at a gap
    const int64_t end = std::min(item_ + pieces_[piece_].length(), right.end);
    const int64_t first = first_held(border, std::max(item_, begin) + 1, right.writer);
    const int64_t last = last_held(border, end - 1, left.writer);
    const int64_t shift = pieces_[piece_].begin - item_;
    return most_even(first + shift, last + shift) - shift;
  }

 private:
  [[nodiscard]] bool holds(size_t stretch, Process process) const {
    return sharing_.holds(sharing_.stretches()[stretch].holders, process);
  }
  [[nodiscard]] int64_t begin_of(size_t stretch) const {
    return stretch == 0 ? 0 : sharing_.stretches()[stretch - 1].end;
  }
  [[nodiscard]] size_t stretch_at(int64_t item) const {
    const auto all = sharing_.stretches();
    return static_cast<size_t>(
        std::partition_point(all.begin(), all.end(),
                             [item](const Stretch& stretch) { return stretch.end <= item; }) -
        all.begin());
  }

  // How far left the border may go, not beyond `least`, that the process still holds all behind it.
  [[nodiscard]] int64_t first_held(int64_t border, int64_t least, Process process) const {
    for (size_t i = stretch_at(border - 1); border > least && holds(i, process); --i) {
      border = begin_of(i);
    }
    return std::max(border, least);
  }
  // How far right, not beyond `most`, that it holds all before it.
  [[nodiscard]] int64_t last_held(int64_t border, int64_t most, Process process) const {
    for (size_t i = stretch_at(border); border < most && holds(i, process); ++i) {
      border = sharing_.stretches()[i].end;
    }
    return std::min(border, most);
  }

  const Sharing& sharing_;
  const std::vector<Interval>& pieces_;
  size_t piece_ = 0;
  int64_t item_ = 0;  // the first of the piece
};

}  // namespace

Result<ObjectSharing> sharing_of(const ObjectSet& objects, int64_t max_objects) {
  const int64_t count = objects.object_count();
  if (count > max_objects) {
    return fail(Code::kTooComplex, "the views cut the file into " + std::to_string(count) +
                                       " objects, and writers are chosen for at most " +
                                       std::to_string(max_objects));
  }
  ObjectSharing result = {Sharing(process_count(objects)), {}};
  Lists lists(objects, result.sharing);
  objects.for_each_meeting(objects.range(), [&](const Object& object) {
    if (!result.pieces.empty() && result.pieces.back().end == object.bytes.begin) {
      result.pieces.back().end = object.bytes.end;
    } else {
      result.pieces.push_back(object.bytes);
      result.sharing.leave_gap();
    }
    result.sharing.append(object.bytes.length(), lists.of(object.sharers));
    return true;
  });
  return result;
}

Writers with_aligned_borders(const ObjectSharing& objects, const Writers& writers) {
  TESSERA_ASSERT(writers.items() == objects.sharing.items());
  const auto intervals = writers.intervals();
  Writers aligned(writers.processes());
  Borders borders(objects);
  int64_t begin = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const bool last = i + 1 == intervals.size();
    const int64_t end =
        last ? intervals[i].end : borders.moved(intervals[i], intervals[i + 1], begin);
    aligned.append(end - begin, intervals[i].writer);
    begin = end;
  }
  return aligned;
}

pattern::ByteSet share_of(const ObjectSharing& objects, const Writers& writers, Process writer) {
  TESSERA_ASSERT(writers.items() == objects.sharing.items());
  pattern::Assembler<1> share;
  auto interval = writers.intervals().begin();
  int64_t item = 0;
  for (const Interval& piece : objects.pieces) {
    for (int64_t at = piece.begin; at < piece.end;) {
      const int64_t length = std::min(piece.end - at, interval->end - item);
      if (interval->writer == writer) share.append_run({{at}}, length);
      at += length;
      item += length;
      if (item == interval->end) ++interval;
    }
  }
  return pattern::ByteSet::of_ascending(share.finish_in_bounds());
}

}  // namespace tessera::owner
