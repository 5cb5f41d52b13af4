// The jobs of the MPI-IO benchmark: started when first needed, kept while their ranks are measured.
//
// Jobs wait without using a core, so many can stand beside each other; they are started once for
// all cases of one MPI and one number of ranks, and end when another is asked for. A twin is a
// second job of the same kind with its own processes, memory and files.
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/mpiio_job.hpp"
#include "bench/scratch_folder.hpp"
#include "tessera/base/result.hpp"

namespace tessera::bench {

enum class Access { kIndependent, kCollective, kPosix };
enum class Flow { kRead, kWrite };
// What is timed: the read or write alone; open, set_view, read or write, and close; or making the
// view's datatype, set_view, read or write, and freeing the type (of a mesh only).
enum class Timed { kTransfer, kWhole, kTyped };

// Which file: a plain one, or an object file that the same ranks wrote, one of which is there for
// replicas to be added.
enum class FileKind { kPlain, kObjects, kReplicated };

// What a job is asked to do, apart from how often.
struct Operation {
  Workload workload;
  Access access = Access::kCollective;
  Flow flow = Flow::kWrite;
  Timed timed = Timed::kTransfer;
  std::string hints = "-";  // key=value,key=value
  bool atomic = false;      // in atomic mode
  FileKind file = FileKind::kPlain;
  bool synced = false;  // a write is followed by MPI_File_sync
  bool cold = false;    // the file is not in memory
  bool fresh = false;   // the file is not there; a write makes it
  // For an operation of many milliseconds whose rivals are modes of the same job: only an element
  // is moved uncounted before it, and processes sleep until they start and when they are done.
  bool slow = false;
};

// The peer's command for it.
[[nodiscard]] std::string run_command(const Operation& operation, int64_t repetitions, bool verify);

class MpiPool {
 public:
  // Where the files lie.
  explicit MpiPool(ScratchFolder::Place place = ScratchFolder::Place::kDisk) : place_(place) {}
  // In a folder that is there and outlives the pool.
  explicit MpiPool(std::string folder) : folder_(std::move(folder)) {}
  ~MpiPool();
  MpiPool(const MpiPool&) = delete;
  MpiPool& operator=(const MpiPool&) = delete;

  // Where the folders of the jobs are made, itself made when first asked for.
  [[nodiscard]] base::Result<std::string> folder();
  // The job of that kind, running. Ends the jobs of other MPIs and other numbers of ranks.
  [[nodiscard]] base::Result<MpiJob*> job(const JobKind& kind, bool twin);

  // Nanoseconds of that many repetitions, each from the first process to leave a barrier to the
  // last one to finish. A stock job that dies is started anew and tried once more, since some modes
  // of stock libraries crash now and then; ours is not.
  [[nodiscard]] base::Result<double> measure(const JobKind& kind, bool twin,
                                             const Operation& operation, int64_t repetitions);
  // The same once, after a repetition whose bytes were checked. Fails where they are wrong.
  [[nodiscard]] base::Result<double> verify(const JobKind& kind, bool twin,
                                            const Operation& operation);

 private:
  struct Running {
    JobKind kind;
    bool twin = false;
    std::unique_ptr<MpiJob> job;
  };

  base::Result<double> measure_once(const JobKind& kind, bool twin, const Operation& operation,
                                    const std::string& command);

  const ScratchFolder::Place place_ = ScratchFolder::Place::kDisk;
  const std::string folder_;              // empty: a scratch folder of its own
  std::optional<ScratchFolder> scratch_;  // outlives the jobs in it
  std::vector<Running> running_;
};

}  // namespace tessera::bench
