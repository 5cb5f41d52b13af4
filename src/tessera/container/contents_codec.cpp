#include <array>
#include <bit>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/container/contents.hpp"
#include "tessera/map/map_codec.hpp"
#include "tessera/pattern/encode.hpp"

namespace tessera::container {
namespace {

using base::ByteReader;
using base::Bytes;
using base::ByteView;
using base::ByteWriter;
using base::Code;
using base::Result;

constexpr uint8_t kContentsVersion = 1;

// The number of a section; its tag is twice that, and one more if readers may skip it.
enum Section : uint64_t {
  kSizes = 1,
  kAllocations = 2,
  kChecksums = 3,
  kMap = 4,
  kViews = 5,
  kAttributes = 6,
  kSectionEnd = 7,
};
constexpr uint64_t kOptional = 1;

// By number; absent ones are empty.
using Sections = std::array<ByteView, kSectionEnd>;

void put_section(ByteWriter& writer, uint64_t tag, ByteView bytes) {
  writer.varint(tag);
  writer.sized_bytes(bytes);
}

Bytes encode_sizes(const Contents& contents) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.varint(static_cast<uint64_t>(contents.block_bytes));
  writer.varint(static_cast<uint64_t>(contents.size));
  return bytes;
}

Bytes encode_allocations(const Contents& contents) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.varint(contents.allocations.size());
  int64_t id = 0;
  int64_t end = 0;
  for (const Allocation& allocation : contents.allocations) {
    const int64_t begin = allocation.place.begin / contents.block_bytes;
    writer.signed_varint(allocation.id - id);
    writer.signed_varint(begin - end);
    writer.varint(allocation.checksums.size());
    writer.signed_varint(allocation.manager);
    id = allocation.id;
    end = begin + static_cast<int64_t>(allocation.checksums.size());
  }
  return bytes;
}

Bytes encode_checksums(const Contents& contents) {
  size_t count = 0;
  for (const Allocation& allocation : contents.allocations) count += allocation.checksums.size();
  Bytes bytes;
  bytes.reserve(count * sizeof(uint64_t));
  ByteWriter writer(bytes);
  for (const Allocation& allocation : contents.allocations) {
    if constexpr (std::endian::native == std::endian::little) {
      writer.bytes(std::as_bytes(std::span(allocation.checksums)));
    } else {
      for (const uint64_t checksum : allocation.checksums) writer.u64(checksum);
    }
  }
  return bytes;
}

Bytes encode_views(const Contents& contents) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.varint(contents.views.size());
  for (const WriterView& view : contents.views) {
    writer.signed_varint(view.process);
    writer.signed_varint(view.displacement);
    writer.signed_varint(view.etype_size);
    writer.signed_varint(view.extent);
    writer.sized_bytes(pattern::encode(view.tile));
  }
  return bytes;
}

Bytes encode_attributes(const Contents& contents) {
  Bytes bytes;
  ByteWriter writer(bytes);
  writer.varint(contents.attributes.size());
  for (const auto& [key, value] : contents.attributes) {
    writer.sized_bytes(base::bytes_of(key));
    writer.sized_bytes(base::bytes_of(value));
  }
  return bytes;
}

Result<Sections> split(ByteView blob) {
  ByteReader reader(blob);
  TESSERA_TRY(const uint8_t version, reader.u8());
  if (version != kContentsVersion) {
    return base::fail(Code::kInvalid, "the contents of the object file have version " +
                                          std::to_string(version) + ", this Tessera knows " +
                                          std::to_string(kContentsVersion) + "; use a newer one");
  }
  Sections sections;
  uint64_t last = 0;
  while (!reader.at_end()) {
    TESSERA_TRY(const uint64_t tag, reader.varint());
    TESSERA_TRY(const ByteView bytes, reader.sized_bytes());
    const uint64_t number = tag / 2;
    if (number <= last) {
      return base::fail(Code::kIntegrity, "sections of the contents are not in order");
    }
    last = number;
    if (number < kSectionEnd) {
      sections[number] = bytes;
    } else if ((tag & kOptional) == 0) {
      return base::fail(Code::kInvalid,
                        "the contents of the object file have a section that this Tessera does not "
                        "know (" +
                            std::to_string(number) + "); use a newer one");
    }
  }
  return sections;
}

