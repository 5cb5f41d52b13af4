#include "tessera/cli/tune_measure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <memory>

#include "tessera/base/assert.hpp"
#include "tessera/base/bytes.hpp"
#include "tessera/base/page.hpp"
#include "tessera/port/seeded_random.hpp"

namespace tessera::cli {

namespace {

using base::Result;
using move::Costs;

using base::kPageBytes;
constexpr int64_t kFilledBytes = int64_t{1} << 20;  // at a time
constexpr int64_t kLargeBytesMax = int64_t{4} << 20;
// Behind the end: so few that a machine with other work seldom interrupts them.
constexpr int64_t kFreshBytes = int64_t{256} << 10;
constexpr int64_t kSmallBytes = 8;
constexpr int64_t kListedBytes = 64;
constexpr int64_t kListed = 256;  // in one list: a few of the requests of any store
// The measurements that share the time.
constexpr double kParts = 11;
constexpr size_t kSamplesMin = 3;
constexpr size_t kSamplesMax = 20'000;

double median(std::vector<double> samples) {
  TESSERA_ASSERT(!samples.empty());
  const auto middle = samples.begin() + std::ssize(samples) / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

class Tuner {
 public:
  Tuner(port::PlainFile& file, const port::Clock& clock, const TuneBudget& budget)
      : file_(file),
        clock_(clock),
        part_ns_(budget.seconds * 1e9 / kParts),
        file_bytes_max_(budget.file_bytes),
        memory_(static_cast<size_t>(2 * kLargeBytesMax)) {
    // Nothing that a file system could compress.
    random_.fill(memory_);
  }

  Result<std::vector<move::MeasuredCost>> run();

 private:
  using Act = std::function<Result<void>()>;

  Result<void> fill();
  Result<void> measure_large();
  Result<void> measure_small();
  Result<void> measure_lists();
  Result<void> measure_lock();
  Result<void> measure_growth();
  Result<void> measure_copy();

  // The median time of an act, in nanoseconds, without what undoes it for the next time.
  Result<double> time_of(const Act& act, const Act& undo = {});
  [[nodiscard]] double ns_since(int64_t begin) const {
    return static_cast<double>(clock_.now_ns() - begin);
  }
  void note(double Costs::*cost, double value);
  [[nodiscard]] double noted(double Costs::*cost) const;

  // Somewhere in the file with so many bytes behind it, all pages alike.
  [[nodiscard]] int64_t somewhere(int64_t bytes) {
    return static_cast<int64_t>(random_.uniform(static_cast<uint64_t>(size_ - bytes + 1)));
  }
  [[nodiscard]] int64_t large_bytes() const { return std::min(kLargeBytesMax, size_); }
  // The next large piece, so that all of the file has its turn.
  [[nodiscard]] int64_t next_large() {
    if (large_at_ + 2 * large_bytes() > size_) return large_at_ = 0;
    return large_at_ += large_bytes();
  }
  [[nodiscard]] std::span<std::byte> memory(int64_t bytes) {
    return std::span(memory_).first(static_cast<size_t>(bytes));
  }
  // The segments of a list, one in each of kListed stretches that begin at `begin`.
  template <typename Segment>
  [[nodiscard]] std::vector<Segment> list_at(int64_t begin, int64_t stretch);

  port::PlainFile& file_;
  const port::Clock& clock_;
  const double part_ns_;
  const int64_t file_bytes_max_;
  base::Bytes memory_;
  port::SeededRandom random_{1};
  int64_t size_ = 0;
  int64_t large_at_ = 0;
  std::vector<move::MeasuredCost> found_;
};

Result<double> Tuner::time_of(const Act& act, const Act& undo) {
  std::vector<double> samples;
  const int64_t start = clock_.now_ns();
  while (samples.size() < kSamplesMin ||
         (ns_since(start) < part_ns_ && samples.size() < kSamplesMax)) {
    const int64_t begin = clock_.now_ns();
    TESSERA_TRY_VOID(act());
    samples.push_back(ns_since(begin));
    if (undo) TESSERA_TRY_VOID(undo());
  }
  return median(std::move(samples));
}

void Tuner::note(double Costs::*cost, double value) {
  for (const move::CostField& field : move::profile_fields()) {
    if (field.value == cost) found_.push_back({&field, std::clamp(value, field.least, field.most)});
  }
}

double Tuner::noted(double Costs::*cost) const {
  const auto place = std::find_if(found_.begin(), found_.end(),
                                  [&](const auto& found) { return found.field->value == cost; });
  TESSERA_ASSERT(place != found_.end());
  return place->value;
}

template <typename Segment>
std::vector<Segment> Tuner::list_at(int64_t begin, int64_t stretch) {
  std::vector<Segment> list;
  for (int64_t i = 0; i < kListed; ++i) {
    const auto within = random_.uniform(static_cast<uint64_t>(stretch - kListedBytes + 1));
    const int64_t at = begin + i * stretch + static_cast<int64_t>(within);
    list.push_back({at, memory((i + 1) * kListedBytes).last(kListedBytes)});
  }
  return list;
}

// Until the file is large enough, or its share of the time is over.
Result<void> Tuner::fill() {
  const int64_t start = clock_.now_ns();
  do {
    TESSERA_TRY_VOID(file_.write_at(size_, memory(kFilledBytes)).status);
    size_ += kFilledBytes;
  } while (size_ + kFilledBytes <= file_bytes_max_ && ns_since(start) < part_ns_);
  return {};
}

Result<void> Tuner::measure_large() {
  const auto bytes = static_cast<double>(large_bytes());
  TESSERA_TRY(const double write_ns,
              time_of([&] { return file_.write_at(next_large(), memory(large_bytes())).status; }));
  note(&Costs::write_byte_ns, write_ns / bytes);
  TESSERA_TRY(const double read_ns,
              time_of([&] { return file_.read_at(next_large(), memory(large_bytes())).status; }));
  note(&Costs::read_byte_ns, read_ns / bytes);
  return {};
}

Result<void> Tuner::measure_small() {
  TESSERA_TRY(const double read_ns, time_of([&] {
                return file_.read_at(somewhere(kSmallBytes), memory(kSmallBytes)).status;
              }));
  TESSERA_TRY(const double write_ns, time_of([&] {
                return file_.write_at(somewhere(kSmallBytes), memory(kSmallBytes)).status;
              }));
  note(&Costs::request_ns, (read_ns + write_ns) / 2);
  return {};
}

Result<void> Tuner::measure_lists() {
  const int64_t stretch = size_ / kListed;
  const auto reads = list_at<port::ReadSegment>(0, stretch);
  TESSERA_TRY(const double read_ns, time_of([&] { return file_.read_list(reads).status; }));
  note(&Costs::listed_ns, read_ns / kListed);
  const auto writes = list_at<port::WriteSegment>(0, stretch);
  TESSERA_TRY(const double write_ns, time_of([&] { return file_.write_list(writes).status; }));
  note(&Costs::listed_write_ns, write_ns / kListed);
  return {};
}

Result<void> Tuner::measure_lock() {
  const auto lock = [&]() -> Result<void> {
    TESSERA_TRY_VOID(file_.lock_range(0, kPageBytes, port::RangeLock::kExclusive));
    return file_.lock_range(0, kPageBytes, port::RangeLock::kUnlock);
  };
  const auto ns = time_of(lock);
  if (ns) {
    note(&Costs::lock_ns, *ns);
    return {};
  }
  const int cause = ns.error().errno_value;
  if (cause == EOPNOTSUPP || cause == ENOLCK || cause == EINVAL) return {};
  return base::failure_of(ns);
}

// A list behind the end pays for its runs, for being there, and for the pages.
Result<void> Tuner::measure_growth() {
  const Act cut = [&] { return file_.truncate(size_); };
  TESSERA_TRY(const double fresh_ns,
              time_of([&] { return file_.write_at(size_, memory(kFreshBytes)).status; }, cut));
  TESSERA_TRY(const double again_ns, time_of([&] {
                return file_.write_at(size_ - kFreshBytes, memory(kFreshBytes)).status;
              }));
  note(&Costs::new_page_ns, (fresh_ns - again_ns) / kFreshBytes * kPageBytes);
  const auto list = list_at<port::WriteSegment>(size_, kPageBytes);
  TESSERA_TRY(const double list_ns, time_of([&] { return file_.write_list(list).status; }, cut));
  note(&Costs::new_run_ns,
       list_ns / kListed - noted(&Costs::listed_write_ns) - noted(&Costs::new_page_ns));
  return {};
}

// Through more memory than caches hold, as windows are filled.
Result<void> Tuner::measure_copy() {
  constexpr int64_t kPool = int64_t{64} << 20;
  constexpr int64_t kPiece = int64_t{1} << 20;
  const auto pool = std::make_unique<std::byte[]>(static_cast<size_t>(kPool));
  int64_t at = 0;
  TESSERA_TRY(const double ns, time_of([&]() -> Result<void> {
                at = (at + kPiece) % kPool;
                std::memcpy(pool.get() + at, memory_.data() + at % kLargeBytesMax, kPiece);
                return {};
              }));
  note(&Costs::copy_byte_ns, ns / kPiece);
  return {};
}

Result<std::vector<move::MeasuredCost>> Tuner::run() {
  TESSERA_TRY_VOID(fill());
  TESSERA_TRY_VOID(measure_large());
  TESSERA_TRY_VOID(measure_small());
  TESSERA_TRY_VOID(measure_lists());
  TESSERA_TRY_VOID(measure_lock());
  TESSERA_TRY_VOID(measure_growth());
  TESSERA_TRY_VOID(measure_copy());
  return std::move(found_);
}

}  // namespace

Result<std::vector<move::MeasuredCost>> measure_costs(port::PlainFile& file,
                                                      const port::Clock& clock,
                                                      const TuneBudget& budget) {
  TESSERA_ASSERT(budget.file_bytes >= kTuneFileBytesMin);
  return Tuner(file, clock, budget).run();
}

}  // namespace tessera::cli
