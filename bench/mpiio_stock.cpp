#include "bench/mpiio_stock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/harness.hpp"
#include "bench/other_build.hpp"

namespace tessera::bench {

namespace {

// A first trial that is this much slower than the best of its sort gets no second one.
constexpr double kHopeless = 3.0;

void add_ompio(int ranks, std::vector<StockMode>& modes) {
  const JobKind plain = {"openmpi", "OMPIO", ranks};
  // Of the other exchanges (fcoll) only this one is ever faster than the one OMPIO picks itself.
  const JobKind two_phase = {"openmpi", "OMPIO", ranks, {"--mca", "fcoll", "two_phase"}};
  modes.push_back({"OMPIO independent", plain, Access::kIndependent});
  modes.push_back({"OMPIO collective", plain, Access::kCollective});
  modes.push_back({"OMPIO collective, two_phase", two_phase, Access::kCollective});
}

std::string both(const char* format, const char* value) {
  return fmt::format(fmt::runtime(format), "read", value) + "," +
         fmt::format(fmt::runtime(format), "write", value);
}

void add_romio(const JobKind& kind, std::vector<StockMode>& modes) {
  const std::string exchange = both("romio_cb_{}={}", "enable");
  modes.push_back({"ROMIO independent", kind, Access::kIndependent});
  modes.push_back({"ROMIO independent, ds enabled", kind, Access::kIndependent,
                   both("romio_ds_{}={}", "enable")});
  modes.push_back({"ROMIO independent, ds disabled", kind, Access::kIndependent,
                   both("romio_ds_{}={}", "disable"), true});
  modes.push_back({"ROMIO independent, 1 MiB buffers", kind, Access::kIndependent,
                   "ind_rd_buffer_size=1048576,ind_wr_buffer_size=1048576"});
  modes.push_back({"ROMIO independent by _all, cb disabled", kind, Access::kCollective,
                   both("romio_cb_{}={}", "disable")});
  modes.push_back({"ROMIO collective", kind, Access::kCollective});
  modes.push_back({"ROMIO collective, cb enabled, 1 MiB", kind, Access::kCollective,
                   exchange + ",cb_buffer_size=1048576"});
  modes.push_back({"ROMIO collective, cb enabled, 64 MiB", kind, Access::kCollective,
                   exchange + ",cb_buffer_size=67108864"});
}

// The best time so far among the modes of one sort.
double best_of_sort(const std::vector<Trial>& trials, bool collective) {
  double best = HUGE_VAL;
  for (const Trial& trial : trials) {
    if (trial.mode.collective() == collective) best = std::min(best, trial.ns);
  }
  return best;
}

// The second run counts, because the first one warms up; a hopeless first one is enough.
base::Result<double> try_mode(MpiPool& pool, const StockMode& mode, const Operation& operation,
                              double best_ns) {
  const Operation mine = as_in(mode, operation);
  TESSERA_TRY(const double first, pool.measure(mode.kind, false, mine, 1));
  if (first > kHopeless * best_ns && first > 20e6) return first;
  TESSERA_TRY(const double second, pool.measure(mode.kind, false, mine, 1));
  return std::min(first, second);
}

std::vector<Trial> try_modes(MpiPool& pool, const std::vector<StockMode>& modes,
                             const Operation& operation, bool small_pieces, Field& field) {
  std::vector<Trial> trials;
  for (const StockMode& mode : modes) {
    if (small_pieces && mode.one_call_a_piece) continue;
    const auto ns = try_mode(pool, mode, operation, best_of_sort(trials, mode.collective()));
    if (ns) {
      trials.push_back({mode, *ns});
    } else {
      field.note += fmt::format("{} failed: {}; ", mode.name, ns.error().message());
    }
  }
  return trials;
}

// The place of the first chosen mode that moves wrong bytes, or the number of trials.
size_t first_wrong(MpiPool& pool, const Operation& operation, const std::vector<Trial>& trials,
                   const std::vector<size_t>& chosen, std::set<std::string>& checked,
                   Field& field) {
  for (const size_t i : chosen) {
    const StockMode& mode = trials[i].mode;
    if (!checked.insert(mode.name).second) continue;
    const auto right = pool.verify(mode.kind, false, as_in(mode, operation));
    if (right) continue;
    field.note += fmt::format("{} is out: {}; ", mode.name, right.error().message());
    return i;
  }
  return trials.size();
}

}  // namespace

Operation as_in(const StockMode& mode, const Operation& operation) {
  Operation mine = operation;
  mine.access = mode.access;
  mine.hints = mode.hints;
  if (mode.workload) mine.workload = *mode.workload;
  return mine;
}

std::vector<StockMode> stock_modes(const std::string& mpi, int ranks) {
  std::vector<StockMode> modes;
  if (mpi == "openmpi") {
    add_romio({mpi, "ROMIO", ranks, {"--mca", "io", "romio321"}}, modes);
    add_ompio(ranks, modes);
  } else {
    add_romio({mpi, "ROMIO", ranks}, modes);
  }
  return modes;
}

std::vector<size_t> contenders(const std::vector<Trial>& trials) {
  std::vector<size_t> chosen;
  for (const bool collective : {false, true}) {
    std::vector<size_t> order;
    for (size_t i = 0; i < trials.size(); ++i) {
      if (trials[i].mode.collective() == collective) order.push_back(i);
    }
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return trials[a].ns < trials[b].ns; });
    if (order.size() > kContendersMax) order.resize(kContendersMax);
    for (const size_t i : order) {
      if (trials[i].ns <= kTrialContender * trials[order[0]].ns) chosen.push_back(i);
    }
  }
  return chosen;
}

