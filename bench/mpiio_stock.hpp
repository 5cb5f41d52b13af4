// The stock MPI-IO libraries at their best: every mode worth trying, and which of them contend.
//
// "The best stock mode" is found anew for each operation: a trial of all modes drops those that are
// far behind, and the harness measures the rest in full rounds. Thread safety: as MpiPool.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/case.hpp"
#include "bench/mpiio_pool.hpp"
#include "tessera/base/result.hpp"

namespace tessera::bench {

// A library, a way to call it, and hints. Names of modes that exchange data between the processes
// contain "collective", those of the others "independent": a collective call whose hints switch
// the exchange off is one of the others.
struct StockMode {
  std::string name;
  JobKind kind;
  Access access = Access::kIndependent;
  std::string hints = "-";
  bool one_call_a_piece = false;  // hopeless where the pieces are many and small
  // Where the mode writes the same file by other views than the operation says.
  std::optional<Workload> workload = {};

  [[nodiscard]] bool collective() const { return name.find("collective") != std::string::npos; }
};

// All modes of the libraries of one MPI, `ranks` processes each.
[[nodiscard]] std::vector<StockMode> stock_modes(const std::string& mpi, int ranks);

// What one trial of a mode found.
struct Trial {
  StockMode mode;
  double ns = 0;
};

inline constexpr double kTrialContender = 1.5;
inline constexpr size_t kContendersMax = 3;

// The places of the trials that go on: of the collective and of the independent ones the best, and
// those within kTrialContender of it, at most kContendersMax of each sort.
[[nodiscard]] std::vector<size_t> contenders(const std::vector<Trial>& trials);

struct Field {
  std::vector<StockMode> contenders;
  std::map<std::string, double> dropped_ns;
  std::string note;  // modes that failed, and how
};

// Tries every mode at an operation (access, hints and, where given, workload are the modes' own).
// `small_pieces` leaves out the modes that make one system call a piece. Every contender's bytes
// are checked; one that moves wrong bytes is out. Fails where no mode works.
[[nodiscard]] base::Result<Field> find_field(MpiPool& pool, const std::vector<StockMode>& modes,
                                             const Operation& operation, bool small_pieces);

// The trials of operations, each made once for all cases that need it.
class Fields {
 public:
  explicit Fields(std::shared_ptr<MpiPool> pool) : pool_(std::move(pool)) {}

  // As find_field() of all modes of that MPI and number of ranks.
  [[nodiscard]] base::Result<Field> find(const std::string& mpi, int ranks,
                                         const Operation& operation, bool small_pieces);

 private:
  std::shared_ptr<MpiPool> pool_;
  std::map<std::string, Field> known_;
};

// One job of a pool at an operation, for the harness.
[[nodiscard]] std::function<base::Result<double>(int64_t)> runner(
    const std::shared_ptr<MpiPool>& pool, const JobKind& kind, bool twin,
    const Operation& operation);

// The operation as a mode does it.
[[nodiscard]] Operation as_in(const StockMode& mode, const Operation& operation);

// Ours at an operation for a case, by this build and, where a run is against another, by that one;
// what that one moves is checked. If it cannot do it, the case is not compared and says why.
void set_ours(const std::shared_ptr<MpiPool>& pool, const std::string& name, const JobKind& kind,
              const Operation& operation, Case& measured);

// The job of ours as the other build runs it.
[[nodiscard]] JobKind before_of(const JobKind& ours);

// A mode at an operation, as find_field() tries it.
[[nodiscard]] Contestant stock_contestant(const std::shared_ptr<MpiPool>& pool,
                                          const StockMode& mode, const Operation& operation);

}  // namespace tessera::bench
