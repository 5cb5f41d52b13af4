#include "tessera/move/collective.hpp"

#include <utility>

#include "tessera/move/collective_choice.hpp"
#include "tessera/move/collective_summary.hpp"
#include "tessera/move/independent.hpp"
#include "tessera/move/phase_timer.hpp"
#include "tessera/move/two_phase.hpp"
#include "tessera/move/window_engine.hpp"

namespace tessera::move {

namespace {

using base::Result;

Result<Picture> exchange_summaries(const Move& move, Context& context, port::Exchange& exchange) {
  const PhaseTimer timer(context.phases.exchange_ns);
  base::Bytes mine = encode_summary(summary_of(move, context));
  if (exchange.rank() == 0) append_policy(mine, policy_of(move.direction, context));
  TESSERA_TRY(const auto all, exchange.all_gather(std::move(mine)));
  return picture_of(all);
}

Result<void> agree(const Result<void>& mine, Context& context, port::Exchange& exchange) {
  const PhaseTimer timer(context.phases.exchange_ns);
  return exchange.agree(mine);
}

// A write while others write between its bytes: no gap may be written back, not even under a lock,
// since the others take none.
Transfer execute_without_gaps(const Move& move, Context& context) {
  Hints hints = context.hints;
  hints.ds_write = Toggle::kDisable;
  if (hints.engine == EngineHint::kSieve) hints.engine = EngineHint::kAutomatic;
  Context own = {context.file, context.locks, hints, context.costs, context.phases, {}};
  Transfer transfer = execute_independent(move, own);
  context.phases = own.phases;
  context.choice = std::move(own.choice);
  return transfer;
}

// Every rank executes its own move; then they agree.
Transfer execute_separately(const Move& move, Context& context, port::Exchange& exchange,
                            const Picture& picture, const std::string& reason) {
  const bool among_others = move.direction == Direction::kWrite && !picture.spans_disjoint;
  Transfer transfer =
      among_others ? execute_without_gaps(move, context) : execute_independent(move, context);
  if (!reason.empty()) context.choice.reason += "; collective: " + reason;
  transfer.status = agree(transfer.status, context, exchange);
  return transfer;
}

}  // namespace

Transfer execute_in_team(const Move& move, Context& context, port::Team& team) {
  const auto picture = exchange_summaries(move, context, team);
  if (!picture) return {0, base::failure_of(picture)};
  if (picture->failed) return {0, agree(context.before, context, team)};
  const WayChoice way = choose_way(*picture, move.direction);
  if (way.way == Way::kSeparately)
    return execute_separately(move, context, team, *picture, way.reason);
  std::optional<Transfer> moved;
  if (picture->policy.collective == CollectiveHint::kTwoPhase) {
    const std::vector<int> node(static_cast<size_t>(team.size()), 0);
    moved = move_in_two_phases(move, context, team, *picture, {node, way});
  } else {
    moved = move_through_windows(move, context, team, *picture, way);
  }
  return moved ? *std::move(moved)
               : execute_separately(move, context, team, *picture, describe(*picture));
}

Transfer execute_across_nodes(const Move& move, Context& context, port::Exchange& exchange,
                              std::span<const int> node) {
  const auto picture = exchange_summaries(move, context, exchange);
  if (!picture) return {0, base::failure_of(picture)};
  if (picture->failed) return {0, agree(context.before, context, exchange)};
  const WayChoice way = choose_way(*picture, move.direction);
  if (way.way == Way::kSeparately) {
    return execute_separately(move, context, exchange, *picture, way.reason);
  }
  auto moved = move_in_two_phases(move, context, exchange, *picture, {node, way});
  return moved ? *std::move(moved)
               : execute_separately(move, context, exchange, *picture, describe(*picture));
}

}  // namespace tessera::move
