#include "tessera/move/two_phase.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/move/collective_choice.hpp"
#include "tessera/move/node_choice.hpp"
#include "tessera/move/phase_timer.hpp"
#include "tessera/move/two_phase_message.hpp"
#include "tessera/move/window_io.hpp"
#include "tessera/move/window_schedule.hpp"
#include "tessera/pattern/copy.hpp"

namespace tessera::move {

namespace {

using base::Code;
using base::Result;

class TwoPhaseMove {
 public:
  TwoPhaseMove(const Move& move, Context& context, port::Exchange& exchange, const Picture& picture,
               std::vector<int> aggregators)
      : move_(move),
        context_(context),
        exchange_(exchange),
        picture_(picture),
        aggregators_(std::move(aggregators)),
        cell_(cell_for(picture, std::ssize(aggregators_))),
        message_bytes_max_(window_bytes_max(picture.policy, std::ssize(aggregators_))) {}

  std::optional<Transfer> run(TwoPhaseRoute& route);

 private:
  using Messages = std::vector<base::Bytes>;

  [[nodiscard]] bool reads() const { return move_.direction == Direction::kRead; }
  [[nodiscard]] int64_t rounds() const { return std::ssize(schedule_.rounds); }
  // An aggregator's rounds are [i, j) of the schedule.
  [[nodiscard]] Interval block_of(size_t aggregator) const;
  [[nodiscard]] int64_t steps() const;
  [[nodiscard]] std::optional<int64_t> round_of(size_t aggregator, int64_t step) const;
  [[nodiscard]] std::optional<int64_t> my_round(int64_t step) const;
  [[nodiscard]] const CellPart* part_in(int64_t round) const;

  Result<Messages> exchange(Messages outgoing);
  Result<void> make_schedule();
  Result<void> list_all(int64_t stream);
  Result<void> write_steps();
  Result<void> read_steps();
  [[nodiscard]] Messages write_parcels(int64_t step);
  [[nodiscard]] Messages read_parcels(int64_t step, Messages replies);
  void write_round(const Round& round, const Messages& incoming);
  Result<void> place_parcels(const Window& window, const Messages& incoming, CoverageMap& map);
  Result<Messages> read_round(const Round& round, const Messages& incoming);
  void take_replies(int64_t step, const Messages& incoming);
  Transfer finish(const Result<void>& met);
  void note(Result<void> status) {
    if (status_ && !status) status_ = std::move(status);
  }

