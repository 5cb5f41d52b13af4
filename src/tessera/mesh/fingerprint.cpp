#include "tessera/mesh/fingerprint.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "tessera/base/bytes.hpp"
#include "tessera/base/checksum.hpp"

namespace tessera::mesh {

namespace {

constexpr size_t kChunk = size_t{1} << 16;  // parts that are summed together

// Parts as little-endian numbers.
uint64_t checksum_of(std::span<const int32_t> parts) {
  if constexpr (std::endian::native == std::endian::little) {
    return base::checksum(std::as_bytes(parts));
  }
  base::Bytes bytes(parts.size_bytes());
  for (size_t i = 0; i < parts.size(); ++i) {
    base::store_le(std::span(bytes).subspan(i * sizeof(int32_t)), static_cast<uint32_t>(parts[i]));
  }
  return base::checksum(bytes);
}

}  // namespace

uint64_t fingerprint(const Partition& partition) {
  const std::span<const int32_t> parts(partition.part_of);
  base::Bytes sums;
  const auto add = [&sums](uint64_t sum) {
    sums.resize(sums.size() + sizeof(sum));
    base::store_le(std::span(sums).last(sizeof(sum)), sum);
  };
  add(parts.size());
  add(static_cast<uint64_t>(partition.parts));
  for (size_t begin = 0; begin < parts.size(); begin += kChunk) {
    add(checksum_of(parts.subspan(begin, std::min(kChunk, parts.size() - begin))));
  }
  return base::checksum(sums);
}

}  // namespace tessera::mesh
