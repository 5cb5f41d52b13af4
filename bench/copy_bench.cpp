#include "bench/copy_bench.hpp"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <memory>

#include "bench/memory.h"
#include "bench/pack_peer.hpp"
#include "bench/plot.hpp"
#include "tessera/pattern/copy.hpp"

namespace tessera::bench {

namespace {

using pattern::Pattern;
using pattern::Point;

enum class Direction { kGather, kScatter };

constexpr int64_t kInCacheBytes = int64_t{256} << 10;
constexpr int64_t kOutOfCacheBytes = int64_t{64} << 20;
constexpr int64_t kRunBytes[] = {8, 12, 16, 24, 32, 64, 128, 256, 512, 1024, 4096, 16384, 65536};

struct Free {
  void operator()(unsigned char* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<unsigned char, Free>;

// Both sides of the copies of this process, allocated as the peers allocate theirs (memory.h).
struct Buffers {
  StridedLayout layout;
  Pattern pattern;
  struct Set {
    Memory spread;
    Memory packed;
  };
  std::vector<Set> sets;

  [[nodiscard]] size_t size() const { return static_cast<size_t>(pattern.size()); }
};

std::byte* bytes_of(const Memory& memory) { return reinterpret_cast<std::byte*>(memory.get()); }

void gather_ours(const Buffers& buffers, const Buffers::Set& set) {
  pattern::gather(bytes_of(set.packed), bytes_of(set.spread), buffers.pattern);
}

void scatter_ours(const Buffers& buffers, const Buffers::Set& set) {
  pattern::scatter(bytes_of(set.spread), bytes_of(set.packed), buffers.pattern);
}

void memcpy_to_packed(const Buffers& buffers, const Buffers::Set& set) {
  std::memcpy(set.packed.get(), set.spread.get(), buffers.size());
  keep(set.packed.get());
}

void memcpy_to_spread(const Buffers& buffers, const Buffers::Set& set) {
  std::memcpy(set.spread.get(), set.packed.get(), buffers.size());
  keep(set.spread.get());
}

bool sides_agree(const StridedLayout& layout, const Buffers::Set& set) {
  for (int64_t i = 0; i < layout.count; ++i) {
    if (std::memcmp(set.packed.get() + i * layout.run_bytes,
                    set.spread.get() + i * layout.stride_bytes,
                    static_cast<size_t>(layout.run_bytes)) != 0) {
      return false;
    }
  }
  return true;
}

base::Result<void> check_copies(const Buffers& buffers, const Buffers::Set& set) {
  const auto spread_size = static_cast<size_t>(buffers.layout.count * buffers.layout.stride_bytes);
  bench_fill(set.spread.get(), spread_size);
  gather_ours(buffers, set);
  const bool gathered = sides_agree(buffers.layout, set);
  std::memset(set.spread.get(), 0, spread_size);
  scatter_ours(buffers, set);
  if (gathered && sides_agree(buffers.layout, set)) return {};
  return base::fail(base::Code::kIntegrity, "our copy moved other bytes");
}

base::Result<std::shared_ptr<Buffers>> make_buffers(const StridedLayout& layout) {
  auto buffers = std::make_shared<Buffers>();
  buffers->layout = layout;
  TESSERA_TRY(const Pattern run, Pattern::run(Point<1>{{0}}, layout.run_bytes));
  TESSERA_TRY(buffers->pattern,
              pattern::repeat(run, layout.count, Point<1>{{layout.stride_bytes}}));
  for (int i = 0; i < bench_set_count(buffers->size()); ++i) {
    Buffers::Set set;
    set.spread.reset(bench_allocate(static_cast<size_t>(layout.count * layout.stride_bytes)));
    set.packed.reset(bench_allocate(buffers->size()));
    if (!set.spread || !set.packed) return base::fail(base::Code::kFailed, "no memory");
    TESSERA_TRY_VOID(check_copies(*buffers, set));
    buffers->sets.push_back(std::move(set));
  }
  return buffers;
}

// A contestant of this process; every round takes the next set of buffers.
template <typename Copy>
Contestant copier(std::string name, std::shared_ptr<Buffers> buffers, Copy copy) {
  auto set = std::make_shared<size_t>(0);
  return {std::move(name), [=](int64_t repetitions) -> base::Result<double> {
            *set = (*set + 1) % buffers->sets.size();
            const double start = cpu_ns();
            for (int64_t i = 0; i < repetitions; ++i) copy(*buffers, buffers->sets[*set]);
            return cpu_ns() - start;
          }};
}

// The peers, started once for all cases, and the layout that each has prepared. A peer that cannot
// be had is left out, and the case says so.
class Peers {
 public:
  // The contestants for one case, after preparing them; `note` learns what they chose.
  base::Result<std::vector<Contestant>> prepare(const StridedLayout& layout, Direction direction,
                                                std::string& note);

 private:
  struct Running {
    std::string title;
    std::shared_ptr<PackPeer> peer;
    std::shared_ptr<PackPeer> twin;  // a second process of the same MPI
    StridedLayout prepared = {};
    std::string forms = {};
  };

  void start();

  bool started_ = false;
  std::vector<Running> running_;
  std::string missing_;
};

std::function<base::Result<double>(int64_t)> packer(std::shared_ptr<PackPeer> peer,
                                                    Direction direction) {
  return [peer = std::move(peer), direction](int64_t repetitions) {
    return direction == Direction::kGather ? peer->pack(repetitions) : peer->unpack(repetitions);
  };
}

void Peers::start() {
  started_ = true;
  for (const auto& [mpi, title] : {std::pair{"openmpi", "Open MPI"}, {"mpich", "MPICH"}}) {
    auto peer = PackPeer::start(mpi);
    auto twin = PackPeer::start(mpi);
    if (peer && twin) {
      running_.push_back({title, *std::move(peer), *std::move(twin)});
    } else {
      missing_ += fmt::format("without {}: {}; ", title, (peer ? twin : peer).error().message());
    }
  }
}

base::Result<std::vector<Contestant>> Peers::prepare(const StridedLayout& layout,
                                                     Direction direction, std::string& note) {
  if (!started_) start();
  note = missing_;
  std::vector<Contestant> contestants;
  for (Running& running : running_) {
    if (running.prepared.run_bytes != layout.run_bytes || running.prepared.count != layout.count) {
      TESSERA_TRY(running.forms, running.peer->prepare(layout));
      TESSERA_TRY_VOID(running.twin->prepare_as(layout, running.forms));
      running.prepared = layout;
    }
    const size_t space = running.forms.find(' ');
    note += fmt::format("{}{}: {}", contestants.empty() ? "" : ", ", running.title,
                        direction == Direction::kGather ? running.forms.substr(0, space)
                                                        : running.forms.substr(space + 1));
    contestants.push_back(
        {running.title, packer(running.peer, direction), packer(running.twin, direction)});
  }
  return contestants;
}

std::vector<Bar> bars_for(int64_t run_bytes, bool in_cache) {
  std::vector<Bar> bars = {{Bar::Kind::kNotBelowNoise}};
  if (in_cache && run_bytes <= 32) bars.push_back({Bar::Kind::kRatioAtLeast, 1.5, "Open MPI"});
  if (run_bytes >= 4096) bars.push_back({Bar::Kind::kCeilingAtLeast, 0.9});
  return bars;
}

struct CopyCase {
  Direction direction = Direction::kGather;
  int64_t total_bytes = 0;
  int64_t run_bytes = 0;
};

base::Result<Case> make_copy(const CopyCase& what, const std::shared_ptr<Peers>& peers) {
  const StridedLayout layout = {what.run_bytes, 2 * what.run_bytes,
                                what.total_bytes / what.run_bytes};
  TESSERA_TRY(const auto buffers, make_buffers(layout));
  Case measured;
  measured.unit = "GB/s";
  measured.kind = Kind::kRate;
  measured.amount = static_cast<double>(buffers->size());
  measured.x = static_cast<double>(what.run_bytes);
  measured.x_label = "bytes of a run";
  TESSERA_TRY(measured.peers, peers->prepare(layout, what.direction, measured.note));
  if (what.direction == Direction::kGather) {
    measured.ours = copier("gather", buffers, gather_ours);
    measured.ceiling = copier("memcpy", buffers, memcpy_to_packed);
  } else {
    measured.ours = copier("scatter", buffers, scatter_ours);
    measured.ceiling = copier("memcpy", buffers, memcpy_to_spread);
  }
  measured.bars = bars_for(what.run_bytes, what.total_bytes == kInCacheBytes);
  return measured;
}

CaseMaker maker_of(const CopyCase& what, const std::shared_ptr<Peers>& peers) {
  const char* place =
      what.total_bytes == kInCacheBytes ? "256 KiB in cache" : "64 MiB out of cache";
  const char* verb = what.direction == Direction::kGather ? "gather" : "scatter";
  const std::string run = axis_text(static_cast<double>(what.run_bytes));
  return {fmt::format("{} {}B runs, {}", verb, run, place),
          fmt::format("Copy: {}, {}, against MPI", verb, place),
          [what, peers] { return make_copy(what, peers); }};
}

}  // namespace

std::vector<CaseMaker> copy_cases() {
  const auto peers = std::make_shared<Peers>();
  std::vector<CaseMaker> cases;
  for (const int64_t total : {kInCacheBytes, kOutOfCacheBytes}) {
    for (const int64_t run : kRunBytes) {
      for (const Direction direction : {Direction::kGather, Direction::kScatter}) {
        cases.push_back(maker_of({direction, total, run}, peers));
      }
    }
  }
  return cases;
}

}  // namespace tessera::bench
