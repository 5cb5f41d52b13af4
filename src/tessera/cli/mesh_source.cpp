#include "tessera/cli/mesh_source.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <utility>

#include "tessera/cli/file_kind.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/output_file.hpp"
#include "tessera/cli/progress.hpp"
#include "tessera/mesh/classify.hpp"
#include "tessera/mesh/metis_partition.hpp"
#include "tessera/mesh/partition_file.hpp"

namespace tessera::cli {

using base::Code;
using base::fail;
using base::Result;

namespace {

// Tells how far a reader is.
class ReadFile final : public port::File {
 public:
  ReadFile(port::File& file, int64_t size) : File(file.path()), file_(file), size_(size) {}

  Result<void> truncate(int64_t size) override { return file_.truncate(size); }
  Result<int64_t> size() override { return size_; }
  Result<void> sync() override { return file_.sync(); }

 protected:
  Attempt read_some(int64_t offset, std::span<const iovec> memory) override {
    const auto& first = memory.front();
    const auto moved =
        file_.read_at(offset, {static_cast<std::byte*>(first.iov_base), first.iov_len});
    progress_.show(offset + moved.bytes, size_);
    if (moved || moved.bytes > 0) return {.bytes = moved.bytes};
    const int number = moved.status.error().errno_value;
    return {.errno_value = number != 0 ? number : EIO};
  }
  Attempt write_some(int64_t /*offset*/, std::span<const iovec> /*memory*/) override {
    return {.errno_value = EBADF};
  }

 private:
  port::File& file_;
  const int64_t size_;
  Progress progress_{"read"};
};

Result<mesh::MeshFacts> visit(port::PlainFile& file, mesh::MeshVisitor& visitor) {
  TESSERA_TRY(const int64_t size, file.size());
  ReadFile watched(file, size);
  return mesh::visit_mesh(watched, visitor);
}

class Keeper final : public mesh::MeshVisitor {
 public:
  void nodes(int64_t count, std::vector<mesh::Position> positions) override {
    mesh = mesh::Mesh(count);
    mesh.positions = std::move(positions);
  }
  void element(std::span<const mesh::Node> nodes) override { mesh.add_element(nodes); }

  mesh::Mesh mesh;
};

Result<mesh::Partition> read_partition(const PartitionChoice& choice, int64_t nodes) {
  TESSERA_TRY(const auto file, open_regular(choice.path, port::Access::kRead));
  TESSERA_TRY(auto partition, mesh::read_partition(*file, nodes));
  if (choice.parts > 0 && choice.parts != partition.parts) {
    return fail(Code::kInvalid, fmt::format("{}: {}, but --parts is {}", choice.path,
                                            counted(partition.parts, "part"), choice.parts));
  }
  return partition;
}

// Reads the partition once it knows how many nodes there are.
class Streamer final : public mesh::MeshVisitor {
 public:
  explicit Streamer(const PartitionChoice& choice) : choice_(choice) {}

  void nodes(int64_t count, std::vector<mesh::Position> /*positions*/) override {
    partition = read_partition(choice_, count);
    if (partition) classifier.emplace(*partition);
  }
  void element(std::span<const mesh::Node> nodes) override {
    if (classifier) classifier->element(nodes);
  }

  Result<mesh::Partition> partition = mesh::Partition{};
  std::optional<mesh::Classifier> classifier;

 private:
  const PartitionChoice& choice_;
};

}  // namespace

Result<MeshInMemory> read_mesh(port::PlainFile& file) {
  Keeper keeper;
  TESSERA_TRY(const mesh::MeshFacts facts, visit(file, keeper));
  return MeshInMemory{.facts = facts, .mesh = std::move(keeper.mesh)};
}

Result<ClassifiedMesh> read_classified(port::PlainFile& file, const PartitionChoice& choice) {
  Streamer streamer(choice);
  TESSERA_TRY(const mesh::MeshFacts facts, visit(file, streamer));
  if (!streamer.partition) return base::failure_of(streamer.partition);
  TESSERA_ASSERT(streamer.classifier.has_value());
  auto sharing = streamer.classifier->finish();
  return ClassifiedMesh{
      .facts = facts, .partition = *std::move(streamer.partition), .sharing = std::move(sharing)};
}

Result<mesh::Partition> find_partition(const mesh::Mesh& mesh, const PartitionChoice& choice) {
  TESSERA_ASSERT(choice.is_given());
  if (!choice.path.empty()) return read_partition(choice, mesh.nodes());
  Progress progress("partitioned");
  progress.say(fmt::format("METIS partitions {}", counted(mesh.nodes(), "node")));
  return mesh::partition_nodes(mesh, choice.parts, choice.seed);
}

Result<void> save_partition(const std::string& path, const mesh::Partition& partition) {
  TESSERA_TRY(auto output, OutputFile::create(path, {.replace = true}));
  TESSERA_TRY_VOID(mesh::write_partition(output.file(), partition));
  return output.finish();
}

}  // namespace tessera::cli
