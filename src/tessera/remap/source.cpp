#include "tessera/remap/source.hpp"

#include <string>

#include "tessera/base/checked.hpp"
#include "tessera/cache/place_reader.hpp"
#include "tessera/container/container.hpp"
#include "tessera/container/file_kind.hpp"

namespace tessera::remap {

namespace {

using base::Result;
using pattern::Pattern;

// Where bytes of the file lie in memory that begins with byte `offset`.
Result<Pattern> in_memory(const pattern::ByteSet& bytes, int64_t offset) {
  return bytes.ascending().shifted({{-offset}});
}

}  // namespace

Result<std::unique_ptr<PlainSource>> PlainSource::open(port::File& file) {
  TESSERA_TRY(const int64_t size, file.size());
  return std::unique_ptr<PlainSource>(new PlainSource(file, size));
}

Result<void> PlainSource::read(int64_t offset, std::span<std::byte> memory) {
  const port::Transfer transfer = file_.read_at(offset, memory);
  TESSERA_TRY_VOID(transfer.status);
  if (transfer.bytes == std::ssize(memory)) return {};
  return base::fail(base::Code::kIntegrity, file_.path() + " became shorter while it was read");
}

Result<std::unique_ptr<ObjectSource>> ObjectSource::open(port::File& file) {
  TESSERA_TRY(container::Container container, container::Container::open(file));
  TESSERA_TRY(container::Contents contents, container.read_contents());
  return std::make_unique<ObjectSource>(file, std::move(contents), container.superblock().sequence);
}

Result<void> ObjectSource::read(int64_t offset, std::span<std::byte> memory) {
  TESSERA_TRY(const pattern::ByteSet wanted,
              pattern::ByteSet::of({offset, offset + std::ssize(memory)}));
  TESSERA_TRY(const map::Found found, contents_.map.find(wanted));
  for (const map::Part& part : found.parts) {
    move::Move moved;
    moved.direction = move::Direction::kRead;
    moved.base = memory.data();
    moved.file = part.places;
    TESSERA_TRY(moved.memory, in_memory(part.bytes, offset));
    TESSERA_TRY_VOID(cache::read_places(file_, *contents_.find(part.allocation), moved,
                                        {contents_.block_bytes, true}));
  }
  TESSERA_TRY(const Pattern zeros, in_memory(found.missing, offset));
  cache::fill_with_zeros(memory.data(), zeros);
  return {};
}

Result<bool> is_object_file(port::File& file) { return container::has_superblock(file); }

Result<std::unique_ptr<Source>> open_source(port::File& file) {
  TESSERA_TRY(const bool objects, is_object_file(file));
  if (objects) {
    TESSERA_TRY(std::unique_ptr<Source> source, ObjectSource::open(file));
    return source;
  }
  TESSERA_TRY(std::unique_ptr<Source> source, PlainSource::open(file));
  return source;
}

}  // namespace tessera::remap
