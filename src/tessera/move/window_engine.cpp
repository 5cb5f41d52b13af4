#include "tessera/move/window_engine.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/move/phase_timer.hpp"
#include "tessera/move/window_copy.hpp"
#include "tessera/move/window_io.hpp"
#include "tessera/move/window_memory.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/pattern/overlap.hpp"

namespace tessera::move {

namespace {

using base::Result;

// Below this a rank copies its bytes of a round in one piece.
constexpr int64_t kTurnedBytesMin = int64_t{64} << 10;
// What a test of two patterns may cost: a few microseconds.
constexpr pattern::Budget kOverlapBudget = {.steps = 256, .max_runs = 0};

// Whether a rank can tell that it shares no byte with any rank after it.
bool overlaps_nobody_after(int rank, const Pattern& mine, const Picture& picture) {
  if (picture.spans_disjoint || mine.empty()) return true;
  const pattern::ByteSet own = pattern::ByteSet::of_ascending(mine);
  for (size_t i = static_cast<size_t>(rank) + 1; i < picture.ranks.size(); ++i) {
    const Summary& other = picture.ranks[i];
    if (other.bytes == 0 || !other.span.meets(mine.span())) continue;
    if (other.pattern.empty()) return false;
    const auto pattern = pattern::decode<1>(other.pattern);
    if (!pattern || !pattern->ascending()) return false;
    const auto shared =
        pattern::overlaps(own, pattern::ByteSet::of_ascending(*pattern), kOverlapBudget);
    if (!shared || *shared) return false;
  }
  return true;
}

class WindowMove {
 public:
  WindowMove(const Move& move, Context& context, port::Team& team, const Picture& picture)
      : move_(move),
        context_(context),
        team_(team),
        picture_(picture),
        memory_(team.size(), {buffer_bytes(picture.policy), picture.covered}) {}

  std::optional<Transfer> run(WayChoice& way);

 private:
  static int64_t buffer_bytes(const Policy& policy) {
    return policy.cb_buffer_size * std::max<int64_t>(1, policy.cb_nodes);
  }

  [[nodiscard]] bool reads() const { return move_.direction == Direction::kRead; }
  [[nodiscard]] int64_t rounds() const { return std::ssize(schedule_.rounds); }
  [[nodiscard]] const Round& round(int64_t k) const {
    return schedule_.rounds[static_cast<size_t>(k)];
  }
  // Ranks take turns; cb_nodes bounds how many do.
  [[nodiscard]] int rank_of_turn(int64_t turn) const {
    const int64_t most = picture_.policy.cb_nodes > 0 ? picture_.policy.cb_nodes : team_.size();
    return static_cast<int>(turn % std::min<int64_t>(most, team_.size()));
  }
  [[nodiscard]] bool needs_map(const Round& round) const {
    return !round.one_has_all && !(nobody_overlaps_ && round.bytes == round.file.length());
  }

  Result<void> meet();
  Result<void> make_schedule();
  Result<void> write_rounds();
  Result<void> read_rounds();
  Result<void> clear_maps();
  void write_out(int64_t k);
  void read_in(int64_t k);
  [[nodiscard]] int64_t read_end(int64_t k) const;
  [[nodiscard]] Interval lane_of(int64_t k, int64_t lane) const;
  std::optional<CellPart> take_part(int64_t k);
  void copy(int64_t k, int64_t end);
  void copy_stream(int64_t k, Interval stream);
  [[nodiscard]] int64_t written_bytes();
  bool look_for_failure(int64_t k);
  Transfer finish(const Result<void>& met);
  void note(Result<void> status) {
    if (status_ && !status) status_ = std::move(status);
  }

