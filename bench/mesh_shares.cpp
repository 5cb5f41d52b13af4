#include "bench/mesh_shares.hpp"

#include <fmt/format.h>

#include <fstream>

#include "tessera/mesh/classify.hpp"
#include "tessera/mesh/metis_partition.hpp"

namespace tessera::bench {

namespace {

constexpr uint64_t kPartitionSeed = 1;

int64_t number_of(const ShareChoice& choice) {
  return static_cast<int64_t>(choice.order) * 1000 + choice.ranks;
}

}  // namespace

std::vector<int64_t> share_words(const owner::Writers& writers) {
  std::vector<int64_t> words = {writers.processes(), writers.items(),
                                std::ssize(writers.intervals())};
  words.reserve(words.size() + 3 * writers.intervals().size());
  for (const owner::WriterInterval& interval : writers.intervals()) {
    words.insert(words.end(), {interval.begin, interval.end, interval.writer});
  }
  return words;
}

base::Result<const mesh::Mesh*> MeshShares::mesh(mesh::Order order) {
  const auto known = meshes_.find(order);
  if (known != meshes_.end()) return &known->second;
  mesh::Mesh made = mesh::grid_mesh(grid_);
  if (order != mesh::Order::kFile) {
    TESSERA_TRY(const auto new_number, mesh::order_nodes(made, order, nullptr));
    made = mesh::renumbered(made, new_number);
  }
  return &meshes_.emplace(order, std::move(made)).first->second;
}

base::Result<const owner::Sharing*> MeshShares::sharing(mesh::Order order, int ranks) {
  const Key key = {order, ranks};
  const auto known = sharings_.find(key);
  if (known != sharings_.end()) return &known->second;
  TESSERA_TRY(const mesh::Mesh* whole, mesh(order));
  TESSERA_TRY(const auto partition, mesh::partition_nodes(*whole, ranks, kPartitionSeed));
  return &sharings_.emplace(key, mesh::classify(*whole, partition)).first->second;
}

base::Result<const owner::Writers*> MeshShares::writers(const ShareChoice& choice) {
  const std::pair<Key, owner::Policy> key = {{choice.order, choice.ranks}, choice.policy};
  const auto known = writers_.find(key);
  if (known != writers_.end()) return &known->second;
  TESSERA_TRY(const owner::Sharing* shared, sharing(choice.order, choice.ranks));
  owner::PolicyOptions options;
  options.policy = choice.policy;
  TESSERA_TRY(auto chosen, owner::choose_writers(*shared, options));
  return &writers_.emplace(key, std::move(chosen)).first->second;
}

base::Result<void> MeshShares::write_file(const owner::Writers& writers, const std::string& name) {
  if (written_.contains(name)) return {};
  TESSERA_TRY(const std::string folder, pool_->folder());
  const std::vector<int64_t> words = share_words(writers);
  std::ofstream file(folder + "/" + name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(words.data()),
             static_cast<std::streamsize>(words.size() * sizeof(int64_t)));
  file.close();
  if (!file) return base::fail(base::Code::kFailed, "cannot write " + folder + "/" + name);
  written_[name] = true;
  return {};
}

base::Result<Workload> MeshShares::workload(const ShareChoice& choice, int64_t load) {
  TESSERA_TRY(const owner::Writers* chosen, writers(choice));
  const Workload workload = {"mesh",
                             {number_of(choice), load, static_cast<int64_t>(choice.policy)}};
  TESSERA_TRY_VOID(
      write_file(*chosen, fmt::format("shares.{}.{}", workload.args[0], workload.args[2])));
  return workload;
}

}  // namespace tessera::bench
