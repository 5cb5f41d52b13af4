#include "bench/mpiio_pool.hpp"

#include <fmt/format.h>

namespace tessera::bench {

namespace {

constexpr double kAnswerSeconds = 120;

const char* name_of(Access access) {
  switch (access) {
    case Access::kIndependent:
      return "independent";
    case Access::kCollective:
      return "collective";
    case Access::kPosix:
      return "posix";
  }
  return "";
}

const char* name_of(Timed timed) {
  switch (timed) {
    case Timed::kTransfer:
      return "transfer";
    case Timed::kWhole:
      return "whole";
    case Timed::kTyped:
      return "typed";
  }
  return "";
}

// The letters of the peer's command.
std::string flags_of(const Operation& operation, bool verify) {
  std::string flags;
  if (verify) flags += 'v';
  if (operation.atomic) flags += 'a';
  if (operation.slow) flags += 's';
  if (operation.file == FileKind::kObjects) flags += 'o';
  if (operation.file == FileKind::kReplicated) flags += 'r';
  if (operation.synced) flags += 'y';
  if (operation.cold) flags += 'c';
  if (operation.fresh) flags += 'n';
  return flags.empty() ? "-" : flags;
}

}  // namespace

std::string run_command(const Operation& operation, int64_t repetitions, bool verify) {
  return fmt::format("run {} {} {} {} {} {}", name_of(operation.access),
                     operation.flow == Flow::kRead ? "read" : "write", name_of(operation.timed),
                     repetitions, flags_of(operation, verify), operation.hints);
}

MpiPool::~MpiPool() = default;

base::Result<std::string> MpiPool::folder() {
  if (!folder_.empty()) return folder_;
  if (!scratch_) {
    TESSERA_TRY(ScratchFolder made, ScratchFolder::make(place_));
    scratch_.emplace(std::move(made));
  }
  return scratch_->path();
}

base::Result<MpiJob*> MpiPool::job(const JobKind& kind, bool twin) {
  std::erase_if(running_, [&](const Running& running) {
    return running.kind.mpi != kind.mpi || running.kind.ranks != kind.ranks ||
           !running.job->alive();
  });
  for (const Running& running : running_) {
    if (running.kind == kind && running.twin == twin) return running.job.get();
  }
  TESSERA_TRY(const std::string scratch, folder());
  TESSERA_TRY(auto started, MpiJob::start(kind, scratch));
  running_.push_back({kind, twin, std::move(started)});
  return running_.back().job.get();
}

base::Result<double> MpiPool::measure_once(const JobKind& kind, bool twin,
                                           const Operation& operation, const std::string& command) {
  TESSERA_TRY(MpiJob * running, job(kind, twin));
  TESSERA_TRY_VOID(running->prepare(operation.workload));
  TESSERA_TRY(const auto numbers, running->ask(command, kAnswerSeconds));
  if (numbers.size() != 1) return base::fail(base::Code::kFailed, "the peer answered no time");
  return numbers[0];
}

base::Result<double> MpiPool::measure(const JobKind& kind, bool twin, const Operation& operation,
                                      int64_t repetitions) {
  const std::string command = run_command(operation, repetitions, false);
  auto ns = measure_once(kind, twin, operation, command);
  if (!ns && !kind.tessera) ns = measure_once(kind, twin, operation, command);
  return ns;
}

base::Result<double> MpiPool::verify(const JobKind& kind, bool twin, const Operation& operation) {
  return measure_once(kind, twin, operation, run_command(operation, 1, true));
}

}  // namespace tessera::bench
