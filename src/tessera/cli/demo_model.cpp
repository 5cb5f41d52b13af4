#include "tessera/cli/demo_model.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>

namespace tessera::cli {

using base::Result;

namespace {

double now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(now).count();
}

Result<SmallDemo> build_small() {
  constexpr int64_t kWriters = 3;
  TESSERA_TRY(Shown writers, writer_objects(kPaperExample, kWriters));
  TESSERA_TRY(Shown readers, reader_objects(kPaperExample));
  auto lookups = look_up(writers.objects, readers.objects);
  auto layout = replicated_layout(readers.objects);
  return SmallDemo{kPaperExample, std::move(writers), std::move(readers), std::move(lookups),
                   std::move(layout)};
}

// The fastest of several builds, each from nothing: what the machine can do when left alone.
Result<double> time_of_building(const Wall& wall) {
  double fastest = std::numeric_limits<double>::max();
  for (int i = 0; i < kBuilds; ++i) {
    const double start = now_ns();
    TESSERA_TRY_VOID(reader_objects(wall));
    fastest = std::min(fastest, now_ns() - start);
  }
  return fastest;
}

WriterReach reach_of(const object::Object& written, const LargeDemo& demo) {
  WriterReach reach;
  reach.writer = demo.writers.objects.sharers(written.sharers).front();
  reach.bytes = written.bytes;
  std::set<object::SharersId> sharers;
  demo.readers.objects.for_each_meeting(written.bytes, [&](const object::Object& met) {
    ++reach.objects;
    sharers.insert(met.sharers);
    return true;
  });
  std::set<object::Process> readers;
  for (const object::SharersId id : sharers) {
    const auto processes = demo.readers.objects.sharers(id);
    readers.insert(processes.begin(), processes.end());
  }
  reach.readers.assign(readers.begin(), readers.end());
  return reach;
}

Result<LargeDemo> build_large() {
  constexpr int64_t kWriters = 100;
  TESSERA_TRY(Shown writers, writer_objects(kPaperWall, kWriters));
  TESSERA_TRY(Shown readers, reader_objects(kPaperWall));
  auto families = readers.objects.families();
  LargeDemo demo{.wall = kPaperWall,
                 .writer_count = kWriters,
                 .writers = std::move(writers),
                 .readers = std::move(readers),
                 .families = std::move(families)};
  demo.summary = summarise(demo.readers.objects, demo.families);
  TESSERA_TRY(demo.build_ns, time_of_building(kPaperWall));
  const double start = now_ns();
  for (const object::Object& written : demo.writers.objects.meeting(demo.writers.objects.range())) {
    demo.reach.push_back(reach_of(written, demo));
  }
  demo.reach_ns = now_ns() - start;
  return demo;
}

}  // namespace

Result<Demo> build_demo() {
  TESSERA_TRY(SmallDemo small, build_small());
  TESSERA_TRY(LargeDemo large, build_large());
  return Demo{std::move(small), std::move(large), {}};
}

}  // namespace tessera::cli