Result<void> decode_sizes(ByteView bytes, Contents& contents) {
  ByteReader reader(bytes);
  TESSERA_TRY(const uint64_t block, reader.varint());
  TESSERA_TRY(const uint64_t size, reader.varint());
  constexpr auto kMax = static_cast<uint64_t>(pattern::kMaxPosition);
  if (block > kMax || size > kMax || !valid_block_bytes(static_cast<int64_t>(block))) {
    return base::fail(Code::kIntegrity, "sizes in the contents are not possible");
  }
  contents.block_bytes = static_cast<int64_t>(block);
  contents.size = static_cast<int64_t>(size);
  return reader.expect_end();
}

// Takes the checksums of an allocation from the front of those that are left.
Result<void> take_checksums(ByteView& left, uint64_t count, Allocation& allocation) {
  if (count == 0) return base::fail(Code::kIntegrity, "an allocation in the contents is empty");
  if (count > left.size() / sizeof(uint64_t)) {
    return base::fail(Code::kIntegrity, "the contents have too few checksums");
  }
  allocation.checksums.resize(count);
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(allocation.checksums.data(), left.data(), count * sizeof(uint64_t));
  } else {
    for (size_t i = 0; i < count; ++i) {
      allocation.checksums[i] = base::load_le<uint64_t>(left.subspan(i * sizeof(uint64_t)));
    }
  }
  left = left.subspan(count * sizeof(uint64_t));
  return {};
}

// Where an entry of the table is, in blocks. Bounded so that no sum or product overflows.
struct TableEntry {
  int64_t id = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

Result<Allocation> decode_allocation(ByteReader& reader, ByteView& checksums, int64_t block,
                                     TableEntry& last) {
  TESSERA_TRY(const int64_t id_step, reader.signed_varint());
  TESSERA_TRY(const int64_t gap, reader.signed_varint());
  TESSERA_TRY(const uint64_t count, reader.varint());
  TESSERA_TRY(const int64_t manager, reader.signed_varint());
  Allocation allocation;
  TESSERA_TRY_VOID(take_checksums(checksums, count, allocation));
  const int64_t blocks_max = pattern::kMaxPosition / block;
  const auto id = base::checked_add(last.id, id_step);
  const auto begin = base::checked_add(last.end, gap);
  if (!id || !std::in_range<map::AllocationId>(*id) || !std::in_range<int32_t>(manager) || !begin ||
      *begin < 0 || *begin > blocks_max - static_cast<int64_t>(count)) {
    return base::fail(Code::kIntegrity, "an allocation in the contents is not possible");
  }
  last = {*id, *begin, *begin + static_cast<int64_t>(count)};
  allocation.id = static_cast<map::AllocationId>(*id);
  allocation.place = {last.begin * block, last.end * block};
  allocation.manager = static_cast<int32_t>(manager);
  return allocation;
}

Result<void> decode_table(const Sections& sections, Contents& contents) {
  TESSERA_TRY_VOID(decode_sizes(sections[kSizes], contents));
  ByteReader reader(sections[kAllocations]);
  ByteView checksums = sections[kChecksums];
  TESSERA_TRY(const uint64_t count, reader.varint());
  TableEntry last;
  for (uint64_t i = 0; i < count; ++i) {
    TESSERA_TRY(Allocation allocation,
                decode_allocation(reader, checksums, contents.block_bytes, last));
    contents.allocations.push_back(std::move(allocation));
  }
  if (!checksums.empty()) {
    return base::fail(Code::kIntegrity, "the contents have too many checksums");
  }
  TESSERA_TRY_VOID(reader.expect_end());
  return contents.check_allocations();
}

Result<WriterView> decode_view(ByteReader& reader) {
  WriterView view;
  TESSERA_TRY(const int64_t process, reader.signed_varint());
  TESSERA_TRY(view.displacement, reader.signed_varint());
  TESSERA_TRY(view.etype_size, reader.signed_varint());
  TESSERA_TRY(view.extent, reader.signed_varint());
  TESSERA_TRY(const ByteView tile, reader.sized_bytes());
  TESSERA_TRY(view.tile, pattern::decode<1>(tile));
  if (!std::in_range<int32_t>(process)) {
    return base::fail(Code::kIntegrity, "a view in the contents has no possible process");
  }
  view.process = static_cast<int32_t>(process);
  return view;
}

Result<void> decode_views(ByteView bytes, Contents& contents) {
  if (bytes.empty()) return {};
  ByteReader reader(bytes);
  TESSERA_TRY(const uint64_t count, reader.varint());
  for (uint64_t i = 0; i < count; ++i) {
    TESSERA_TRY(WriterView view, decode_view(reader));
    contents.views.push_back(std::move(view));
  }
  return reader.expect_end();
}

Result<void> decode_attributes(ByteView bytes, Contents& contents) {
  if (bytes.empty()) return {};
  ByteReader reader(bytes);
  TESSERA_TRY(const uint64_t count, reader.varint());
  for (uint64_t i = 0; i < count; ++i) {
    TESSERA_TRY(const ByteView key, reader.sized_bytes());
    TESSERA_TRY(const ByteView value, reader.sized_bytes());
    contents.attributes.insert_or_assign(std::string(base::text_of(key)),
                                         std::string(base::text_of(value)));
  }
  return reader.expect_end();
}

}  // namespace

