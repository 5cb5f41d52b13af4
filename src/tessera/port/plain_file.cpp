#include "tessera/port/plain_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/base/hot.hpp"
#include "tessera/port/file_mapping.hpp"
#include "tessera/port/size_limit.hpp"
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
  if (mode.direct) flags |= O_DIRECT;
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

// One run of memory does without the list of runs, which the kernel is quicker with.
ssize_t read_once(int descriptor, int64_t offset, std::span<const iovec> memory) {
  const iovec& first = memory.front();
  return memory.size() == 1
             ? ::pread(descriptor, first.iov_base, first.iov_len, offset)
             : ::preadv(descriptor, memory.data(), base::exact_cast<int>(memory.size()), offset);
}

ssize_t write_once(int descriptor, int64_t offset, std::span<const iovec> memory) {
  const iovec& first = memory.front();
  return memory.size() == 1
             ? ::pwrite(descriptor, first.iov_base, first.iov_len, offset)
             : ::pwritev(descriptor, memory.data(), base::exact_cast<int>(memory.size()), offset);
}

// A transfer of one run behind an emulated store: as much as one request takes of it.
template <typename Once>
ssize_t request_once(const EmulatedStore& store, std::span<const iovec> memory, Once once) {
  RequestMeter meter(store);
  size_t bytes = 0;
  for (const iovec& part : memory) bytes += part.iov_len;
  auto left = static_cast<size_t>(meter.admit(base::exact_cast<int64_t>(bytes)));
  size_t whole = 0;
  while (whole < memory.size() && memory[whole].iov_len <= left) left -= memory[whole++].iov_len;
  if (whole > 0) return once(memory.first(whole));
  const iovec cut = {memory.front().iov_base, left};
  return once(std::span(&cut, 1));
}

// Moves a list behind an emulated store, request by request; the bytes moved before one that met
// the end of the file or failed.
template <typename Segment, typename Once>
int64_t list_by_requests(const EmulatedStore& store, std::span<const Segment> segments, Once once) {
  RequestMeter meter(store);
  int64_t moved = 0;
  for (const Segment& segment : segments) {
    for (int64_t at = 0; at < std::ssize(segment.memory);) {
      const int64_t part = meter.admit(std::ssize(segment.memory) - at);
      const auto memory =
          segment.memory.subspan(static_cast<size_t>(at), static_cast<size_t>(part));
      const ssize_t done = once(segment.offset + at, memory);
      moved += std::max<ssize_t>(0, done);
      if (done < part) return moved;
      at += part;
    }
  }
  return moved;
}

struct flock range_of(int64_t begin, int64_t end, RangeLock lock) {
  struct flock range {};
  range.l_type = lock_type(lock);
  range.l_whence = SEEK_SET;
  range.l_start = begin;
  range.l_len = end - begin;
  return range;
}

}  // namespace

PlainFile::PlainFile(std::string path, Descriptor descriptor, EmulatedStore store)
    : File(std::move(path)), descriptor_(std::move(descriptor)), store_(store) {}

base::Result<std::unique_ptr<PlainFile>> PlainFile::open_regular(const std::string& path,
                                                                 const OpenMode& mode) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return base::fail_errno(errno, "cannot open " + path);
  if (S_ISREG(status.st_mode)) return open(path, mode);
  const bool folder = S_ISDIR(status.st_mode);
  return base::fail(base::Code::kInvalid, path + (folder ? " is a directory; name a file"
                                                         : " is not a regular file; name one"));
}

PlainFile::~PlainFile() = default;

base::Result<std::unique_ptr<PlainFile>> PlainFile::open(const std::string& path,
                                                         const OpenMode& mode) {
  return open_as(path, path, mode);
}

base::Result<std::unique_ptr<PlainFile>> PlainFile::open_as(const std::string& path,
                                                            const std::string& place,
                                                            const OpenMode& mode) {
  TESSERA_TRY(const EmulatedStore store, EmulatedStore::from_environment());
  const int flags = open_flags(mode);
  Descriptor descriptor(
      uninterrupted([&] { return ::open(place.c_str(), flags, mode.permissions); }));
  if (!descriptor.valid()) {
    return base::fail_errno(errno, (mode.exclusive ? "create " : "open ") + path);
  }
  return std::unique_ptr<PlainFile>(new PlainFile(path, std::move(descriptor), store));
}