  const Move& move_;
  Context& context_;
  port::Exchange& exchange_;
  const Picture& picture_;
  const std::vector<int> aggregators_;
  int64_t cell_;
  const int64_t message_bytes_max_;  // about one window
  Schedule schedule_;
  CellList mine_;
  int64_t next_stream_ = 0;  // the first byte that no schedule has held
  base::Bytes window_;       // as an aggregator
  base::Bytes map_;
  bool stopped_ = false;                       // all ranks know that something came short
  int64_t short_at_ = pattern::kMaxPosition;   // position, of my transfers as an aggregator
  int64_t moved_end_ = pattern::kMaxPosition;  // stream offset that a read got to
  Result<void> status_;
};

Interval TwoPhaseMove::block_of(size_t aggregator) const {
  const auto count = std::ssize(aggregators_);
  const auto i = static_cast<int64_t>(aggregator);
  return {rounds() * i / count, rounds() * (i + 1) / count};
}

int64_t TwoPhaseMove::steps() const { return base::ceil_div(rounds(), std::ssize(aggregators_)); }

std::optional<int64_t> TwoPhaseMove::round_of(size_t aggregator, int64_t step) const {
  const Interval block = block_of(aggregator);
  if (step < 0 || step >= block.length()) return std::nullopt;
  return block.begin + step;
}

std::optional<int64_t> TwoPhaseMove::my_round(int64_t step) const {
  const auto mine = std::find(aggregators_.begin(), aggregators_.end(), exchange_.rank());
  if (mine == aggregators_.end()) return std::nullopt;
  return round_of(static_cast<size_t>(mine - aggregators_.begin()), step);
}

const CellPart* TwoPhaseMove::part_in(int64_t round) const {
  const Interval file = schedule_.rounds[static_cast<size_t>(round)].file;
  const auto part =
      std::lower_bound(mine_.parts.begin(), mine_.parts.end(), file.begin,
                       [](const CellPart& one, int64_t position) { return one.begin < position; });
  return part != mine_.parts.end() && part->begin < file.end ? &*part : nullptr;
}

Result<TwoPhaseMove::Messages> TwoPhaseMove::exchange(Messages outgoing) {
  const PhaseTimer timer(context_.phases, &Phases::exchange_ns);
  return exchange_.all_to_all(std::move(outgoing));
}

Result<void> TwoPhaseMove::list_all(int64_t stream) {
  const PhaseTimer timer(context_.phases, &Phases::exchange_ns);
  mine_ = list_cells(move_.file, cell_, stream);
  const bool came_short =
      short_at_ < pattern::kMaxPosition || moved_end_ < pattern::kMaxPosition || !status_;
  TESSERA_TRY(const Messages all, exchange_.all_gather(encode_list({mine_, came_short})));
  std::vector<CellList> lists;
  for (const base::Bytes& bytes : all) {
    TESSERA_TRY(ListMessage message, decode_list(bytes, cell_));
    stopped_ |= message.short_before;
    lists.push_back(std::move(message.list));
  }
  schedule_ = merge_lists(lists, cell_);
  return {};
}

// Smaller cells where ranks ask for the same bytes so often that their messages would not fit.
Result<void> TwoPhaseMove::make_schedule() {
  for (;;) {
    TESSERA_TRY_VOID(list_all(next_stream_));
    if (stopped_) return {};
    int64_t most = 0;
    for (const Round& round : schedule_.rounds) most = std::max(most, round.bytes);
    if (most <= message_bytes_max_ || cell_ == kCellBytesMin) break;
    cell_ = std::max(kCellBytesMin, cell_ / base::ceil_div(most, message_bytes_max_));
  }
  if (schedule_.rounds.empty()) return {};
  const int64_t end = schedule_.rounds.back().file.end;
  for (const CellPart& part : mine_.parts) {
    if (part.begin < end) next_stream_ = part.stream + part.bytes;
  }
  return {};
}

TwoPhaseMove::Messages TwoPhaseMove::write_parcels(int64_t step) {
  const PhaseTimer timer(context_.phases, &Phases::copy_ns);
  Messages outgoing(static_cast<size_t>(exchange_.size()));
  for (size_t i = 0; i < aggregators_.size(); ++i) {
    const auto round = round_of(i, step);
    const CellPart* part = round ? part_in(*round) : nullptr;
    if (part == nullptr) continue;
    const Move piece = move_.clip({part->stream, part->stream + part->bytes});
    base::Bytes& parcel = outgoing[static_cast<size_t>(aggregators_[i])];
    parcel = begin_parcel(piece.file, piece.size());
    const size_t at = parcel.size();
    parcel.resize(at + static_cast<size_t>(piece.size()));
    pattern::gather(parcel.data() + at, piece.base, piece.memory);
  }
  return outgoing;
}

Result<void> TwoPhaseMove::place_parcels(const Window& window, const Messages& incoming,
                                         CoverageMap& map) {
  const PhaseTimer timer(context_.phases, &Phases::copy_ns);
  for (const base::Bytes& message : incoming) {
    if (message.empty()) continue;
    TESSERA_TRY(const Parcel parcel, read_parcel(message, window.file));
    if (std::cmp_not_equal(parcel.bytes.size(), parcel.places.size())) {
      return base::fail(Code::kIntegrity, "a parcel with more or fewer bytes than places");
    }
    TESSERA_TRY(const Pattern places, parcel.places.shifted({{-window.file.begin}}));
    pattern::scatter(window.bytes, parcel.bytes.data(), places);
    map.mark(places, {0, places.size()}, 0);
  }
  return {};
}

void TwoPhaseMove::write_round(const Round& round, const Messages& incoming) {
  window_.resize(static_cast<size_t>(cell_));
  map_.assign(static_cast<size_t>(CoverageMap::memory_bytes(cell_)), std::byte{0});
  const Window window = {round.file, window_.data()};
  CoverageMap map(map_);
  Outcome outcome = {round.file.begin, place_parcels(window, incoming, map)};
  if (outcome.status) outcome = write_covered(window, map, context_);
  if (outcome.end < round.file.end) short_at_ = std::min(short_at_, outcome.end);
  note(std::move(outcome.status));
}

Result<void> TwoPhaseMove::write_steps() {
  for (int64_t step = 0; step < steps(); ++step) {
    TESSERA_TRY(const Messages incoming, exchange(write_parcels(step)));
    if (const auto round = my_round(step)) {
      write_round(schedule_.rounds[static_cast<size_t>(*round)], incoming);
    }
  }
  return {};
}

// Replies to what was asked in the step before, each after what is asked now.
TwoPhaseMove::Messages TwoPhaseMove::read_parcels(int64_t step, Messages replies) {
  const PhaseTimer timer(context_.phases, &Phases::copy_ns);
  Messages outgoing(static_cast<size_t>(exchange_.size()));
  std::vector<Pattern> asked(outgoing.size());
  for (size_t i = 0; i < aggregators_.size(); ++i) {
    const auto round = round_of(i, step);
    const CellPart* part = round ? part_in(*round) : nullptr;
    if (part == nullptr) continue;
    asked[static_cast<size_t>(aggregators_[i])] =
        move_.file.clip({part->stream, part->stream + part->bytes});
  }
  for (size_t rank = 0; rank < outgoing.size(); ++rank) {
    const base::ByteView reply = rank < replies.size() ? replies[rank] : base::ByteView();
    if (asked[rank].empty() && reply.empty()) continue;
    outgoing[rank] = begin_parcel(asked[rank], std::ssize(reply));
    base::ByteWriter(outgoing[rank]).bytes(reply);
    if (rank < replies.size()) replies[rank] = {};
  }
  return outgoing;
}

// What each rank gets of a round, by rank.
Result<TwoPhaseMove::Messages> TwoPhaseMove::read_round(const Round& round,
                                                        const Messages& incoming) {
  window_.resize(static_cast<size_t>(cell_));
  Outcome outcome = read_window({round.file, window_.data()}, context_);
  if (outcome.end < round.file.end) short_at_ = std::min(short_at_, outcome.end);
  note(std::move(outcome.status));
  const PhaseTimer timer(context_.phases, &Phases::copy_ns);
  Messages replies(incoming.size());
  for (size_t rank = 0; rank < incoming.size(); ++rank) {
    if (incoming[rank].empty()) continue;
    TESSERA_TRY(const Parcel parcel, read_parcel(incoming[rank], round.file));
    TESSERA_TRY(const Pattern places, parcel.places.shifted({{-round.file.begin}}));
    const Pattern there = places.within({0, outcome.end - round.file.begin});
    replies[rank].resize(static_cast<size_t>(there.size()));
    pattern::gather(replies[rank].data(), window_.data(), there);
  }
  return replies;
}

void TwoPhaseMove::take_replies(int64_t step, const Messages& incoming) {
  const PhaseTimer timer(context_.phases, &Phases::copy_ns);
  for (size_t i = 0; i < aggregators_.size(); ++i) {
    const auto round = round_of(i, step);
    const CellPart* part = round ? part_in(*round) : nullptr;
    if (part == nullptr) continue;
    // The places of a parcel are for its receiver's transfer, its bytes for me.
    base::ByteReader reader(incoming[static_cast<size_t>(aggregators_[i])]);
    const bool answered = reader.sized_bytes().has_value();
    const base::ByteView bytes = reader.bytes(reader.remaining()).value();
    const int64_t got = answered ? std::min(std::ssize(bytes), part->bytes) : 0;
    pattern::scatter(move_.base, bytes.data(),
                     move_.memory.clip({part->stream, part->stream + got}));
    if (got < part->bytes) moved_end_ = std::min(moved_end_, part->stream + got);
  }
}

Result<void> TwoPhaseMove::read_steps() {
  Messages replies;
  for (int64_t step = 0; step <= steps(); ++step) {
    TESSERA_TRY(const Messages incoming, exchange(read_parcels(step, std::move(replies))));
    take_replies(step - 1, incoming);
    replies.clear();
    if (const auto round = my_round(step)) {
      auto read = read_round(schedule_.rounds[static_cast<size_t>(*round)], incoming);
      if (!read) {
        note(base::failure_of(read));
      } else {
        replies = *std::move(read);
      }
    }
  }
  return {};
}

Transfer TwoPhaseMove::finish(const Result<void>& met) {
  if (!met) return {0, met};
  const PhaseTimer timer(context_.phases, &Phases::exchange_ns);
  Result<void> verdict = exchange_.agree(status_);
  if (reads()) return {std::min(next_stream_, moved_end_), std::move(verdict)};
  if (verdict) return {move_.size(), {}};
  const int64_t not_short = pattern::kMaxPosition - short_at_;
  const auto furthest = exchange_.all_max(static_cast<uint64_t>(not_short));
  if (!furthest || move_.size() == 0) return {0, std::move(verdict)};
  const int64_t end = pattern::kMaxPosition - base::exact_cast<int64_t>(*furthest);
  return {std::min(next_stream_, move_.file.offset_of(end)), std::move(verdict)};
}

std::optional<Transfer> TwoPhaseMove::run(TwoPhaseRoute& route) {
  WayChoice& way = route.way;
  Result<void> met;
  do {
    met = make_schedule();
    if (!met || stopped_) break;
    if (way.way == Way::kUndecided) {
      way = choose_way_across_nodes({picture_, route.node, move_.direction}, schedule_,
                                    std::ssize(aggregators_));
    }
    if (way.way == Way::kSeparately) return std::nullopt;
    met = reads() ? read_steps() : write_steps();
  } while (met && !schedule_.complete);
  return finish(met);
}

}  // namespace

std::optional<Transfer> move_in_two_phases(const Move& move, Context& context,
                                           port::Exchange& exchange, const Picture& picture,
                                           TwoPhaseRoute& route) {
  Policy policy = picture.policy;
  if (route.aggregators > 0) policy.cb_nodes = route.aggregators;
  std::vector<int> aggregators = aggregators_of(route.node, policy);
  const std::string count = std::to_string(aggregators.size());
  const bool undecided = route.way.way == Way::kUndecided;
  auto moved = TwoPhaseMove(move, context, exchange, picture, std::move(aggregators)).run(route);
  if (moved) {
    const bool by_cost = undecided && route.way.way == Way::kTogether;
    context.choice = {Engine::kTwoPhase,
                      by_cost ? route.way.reason : describe(picture) + "; aggregators: " + count};
  }
  return moved;
}

}  // namespace tessera::move
