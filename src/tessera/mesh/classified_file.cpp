#include "tessera/mesh/classified_file.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/mesh/classify.hpp"

namespace tessera::mesh {

using base::Result;

namespace {

// Finds the partition once it is known how many nodes there are.
class Streamer final : public TopVisitor {
 public:
  explicit Streamer(const FindPartition& find) : find_(find) {}

  void nodes(int64_t count, std::vector<Position> /*positions*/) override {
    partition = find_(count);
    if (!partition) return;
    TESSERA_ASSERT(std::ssize(partition->part_of) == count);
    restart();
  }

  Result<Partition> partition = Partition{};
  std::optional<Classifier> classifier;  // where there is a partition

 protected:
  void restart() override {
    if (partition) classifier.emplace(*partition);
  }
  void top_element(std::span<const Node> nodes) override {
    if (classifier) classifier->element(nodes);
  }

 private:
  const FindPartition& find_;
};

}  // namespace

Result<ClassifiedMesh> classify_file(port::File& file, const FindPartition& find) {
  Streamer streamer(find);
  TESSERA_TRY(const MeshFacts facts, visit_mesh(file, streamer));
  if (!streamer.partition) return base::failure_of(streamer.partition);
  TESSERA_ASSERT(streamer.classifier.has_value());
  auto sharing = streamer.classifier->finish();
  return ClassifiedMesh{
      .facts = facts, .partition = *std::move(streamer.partition), .sharing = std::move(sharing)};
}

}  // namespace tessera::mesh
