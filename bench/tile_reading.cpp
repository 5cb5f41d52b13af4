#include "bench/tile_reading.hpp"

#include <cerrno>
#include <cstdio>

#include "bench/harness.hpp"
#include "bench/mpiio_stock.hpp"
#include "bench/other_build.hpp"
#include "tessera/base/assert.hpp"

namespace tessera::bench {

namespace {

// Whose file it is: the job's of that kind, or of its twin.
struct Owner {
  JobKind kind;
  bool twin = false;
};

// By the build of that job. A new file takes the name, since not every build replaces one.
base::Result<void> put_in_one_place(MpiPool& pool, const Owner& owner, const Operation& objects) {
  TESSERA_ASSERT(objects.file == FileKind::kReplicated);
  TESSERA_TRY_VOID(pool.verify(owner.kind, owner.twin, objects));
  TESSERA_TRY(const MpiJob* job, pool.job(owner.kind, owner.twin));
  const std::string path = job->folder() + "/replicated";
  const std::string made = job->folder() + "/remapped";
  TESSERA_TRY_VOID(run_tessera(owner.kind.build, {"remap", path, made, "--like", path, "--quiet"}));
  if (std::rename(made.c_str(), path.c_str()) != 0) {
    return base::fail_errno(errno, "cannot rename " + made);
  }
  TESSERA_TRY_VOID(pool.verify(owner.kind, owner.twin, objects));
  return {};
}

}  // namespace

JobKind tessera_at(int ranks) { return {kOpenMpi, "Tessera", ranks, {}, true}; }

object::Wall paper_wall(int side) {
  object::Wall wall = object::kPaperWall;
  wall.columns = wall.rows = side;
  return wall;
}

Operation tile_read(Access access, Timed timed) {
  Operation operation;
  operation.workload = {"tile", {1, 0, 0}};
  operation.access = access;
  operation.flow = Flow::kRead;
  operation.timed = timed;
  return operation;
}

base::Result<void> put_tiles_in_one_place(MpiPool& pool, int side, const Operation& objects) {
  return put_in_one_place(pool, {tessera_at(side * side)}, objects);
}

base::Result<void> put_compared_tiles_in_one_place(MpiPool& pool, int side,
                                                   const Operation& objects, Case& measured) {
  if (!measured.comparison) return {};
  const JobKind ours = tessera_at(side * side);
  TESSERA_TRY_VOID(put_in_one_place(pool, {ours, true}, objects));
  const auto done = put_in_one_place(pool, {before_of(ours)}, objects);
  if (done) return {};
  measured.comparison.reset();
  measured.not_compared = not_by_the_build_before(done.error());
  return {};
}

}  // namespace tessera::bench
