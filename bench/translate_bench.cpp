#include "bench/translate_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "bench/child_program.hpp"
#include "bench/mpiio_pool.hpp"
#include "bench/remap_files.hpp"
#include "bench/statistics.hpp"
#include "bench/tile_reading.hpp"
#include "tessera/base/bytes.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/remap/source.hpp"

namespace tessera::bench {

namespace {

using base::Result;

constexpr int kRanks = 2;
constexpr int kReaders = 4;
constexpr int64_t kFrames = 8;
constexpr int64_t kSide = 4096;  // of a frame of 16 MiB
constexpr int64_t kSize = kFrames * kSide * kSide;
constexpr int kTrials = 3;
constexpr int64_t kTrialSteps = 20'000'000;
constexpr double kAnswerSeconds = 300;
constexpr double kTranslatorSeconds = 60;
constexpr double kOfAlone = 0.87;  // 15 % slower at most
constexpr int64_t kWindowBytes = int64_t{8} << 20;

// How long a producer took, and how long of that a rank computed.
struct Produced {
  double ns = 0;
  double compute_ns = 0;
};

// The producing job and its files.
class Producer {
 public:
  // `steps` of computing before each frame.
  Result<Produced> produce(int64_t steps) {
    TESSERA_TRY(MpiJob * job, pool_.job(tessera_at(kRanks), false));
    TESSERA_TRY(const auto times,
                job->ask(fmt::format("produce {} {} {}", kFrames, kSide, steps), kAnswerSeconds));
    if (times.size() != 2) return base::fail(base::Code::kFailed, "the peer answered no times");
    return Produced{times[0], times[1]};
  }

  // The same beside a translator, which is done with its work when this returns.
  Result<Produced> produce_translated(int64_t steps) {
    TESSERA_TRY(const std::string program, program_beside("tesserad"));
    TESSERA_TRY_VOID(clear());
    TESSERA_TRY(ChildProgram translator,
                ChildProgram::start({program, "--translate", in(), out(), "--views",
                                     folder_ + "/views.json", "--linger", "0.1"},
                                    folder_ + "/translator.log"));
    TESSERA_TRY(const Produced produced, produce(steps));
    const std::optional<int> status = translator.ends_within(kTranslatorSeconds);
    if (status == 0) return produced;
    return base::fail(base::Code::kFailed, status ? fmt::format("tesserad ended with {}", *status)
                                                  : std::string("tesserad does not end"));
  }

  [[nodiscard]] std::string in() const { return folder_ + "/produced"; }
  [[nodiscard]] std::string out() const { return folder_ + "/translated"; }

 private:
  // A translator waits for the file, and would take an older one for it.
  Result<void> clear() {
    TESSERA_TRY(const MpiJob* job, pool_.job(tessera_at(kRanks), false));
    if (folder_ != job->folder()) {
      folder_ = job->folder();
      TESSERA_TRY_VOID(write_text(folder_ + "/views.json", readers_text()));
    }
    std::error_code ignored;
    for (const std::string& path : {in(), out()}) std::filesystem::remove(path, ignored);
    return {};
  }

  // Columns of each frame.
  static std::string readers_text() {
    std::string views;
    for (int64_t i = 0; i < kReaders; ++i) {
      views += fmt::format(
          R"({0}{{"tiles":"all","type":{{"subarray":{{"sizes":[{1},{1}],"subsizes":[{1},{2}],)"
          R"("starts":[0,{3}]}}}}}})",
          i == 0 ? "" : ",", kSide, kSide / kReaders, i * kSide / kReaders);
    }
    return fmt::format(R"({{"size":{},"views":[{}]}})", kSize, views);
  }

  MpiPool pool_;
  std::string folder_;  // of the job
};

using Shared = std::shared_ptr<Producer>;

Result<base::Bytes> window_of(remap::Source& source, int64_t begin) {
  base::Bytes memory(static_cast<size_t>(std::min(kWindowBytes, kSize - begin)));
  TESSERA_TRY_VOID(source.read(begin, memory));
  return memory;
}

// Whether the translated file has the bytes that were produced.
Result<void> check_translation(const Producer& producer) {
  TESSERA_TRY(const auto in_file, port::PlainFile::open(producer.in(), {.read = true}));
  TESSERA_TRY(const auto out_file, port::PlainFile::open(producer.out(), {.read = true}));
  TESSERA_TRY(const auto in, remap::ObjectSource::open(*in_file));
  TESSERA_TRY(const auto out, remap::ObjectSource::open(*out_file));
  if (in->size() != kSize || out->size() != kSize) {
    return base::fail(base::Code::kIntegrity, "the produced or the translated file is not whole");
  }
  for (int64_t begin = 0; begin < kSize; begin += kWindowBytes) {
    TESSERA_TRY(const base::Bytes written, window_of(*in, begin));
    TESSERA_TRY(const base::Bytes translated, window_of(*out, begin));
    if (written == translated) continue;
    return base::fail(base::Code::kIntegrity, "the translated file has other bytes");
  }
  return {};
}

// Steps that make computing such a part of the producer's time when it is alone.
Result<int64_t> steps_for(Producer& producer, double compute_part) {
  if (compute_part == 0) return 0;
  std::vector<double> io;
  for (int i = 0; i < kTrials; ++i) {
    TESSERA_TRY(const Produced produced, producer.produce(0));
    io.push_back(produced.ns);
  }
  TESSERA_TRY(const Produced trial, producer.produce(kTrialSteps));
  const double step_ns = trial.compute_ns / static_cast<double>(kFrames * kTrialSteps);
  const double compute_ns = median(io) * compute_part / (1 - compute_part);
  return static_cast<int64_t>(compute_ns / step_ns / static_cast<double>(kFrames));
}

template <typename Once>
Contestant contestant(const char* name, Once once) {
  return {name, [once](int64_t repetitions) -> Result<double> {
            double ns = 0;
            for (int64_t i = 0; i < repetitions; ++i) {
              TESSERA_TRY(const Produced produced, once());
              ns += produced.ns;
            }
            return ns;
          }};
}

Result<Case> make_case(const Shared& producer, int compute_percent) {
  TESSERA_TRY_VOID(producer->produce_translated(0));
  TESSERA_TRY_VOID(check_translation(*producer));
  TESSERA_TRY(const int64_t steps, steps_for(*producer, compute_percent / 100.0));
  TESSERA_TRY(const Produced alone, producer->produce(steps));
  Case measured;
  measured.unit = "ms";
  measured.unit_ns = 1e6;
  measured.ours = contestant("translated", [=] { return producer->produce_translated(steps); });
  measured.peers = {contestant("alone", [=] { return producer->produce(steps); })};
  if (compute_percent > 0) measured.bars = {{Bar::Kind::kRatioAtLeast, kOfAlone}};
  measured.note = fmt::format(
      "{} ranks on their own cores compute {:.0f} % of their time, then write and sync, {} times "
      "{} MiB in rows; tesserad --translate lays them out for {} readers of columns, on the same "
      "cores",
      kRanks, 100 * alone.compute_ns / alone.ns, kFrames, (kSide * kSide) >> 20, kReaders);
  return measured;
}

}  // namespace

std::vector<CaseMaker> translate_cases() {
  const auto producer = std::make_shared<Producer>();
  std::vector<CaseMaker> cases;
  for (const int compute_percent : {80, 0}) {
    cases.push_back({fmt::format("translate beside a producer, {} % compute", compute_percent),
                     "object files: translating",
                     [=] { return make_case(producer, compute_percent); }});
  }
  return cases;
}

}  // namespace tessera::bench