  const Move& move_;
  Context& context_;
  port::Team& team_;
  const Picture& picture_;
  WindowMemory memory_;
  Schedule schedule_;
  CellList mine_;         // my parts of the rounds at hand
  size_t next_part_ = 0;  // the first one that no round has taken
  int64_t listed_ = 0;    // stream offset behind the parts listed so far
  bool overlaps_nobody_ = false;
  bool nobody_overlaps_ = false;
  int64_t lanes_ = 1;                          // transfers of one round at the same time
  int64_t transferred_ = 0;                    // rounds of this schedule that were written
  int64_t moved_ = 0;                          // bytes of a read
  int64_t failed_at_ = pattern::kMaxPosition;  // where the first failed write got to
  bool stopped_ = false;                       // a round came short: none after it counts
  Result<void> status_;                        // of this rank's transfers
};

Result<void> WindowMove::meet() {
  const PhaseTimer timer(context_.phases, &Phases::exchange_ns);
  return team_.barrier();
}

Result<void> WindowMove::make_schedule() {
  const auto untaken = mine_.parts.begin() + static_cast<ptrdiff_t>(next_part_);
  if (untaken != mine_.parts.end()) listed_ = untaken->stream;
  mine_ = list_cells(move_.file, memory_.cell(), listed_);
  next_part_ = 0;
  listed_ =
      mine_.parts.empty() ? move_.size() : mine_.parts.back().stream + mine_.parts.back().bytes;
  memory_.write_row(team_.rank(), mine_, overlaps_nobody_);
  TESSERA_TRY_VOID(meet());
  if (transferred_ > 0 && look_for_failure(transferred_ - 1)) return {};
  schedule_ = merge_lists(memory_.read_rows(), memory_.cell());
  nobody_overlaps_ = memory_.nobody_overlaps();
  transferred_ = 0;
  return {};
}

// Whether a round that was written came short; then nothing counts from there on.
bool WindowMove::look_for_failure(int64_t k) {
  const int64_t end = memory_.outcome(k, 0);
  if (end == round(k).file.end) return false;
  failed_at_ = std::min(failed_at_, end);
  stopped_ = true;
  return true;
}

// My bytes of a round, if I have any; rounds are asked for in order.
std::optional<CellPart> WindowMove::take_part(int64_t k) {
  if (next_part_ == mine_.parts.size()) return std::nullopt;
  const CellPart& part = mine_.parts[next_part_];
  if (part.begin >= round(k).file.end) return std::nullopt;
  ++next_part_;
  return part;
}

void WindowMove::copy_stream(int64_t k, Interval stream) {
  if (stream.empty()) return;
  // The place of the cell's first byte.
  const int64_t begin = round(k).file.begin / memory_.cell() * memory_.cell();
  copy_stretch(move_, stream, memory_.place(k, begin), begin);
  if (reads() || !needs_map(round(k))) return;
  memory_.map(k).mark(move_.file, stream, round(k).file.begin);
}

// Copies my bytes before `end`. Each rank begins at another place of the window, so that no two
// cores write the same cache lines at once.
void WindowMove::copy(int64_t k, int64_t end) {
  const std::optional<CellPart> part = take_part(k);
  if (!part || stopped_) return;
  const PhaseTimer timer(context_.phases, &Phases::copy_ns);
  Interval stream = {part->stream, part->stream + part->bytes};
  if (end < part->end) stream.end = std::max(stream.begin, move_.file.offset_of(end));
  moved_ += stream.length();
  int64_t turn = stream.begin;
  const Interval file = round(k).file;
  if (file.length() >= kTurnedBytesMin) {
    const int64_t position = file.begin + file.length() / team_.size() * team_.rank();
    turn = std::clamp(move_.file.offset_of(position), stream.begin, stream.end);
  }
  copy_stream(k, {turn, stream.end});
  copy_stream(k, {stream.begin, turn});
}

Result<void> WindowMove::clear_maps() {
  const auto needs = [this](const Round& round) { return needs_map(round); };
  if (std::none_of(schedule_.rounds.begin(), schedule_.rounds.end(), needs)) return {};
  if (team_.rank() == 0) {
    memory_.map(0).clear();
    memory_.map(1).clear();
  }
  return meet();
}

void WindowMove::write_out(int64_t k) {
  const Interval file = round(k).file;
  const Window window = {file, memory_.place(k, file.begin)};
  Outcome outcome;
  if (needs_map(round(k))) {
    CoverageMap map = memory_.map(k);
    outcome = write_covered(window, map, context_);
    map.clear();
  } else {
    outcome = write_window(window, context_);
  }
  memory_.outcome(k, 0) = outcome.end;
  note(std::move(outcome.status));
}

Result<void> WindowMove::write_rounds() {
  TESSERA_TRY_VOID(clear_maps());
  for (int64_t k = 0; k <= rounds(); ++k) {
    if (k > 0 && rank_of_turn(k - 1) == team_.rank()) write_out(k - 1);
    transferred_ = k;
    if (k < rounds()) copy(k, round(k).file.end);
    // The last meeting is that of the next schedule, or the agreement.
    if (k == rounds()) break;
    TESSERA_TRY_VOID(meet());
    if (k > 0 && look_for_failure(k - 1)) break;
  }
  return {};
}

// A lane is a part of the cell; the round need not have bytes in it.
Interval WindowMove::lane_of(int64_t k, int64_t lane) const {
  const Interval file = round(k).file;
  const int64_t cell = memory_.cell();
  const int64_t each = base::ceil_div(cell, lanes_);
  const int64_t begin = file.begin / cell * cell + lane * each;
  return common(file, {begin, begin + each});
}

void WindowMove::read_in(int64_t k) {
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    const Interval file = lane_of(k, lane);
    if (file.empty() || rank_of_turn(k * lanes_ + lane) != team_.rank()) continue;
    Outcome outcome = read_window({file, memory_.place(k, file.begin)}, context_);
    memory_.outcome(k, lane) = outcome.end;
    note(std::move(outcome.status));
  }
}

// Where the bytes that a round has read end.
int64_t WindowMove::read_end(int64_t k) const {
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    const Interval file = lane_of(k, lane);
    if (!file.empty() && memory_.outcome(k, lane) < file.end) return memory_.outcome(k, lane);
  }
  return round(k).file.end;
}

