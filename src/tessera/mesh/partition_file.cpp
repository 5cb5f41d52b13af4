#include "tessera/mesh/partition_file.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/mesh/file_sink.hpp"
#include "tessera/mesh/mesh_scanner.hpp"

namespace tessera::mesh {

using base::Code;
using base::Result;

namespace {

base::Failure wrong(const port::File& file, const std::string& what) {
  return base::fail(Code::kInvalid, file.path() + ": " + what);
}

// Reads on behind the last line that there is a node for, so that both numbers can be said.
Result<void> check_lines(MeshScanner& in, int64_t lines, int64_t nodes) {
  for (; in.ok() && !in.at_end(); ++lines) in.skip_line();
  if (!in.ok()) return base::Failure{in.error()};
  if (lines == nodes) return {};
  return base::fail(Code::kInvalid, in.path() + ": a partition of " + std::to_string(lines) +
                                        " nodes, but the mesh has " + std::to_string(nodes) +
                                        ": it is of another mesh");
}

}  // namespace

Result<Partition> read_partition(port::File& file, int64_t nodes) {
  TESSERA_ASSERT(nodes >= 0 && nodes <= kMaxNodes);
  MeshScanner in(file);
  Partition partition;
  int64_t lines = 0;
  for (; lines < nodes && in.has_more(); ++lines) {
    const int64_t part = in.line_integer("the part of a node");
    if (part < 0) in.fail("part " + std::to_string(part) + "; parts begin at 0");
    // So a wrong line cannot ask for more memory than the partition takes itself.
    if (part >= nodes) {
      in.fail("part " + std::to_string(part) + " of a mesh of " + std::to_string(nodes) +
              " nodes, which cannot have so many parts");
    }
    in.end_line();
    if (!in.ok()) break;
    partition.part_of.push_back(static_cast<int32_t>(part));
    partition.parts = std::max(partition.parts, static_cast<int>(part + 1));
  }
  TESSERA_TRY_VOID(check_lines(in, lines, nodes));
  std::vector<bool> seen(static_cast<size_t>(partition.parts));
  for (const int32_t part : partition.part_of) seen[static_cast<size_t>(part)] = true;
  const auto missing = std::find(seen.begin(), seen.end(), false);
  if (missing == seen.end()) return partition;
  return wrong(file, "no node is in part " + std::to_string(missing - seen.begin()) +
                         ", though the largest is " + std::to_string(partition.parts - 1));
}

Result<void> write_partition(port::File& file, const Partition& partition) {
  FileSink sink(file);
  for (const int32_t part : partition.part_of) sink.append(std::to_string(part) + "\n");
  return sink.finish();
}

}  // namespace tessera::mesh
