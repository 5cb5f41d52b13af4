#include "tessera/mpiio/external32.hpp"

#include <memory>
#include <string>
#include <utility>

#include "tessera/base/checked.hpp"
#include "tessera/mpiio/external32_codec.hpp"
#include "tessera/mpiio/fault.hpp"
#include "tessera/mpiio/types.hpp"
#include "tessera/pattern/copy.hpp"

namespace tessera::mpiio {

using base::Bytes;
using base::ByteView;
using base::Result;

namespace {

// `count` copies of a type in memory: where their bytes are and what they mean.
struct Copies {
  pattern::Pattern bytes;
  ElementsPtr elements;
};

Result<Copies> copies_of(int64_t count, MPI_Datatype type) {
  TESSERA_TRY(const auto converted, convert(type));
  TESSERA_TRY(pattern::Pattern bytes, memory_pattern(*converted, count));
  return Copies{std::move(bytes), repeated(converted->elements, count)};
}

// A buffer that is overwritten as a whole: not filled with zeros before.
std::unique_ptr<std::byte[]> room(int64_t bytes) {
  return std::make_unique_for_overwrite<std::byte[]>(static_cast<size_t>(bytes));
}

}  // namespace

Result<int64_t> external32_size(int64_t count, MPI_Datatype type) {
  TESSERA_TRY(const auto converted, convert(type));
  const auto size = base::checked_mul(converted->elements->external_size, count);
  if (size && count >= 0) return *size;
  return fault(MPI_ERR_COUNT, std::to_string(count) + " elements do not fit into a file");
}

Result<Bytes> to_external32(const void* memory, int64_t count, MPI_Datatype type) {
  TESSERA_TRY(const Copies copies, copies_of(count, type));
  const Elements& elements = *copies.elements;
  const auto* base = static_cast<const std::byte*>(memory);
  Bytes external(static_cast<size_t>(elements.external_size));
  std::unique_ptr<std::byte[]> apart;
  std::byte* native = external.data();
  if (elements.resizes) {
    apart = room(elements.native_size);
    native = apart.get();
  }
  pattern::gather(native, base, copies.bytes);
  const auto native_size = static_cast<size_t>(elements.native_size);
  const auto encoded = encode_external32(elements, ByteView(native, native_size), external);
  if (!encoded) return fault(MPI_ERR_CONVERSION, encoded.error().context);
  return external;
}

Result<int64_t> from_external32(ByteView file_bytes, void* memory, int64_t count,
                                MPI_Datatype type) {
  TESSERA_TRY(const Copies copies, copies_of(count, type));
  const Elements& elements = *copies.elements;
  const auto native = room(elements.native_size);
  const Decoded decoded = decode_external32(
      elements, file_bytes, {native.get(), static_cast<size_t>(elements.native_size)});
  pattern::scatter(static_cast<std::byte*>(memory), native.get(),
                   copies.bytes.clip({0, decoded.native_bytes}));
  return decoded.external_bytes;
}

}  // namespace tessera::mpiio
