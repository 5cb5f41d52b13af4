// Any bytes as contents, as a superblock, and as a whole container file; checksums are made right
// where they are in the way, so that what lies behind them is reached. Whatever is accepted must
// keep the invariants of contents, survive a round trip, and be usable as a container.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tessera/base/assert.hpp"
#include "tessera/base/checksum.hpp"
#include "tessera/container/checker.hpp"
#include "tessera/container/container.hpp"
#include "tessera/port/sim_disk.hpp"

namespace {

using namespace tessera::container;
using tessera::base::Bytes;
using tessera::base::ByteView;
namespace base = tessera::base;
namespace port = tessera::port;

constexpr char kPath[] = "f";

void decode_as_contents(ByteView bytes) {
  const auto contents = decode_contents(bytes);
  const auto allocations = decode_allocations(bytes);
  if (!contents) return;
  TESSERA_ASSERT(contents->check());
  TESSERA_ASSERT(allocations && *allocations == contents->allocations);
  const Bytes blob = encode_contents(*contents);
  const auto again = decode_contents(blob);
  TESSERA_ASSERT(again && again->allocations == contents->allocations);
  TESSERA_ASSERT(again->attributes == contents->attributes);
  TESSERA_ASSERT(encode_contents(*again) == blob);
}

// Makes the checksums of a superblock right, that of the blob first.
void repair(Bytes& image, size_t at) {
  const auto copy = std::span(image).subspan(at, kSuperblockBytes);
  const auto begin = base::load_le<uint64_t>(copy.subspan(64));
  const auto end = base::load_le<uint64_t>(copy.subspan(72));
  if (begin < end && end <= image.size()) {
    const auto blob = ByteView(image).subspan(begin, end - begin);
    base::store_le<uint64_t>(copy.subspan(80), base::checksum(blob));
  }
  base::store_le<uint64_t>(copy.subspan(4088), base::checksum(copy.first(4088)));
}

void use_as_file(const Bytes& image) {
  port::SimDisk disk(port::DiskImage{{{kPath, image}}, {}});
  const auto file = disk.open(kPath, port::Access::kReadWrite).value();
  const auto report = check(*file);
  TESSERA_ASSERT(report);
  auto container = Container::open(*file);
  if (!container) {
    TESSERA_ASSERT(!report->sound());
    return;
  }
  const auto contents = container->read_contents();
  if (!contents) {
    TESSERA_ASSERT(!report->sound());
    return;
  }
  if (!container->begin_writing()) return;
  const auto committed = container->commit(*contents);
  if (!committed) return;
  TESSERA_ASSERT(encode_contents(container->read_contents().value()) == encode_contents(*contents));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  decode_as_contents(input);
  Bytes image(input.begin(), input.end());
  static_cast<void>(choose_superblock(image, kPath));
  if (image.size() < 2 * static_cast<size_t>(kSuperblockBytes)) return 0;
  repair(image, 0);
  repair(image, static_cast<size_t>(kSuperblockBytes));
  const SuperblockCopy copy = decode_superblock(image);
  if (copy.state == CopyState::kGood) {
    TESSERA_ASSERT(decode_superblock(encode_superblock(copy.superblock)).superblock ==
                   copy.superblock);
  }
  use_as_file(image);
  return 0;
}