base::Result<std::unique_ptr<PlainFile>> PlainFile::open_unnamed(const std::string& path,
                                                                 mode_t permissions) {
  TESSERA_TRY(const EmulatedStore store, EmulatedStore::from_environment());
  const std::string directory = directory_of(path);
  constexpr int kFlags = O_TMPFILE | O_RDWR | O_CLOEXEC;
  Descriptor descriptor(
      uninterrupted([&] { return ::open(directory.c_str(), kFlags, permissions); }));
  if (descriptor.valid()) {
    return std::unique_ptr<PlainFile>(new PlainFile(path, std::move(descriptor), store));
  }
  // A kernel or a file system that does not know the flag sees a directory that is to be written.
  const bool unknown = errno == EISDIR || errno == EINVAL || errno == ENOSYS || errno == EPERM;
  return base::fail_errno(unknown ? EOPNOTSUPP : errno, "create " + path);
}

base::Result<void> PlainFile::truncate(int64_t size) {
  TESSERA_ASSERT(size >= 0);
  const WithoutSizeSignal quiet;
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
  // Not fsync: the time of the last change is not worth another write to the disk.
  return check(::fdatasync(descriptor()), "sync " + path());
}

void PlainFile::begin_write_back(int64_t offset, int64_t size_bytes) {
  // An error of the disk stays for sync() to find; file systems that cannot do it do not.
  (void)::sync_file_range(descriptor(), offset, size_bytes, SYNC_FILE_RANGE_WRITE);
}

base::Result<void> PlainFile::reserve(int64_t size) {
  TESSERA_ASSERT(size >= 0);
  if (size == 0) return {};
  const WithoutSizeSignal quiet;
  if (uninterrupted([&] { return ::fallocate(descriptor(), 0, 0, size); }) == 0) return {};
  if (errno != EOPNOTSUPP && !is_missing_call(errno)) {
    return base::fail_errno(errno, "reserve " + std::to_string(size) + " bytes of " + path());
  }
  return extend_with_zeros(*this, size);
}