Bytes encode_contents(const Contents& contents) {
  TESSERA_ASSERT(contents.check_allocations());
  Bytes blob;
  ByteWriter writer(blob);
  writer.u8(kContentsVersion);
  put_section(writer, kSizes * 2, encode_sizes(contents));
  put_section(writer, kAllocations * 2, encode_allocations(contents));
  put_section(writer, kChecksums * 2, encode_checksums(contents));
  put_section(writer, kMap * 2, map::encode(contents.map));
  if (!contents.views.empty()) put_section(writer, kViews * 2 | kOptional, encode_views(contents));
  if (!contents.attributes.empty()) {
    put_section(writer, kAttributes * 2 | kOptional, encode_attributes(contents));
  }
  return blob;
}

bool begins_contents(ByteView bytes, int64_t position) {
  ByteReader reader(bytes);
  const auto version = reader.u8();
  if (!version || *version != kContentsVersion) return false;
  const auto tag = reader.varint();
  if (!tag || *tag != 2 * kSizes) return false;
  const auto sizes = reader.sized_bytes();
  Contents contents;
  if (!sizes || !decode_sizes(*sizes, contents)) return false;
  if (position % contents.block_bytes != 0) return false;
  const auto next = reader.varint();
  return next && *next == 2 * kAllocations;
}

Result<Contents> decode_contents(ByteView blob, map::Origin origin) {
  TESSERA_TRY(const Sections sections, split(blob));
  Contents contents;
  TESSERA_TRY_VOID(decode_table(sections, contents));
  TESSERA_TRY(contents.map, map::decode(sections[kMap], origin));
  TESSERA_TRY_VOID(decode_views(sections[kViews], contents));
  TESSERA_TRY_VOID(decode_attributes(sections[kAttributes], contents));
  if (origin == map::Origin::kStranger) TESSERA_TRY_VOID(contents.check());
  return contents;
}

Result<std::vector<Allocation>> decode_allocations(ByteView blob) {
  TESSERA_TRY(const Sections sections, split(blob));
  Contents contents;
  TESSERA_TRY_VOID(decode_table(sections, contents));
  return std::move(contents.allocations);
}

}  // namespace tessera::container
