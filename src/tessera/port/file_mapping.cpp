#include "tessera/port/file_mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/port/bus_guard.hpp"

namespace tessera::port {

base::Result<FileMapping> FileMapping::map(const PlainFile& file, int64_t begin, int64_t end,
                                           Access access) {
  TESSERA_ASSERT(0 <= begin && begin < end);
  static const int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  const int64_t skipped = begin % page_bytes;
  const auto length = base::exact_cast<size_t>(end - begin + skipped);
  const int protection = access == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
  void* pages = ::mmap(nullptr, length, protection, MAP_SHARED, file.descriptor(), begin - skipped);
  if (pages == MAP_FAILED) return base::fail_errno(errno, "map " + file.path());
  auto* first = static_cast<std::byte*>(pages);
  FileMapping mapping(first, length, first + skipped);
  mapping.begin_ = begin;
  mapping.end_ = end;
  mapping.access_ = access;
  return mapping;
}

FileMapping::FileMapping(FileMapping&& other) noexcept
    : pages_(std::exchange(other.pages_, nullptr)),
      length_(other.length_),
      data_(other.data_),
      begin_(other.begin_),
      end_(other.end_),
      access_(other.access_),
      lost_(other.lost_.load()) {}

FileMapping::~FileMapping() {
  if (pages_ != nullptr) ::munmap(pages_, length_);
}

void FileMapping::prefer_large_pages() const { ::madvise(pages_, length_, MADV_HUGEPAGE); }

bool FileMapping::touch(const std::function<void()>& body) const {
  if (is_lost()) return false;
  {
    const int protection = access_ == Access::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
    const BusGuard guard({{pages_, length_}, protection, lost_});
    body();
  }
  return !is_lost();
}

std::byte* FileMapping::place(int64_t offset, size_t bytes) const {
  TESSERA_ASSERT(begin_ <= offset && bytes <= static_cast<size_t>(end_ - offset));
  return data_ + (offset - begin_);
}

bool FileMapping::load(int64_t offset, std::span<std::byte> to) const {
  const std::byte* from = place(offset, to.size());
  return touch([&] { std::memcpy(to.data(), from, to.size()); });
}

bool FileMapping::store(int64_t offset, std::span<const std::byte> from) const {
  std::byte* to = place(offset, from.size());
  return touch([&] { std::memcpy(to, from.data(), from.size()); });
}

}  // namespace tessera::port
