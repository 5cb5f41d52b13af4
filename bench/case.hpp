// A case: one measured comparison, described apart from how it is run.
//
// A case names what is measured, in which unit, by whom (ours and its peers), against which
// physical ceiling, which figure of a paper stands beside it, and which bars it is held to. The
// harness runs it (harness.hpp); the outcome is plain data that the table, the JSON and the page
// print. Thread safety: plain values; a contestant is called from one thread.
#pragma once

#include <time.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::bench {

// One way of doing the work of a case. `run` performs the work that many times and returns the
// nanoseconds it took; a contestant of a kSize case is called with 1 and returns the size itself.
// `twin`, where given, is the same code in another place (its own process, its own buffers): what
// it differs by from `run` is luck that ours has too. The harness takes it for the A/A comparison.
struct Contestant {
  std::string name;
  std::function<base::Result<double>(int64_t repetitions)> run;
  std::function<base::Result<double>(int64_t repetitions)> twin = nullptr;
  // Of a peer that is known to take seconds: so many rounds at most, and no pilot. 0: as others.
  int64_t rounds_max = 0;
  // Of a peer: whether the ratio may be against it. Another way of ours beside rivals is none: it
  // is shown and may have a bar.
  bool rival = true;
};

// The time of day, for work that waits: for devices, for other processes, for threads.
inline double now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The processor time of this thread, for work that only computes. On a quiet machine it is the time
// of day; on a busy one it leaves out what others did meanwhile.
inline double cpu_ns() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// A contestant that the harness times by a clock: `once` is one repetition, called in a tight loop.
template <double (*Clock)(), typename Once>
Contestant timed_by(std::string name, Once once) {
  return Contestant{std::move(name),
                    [once = std::move(once)](int64_t repetitions) mutable -> base::Result<double> {
                      const double start = Clock();
                      for (int64_t i = 0; i < repetitions; ++i) once();
                      return Clock() - start;
                    }};
}

template <typename Once>
Contestant timed(std::string name, Once once) {
  return timed_by<now_ns>(std::move(name), std::move(once));
}

template <typename Once>
Contestant timed_cpu(std::string name, Once once) {
  return timed_by<cpu_ns>(std::move(name), std::move(once));
}

// A contestant of a kSize case whose size is already known.
inline Contestant sized(std::string name, double size) {
  return Contestant{std::move(name), [size](int64_t) -> base::Result<double> { return size; }};
}

// Makes the compiler believe that `value` is used.
template <typename T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

enum class Kind {
  kTime,  // number = nanoseconds of one repetition / amount / unit_ns; lower is better
  kRate,  // number = amount of one repetition / nanoseconds * unit_ns; higher is better
  kSize,  // number = what the contestant returns; lower is better; needs no rounds
};

// Another build of ours in the same case, and this one run in the same way.
struct Comparison {
  Contestant before;
  // Where `ours` is not run as the other build is (in this process, not as a program).
  std::optional<Contestant> now = {};
};

// What a case must reach. Ratios are always "higher is better".
struct Bar {
  enum class Kind {
    kRatioAtLeast,    // against `peer`, or the best like peer where `peer` is empty
    kRatioToAny,      // against the best of all peers, like or not
    kRatioToBestOf,   // against the best of the peers whose name contains `peer`
    kNotBelowNoise,   // ratio to the best peer not below the low end of the noise band
    kFloor,           // as kRatioAtLeast to the best; from there to the noise band it is marked
    kNearBest,        // ratio to the best peer at least `value`, or not below the noise band
    kAtMost,          // ours in the case's unit
    kCeilingAtLeast,  // ours as a fraction of the ceiling
  };
  Kind kind = Kind::kNotBelowNoise;
  double value = 0;
  std::string peer = {};
};

// A figure that a paper printed for the same thing, and where.
struct Paper {
  std::string figure;                // as printed there, for example "2x to 6x over ROMIO"
  std::string source;                // for example "paper 0, Figure 9"
  std::optional<double> value = {};  // in the unit of the case, where it is comparable
};

struct Case {
  std::string name = {};
  std::string group = {};  // cases of one group share a plot
  std::string unit;        // what the number is printed in: "GB/s", "ns per query", "B"
  Kind kind = Kind::kTime;
  double amount = 1;             // work in one repetition: bytes, queries
  double unit_ns = 1;            // nanoseconds in the unit's time: 1e3 for microseconds
  std::optional<double> x = {};  // position in a sweep, for the plot
  std::string x_label = {};      // what x is, the same in the whole group
  Contestant ours;
  std::vector<Contestant> peers = {};
  // The peer that the ratio and the noise are of, where that is not the best one.
  std::string against = {};
  // Part of the names of the peers that do what ours does ("collective", "independent"): the ratio
  // is against the best of these, and that against the best of all is shown beside it. Empty: all.
  std::string like = {};
  std::optional<Comparison> comparison = {};
  // Why its ratio to the other build does not count in their geometric mean, or why it has none.
  std::string not_compared = {};
  // Peers that a trial found too slow to matter, and what it measured, in nanoseconds.
  std::map<std::string, double> dropped_ns = {};
  std::optional<Contestant> ceiling = {};
  std::optional<Paper> paper = {};
  std::vector<Bar> bars = {};
  int64_t rounds_min = 0;  // where its bars are of medians of so many
  bool in_mean = true;     // whether its ratio counts in the geometric mean of the bench
  // Whether a repetition leaves behind what helps the next one in the same round.
  bool repetitions_help = false;
  std::string note = {};
  // Why ours is slower than the best peer where it is within a floor and the noise band.
  std::string cause = {};
  // Why this machine cannot run it; then nothing else here counts.
  std::string left_out = {};
};

// A case that this machine cannot run, which is no failure.
inline Case left_out(std::string why) {
  Case missing;
  missing.left_out = std::move(why);
  return missing;
}

struct NoiseBand {
  double low = 1;
  double high = 1;
};

// One bar in words, and whether it was met.
struct Verdict {
  std::string bar;
  bool met = false;
};

// What was measured. Numbers are medians in the case's unit.
struct Outcome {
  std::string name;
  std::string group;
  std::string unit;
  Kind kind = Kind::kTime;
  std::optional<double> x;
  std::string x_label;
  double ours = 0;
  std::map<std::string, double> peers;
  std::string best_peer;           // or the one that the case is against; empty without peers
  std::optional<double> ratio;     // ours against that peer, higher is better
  std::optional<NoiseBand> noise;  // that peer against itself, in the same run
  std::string best_of_all;         // the best peer, where only some of them are like ours
  std::optional<double> ratio_of_all;
  std::optional<double> before;           // the other build of ours
  std::optional<double> before_ratio;     // this build against it, higher is better
  std::optional<NoiseBand> before_noise;  // this build against itself (A/A), in the same run
  std::optional<double> twin;             // the second of that pair
  std::optional<double> twin_ratio;       // the first of it against the second
  std::string not_compared;
  std::optional<double> ceiling;
  std::string ceiling_name;
  std::optional<double> ceiling_fraction;  // of what is physically possible, higher is better
  int64_t runs = 0;
  double spread = 0;  // interquartile range of ours over its median
  std::map<std::string, double> peer_spread;
  std::map<std::string, double> dropped;  // one trial each, no medians
  std::optional<Paper> paper;
  bool in_mean = true;
  std::string note;
  std::vector<Verdict> verdicts;
  std::string mark;         // of a ratio between its floor and the noise band, and the cause
  std::string bar;          // the bars in words, empty where there is none
  std::optional<bool> met;  // all of them
};

}  // namespace tessera::bench