base::Result<Field> find_field(MpiPool& pool, const std::vector<StockMode>& modes,
                               const Operation& operation, bool small_pieces) {
  Field field;
  std::vector<Trial> trials = try_modes(pool, modes, operation, small_pieces, field);
  std::set<std::string> checked;
  std::vector<size_t> chosen = contenders(trials);
  for (size_t wrong;
       (wrong = first_wrong(pool, operation, trials, chosen, checked, field)) != trials.size();) {
    trials.erase(trials.begin() + static_cast<std::ptrdiff_t>(wrong));
    chosen = contenders(trials);
  }
  if (chosen.empty()) return base::fail(base::Code::kFailed, "no stock mode works: " + field.note);
  for (const Trial& trial : trials) field.dropped_ns[trial.mode.name] = trial.ns;
  for (const size_t i : chosen) {
    field.contenders.push_back(trials[i].mode);
    field.dropped_ns.erase(trials[i].mode.name);
  }
  return field;
}

base::Result<Field> Fields::find(const std::string& mpi, int ranks, const Operation& operation,
                                 bool small_pieces) {
  Operation any = operation;
  any.access = Access::kIndependent;
  any.hints = "-";
  const Workload& work = operation.workload;
  const std::string key = fmt::format("{} {} {} {} {} {} {}", mpi, ranks, work.name, work.args[0],
                                      work.args[1], work.args[2], run_command(any, 1, false));
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  TESSERA_TRY(Field field, find_field(*pool_, stock_modes(mpi, ranks), operation, small_pieces));
  known_[key] = field;
  return field;
}

std::function<base::Result<double>(int64_t)> runner(const std::shared_ptr<MpiPool>& pool,
                                                    const JobKind& kind, bool twin,
                                                    const Operation& operation) {
  return [pool, kind, twin, operation](int64_t repetitions) {
    return pool->measure(kind, twin, operation, repetitions);
  };
}

void set_ours(const std::shared_ptr<MpiPool>& pool, const std::string& name, const JobKind& kind,
              const Operation& operation, Case& measured) {
  measured.ours = {name, runner(pool, kind, false, operation), runner(pool, kind, true, operation)};
  if (other_build().empty()) return;
  const JobKind before = before_of(kind);
  if (const auto right = pool->verify(before, false, operation); !right) {
    measured.not_compared = not_by_the_build_before(right.error());
    return;
  }
  measured.comparison = Comparison{{"before", runner(pool, before, false, operation)}};
}

JobKind before_of(const JobKind& ours) {
  JobKind before = ours;
  before.build = other_build();
  return before;
}

Contestant stock_contestant(const std::shared_ptr<MpiPool>& pool, const StockMode& mode,
                            const Operation& operation) {
  const Operation mine = as_in(mode, operation);
  return {mode.name, runner(pool, mode.kind, false, mine), runner(pool, mode.kind, true, mine)};
}

}  // namespace tessera::bench
