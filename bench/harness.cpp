#include "bench/harness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "bench/statistics.hpp"
#include "tessera/base/assert.hpp"

namespace tessera::bench {

namespace {

// kNow and kNowTwin are this build where it is compared with another (kBefore).
enum class Role { kOurs, kPeer, kTwin, kCeiling, kBefore, kNow, kNowTwin };

// One place in a round: who runs, how often per round, and the numbers collected so far.
struct Slot {
  Role role = Role::kOurs;
  const Contestant* contestant = nullptr;
  int64_t repetitions = 1;
  int64_t rounds = std::numeric_limits<int64_t>::max();
  double pilot = 0;
  std::vector<double> numbers = {};
};

double number_of(const Case& measured, double raw, int64_t repetitions) {
  if (measured.kind == Kind::kSize) return raw;
  const double ns = std::max(raw, 1e-3) / static_cast<double>(repetitions);
  if (measured.kind == Kind::kRate) return measured.amount / ns * measured.unit_ns;
  return ns / measured.amount / measured.unit_ns;
}

base::Result<double> run_once(const Case& measured, const Slot& slot) {
  const bool is_twin = slot.role == Role::kTwin || slot.role == Role::kNowTwin;
  const bool twin = is_twin && slot.contestant->twin != nullptr;
  const auto& run = twin ? slot.contestant->twin : slot.contestant->run;
  TESSERA_TRY(const double raw, run(slot.repetitions));
  if (!std::isfinite(raw) || raw < 0) {
    return base::fail(base::Code::kFailed, fmt::format("{} of case {} measured {}",
                                                       slot.contestant->name, measured.name, raw));
  }
  return number_of(measured, raw, slot.repetitions);
}

// (H8)
bool is_slow(const Slot& slot) {
  return slot.role == Role::kPeer && slot.contestant->rounds_max > 0;
}

// (H1) Finds the repetitions of a round by growing them until a round is long enough; the runs on
// the way are the warm-up.
base::Result<void> pilot(const Case& measured, const Effort& effort, Slot& slot) {
  if (measured.kind == Kind::kSize) return {};
  constexpr int64_t kRepetitionsMax = int64_t{1} << 40;
  TESSERA_TRY_VOID(slot.contestant->run(1));
  for (;;) {
    TESSERA_TRY(const double ns, slot.contestant->run(slot.repetitions));
    slot.pilot = number_of(measured, ns, slot.repetitions);
    if (ns >= effort.round_ns || slot.repetitions >= kRepetitionsMax) return {};
    const double factor = std::clamp(1.2 * effort.round_ns / std::max(ns, 1.0), 1.5, 100.0);
    slot.repetitions =
        static_cast<int64_t>(std::ceil(static_cast<double>(slot.repetitions) * factor));
  }
}

base::Result<std::vector<Slot>> pilots(const Case& measured, const Effort& effort) {
  std::vector<Slot> slots;
  slots.push_back(Slot{Role::kOurs, &measured.ours});
  for (const Contestant& peer : measured.peers) slots.push_back(Slot{Role::kPeer, &peer});
  if (measured.ceiling) slots.push_back(Slot{Role::kCeiling, &*measured.ceiling});
  if (measured.comparison) {
    const Comparison& comparison = *measured.comparison;
    const Contestant* now = comparison.now ? &*comparison.now : &measured.ours;
    slots.push_back(Slot{Role::kBefore, &comparison.before});
    if (comparison.now) slots.push_back(Slot{Role::kNow, now});
    slots.push_back(Slot{Role::kNowTwin, now});
  }
  for (Slot& slot : slots) {
    if (!is_slow(slot)) TESSERA_TRY_VOID(pilot(measured, effort, slot));
  }
  return slots;
}

// (H1)
void level_repetitions(std::vector<Slot>& slots) {
  int64_t most = 1;
  for (const Slot& slot : slots) most = std::max(most, slot.repetitions);
  for (Slot& slot : slots) {
    if (!is_slow(slot)) slot.repetitions = most;
  }
}

// Whether a peer is a rival that does what ours does.
bool is_like(const Case& measured, const Contestant& peer) {
  return peer.rival && peer.name.find(measured.like) != std::string::npos;
}

// Whether the pilot of a peer comes within `factor` of every other peer's, if it is like ours of
// every other that is; a slow one has none. The peer that the case is against always does.
bool within(const Case& measured, double factor, const Slot& slot, const std::vector<Slot>& slots) {
  if (slot.contestant->name == measured.against) return true;
  if (is_slow(slot)) return std::isinf(factor);
  return std::none_of(slots.begin(), slots.end(), [&](const Slot& other) {
    const bool rival = is_like(measured, *slot.contestant) ? is_like(measured, *other.contestant)
                                                           : other.contestant->rival;
    return other.role == Role::kPeer && rival && !is_slow(other) &&
           better_ratio(measured.kind, other.pilot, slot.pilot) > factor;
  });
}

void add_twins(const Case& measured, double contender, std::vector<Slot>& slots) {
  std::erase_if(slots, [](const Slot& slot) { return slot.role == Role::kTwin; });
  std::vector<Slot> twins;
  for (const Slot& slot : slots) {
    const bool against = slot.contestant->name == measured.against;
    if (slot.role != Role::kPeer || (!against && !is_like(measured, *slot.contestant))) continue;
    if (!within(measured, contender, slot, slots)) continue;
    twins.push_back(slot);
    twins.back().role = Role::kTwin;
  }
  slots.insert(slots.end(), twins.begin(), twins.end());
}

// (H7), (H8)
void limit_far_peers(const Case& measured, const Effort& effort, double far,
                     std::vector<Slot>& slots) {
  for (Slot& slot : slots) {
    if (slot.role != Role::kPeer) continue;
    if (is_slow(slot)) {
      slot.rounds = effort.rounds > kRoundsMin ? slot.contestant->rounds_max : 1;
    } else {
      slot.rounds =
          within(measured, far, slot, slots) ? std::numeric_limits<int64_t>::max() : kFarRounds;
    }
  }
}

// (H2), (H6), (H7)
base::Result<void> run_rounds(const Case& measured, const Effort& effort,
                              std::vector<Slot>& slots) {
  for (Slot& slot : slots) slot.numbers.clear();
  std::mt19937_64 random(effort.seed);
  std::vector<size_t> order(slots.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  double always_ns = 0;     // of those who run in all rounds
  double sometimes_ns = 0;  // of the others
  const int64_t rounds = measured.kind == Kind::kSize ? 1 : std::max(effort.rounds, kRoundsMin);
  const int64_t least = std::min(rounds, std::max(kRoundsBelieved, measured.rounds_min));
  for (int64_t round = 0; round < rounds; ++round) {
    if (round >= least && always_ns > std::max(effort.seconds * 1e9, sometimes_ns)) break;
    std::shuffle(order.begin(), order.end(), random);
    for (const size_t i : order) {
      if (round >= slots[i].rounds) continue;
      const double start = now_ns();
      TESSERA_TRY(const double number, run_once(measured, slots[i]));
      slots[i].numbers.push_back(number);
      (slots[i].rounds >= rounds ? always_ns : sometimes_ns) += now_ns() - start;
    }
  }
  return {};
}

// Of the rivals like ours, or of all rivals; the one that the case is against, if there is one.
const Slot* best_peer(const Case& measured, bool of_all, const std::vector<Slot>& slots) {
  const Slot* best = nullptr;
  for (const Slot& slot : slots) {
    if (slot.role != Role::kPeer) continue;
    if (slot.contestant->name == measured.against) return &slot;
    if (!slot.contestant->rival || (!of_all && !is_like(measured, *slot.contestant))) continue;
    if (best == nullptr ||
        better_ratio(measured.kind, median(slot.numbers), median(best->numbers)) > 1.0) {
      best = &slot;
    }
  }
  return best;
}

const Slot* only_one(Role role, const std::vector<Slot>& slots) {
  const auto found =
      std::find_if(slots.begin(), slots.end(), [&](const Slot& slot) { return slot.role == role; });
  return found == slots.end() ? nullptr : &*found;
}

// This build against the other, and against itself.
void compare(const Case& measured, const Effort& effort, const std::vector<Slot>& slots,
             Outcome& outcome) {
  outcome.not_compared = measured.not_compared;
  const Slot* before = only_one(Role::kBefore, slots);
  if (before == nullptr) return;
  const Slot* now = only_one(measured.comparison->now ? Role::kNow : Role::kOurs, slots);
  const Slot* twin = only_one(Role::kNowTwin, slots);
  outcome.before = median(before->numbers);
  outcome.before_ratio = better_ratio(measured.kind, median(now->numbers), *outcome.before);
  outcome.before_noise = noise_band(measured.kind, now->numbers, twin->numbers, effort.seed);
  outcome.twin = median(twin->numbers);
  outcome.twin_ratio = better_ratio(measured.kind, median(now->numbers), *outcome.twin);
}

const Slot* twin_of(const Slot& peer, const std::vector<Slot>& slots) {
  for (const Slot& slot : slots) {
    if (slot.role == Role::kTwin && slot.contestant == peer.contestant) return &slot;
  }
  return nullptr;
}

Outcome describe(const Case& measured) {
  Outcome outcome;
  outcome.name = measured.name;
  outcome.group = measured.group;
  outcome.unit = measured.unit;
  outcome.kind = measured.kind;
  outcome.x = measured.x;
  outcome.x_label = measured.x_label;
  outcome.paper = measured.paper;
  outcome.in_mean = measured.in_mean;
  outcome.note = measured.note;
  for (const auto& [name, ns] : measured.dropped_ns) {
    outcome.dropped[name] = number_of(measured, ns, 1);
  }
  return outcome;
}

void take_medians(const std::vector<Slot>& slots, Outcome& outcome) {
  for (const Slot& slot : slots) {
    const double number = median(slot.numbers);
    switch (slot.role) {
      case Role::kOurs:
        outcome.ours = number;
        outcome.runs = static_cast<int64_t>(slot.numbers.size());
        outcome.spread = relative_spread(slot.numbers);
        break;
      case Role::kPeer:
        outcome.peers[slot.contestant->name] = number;
        outcome.peer_spread[slot.contestant->name] = relative_spread(slot.numbers);
        break;
      case Role::kCeiling:
        outcome.ceiling = number;
        outcome.ceiling_name = slot.contestant->name;
        break;
      case Role::kTwin:
      case Role::kBefore:
      case Role::kNow:
      case Role::kNowTwin:
        break;
    }
  }
  if (outcome.ceiling) {
    outcome.ceiling_fraction = better_ratio(outcome.kind, outcome.ours, *outcome.ceiling);
  }
}

void judge(const Case& measured, Outcome& outcome) {
  for (const Bar& bar : measured.bars) {
    const Verdict verdict = {bar_text(bar, outcome), bar_met(bar, outcome)};
    if (!outcome.bar.empty()) outcome.bar += "; ";
    outcome.bar += verdict.bar;
    outcome.met = outcome.met.value_or(true) && verdict.met;
    outcome.verdicts.push_back(verdict);
    if (bar.kind == Bar::Kind::kFloor && verdict.met && *outcome.ratio < outcome.noise->low) {
      const std::string& cause = measured.cause;
      outcome.mark = fmt::format("within {:g} and the noise band: {}", bar.value,
                                 cause.empty() ? "no cause is known" : cause);
    }
  }
}

// Ours against the best of the peers whose name contains `part`; 0 where there is none.
double ratio_to_best_of(const std::string& part, const Outcome& outcome) {
  double worst = 0;
  for (const auto& [name, number] : outcome.peers) {
    if (name.find(part) == std::string::npos) continue;
    const double ratio = better_ratio(outcome.kind, outcome.ours, number);
    worst = worst == 0 ? ratio : std::min(worst, ratio);
  }
  return worst;
}

// Everybody of the case, each of whom may end it.
base::Result<Outcome> run_contestants(const Case& measured, const Effort& effort) {
  TESSERA_TRY(auto slots, pilots(measured, effort));
  if (measured.repetitions_help) level_repetitions(slots);
  add_twins(measured, kContender, slots);
  limit_far_peers(measured, effort, kFar, slots);
  TESSERA_TRY_VOID(run_rounds(measured, effort, slots));
  const Slot* best = best_peer(measured, false, slots);
  if (best != nullptr && twin_of(*best, slots) == nullptr) {
    limit_far_peers(measured, effort, HUGE_VAL, slots);
    add_twins(measured, HUGE_VAL, slots);
    TESSERA_TRY_VOID(run_rounds(measured, effort, slots));
    best = best_peer(measured, false, slots);
  }
  Outcome outcome = describe(measured);
  take_medians(slots, outcome);
  if (best != nullptr) {
    outcome.best_peer = best->contestant->name;
    outcome.ratio = better_ratio(measured.kind, outcome.ours, outcome.peers[outcome.best_peer]);
    outcome.noise =
        noise_band(measured.kind, best->numbers, twin_of(*best, slots)->numbers, effort.seed);
  }
  if (const Slot* of_all = best_peer(measured, true, slots); of_all != nullptr) {
    outcome.best_of_all = of_all->contestant->name;
    outcome.ratio_of_all =
        better_ratio(measured.kind, outcome.ours, outcome.peers[outcome.best_of_all]);
  }
  compare(measured, effort, slots, outcome);
  TESSERA_ASSERT(outcome.peers.size() == measured.peers.size());
  judge(measured, outcome);
  return outcome;
}

}  // namespace

Effort quick_effort() {
  Effort effort;
  effort.rounds = kRoundsMin;
  effort.seconds = 0.05;
  effort.round_ns = 5e4;
  return effort;
}

base::Result<Outcome> run_case(const Case& measured, const Effort& effort) {
  TESSERA_ASSERT(
      measured.against.empty() ||
      std::any_of(measured.peers.begin(), measured.peers.end(),
                  [&](const Contestant& peer) { return peer.name == measured.against; }));
  if (!measured.comparison) return run_contestants(measured, effort);
  Case compared = measured;
  std::optional<base::Error> failed;
  auto& before = compared.comparison->before.run;
  before = [&failed, run = before](int64_t repetitions) {
    auto ns = run(repetitions);
    if (!ns) failed = ns.error();
    return ns;
  };
  auto outcome = run_contestants(compared, effort);
  if (outcome || !failed) return outcome;
  compared.comparison.reset();  // (H9)
  compared.not_compared = not_by_the_build_before(*failed);
  return run_contestants(compared, effort);
}

std::string not_by_the_build_before(const base::Error& error) {
  return "the build before cannot do it: " + error.message();
}

bool bar_met(const Bar& bar, const Outcome& outcome) {
  switch (bar.kind) {
    case Bar::Kind::kRatioAtLeast: {
      if (bar.peer.empty()) return outcome.ratio.has_value() && *outcome.ratio >= bar.value;
      const auto peer = outcome.peers.find(bar.peer);
      return peer != outcome.peers.end() &&
             better_ratio(outcome.kind, outcome.ours, peer->second) >= bar.value;
    }
    case Bar::Kind::kRatioToAny:
      return outcome.ratio_of_all.has_value() && *outcome.ratio_of_all >= bar.value;
    case Bar::Kind::kRatioToBestOf:
      return ratio_to_best_of(bar.peer, outcome) >= bar.value;
    case Bar::Kind::kNotBelowNoise:
      return outcome.ratio.has_value() && *outcome.ratio >= outcome.noise->low;
    case Bar::Kind::kFloor:
      return outcome.ratio.has_value() && *outcome.ratio >= bar.value;
    case Bar::Kind::kNearBest:
      return outcome.ratio.has_value() && *outcome.ratio >= std::min(bar.value, outcome.noise->low);
    case Bar::Kind::kAtMost:
      return outcome.ours <= bar.value;
    case Bar::Kind::kCeilingAtLeast:
      return outcome.ceiling_fraction.has_value() && *outcome.ceiling_fraction >= bar.value;
  }
  return false;
}

std::string bar_text(const Bar& bar, const Outcome& outcome) {
  switch (bar.kind) {
    case Bar::Kind::kRatioAtLeast:
      return fmt::format("at least {:g}x {}", bar.value,
                         bar.peer.empty() ? "the best peer" : bar.peer);
    case Bar::Kind::kRatioToAny:
      return fmt::format("at least {:g}x the best of all peers", bar.value);
    case Bar::Kind::kRatioToBestOf:
      return fmt::format("at least {:g}x the best {} peer", bar.value, bar.peer);
    case Bar::Kind::kNotBelowNoise:
      return "not below the noise of the best peer";
    case Bar::Kind::kFloor:
      return fmt::format("at least {:g}x the best peer that does the same", bar.value);
    case Bar::Kind::kNearBest:
      return fmt::format("at least {:.3g}x the best peer, or not below its noise", bar.value);
    case Bar::Kind::kAtMost:
      return fmt::format("at most {:.10g} {}", bar.value, outcome.unit);
    case Bar::Kind::kCeilingAtLeast:
      return fmt::format("at least {:g} of {}", bar.value,
                         outcome.ceiling_name.empty() ? "the ceiling" : outcome.ceiling_name);
  }
  return {};
}

}  // namespace tessera::bench
