#include "tessera/capi/mesh_plan.hpp"

#include <array>
#include <memory>
#include <utility>

#include "tessera/base/bytes.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/mesh/classified_file.hpp"
#include "tessera/mesh/classify.hpp"
#include "tessera/mesh/fingerprint.hpp"
#include "tessera/mesh/mesh_file.hpp"
#include "tessera/mesh/metis_partition.hpp"
#include "tessera/mesh/partition_file.hpp"
#include "tessera/owner/writers_codec.hpp"
#include "tessera/port/fresh_file.hpp"
#include "tessera/port/guarded.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/posix_disk.hpp"

namespace tessera::capi {

namespace {

using base::Code;
using base::Result;
using port::PlainFile;

// One call of METIS at a time, in whatever threads its callers are.
Result<mesh::Partition> divided(const mesh::Mesh& mesh, int parts, uint64_t seed) {
  struct Metis {};
  static port::Guarded<Metis> one_at_a_time;
  return one_at_a_time.with([&](Metis&) { return mesh::partition_nodes(mesh, parts, seed); });
}

// A large file that is no plan is not read for that.
Result<base::Bytes> read_plan_file(const std::string& path) {
  TESSERA_TRY(const auto file, PlainFile::open_regular(path, {}));
  TESSERA_TRY(const int64_t size, file->size());
  std::array<std::byte, owner::kPlanHeadBytes> head = {};
  const port::Transfer begun = file->read_at(0, head);
  TESSERA_TRY_VOID(begun.status);
  const base::ByteView seen = base::ByteView(head).first(static_cast<size_t>(begun.bytes));
  if (const auto checked = owner::check_plan_head(seen, size); !checked) {
    return base::fail(Code::kIntegrity, path + ": " + checked.error().message());
  }
  base::Bytes bytes(base::exact_cast<size_t>(size));
  const port::Transfer read = file->read_at(0, bytes);
  TESSERA_TRY_VOID(read.status);
  bytes.resize(base::exact_cast<size_t>(read.bytes));
  return bytes;
}

Result<mesh::Partition> read_partition(const std::string& path, int64_t nodes, int parts) {
  TESSERA_TRY(const auto file, PlainFile::open_regular(path, {}));
  TESSERA_TRY(auto partition, mesh::read_partition(*file, nodes));
  if (partition.parts == parts) return partition;
  return base::fail(Code::kInvalid, path + " has " + std::to_string(partition.parts) +
                                        " parts, not " + std::to_string(parts));
}

// Whoever opens the path finds the old bytes or the new.
Result<void> replace_file(const std::string& path, base::ByteView bytes) {
  constexpr mode_t kPermissions = 0666;  // less the umask
  TESSERA_TRY(const auto fresh, port::PosixFreshFile::create(path, kPermissions));
  TESSERA_TRY_VOID(fresh->file().write_at(0, bytes).status);
  TESSERA_TRY_VOID(fresh->file().sync());
  TESSERA_TRY_VOID(fresh->publish(port::Existing::kReplace));
  return port::PosixDisk().sync_directory(port::directory_of(path));
}

base::Failure not_of(const std::string& path, const std::string& what) {
  return base::fail(Code::kIntegrity, path + " is no plan for " + what);
}

}  // namespace

Result<MeshPlan> MeshPlan::make(owner::Sharing sharing, const mesh::Partition& partition,
                                const owner::PolicyOptions& options) {
  MeshPlan made;
  TESSERA_TRY(made.plan_.writers, owner::choose_writers(sharing, options));
  made.plan_.policy = owner::policy_name(options.policy);
  made.plan_.fingerprint = mesh::fingerprint(partition);
  made.sharing_ = std::move(sharing);
  return made;
}

Result<MeshPlan> MeshPlan::divide(const mesh::Mesh& mesh, int parts,
                                  const owner::PolicyOptions& options) {
  TESSERA_TRY(const auto partition, divided(mesh, parts, options.seed));
  return make(mesh::classify(mesh, partition), partition, options);
}

Result<MeshPlan> MeshPlan::load(const std::string& path,
                                const std::optional<mesh::Partition>& partition) {
  TESSERA_TRY(const base::Bytes bytes, read_plan_file(path));
  auto decoded = owner::decode_plan(bytes);
  if (!decoded) return base::fail(Code::kIntegrity, path + ": " + decoded.error().message());
  MeshPlan made;
  made.plan_ = *std::move(decoded);
  const owner::Writers& writers = made.writers();
  if (writers.items() > mesh::kMaxNodes) {
    return not_of(path, "a mesh: it has " + std::to_string(writers.items()) + " nodes");
  }
  if (partition && made.plan_.fingerprint != mesh::fingerprint(*partition)) {
    return not_of(path, "this partition of " + std::to_string(partition->part_of.size()) +
                            " nodes into " + std::to_string(partition->parts) +
                            " parts; it was made for " + std::to_string(writers.items()) +
                            " nodes in " + std::to_string(writers.processes()));
  }
  return made;
}

Result<void> MeshPlan::save(const std::string& path) const {
  TESSERA_TRY(const base::Bytes bytes, owner::encode_plan(plan_));
  return replace_file(path, bytes);
}

Result<void> MeshPlan::check_part(int part) const {
  if (part >= 0 && part < writers().processes()) return {};
  return base::fail(Code::kInvalid, "there is no part " + std::to_string(part) + " in a plan for " +
                                        std::to_string(writers().processes()));
}

Result<const owner::Sharing*> MeshPlan::sharing() const {
  if (sharing_) return &*sharing_;
  return base::fail(Code::kNotFound, "the plan was loaded from a file, which has no holders");
}

Result<void> MeshPlan::check_parts(int parts) const {
  if (parts == writers().processes()) return {};
  return base::fail(Code::kIntegrity, "the plan is for " + std::to_string(writers().processes()) +
                                          " parts, not for " + std::to_string(parts));
}

Result<Intervals> MeshPlan::share(int part) const {
  TESSERA_TRY_VOID(check_part(part));
  Intervals share;
  for (const auto& interval : writers().share_of(part)) {
    share.push_back({interval.begin, interval.end});
  }
  return share;
}

Result<std::vector<int64_t>> MeshPlan::nodes(int part) const {
  TESSERA_TRY(const Intervals share, this->share(part));
  std::vector<int64_t> nodes;
  for (const auto& [begin, end] : share) {
    for (int64_t node = begin; node < end; ++node) nodes.push_back(node);
  }
  return nodes;
}

Result<std::vector<int64_t>> MeshPlan::held(int part) const {
  TESSERA_TRY_VOID(check_part(part));
  TESSERA_TRY(const owner::Sharing* const sharing, this->sharing());
  std::vector<bool> is_held;  // by list of holders
  for (owner::HoldersId id = 0; id < sharing->lists(); ++id) {
    is_held.push_back(sharing->holds(id, part));
  }
  std::vector<int64_t> nodes;
  int64_t begin = 0;
  for (const owner::Stretch& stretch : sharing->stretches()) {
    if (is_held[static_cast<size_t>(stretch.holders)]) {
      for (int64_t node = begin; node < stretch.end; ++node) nodes.push_back(node);
    }
    begin = stretch.end;
  }
  return nodes;
}

Result<std::vector<int32_t>> MeshPlan::part_of() const {
  TESSERA_TRY(const owner::Sharing* const sharing, this->sharing());
  std::vector<int32_t> part_of;
  for (const owner::Stretch& stretch : sharing->stretches()) {
    part_of.resize(base::exact_cast<size_t>(stretch.end),
                   base::exact_cast<int32_t>(sharing->holders(stretch.holders).front()));
  }
  return part_of;
}

Result<MeshPlan> plan_files(const std::string& mesh_path, const std::string& partition_path,
                            int parts, const owner::PolicyOptions& options) {
  TESSERA_TRY(const auto mesh_file, PlainFile::open_regular(mesh_path, {}));
  if (partition_path.empty()) {
    TESSERA_TRY(const auto loaded, mesh::load_mesh(*mesh_file));
    return MeshPlan::divide(loaded.mesh, parts, options);
  }
  TESSERA_TRY(auto classified, mesh::classify_file(*mesh_file, [&](int64_t nodes) {
                return read_partition(partition_path, nodes, parts);
              }));
  return MeshPlan::make(std::move(classified.sharing), classified.partition, options);
}

}  // namespace tessera::capi
