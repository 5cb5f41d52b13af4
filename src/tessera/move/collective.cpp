#include "tessera/move/collective.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "tessera/base/hot.hpp"
#include "tessera/move/collective_choice.hpp"
#include "tessera/move/collective_summary.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/node_choice.hpp"
#include "tessera/move/phase_timer.hpp"
#include "tessera/move/two_phase.hpp"
#include "tessera/move/window_engine.hpp"

namespace tessera::move {

namespace {

using base::Result;

// Runs from here on gain nothing from being moved with those of others; in pages that are in
// memory, those of two pages.
constexpr int64_t kLongRunMin = int64_t{64} << 10;
constexpr int64_t kPagedRunMin = int64_t{8} << 10;

Result<void> agree(const Result<void>& mine, Context& context, port::Exchange& exchange) {
  const PhaseTimer timer(context.phases, &Phases::exchange_ns);
  return exchange.agree(mine);
}

// This rank's move, and what it sees of the file, which it looks at once.
class OwnMove {
 public:
  OwnMove(const Move& move, Context& context) : move_(move), context_(context) {}

  [[nodiscard]] const Move& move() const { return move_; }
  [[nodiscard]] Context& context() { return context_; }
  [[nodiscard]] const FileFacts& facts() {
    if (!facts_) facts_ = facts_of(move_, context_);
    return *facts_;
  }

  // Executes it without the others, who may be writing between its bytes.
  Transfer execute(bool among_others) {
    return among_others && move_.direction == Direction::kWrite && move_.file.runs() > 1
               ? execute_without_gaps()
               : execute_independent(move_, context_, facts());
  }

 private:
  Transfer execute_without_gaps();