base::Result<void> PlainFile::reserve_range(int64_t begin, int64_t end) {
  TESSERA_ASSERT(0 <= begin && begin < end);
  // The system asks only where the file becomes longer.
  if (end > size_limit()) return base::fail_errno(EFBIG, "reserve" + range_text(begin, end));
  const WithoutSizeSignal quiet;
  if (uninterrupted([&] { return ::fallocate(descriptor(), 0, begin, end - begin); }) == 0) {
    return {};
  }
  return base::fail_errno(is_missing_call(errno) ? EOPNOTSUPP : errno,
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
  if (store_.on()) {
    return base::fail_errno(EOPNOTSUPP, lock_name(lock) + path() + range_text(begin, end));
  }
  struct flock range = range_of(begin, end, lock);
  int answer = uninterrupted([&] { return ::fcntl(descriptor(), F_OFD_SETLKW, &range); });
  // Where the system has no locks of open files, those of processes still keep programs apart.
  if (answer == -1 && errno == EINVAL) {
    answer = uninterrupted([&] { return ::fcntl(descriptor(), F_SETLKW, &range); });
  }
  if (answer != -1) return {};
  return base::fail_errno(errno, lock_name(lock) + path() + range_text(begin, end));
}

base::Result<bool> PlainFile::try_lock_range(int64_t begin, int64_t end, RangeLock lock) {
  TESSERA_ASSERT(0 <= begin && begin < end);
  if (store_.on()) {
    return base::fail_errno(EOPNOTSUPP, lock_name(lock) + path() + range_text(begin, end));
  }
  struct flock range = range_of(begin, end, lock);
  const int answer = uninterrupted([&] { return ::fcntl(descriptor(), F_OFD_SETLK, &range); });
  if (answer != -1) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return base::fail_errno(errno, lock_name(lock) + path() + range_text(begin, end));
}

bool PlainFile::is_locked_elsewhere(int64_t begin, int64_t end, RangeLock lock) const {
  TESSERA_ASSERT(0 <= begin && begin < end);
  if (store_.on()) return false;
  struct flock range = range_of(begin, end, lock);
  return ::fcntl(descriptor(), F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

base::Result<PlainFile::Identity> PlainFile::identity() const {
  struct stat status {};
  TESSERA_TRY_VOID(check(::fstat(descriptor(), &status), "get the identity of " + path()));
  return Identity{uint64_t{status.st_dev}, uint64_t{status.st_ino}};
}

TESSERA_HOT bool PlainFile::is_local() const {
  if (store_.on()) return false;
  Suits suits = mapping_suits_.load(std::memory_order_relaxed);
  if (suits == Suits::kUnknown) {
    suits = lies_here(descriptor()) ? Suits::kYes : Suits::kNo;
    mapping_suits_.store(suits, std::memory_order_relaxed);
  }
  return suits == Suits::kYes;
}

std::shared_ptr<const FileMapping> PlainFile::emulated_pages() {
  const auto now = size();
  if (!now || *now == 0) return nullptr;
  return pages_.with([&](std::shared_ptr<const FileMapping>& kept) {
    if (!kept || kept->end() != *now) {
      auto mapped = FileMapping::map(*this, 0, *now, Access::kReadWrite);
      kept = mapped ? std::make_shared<const FileMapping>(*std::move(mapped)) : nullptr;
    }
    return kept;
  });
}

bool PlainFile::is_cached(int64_t offset) const {
  char byte = 0;
  const iovec memory = {&byte, 1};
  const ssize_t answer =
      uninterrupted([&] { return ::preadv2(descriptor(), &memory, 1, offset, RWF_NOWAIT); });
  // Systems that cannot read without waiting keep files in memory, or do not say.
  return answer >= 0 || errno == EOPNOTSUPP || is_missing_call(errno);
}

bool PlainFile::is_hole(int64_t offset) const {
  const off_t data = ::lseek(descriptor(), offset, SEEK_DATA);
  return data < 0 ? errno == ENXIO : data > offset;
}

File::Attempt PlainFile::read_some(int64_t offset, std::span<const iovec> memory) {
  const auto once = [&](std::span<const iovec> part) {
    return read_once(descriptor(), offset, part);
  };
  const ssize_t answer = store_.on() ? request_once(store_, memory, once) : once(memory);
  return answer < 0 ? Attempt{0, errno} : Attempt{answer, 0};
}

// Whether a write that ends there may be answered with a signal. Asking takes half as long as a
// write of 4 KiB.
bool PlainFile::is_limited(int64_t end) {
  const uint64_t changes = limit_changes();
  if (end <= unlimited_end_.load(std::memory_order_relaxed) &&
      changes == unlimited_changes_.load(std::memory_order_relaxed)) {
    return false;
  }
  if (has_size_limit()) return true;
  unlimited_end_.store(end, std::memory_order_relaxed);
  unlimited_changes_.store(changes, std::memory_order_relaxed);
  return false;
}

File::Attempt PlainFile::write_some(int64_t offset, std::span<const iovec> memory) {
  const auto once = [&](std::span<const iovec> part) {
    return write_once(descriptor(), offset, part);
  };
  int64_t end = offset;
  for (const iovec& part : memory) end += static_cast<int64_t>(part.iov_len);
  std::optional<WithoutSizeSignal> quiet;
  if (is_limited(end)) quiet.emplace();
  const ssize_t answer = store_.on() ? request_once(store_, memory, once) : once(memory);
  return answer < 0 ? Attempt{0, errno} : Attempt{answer, 0};
}

int64_t PlainFile::read_bulk(std::span<const ReadSegment> segments) {
  if (store_.on()) {
    return list_by_requests(store_, segments, [&](int64_t offset, std::span<std::byte> memory) {
      return ::pread(descriptor(), memory.data(), memory.size(), offset);
    });
  }
  const RingUse use = ring_use_;
  if (use == RingUse::kAutomatic && ring_suits_ == Suits::kUnknown) {
    ring_suits_ = ring_suits_reads(descriptor()) ? Suits::kYes : Suits::kNo;
  }
  if (use == RingUse::kAutomatic && ring_suits_ == Suits::kNo) return 0;
  return read_by_ring(descriptor(), segments, use);
}

int64_t PlainFile::read_apart(std::span<const ReadSegment> segments) {
  if (store_.on() || ring_use_ == RingUse::kNever) return 0;
  return read_by_ring(descriptor(), segments, RingUse::kApart);
}

int64_t PlainFile::write_bulk(std::span<const WriteSegment> segments) {
  int64_t end = 0;
  for (const WriteSegment& segment : segments) {
    end = std::max(end, segment.offset + std::ssize(segment.memory));
  }
  // The ring may write in another thread, which would get the signal.
  if (is_limited(end)) return 0;
  if (store_.on()) {
    // By system calls, writers would take turns at the lock of the file, and the store would not
    // serve them at once.
    const auto pages = emulated_pages();
    return list_by_requests(store_, segments, [&](int64_t offset, base::ByteView memory) {
      const bool inside = pages && offset + std::ssize(memory) <= pages->end();
      if (inside && pages->store(offset, memory)) return std::ssize(memory);
      return ::pwrite(descriptor(), memory.data(), memory.size(), offset);
    });
  }
  return write_by_ring(descriptor(), segments, ring_use_);
}

}  // namespace tessera::port
