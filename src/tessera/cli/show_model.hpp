// What `tessera show` tells of an object file, computed once for text, JSON and pages.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/cli/summary.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/container/superblock.hpp"

namespace tessera::cli {

// The view that a process wrote through, as far as the file reaches.
struct ViewFacts {
  container::WriterView view;
  // The next two are missing where the recorded view is impossible or too irregular.
  std::optional<int64_t> size_bytes;
  std::optional<int64_t> read_runs;  // of the container, to read all of it
};

struct WriterFacts {
  int32_t process = 0;
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  int64_t visible_bytes = 0;
  int64_t runs = 0;  // of its visible bytes: in order in the file and in the container
  std::optional<ViewFacts> view;

  [[nodiscard]] int64_t mean_run() const { return runs == 0 ? 0 : visible_bytes / runs; }
};

struct ObjectFileFacts {
  std::string path;
  int64_t container_bytes = 0;
  container::Superblock superblock;
  std::vector<std::string> complaints;  // of superblock copies
  int64_t visible_bytes = 0;            // of the map; the rest of the file is holes
  int64_t replica_bytes = 0;            // stored once more
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  int64_t dead_bytes = 0;  // in allocations, but neither visible nor replicas
  int64_t free_bytes = 0;  // between what is in use
  int64_t pieces = 0;
  int64_t runs = 0;
  std::vector<WriterFacts> writers;  // by process
  std::optional<Shown> objects;      // of the recorded views, if they can be told
  std::map<std::string, std::string> attributes;

  [[nodiscard]] int64_t hole_bytes() const { return superblock.logical_size - visible_bytes; }
  [[nodiscard]] int64_t mean_run() const { return runs == 0 ? 0 : visible_bytes / runs; }
};

// Of a file that was read: `superblock` and `contents` of one commit. Fails with kIntegrity if they
// contradict each other. O(mappings).
[[nodiscard]] base::Result<ObjectFileFacts> facts_of(const std::string& path,
                                                     const container::Superblock& superblock,
                                                     const container::Contents& contents);

// "0123456789abcdef0123456789abcdef"
[[nodiscard]] std::string id_text(const container::FileId& id);
// "P3"
[[nodiscard]] std::string process_name(int32_t process);

}  // namespace tessera::cli
