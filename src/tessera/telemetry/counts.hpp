// What one rank did to its files, counted in memory and saved where a kill cannot reach it.
//
// Counts are saved in a file of the rank, so that a job that calls MPI_Abort or is killed leaves
// the counts of its ranks in a folder (job_log.hpp reads it). They are saved by pwrite and never
// through a mapping, which a disk that is full or a file that is cut would answer with a signal: a
// program does not end for its counts. What is not saved yet is lost by a kill; save_if_due() says
// how much that is. The layout is that of this version's structs; another version refuses it.
// Without a place for the file, or room, and past the first kSavedFiles files of a rank, counts are
// in memory only. docs/formats/report.md describes the folder. Thread safety: one thread at a time;
// those who read the file of a running process may see counts that are just being saved.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"
#include "tessera/move/engine.hpp"
#include "tessera/pattern/trace.hpp"

namespace tessera::telemetry {

// Files of a rank whose counts outlive it. Each takes 16 KiB of disk until the job ends.
inline constexpr size_t kSavedFiles = 256;

// At i: runs of 2^i up to 2^(i+1) bytes.
inline constexpr size_t kRunClasses = 63;
using RunSizes = std::array<int64_t, kRunClasses>;

// Adds the runs of a pattern. Of one with very many different stripes only the first are looked at;
// the rest is taken to be like them where its mean run is about as long, else to be of its mean.
void count_runs(const pattern::Pattern& file, RunSizes& run_sizes);

struct Traffic {
  int64_t calls = 0;
  int64_t bytes = 0;
  int64_t ns = 0;
  std::array<RunSizes, 2> run_sizes{};  // of independent and of collective operations
};

// Phases of a file's life that take time besides the moves.
enum class Stage { kOpen, kView, kSync, kClose };
inline constexpr size_t kStages = 4;

// Operations of one kind that one engine executed.
struct Use {
  int64_t calls = 0;
  int64_t bytes = 0;
  int64_t ns = 0;
  std::array<char, 232> reason{};  // the first one given; ends with a 0
};

inline constexpr size_t kEngines = 7;
static_assert(static_cast<size_t>(move::Engine::kObject) + 1 == kEngines);

struct FileCounts {
  std::array<char, 4096> path{};  // ends with a 0
  int64_t opens = 0;
  Traffic read;
  Traffic write;
  std::array<int64_t, kStages> stage_ns{};
  int64_t exchange_ns = 0;
  int64_t io_ns = 0;
  int64_t lock_ns = 0;
  int64_t copy_ns = 0;
  // By direction, independent or collective, and engine.
  std::array<std::array<std::array<Use, kEngines>, 2>, 2> uses{};
};

// The job, as every rank knows it.
struct JobFacts {
  std::string program;
  std::string mpi;
  std::string library;  // the version of ours
  int64_t ranks = 1;
  int64_t started = 0;  // seconds of Unix time
};

// The counts of one rank.
class RankCounts {
 public:
  RankCounts() = default;
  ~RankCounts();
  RankCounts(const RankCounts&) = delete;
  RankCounts& operator=(const RankCounts&) = delete;

  // From now on new files are counted in FOLDER/rank-N. The file is made when the first of them is
  // saved, so that ranks without files leave nothing, and neither do those that have no room.
  // Requires that nothing is counted yet.
  void keep_in(const std::string& folder, int64_t rank, const JobFacts& job);

  // The counts of a file, made where it has none yet; they stay where they are. They are taken to
  // have changed, so the next save covers them.
  [[nodiscard]] FileCounts& of(const std::string& path);

  // Saves what has changed; the job has run so long. What the file system refuses stays in memory
  // and is part of the next save. Four system calls, and one more for each file that has changed.
  void save(int64_t elapsed_ns);
  // The same once accesses have moved kSaveBytes since the last save, these ones included, kSaveNs
  // have passed, or this was called as often since as before; a kill loses less than any of these.
  // Else no system call.
  void save_if_due(int64_t elapsed_ns, int64_t moved_bytes);
  static constexpr int64_t kSaveBytes = int64_t{1} << 20;
  static constexpr int64_t kSaveNs = 100'000'000;

  [[nodiscard]] std::vector<const FileCounts*> all() const;

  // Nothing is saved any more, and the file is removed; the last rank removes the folder.
  void end();

 private:
  struct Record {
    FileCounts counts;
    int64_t place = -1;    // in the file, once it was saved
    bool changed = false;  // since then
  };

  bool open_file();
  void close_file();
  bool save_header(int64_t elapsed_ns);
  bool save_record(Record& record);

  std::string folder_;  // empty: counts in memory
  std::string path_;    // of the file, empty if none was tried
  JobFacts job_;
  int64_t rank_ = 0;
  int fd_ = -1;
  int64_t saved_files_ = 0;
  int64_t saved_at_ns_ = 0;
  int64_t unsaved_bytes_ = 0;
  int64_t saved_calls_ = 0;  // of save_if_due()
  int64_t unsaved_calls_ = 0;
  std::map<std::string, Record> files_;
  std::vector<Record*> changed_;
};

// A rank's file as it was left.
struct LeftCounts {
  JobFacts job;
  int64_t rank = 0;
  int64_t elapsed_ns = 0;
  int64_t files_lost = 0;  // those whose counts were in memory only
  std::vector<FileCounts> files;
};

// From the content of such a file, which is untrusted. Fails with kInvalid, and what is wrong with
// the file, if it is not one that this version of the library wrote or if its figures cannot be.
[[nodiscard]] base::Result<LeftCounts> decode_counts(base::ByteView content,
                                                     const std::string& version);
// The same of a file; fails with kNotFound if there is none.
[[nodiscard]] base::Result<LeftCounts> read_counts(const std::string& path,
                                                   const std::string& version);

}  // namespace tessera::telemetry
