#include "bench/tile_reading.hpp"

#include "tessera/base/assert.hpp"
#include "tessera/remap/request.hpp"

namespace tessera::bench {

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
  TESSERA_ASSERT(objects.file == FileKind::kReplicated);
  const JobKind ours = tessera_at(side * side);
  TESSERA_TRY_VOID(pool.verify(ours, false, objects));
  TESSERA_TRY(const MpiJob* job, pool.job(ours, false));
  remap::Request request;
  request.in = request.out = request.like = job->folder() + "/replicated";
  TESSERA_TRY_VOID(remap::run_in_threads(request));
  TESSERA_TRY_VOID(pool.verify(ours, false, objects));
  return {};
}

}  // namespace tessera::bench
