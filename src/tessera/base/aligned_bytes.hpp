// AlignedBytes: bytes that begin at a page.
//
// Disks take what is written around the system's memory only from such memory.
// Thread safety: as for any value type.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

#include "tessera/base/page.hpp"

namespace tessera::base {

template <typename T>
struct PageAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{static_cast<size_t>(kPageBytes)};

  PageAllocator() = default;
  template <typename Other>
  explicit PageAllocator(const PageAllocator<Other>& /*other*/) {}

  [[nodiscard]] T* allocate(size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T), kAlignment));
  }
  void deallocate(T* memory, size_t /*count*/) { ::operator delete(memory, kAlignment); }

  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};

using AlignedBytes = std::vector<std::byte, PageAllocator<std::byte>>;

}  // namespace tessera::base
