#include "tessera/cli/mesh_source.hpp"

#include <fmt/core.h>

#include <cerrno>

#include "tessera/cli/file_kind.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/output_file.hpp"
#include "tessera/cli/progress.hpp"
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

Result<mesh::Partition> read_partition(const PartitionChoice& choice, int64_t nodes) {
  TESSERA_TRY(const auto file, open_regular(choice.path, port::Access::kRead));
  TESSERA_TRY(auto partition, mesh::read_partition(*file, nodes));
  if (choice.parts > 0 && choice.parts != partition.parts) {
    return fail(Code::kInvalid, fmt::format("{}: {}, but --parts is {}", choice.path,
                                            counted(partition.parts, "part"), choice.parts));
  }
  return partition;
}

}  // namespace

Result<mesh::LoadedMesh> read_mesh(port::PlainFile& file) {
  TESSERA_TRY(const int64_t size, file.size());
  ReadFile watched(file, size);
  return mesh::load_mesh(watched);
}

Result<mesh::ClassifiedMesh> read_classified(port::PlainFile& file, const PartitionChoice& choice) {
  TESSERA_TRY(const int64_t size, file.size());
  ReadFile watched(file, size);
  return mesh::classify_file(watched, [&](int64_t nodes) { return read_partition(choice, nodes); });
}

Result<mesh::Partition> find_partition(const mesh::Mesh& mesh, const PartitionChoice& choice) {
  TESSERA_ASSERT(choice.is_given());
  if (!choice.path.empty()) return read_partition(choice, mesh.nodes());
  Progress progress("partitioned");
  progress.say(fmt::format("METIS partitions {}", counted(mesh.nodes(), "node")));
  return mesh::partition_nodes(mesh, choice.parts, choice.seed);
}

Result<void> save_partition(const std::string& path, const mesh::Partition& partition) {
  TESSERA_TRY(auto output, OutputFile::create(path, {.own = OutputKind::kPartition}));
  TESSERA_TRY_VOID(mesh::write_partition(output.file(), partition));
  return output.finish();
}

}  // namespace tessera::cli