Result<void> WindowMove::read_rounds() {
  for (int64_t k = 0; k <= rounds() && !stopped_; ++k) {
    if (k < rounds()) read_in(k);
    if (k > 0) {
      copy(k - 1, read_end(k - 1));
      stopped_ = read_end(k - 1) < round(k - 1).file.end;
    }
    if (k < rounds()) {
      TESSERA_TRY_VOID(meet());
    }
  }
  return {};
}

// The bytes of my stream that are surely in the file, once all ranks have met.
int64_t WindowMove::written_bytes() {
  if (transferred_ > 0) look_for_failure(transferred_ - 1);
  return move_.size() == 0 ? 0 : move_.file.offset_of(failed_at_);
}

Transfer WindowMove::finish(const Result<void>& met) {
  if (!met) return {0, met};
  Result<void> verdict = [this] {
    const PhaseTimer timer(context_.phases, &Phases::exchange_ns);
    return team_.agree(status_);
  }();
  return {reads() ? moved_ : written_bytes(), std::move(verdict)};
}

std::optional<Transfer> WindowMove::run(WayChoice& way) {
  auto common = team_.common_memory(memory_.bytes_needed());
  if (!common) return std::nullopt;
  memory_.attach(*common);
  memory_.provide_pages(team_.rank());
  lanes_ = reads() ? std::clamp<int64_t>(std::min<int64_t>(picture_.policy.cores, team_.size()), 1,
                                         WindowMemory::kLanesMax)
                   : 1;
  overlaps_nobody_ = reads() || overlaps_nobody_after(team_.rank(), move_.file, picture_);
  Result<void> met;
  do {
    met = make_schedule();
    if (!met || stopped_) break;
    if (way.way == Way::kUndecided) way = choose_way(picture_, schedule_, move_.direction);
    if (way.way == Way::kSeparately) return std::nullopt;
    memory_.take_over_pages();
    met = reads() ? read_rounds() : write_rounds();
  } while (met && !stopped_ && !schedule_.complete);
  context_.choice = {Engine::kWindow, way.reason};
  return finish(met);
}

}  // namespace

std::optional<Transfer> move_through_windows(const Move& move, Context& context, port::Team& team,
                                             const Picture& picture, WayChoice& way) {
  return WindowMove(move, context, team, picture).run(way);
}

}  // namespace tessera::move
