// Node messages: what NodeExchange sends inside a node and between nodes.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/bytes.hpp"
#include "tessera/base/result.hpp"

namespace tessera::mpiio {

// A message or the reason why there is none, as bytes.
[[nodiscard]] base::Bytes sealed(const base::Result<base::Bytes>& message);
// The contents of a sealed message, a view into it, or the reason that it carries.
[[nodiscard]] base::Result<base::ByteView> opened(base::ByteView bytes);

// A message on its way: the rank it is from or for, whichever the receiver does not know.
struct Parcel {
  int rank = 0;
  base::ByteView message;
};
void write_parcel(base::Bytes& bytes, const Parcel& parcel);
// Fails with kIntegrity unless there is a parcel of one of `size` ranks.
[[nodiscard]] base::Result<Parcel> read_parcel(base::ByteReader& reader, int size);

// Messages one after another, each with its length.
[[nodiscard]] base::Bytes joined(const std::vector<base::Bytes>& messages);
// At least the bytes that joined() needs.
[[nodiscard]] size_t total_size(const std::vector<base::Bytes>& messages);

[[nodiscard]] base::Bytes encoded(uint64_t number);
[[nodiscard]] base::Result<uint64_t> decoded(base::ByteView bytes);

}  // namespace tessera::mpiio
