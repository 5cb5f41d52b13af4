#include "tessera/port/plain_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/port/system_call.hpp"

// Not in the header of all kernels.
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace tessera::port {

namespace {

int open_flags(const OpenMode& mode) {
  TESSERA_ASSERT(mode.read || mode.write);
  int flags = mode.read && mode.write ? O_RDWR : mode.write ? O_WRONLY : O_RDONLY;
  if (mode.create) flags |= O_CREAT;
  if (mode.exclusive) flags |= O_EXCL;
  return flags | O_CLOEXEC;
}

short lock_type(RangeLock lock) {
  switch (lock) {
    case RangeLock::kShared:
      return F_RDLCK;
    case RangeLock::kExclusive:
      return F_WRLCK;
    case RangeLock::kUnlock:
      break;
  }
  return F_UNLCK;
}

const char* lock_name(RangeLock lock) {
  switch (lock) {
    case RangeLock::kShared:
      return "lock (shared) ";
    case RangeLock::kExclusive:
      return "lock (exclusive) ";
    case RangeLock::kUnlock:
      break;
  }
  return "unlock ";
}

std::string range_text(int64_t begin, int64_t end) {
  return " bytes [" + std::to_string(begin) + ", " + std::to_string(end) + ")";
}

// Whether the file system is one of this machine alone.
bool lies_here(int descriptor) {
  struct statfs system {};
  if (uninterrupted([&] { return ::fstatfs(descriptor, &system); }) == -1) return false;
  constexpr uint32_t kLocal[] = {EXT4_SUPER_MAGIC,     XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                 F2FS_SUPER_MAGIC,     TMPFS_MAGIC,     RAMFS_MAGIC,
                                 OVERLAYFS_SUPER_MAGIC};
  const auto magic = static_cast<uint32_t>(system.f_type);
  return std::find(std::begin(kLocal), std::end(kLocal), magic) != std::end(kLocal);
}

}  // namespace

PlainFile::PlainFile(std::string path, Descriptor descriptor)
    : File(std::move(path)), descriptor_(std::move(descriptor)) {}

PlainFile::~PlainFile() = default;

base::Result<std::unique_ptr<PlainFile>> PlainFile::open(const std::string& path,
                                                         const OpenMode& mode) {
  const int flags = open_flags(mode);
  Descriptor descriptor(
      uninterrupted([&] { return ::open(path.c_str(), flags, mode.permissions); }));
  if (!descriptor.valid()) {
    return base::fail_errno(errno, (mode.exclusive ? "create " : "open ") + path);
  }
  return std::unique_ptr<PlainFile>(new PlainFile(path, std::move(descriptor)));
}

base::Result<void> PlainFile::truncate(int64_t size) {
  TESSERA_ASSERT(size >= 0);
  return check(uninterrupted([&] { return ::ftruncate(descriptor(), size); }),
               "set the size of " + path() + " to " + std::to_string(size));
}

base::Result<int64_t> PlainFile::size() {
  struct stat status {};
  TESSERA_TRY_VOID(check(::fstat(descriptor(), &status), "get the size of " + path()));
  return int64_t{status.st_size};
}

base::Result<void> PlainFile::sync() {
  // Not repeated on EINTR: whatever the reason, a sync that failed has promised nothing (D3).
  return check(::fsync(descriptor()), "sync " + path());
}

base::Result<void> PlainFile::reserve(int64_t size) {
  TESSERA_ASSERT(size >= 0);
  if (size == 0) return {};
  if (uninterrupted([&] { return ::fallocate(descriptor(), 0, 0, size); }) == 0) return {};
  if (errno != EOPNOTSUPP && errno != ENOSYS) {
    return base::fail_errno(errno, "reserve " + std::to_string(size) + " bytes of " + path());
  }
  return extend_with_zeros(*this, size);
}

base::Result<void> PlainFile::reserve_range(int64_t begin, int64_t end) {
  TESSERA_ASSERT(0 <= begin && begin < end);
  return check(uninterrupted([&] { return ::fallocate(descriptor(), 0, begin, end - begin); }),
               "reserve" + range_text(begin, end) + " of " + path());
}

base::Result<void> extend_with_zeros(File& file, int64_t size) {
  TESSERA_TRY(int64_t end, file.size());
  const base::Bytes zeros(size_t{1} << 20);
  while (end < size) {
    const auto piece = std::min(size - end, base::exact_cast<int64_t>(zeros.size()));
    const auto bytes = base::ByteView(zeros).first(static_cast<size_t>(piece));
    TESSERA_TRY_VOID(file.write_at(end, bytes).status);
    end += piece;
  }
  return {};
}

base::Result<void> PlainFile::lock_range(int64_t begin, int64_t end, RangeLock lock) {
  TESSERA_ASSERT(0 <= begin && begin < end);
  struct flock range {};
  range.l_type = lock_type(lock);
  range.l_whence = SEEK_SET;
  range.l_start = begin;
  range.l_len = end - begin;
  int answer = uninterrupted([&] { return ::fcntl(descriptor(), F_OFD_SETLKW, &range); });
  // Where the system has no locks of open files, those of processes still keep programs apart.
  if (answer == -1 && errno == EINVAL) {
    answer = uninterrupted([&] { return ::fcntl(descriptor(), F_SETLKW, &range); });
  }
  return check(answer, lock_name(lock) + path() + range_text(begin, end));
}

base::Result<bool> PlainFile::try_lock_range(int64_t begin, int64_t end, RangeLock lock) {
  TESSERA_ASSERT(0 <= begin && begin < end);
  struct flock range {};
  range.l_type = lock_type(lock);
  range.l_whence = SEEK_SET;
  range.l_start = begin;
  range.l_len = end - begin;
  const int answer = uninterrupted([&] { return ::fcntl(descriptor(), F_OFD_SETLK, &range); });
  if (answer == -1 && (errno == EAGAIN || errno == EACCES)) return false;
  TESSERA_TRY_VOID(check(answer, lock_name(lock) + path() + range_text(begin, end)));
  return true;
}

base::Result<PlainFile::Identity> PlainFile::identity() const {
  struct stat status {};
  TESSERA_TRY_VOID(check(::fstat(descriptor(), &status), "get the identity of " + path()));
  return Identity{uint64_t{status.st_dev}, uint64_t{status.st_ino}};
}

bool PlainFile::is_local() const {
  Suits suits = mapping_suits_.load(std::memory_order_relaxed);
  if (suits == Suits::kUnknown) {
    suits = lies_here(descriptor()) ? Suits::kYes : Suits::kNo;
    mapping_suits_.store(suits, std::memory_order_relaxed);
  }
  return suits == Suits::kYes;
}

bool PlainFile::is_cached(int64_t offset) const {
  char byte = 0;
  const iovec memory = {&byte, 1};
  const ssize_t answer =
      uninterrupted([&] { return ::preadv2(descriptor(), &memory, 1, offset, RWF_NOWAIT); });
  // Systems that cannot read without waiting keep files in memory, or do not say.
  return answer >= 0 || errno == EOPNOTSUPP;
}

base::Result<void> PlainFile::mark_changed() {
  return check(::futimens(descriptor(), nullptr), "set the time of the last change of " + path());
}

// One run of memory does without the list of runs, which the kernel is quicker with.
File::Attempt PlainFile::read_some(int64_t offset, std::span<const iovec> memory) {
  const iovec& first = memory.front();
  const ssize_t answer =
      memory.size() == 1
          ? ::pread(descriptor(), first.iov_base, first.iov_len, offset)
          : ::preadv(descriptor(), memory.data(), base::exact_cast<int>(memory.size()), offset);
  return answer < 0 ? Attempt{0, errno} : Attempt{answer, 0};
}

File::Attempt PlainFile::write_some(int64_t offset, std::span<const iovec> memory) {
  const iovec& first = memory.front();
  const ssize_t answer =
      memory.size() == 1
          ? ::pwrite(descriptor(), first.iov_base, first.iov_len, offset)
          : ::pwritev(descriptor(), memory.data(), base::exact_cast<int>(memory.size()), offset);
  return answer < 0 ? Attempt{0, errno} : Attempt{answer, 0};
}

int64_t PlainFile::read_bulk(std::span<const ReadSegment> segments) {
  const RingUse use = ring_use_;
  if (use == RingUse::kAutomatic && ring_suits_ == Suits::kUnknown) {
    ring_suits_ = ring_suits_reads(descriptor()) ? Suits::kYes : Suits::kNo;
  }
  if (use == RingUse::kAutomatic && ring_suits_ == Suits::kNo) return 0;
  return read_by_ring(descriptor(), segments, use);
}

int64_t PlainFile::write_bulk(std::span<const WriteSegment> segments) {
  return write_by_ring(descriptor(), segments, ring_use_);
}

}  // namespace tessera::port
