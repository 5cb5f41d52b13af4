// Any bytes as a mesh in each format, and as a partition. Whatever is accepted names only nodes
// that it has, can be renumbered there and back without a change, and takes memory in proportion to
// its bytes; whatever is not is a message of one line that names the file.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/mesh/mesh_file.hpp"
#include "tessera/mesh/partition_file.hpp"
#include "tessera/mesh/renumber.hpp"
#include "tessera/port/sim_disk.hpp"

namespace {

using namespace tessera::mesh;
using tessera::base::Bytes;
namespace base = tessera::base;
namespace port = tessera::port;

void expect_one_line(const base::Error& error, const std::string& name) {
  TESSERA_ASSERT(error.message().find('\n') == std::string::npos);
  TESSERA_ASSERT(error.message().find(name) != std::string::npos);
}

class Checker final : public MeshVisitor {
 public:
  void nodes(int64_t count, std::vector<Position> positions) override {
    TESSERA_ASSERT(count_ == 0 && count > 0);
    TESSERA_ASSERT(positions.empty() || std::ssize(positions) == count);
    count_ = count;
  }
  void element(std::span<const Node> nodes) override {
    TESSERA_ASSERT(!nodes.empty());
    for (const Node node : nodes) {
      TESSERA_ASSERT(node >= 0 && node < count_);
      sum_ += static_cast<uint64_t>(node);
    }
  }
  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] uint64_t sum() const { return sum_; }

 private:
  int64_t count_ = 0;
  uint64_t sum_ = 0;
};

// The nodes in reverse, and in reverse again: the same sum of corners.
void renumber(port::SimDisk& disk, port::File& file, const Checker& seen) {
  std::vector<Node> reversed(static_cast<size_t>(seen.count()));
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const std::string there_name = "there_" + file.path();
  const auto there = disk.create(there_name).value();
  const auto done = write_renumbered(file, *there, reversed);
  if (!done) return expect_one_line(done.error(), file.path());
  const auto back = disk.create("back_" + file.path()).value();
  TESSERA_ASSERT(write_renumbered(*there, *back, reversed));
  Checker again;
  TESSERA_ASSERT(visit_mesh(*back, again));
  TESSERA_ASSERT(again.count() == seen.count() && again.sum() == seen.sum());
}

void use_as(const std::string& name, const Bytes& content) {
  port::SimDisk disk(port::DiskImage{{{name, content}}, {}});
  const auto file = disk.open(name, port::Access::kRead).value();
  Checker seen;
  const auto facts = visit_mesh(*file, seen);
  if (!facts) return expect_one_line(facts.error(), name);
  TESSERA_ASSERT(facts->nodes == seen.count());
  TESSERA_ASSERT(facts->nodes <= std::ssize(content));
  TESSERA_ASSERT(load_mesh(*file));
  renumber(disk, *file, seen);
}

void use_as_partition(const Bytes& content) {
  port::SimDisk disk(port::DiskImage{{{"p.part", content}}, {}});
  const auto file = disk.open("p.part", port::Access::kReadWrite).value();
  for (const int64_t nodes : {int64_t{0}, int64_t{1}, int64_t{8}, kMaxNodes}) {
    const auto partition = read_partition(*file, nodes);
    if (!partition) {
      expect_one_line(partition.error(), "p.part");
      continue;
    }
    TESSERA_ASSERT(std::ssize(partition->part_of) == nodes);
    TESSERA_ASSERT(write_partition(*file, *partition));
    const auto again = read_partition(*file, nodes);
    TESSERA_ASSERT(again && again->part_of == partition->part_of);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  const auto content = base::copy_of(std::as_bytes(std::span(data, size_bytes)));
  use_as("f.mesh", content);
  use_as("f.graph", content);
  use_as_partition(content);
  return 0;
}
