// Any bytes as contents, as a superblock, and as a whole container file; checksums are made right
// where they are in the way, so that what lies behind them is reached. Whatever is accepted must
// keep the invariants of contents, survive a round trip, and be usable as a container.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "container_image.hpp"
#include "tessera/base/assert.hpp"
#include "tessera/container/checker.hpp"
#include "tessera/container/container.hpp"
#include "tessera/port/sim_disk.hpp"

namespace {

using namespace tessera::container;
using tessera::base::Bytes;
using tessera::base::ByteView;
namespace port = tessera::port;

constexpr char kPath[] = "f";

// Where pieces lie in their tables differs with their history, so that bytes may.
bool alike(const Contents& a, const Contents& b) {
  if (a.size != b.size || a.block_bytes != b.block_bytes || a.allocations != b.allocations ||
      a.attributes != b.attributes || a.views.size() != b.views.size() ||
      a.map.epoch_max() != b.map.epoch_max() || a.map.allocations() != b.map.allocations() ||
      a.map.covered_bytes() != b.map.covered_bytes()) {
    return false;
  }
  return std::all_of(a.allocations.begin(), a.allocations.end(), [&](const Allocation& one) {
    return a.map.live_bytes(one.id) == b.map.live_bytes(one.id);
  });
}

void decode_as_contents(ByteView bytes) {
  const auto contents = decode_contents(bytes);
  const auto allocations = decode_allocations(bytes);
  if (!contents) return;
  TESSERA_ASSERT(contents->check());
  TESSERA_ASSERT(allocations && *allocations == contents->allocations);
  const Bytes blob = encode_contents(*contents);
  const auto again = decode_contents(blob);
  TESSERA_ASSERT(again && alike(*again, *contents));
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
  TESSERA_ASSERT(alike(container->read_contents().value(), *contents));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  decode_as_contents(input);
  Bytes image(input.begin(), input.end());
  static_cast<void>(choose_superblock(image, kPath));
  if (!tessera::fuzz::repair_image(image)) return 0;
  const SuperblockCopy copy = decode_superblock(image);
  if (copy.state == CopyState::kGood) {
    TESSERA_ASSERT(decode_superblock(encode_superblock(copy.superblock)).superblock ==
                   copy.superblock);
  }
  use_as_file(image);
  return 0;
}
