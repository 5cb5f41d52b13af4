#include "tessera/mesh/mesh.hpp"

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"

namespace tessera::mesh {

std::span<const Node> Mesh::element(int64_t index) const {
  const auto at = base::exact_cast<size_t>(index);
  TESSERA_ASSERT(at + 1 < begins_.size());
  const auto begin = static_cast<size_t>(begins_[at]);
  return std::span(corners_).subspan(begin, static_cast<size_t>(begins_[at + 1]) - begin);
}

void Mesh::add_element(std::span<const Node> nodes) {
  corners_.insert(corners_.end(), nodes.begin(), nodes.end());
  begins_.push_back(std::ssize(corners_));
}

}  // namespace tessera::mesh
