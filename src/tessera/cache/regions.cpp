#include "tessera/cache/regions.hpp"

#include <algorithm>
#include <cerrno>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/checksum.hpp"

namespace tessera::cache {

namespace {

constexpr int64_t kReadBackBytes = int64_t{1} << 20;

// Whether nothing but zeros is stored there, as far as the file goes.
base::Result<bool> reads_as_zeros(port::File& file, int64_t begin, base::Bytes buffer) {
  const port::Transfer read = file.read_at(begin, buffer);
  TESSERA_TRY_VOID(read.status);
  return std::all_of(buffer.begin(), buffer.begin() + read.bytes,
                     [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

bool Regions::holds(map::AllocationId allocation) const {
  return std::any_of(regions_.begin(), regions_.end(),
                     [&](const Region& region) { return region.id == allocation; });
}

Regions::Region* Regions::find(map::AllocationId id) {
  const auto found = std::find_if(regions_.begin(), regions_.end(),
                                  [&](const Region& region) { return region.id == id; });
  return found == regions_.end() ? nullptr : &*found;
}

int64_t Regions::room() const {
  int64_t bytes = 0;
  for (size_t i = current_; i < regions_.size(); ++i) bytes += regions_[i].room();
  return bytes;
}

void Regions::add(Region region) {
  TESSERA_ASSERT(region.space.begin % block_bytes_ == 0 && region.space.end % block_bytes_ == 0);
  const auto blocks = base::exact_cast<size_t>(region.space.length() / block_bytes_);
  region.sums.resize(blocks);
  region.known.resize(blocks);
  regions_.push_back(std::move(region));
}

void Regions::add_room(map::AllocationId id, Interval space) { add({.id = id, .space = space}); }

void Regions::add_filled(map::AllocationId id, Interval space, int64_t bytes, int32_t manager) {
  TESSERA_ASSERT(bytes <= space.length());
  add({.id = id, .space = space, .used = bytes, .manager = manager});
}

std::vector<Extent> Regions::take(int64_t bytes) {
  TESSERA_ASSERT(bytes <= room());
  std::vector<Extent> extents;
  while (bytes > 0) {
    Region& region = regions_[current_];
    const int64_t taken = std::min(bytes, region.room());
    if (taken > 0) extents.push_back({region.id, region.used, taken, region.space.begin});
    region.used += taken;
    bytes -= taken;
    if (region.room() == 0) ++current_;
  }
  return extents;
}

std::optional<Extent> Regions::take_again(int64_t bytes) {
  for (size_t i = sealed_; i < regions_.size(); ++i) {
    Region& region = regions_[i];
    for (Interval& dead : region.given_back) {
      if (dead.length() < bytes) continue;
      const Extent extent = {region.id, dead.begin, bytes, region.space.begin};
      dead.begin += bytes;
      std::erase_if(region.given_back, [](Interval places) { return places.empty(); });
      return extent;
    }
  }
  return std::nullopt;
}

void Regions::give_back(const Extent& extent) {
  Region* region = find(extent.allocation);
  if (region == nullptr || region->manager) return;
  const auto index = static_cast<size_t>(region - regions_.data());
  if (index < sealed_) return;
  TESSERA_ASSERT(extent.bytes > 0 && extent.place + extent.bytes <= region->used);
  note_rewritten(extent.allocation, {extent.place, extent.place + extent.bytes});
  std::vector<Interval>& dead = region->given_back;
  dead.push_back({extent.place, extent.place + extent.bytes});
  for (;;) {
    const auto last = std::find_if(dead.begin(), dead.end(),
                                   [&](Interval places) { return places.end == region->used; });
    if (last == dead.end()) break;
    region->used = last->begin;
    dead.erase(last);
    current_ = std::min(current_, index);
  }
}

void Regions::note_written(const Extent& extent, const std::vector<BlockSum>& sums) {
  note_rewritten(extent.allocation, {extent.place, extent.place + extent.bytes});
  Region* region = find(extent.allocation);
  TESSERA_ASSERT(region != nullptr);
  for (const BlockSum& sum : sums) {
    const auto block = static_cast<size_t>((sum.position - region->space.begin) / block_bytes_);
    region->sums[block] = sum.sum;
    region->known[block] = true;
  }
}

void Regions::note_rewritten(map::AllocationId allocation, Interval places) {
  Region* region = find(allocation);
  if (region == nullptr) return;
  const auto end = std::min<size_t>(
      base::exact_cast<size_t>(base::ceil_div(places.end, block_bytes_)), region->known.size());
  for (auto block = static_cast<size_t>(places.begin / block_bytes_); block < end; ++block) {
    region->known[block] = false;
  }
}

// A full disk takes no zeros where nothing is stored, but there they need not be written.
base::Result<void> Regions::fill_up(const Region& region, port::File& file) const {
  const int64_t end = base::ceil_div(region.used, block_bytes_) * block_bytes_;
  base::Bytes zeros(base::exact_cast<size_t>(end - region.used));
  if (zeros.empty()) return {};
  const int64_t begin = region.space.begin + region.used;
  port::Transfer filled = file.write_at(begin, zeros);
  if (filled) return {};
  const int errno_value = filled.status.error().errno_value;
  if (errno_value != ENOSPC && errno_value != EDQUOT) return std::move(filled.status);
  zeros.resize(zeros.size() - base::exact_cast<size_t>(filled.bytes));
  TESSERA_TRY(const bool zero, reads_as_zeros(file, begin + filled.bytes, std::move(zeros)));
  return zero ? base::Result<void>() : std::move(filled.status);
}

// Behind what was filled the file may end.
base::Result<void> Regions::read_back(const Region& region, Interval blocks, port::File& file,
                                      base::Bytes& buffer) const {
  buffer.resize(base::exact_cast<size_t>(blocks.length() * block_bytes_));
  const int64_t begin = region.space.begin + blocks.begin * block_bytes_;
  const port::Transfer read = file.read_at(begin, buffer);
  TESSERA_TRY_VOID(read.status);
  std::fill(buffer.begin() + read.bytes, buffer.end(), std::byte{0});
  if (begin + read.bytes >= region.space.begin + std::min(region.used, blocks.end * block_bytes_)) {
    return {};
  }
  return base::fail(base::Code::kFailed, file.path() + " became shorter while it was written");
}

base::Result<void> Regions::check_sums(const Region& region, int64_t first_block,
                                       base::ByteView blocks) const {
  const auto one = static_cast<size_t>(block_bytes_);
  for (size_t i = 0; i < blocks.size() / one; ++i) {
    const size_t block = static_cast<size_t>(first_block) + i;
    if (!region.known[block]) continue;
    if (base::checksum(blocks.subspan(i * one, one)) == region.sums[block]) continue;
    return base::fail(base::Code::kIntegrity,
                      "the disk has lost bytes that were written before a sync failed; write them "
                      "again");
  }
  return {};
}

base::Result<void> Regions::write_again(port::File& file) const {
  const int64_t step = std::max<int64_t>(1, kReadBackBytes / block_bytes_);
  base::Bytes buffer;
  for (const Region& region : regions_) {
    const int64_t blocks = base::ceil_div(region.used, block_bytes_);
    for (int64_t block = 0; block < blocks; block += step) {
      const Interval some = {block, std::min(blocks, block + step)};
      TESSERA_TRY_VOID(read_back(region, some, file, buffer));
      TESSERA_TRY_VOID(check_sums(region, block, buffer));
      const int64_t begin = region.space.begin + block * block_bytes_;
      const int64_t filled = std::min(std::ssize(buffer), region.used - block * block_bytes_);
      const auto bytes = base::ByteView(buffer).first(base::exact_cast<size_t>(filled));
      TESSERA_TRY_VOID(file.write_at(begin, bytes).status);
    }
  }
  return {};
}

base::Result<void> Regions::learn_sums(Region& region, port::File& file) const {
  const int64_t blocks = base::ceil_div(region.used, block_bytes_);
  base::Bytes buffer;
  for (int64_t block = 0; block < blocks;) {
    int64_t end = block;
    while (end < blocks && !region.known[static_cast<size_t>(end)] &&
           (end - block) * block_bytes_ < kReadBackBytes) {
      ++end;
    }
    if (end == block) {
      ++block;
      continue;
    }
    TESSERA_TRY_VOID(read_back(region, {block, end}, file, buffer));
    for (const auto one = static_cast<size_t>(block_bytes_); block < end; ++block) {
      const size_t at = buffer.size() - static_cast<size_t>(end - block) * one;
      region.sums[static_cast<size_t>(block)] =
          base::checksum(base::ByteView(buffer).subspan(at, one));
      region.known[static_cast<size_t>(block)] = true;
    }
  }
  return {};
}

base::Result<std::vector<container::Allocation>> Regions::close(port::File& file, int32_t manager) {
  std::vector<container::Allocation> allocations;
  for (Region& region : regions_) {
    if (region.used == 0) continue;
    TESSERA_TRY_VOID(fill_up(region, file));
    TESSERA_TRY_VOID(learn_sums(region, file));
    const int64_t blocks = base::ceil_div(region.used, block_bytes_);
    container::Allocation allocation;
    allocation.id = region.id;
    allocation.place = {region.space.begin, region.space.begin + blocks * block_bytes_};
    allocation.manager = region.manager.value_or(manager);
    allocation.checksums.assign(region.sums.begin(), region.sums.begin() + blocks);
    allocations.push_back(std::move(allocation));
  }
  return allocations;
}

}  // namespace tessera::cache