  const Move& move_;
  Context& context_;
  std::optional<FileFacts> facts_;
};

// A write while others write between its bytes: no gap may be written back, not even under a lock,
// since the others take none.
Transfer OwnMove::execute_without_gaps() {
  std::optional<Hints> made;
  if (context_.gapless_hints == nullptr) made = context_.hints.without_gaps();
  const Hints& hints = made ? *made : *context_.gapless_hints;
  Context own = {context_.file,
                 context_.locks,
                 hints,
                 context_.costs,
                 context_.phases,
                 {},
                 {},
                 context_.companions,
                 context_.place,
                 context_.experience};
  Transfer transfer = execute_independent(move_, own, facts());
  context_.phases = own.phases;
  context_.choice = std::move(own.choice);
  return transfer;
}

Result<std::vector<base::Bytes>> exchange_summaries(OwnMove& own, port::Exchange& exchange) {
  const Move& move = own.move();
  Context& context = own.context();
  const PhaseTimer timer(context.phases, &Phases::exchange_ns);
  if (move.file.empty() && context.before) return exchange.listen();
  const FileFacts facts = move.file.empty() ? FileFacts() : own.facts();
  return exchange.all_gather(
      encode(summary_of(move, context, facts), policy_of(move.direction, context)));
}

// Whether the move reaches behind the end of the file.
bool grows(const Move& move, Context& context) {
  const auto size = context.file.size();
  return size && *size < move.file.span().end;
}

Experience::Shape shape_of(const Move& move, Context& context) {
  return {move.size(), move.file.runs(), grows(move, context)};
}

void note_way(const Move& move, Context& context, bool apart) {
  if (context.experience == nullptr || move.file.empty()) return;
  context.experience->note_way(move.direction, shape_of(move, context), apart);
}

// Windows leave no mapping behind. Ranks that come back again and again would do better apart, once
// what they miss is what it costs to set theirs up.
void note_missed(const Move& move, Context& context, const WayChoice& way) {
  if (context.experience == nullptr || move.file.empty() || !can_map(context.file)) return;
  const double ns = missed_beside(way.rank_ns, move, context.costs, context.companions);
  if (ns > 0) context.experience->mapping.note_missed(move.file.span(), move.direction, ns);
}

// Every rank executes its own move; then they agree.
Transfer execute_separately(OwnMove& own, port::Exchange& exchange, const Picture& picture,
                            const std::string& reason) {
  Context& context = own.context();
  // Going ahead, a rank cannot know whether it may write gaps back; so that must not matter to it.
  const Summary& mine = picture.ranks[static_cast<size_t>(exchange.rank())];
  note_way(own.move(), context, mine.gapless.ns <= mine.alone.ns);
  Transfer transfer = own.execute(!picture.spans_disjoint);
  if (!reason.empty()) context.choice.reason += "; collective: " + reason;
  transfer.status = agree(transfer.status, context, exchange);
  return transfer;
}

// The ways of ranks that lie together, or do not.
struct Ways {
  // What the picture alone tells.
  std::function<WayChoice(const Picture&)> choose;
  // The engine for moves that gain from each other; nothing if they turn out not to, and then the
  // choice may say why.
  std::function<std::optional<Transfer>(const Move&, const Picture&, WayChoice&)> together;
};

// The move once all have told each other what theirs are.
Transfer execute_told(const std::vector<base::Bytes>& all, OwnMove& own, port::Exchange& exchange,
                      const Ways& ways) {
  const Move& move = own.move();
  Context& context = own.context();
  // All is done, and everybody knows it.
  const auto silent = [](const base::Bytes& message) { return message.empty(); };
  if (std::all_of(all.begin(), all.end(), silent)) return {};
  const auto picture = picture_of(all);
  if (!picture) return {0, base::failure_of(picture)};
  if (picture->failed) return {0, agree(context.before, context, exchange)};
  WayChoice way = ways.choose(*picture);
  if (way.way == Way::kSeparately) {
    return execute_separately(own, exchange, *picture, way.reason);
  }
  note_way(move, context, false);
  std::optional<Transfer> moved = ways.together(move, *picture, way);
  if (moved) {
    note_missed(move, context, way);
    return *std::move(moved);
  }
  const std::string reason = way.reason.empty() ? describe(*picture) : way.reason;
  return execute_separately(own, exchange, *picture, reason);
}

Transfer execute_met(OwnMove& own, port::Exchange& exchange, const Ways& ways) {
  const auto all = exchange_summaries(own, exchange);
  if (!all) return {0, base::failure_of(all)};
  return execute_told(*all, own, exchange, ways);
}

// Executes the move, and then takes part with nothing left to do. Others that rewrite gaps do so
// after they have met, hence after this.
Transfer execute_ahead(OwnMove& own, port::Exchange& exchange, const Ways& ways) {
  Context& context = own.context();
  Transfer mine = own.execute(true);
  Choice choice = std::move(context.choice);
  context.before = std::move(mine.status);
  Move nothing;
  nothing.direction = own.move().direction;
  OwnMove done(nothing, context);
  mine.status = execute_met(done, exchange, ways).status;
  context.choice = std::move(choice);
  return mine;
}

// Whether nobody has to make the pages of the move, or to read them from the disk.
bool has_its_pages(OwnMove& own) {
  const FileFacts& facts = own.facts();
  return facts.mappable && facts.cached && facts.hole_share == 0 &&
         own.move().file.span().end <= facts.size;
}

// Whether a rank need not know what the others do: long runs are requests of their own, whatever
// they ask for, and what was best apart the last time will be so again. `alone_min` is the length
// of a long run that is the only one.
bool goes_ahead(OwnMove& own, int64_t alone_min) {
  const Move& move = own.move();
  Context& context = own.context();
  if (!context.before || move.file.empty() || !may_go_ahead(move.direction, context.hints)) {
    return false;
  }
  const int64_t runs = move.file.runs();
  const int64_t length = move.size() / runs;
  if (length >= (runs == 1 ? alone_min : kLongRunMin)) return true;
  if (context.experience == nullptr) return false;
  if (context.experience->went_apart(move.direction, shape_of(move, context))) return true;
  return length >= kPagedRunMin && has_its_pages(own);
}

// The ways of ranks of one node.
Ways ways_in_team(Direction direction, Context& context, port::Team& team) {
  const auto together = [&](const Move& mine, const Picture& picture, WayChoice& way) {
    if (picture.policy.collective != CollectiveHint::kTwoPhase) {
      return move_through_windows(mine, context, team, picture, way);
    }
    const std::vector<int> node(static_cast<size_t>(team.size()), 0);
    TwoPhaseRoute route = {node, way};
    return move_in_two_phases(mine, context, team, picture, route);
  };
  const auto choose = [direction](const Picture& picture) {
    return choose_way(picture, direction);
  };
  return {choose, together};
}

}  // namespace

TESSERA_HOT bool may_go_ahead(Direction direction, const Hints& hints) {
  const Toggle buffering = direction == Direction::kRead ? hints.cb_read : hints.cb_write;
  return hints.collective == CollectiveHint::kAutomatic && buffering == Toggle::kAutomatic;
}

Transfer execute_in_team(const Move& move, Context& context, port::Team& team) {
  const Ways ways = ways_in_team(move.direction, context, team);
  OwnMove own(move, context);
  return goes_ahead(own, 1) ? execute_ahead(own, team, ways) : execute_met(own, team, ways);
}

TESSERA_HOT Result<void> finish_in_team(Direction direction, port::Team& team,
                                        const std::function<Context()>& context) {
  TESSERA_TRY(const auto told, team.listen());
  if (told.empty()) return {};
  Move nothing;
  nothing.direction = direction;
  Context needed = context();
  OwnMove own(nothing, needed);
  return execute_told(told, own, team, ways_in_team(direction, needed, team)).status;
}

Transfer execute_across_nodes(const Move& move, Context& context, port::Exchange& exchange,
                              std::span<const int> node) {
  const auto together = [&](const Move& mine, const Picture& picture, WayChoice& way) {
    TwoPhaseRoute route = {node, way, count_aggregators({picture, node, mine.direction})};
    auto moved = move_in_two_phases(mine, context, exchange, picture, route);
    way = route.way;
    return moved;
  };
  const auto choose = [&](const Picture& picture) {
    return choose_way_across_nodes({picture, node, move.direction});
  };
  const Ways ways = {choose, together};
  OwnMove own(move, context);
  return goes_ahead(own, kLongRunMin) ? execute_ahead(own, exchange, ways)
                                      : execute_met(own, exchange, ways);
}

}  // namespace tessera::move
