// What the demo shows, computed once for text, JSON and page.
//
// Thread safety: plain values; building measures time and wants the machine for itself.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/cli/summary.hpp"
#include "tessera/cli/translation.hpp"
#include "tessera/cli/wall.hpp"
#include "tessera/cli/wall_run.hpp"

namespace tessera::cli {

// Figures 4 to 8.
struct SmallDemo {
  Wall wall = kPaperExample;
  Shown writers;
  Shown readers;
  std::vector<Lookup> lookups;
  std::vector<Section> layout;
};

// One writer of the large wall and what its bytes meet.
struct WriterReach {
  object::Process writer = 0;
  pattern::Interval bytes;
  int64_t objects = 0;                   // reader objects met
  std::vector<object::Process> readers;  // that need some of its bytes
};

// How often building is timed.
inline constexpr int kBuilds = 9;

// Section IV at its largest.
struct LargeDemo {
  Wall wall = kPaperWall;
  int64_t writer_count = 100;
  Shown writers;
  Shown readers;
  std::vector<object::Family> families = {};  // of the readers
  Summary summary = {};                       // of the readers
  std::vector<WriterReach> reach = {};
  double build_ns = 0;  // all readers added to an empty set; the fastest of kBuilds
  double reach_ns = 0;  // all lookups together
};

struct Demo {
  SmallDemo small;
  LargeDemo large;
  std::vector<WallRun> runs;  // the wall under MPI
};

[[nodiscard]] base::Result<Demo> build_demo();

}  // namespace tessera::cli
