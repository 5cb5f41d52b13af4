// One MPI job of the MPI-IO benchmark: the peer program on some ranks, waiting for commands.
//
// The program is built from mpiio_peer.c once per MPI and lies beside the running one, in
// ../lib/tessera; the same program runs the stock libraries (nothing preloaded) and ours (with
// ../lib/libtessera-mpiio-MPI.so preloaded). A job that says it is the one when the other was asked
// for does not start, so that stock is never compared with stock. Commands and answers go through
// FIFOs in a folder of the job's own (mpiio_peer.h says why). The job ends when this object goes.
// Thread safety: one thread at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/result.hpp"

namespace tessera::bench {

// Which MPI-IO a job runs.
struct JobKind {
  std::string mpi;      // "openmpi" or "mpich"
  std::string library;  // "OMPIO", "ROMIO" or "Tessera"
  int ranks = 1;
  std::vector<std::string> arguments = {};  // of mpiexec, besides the usual ones
  bool tessera = false;                     // preload ours
  std::string build = {};                   // the folder of another build of it; empty: this one

  friend bool operator==(const JobKind&, const JobKind&) = default;
};

// A workload of the peer program, as its command `prepare` takes it.
struct Workload {
  std::string name;
  int64_t args[3] = {0, 0, 0};

  friend bool operator==(const Workload&, const Workload&) = default;
};

class MpiJob {
 public:
  // Makes its folder in `scratch`. Fails with kNotFound if the peer, the launcher or our library is
  // missing, kFailed if the job does not come up as what it was asked to be.
  [[nodiscard]] static base::Result<std::unique_ptr<MpiJob>> start(const JobKind& kind,
                                                                   const std::string& scratch);
  ~MpiJob();
  MpiJob(const MpiJob&) = delete;
  MpiJob& operator=(const MpiJob&) = delete;

  // What the MPI calls itself, for example "Open MPI v4.1.4".
  [[nodiscard]] const std::string& version() const { return version_; }
  // Where its files are.
  [[nodiscard]] const std::string& folder() const { return folder_; }
  // A job that died, or was ended because it did not answer, fails everything it is asked.
  [[nodiscard]] bool alive() const { return child_ > 0; }

  // The bytes that all ranks together access. Does nothing where `workload` is prepared already.
  [[nodiscard]] base::Result<int64_t> prepare(const Workload& workload);
  // The numbers of the answer to a command. A job that does not answer in `seconds` is ended.
  [[nodiscard]] base::Result<std::vector<double>> ask(const std::string& line, double seconds);

 private:
  MpiJob() = default;

  base::Result<void> make_folder(const std::string& scratch, int ranks);
  base::Result<void> launch(const JobKind& kind);
  base::Result<std::string> read_line(double seconds);
  [[nodiscard]] bool has_ended();
  [[nodiscard]] bool ends_within(double seconds);
  [[nodiscard]] std::string last_words() const;
  void end();
  void end_by_force();

  std::string folder_;
  std::string title_;
  std::string version_;
  pid_t child_ = -1;  // mpiexec
  std::vector<int> commands_;
  int answers_ = -1;
  std::string unread_;
  Workload prepared_;
  int64_t prepared_bytes_ = 0;
};

// The mpiexec command line of a kind of job.
[[nodiscard]] std::vector<std::string> launch_command(const JobKind& kind,
                                                      const std::string& program,
                                                      const std::string& preload,
                                                      const std::string& folder);

}  // namespace tessera::bench
