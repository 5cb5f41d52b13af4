#include "tessera/port/memory_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <string>

#include "tessera/base/assert.hpp"
#include "tessera/base/checked.hpp"
#include "tessera/port/size_limit.hpp"
#include "tessera/port/system_call.hpp"

namespace tessera::port {

namespace {

struct flock byte_lock(short type, int64_t number) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = number;
  range.l_len = 1;
  return range;
}

}  // namespace

Mapping::~Mapping() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

base::Result<MemoryFile> MemoryFile::create(int64_t size) {
  Descriptor descriptor(::memfd_create("tessera", MFD_CLOEXEC));
  if (!descriptor.valid()) return base::fail_errno(errno, "make a memory file");
  MemoryFile file(std::move(descriptor));
  TESSERA_TRY_VOID(file.grow(size));
  return file;
}

base::Result<MemoryFile> MemoryFile::open(int64_t process, int64_t descriptor) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  // Whatever is found there, opening it waits for nobody.
  Descriptor opened(uninterrupted(
      [&] { return ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (!opened.valid()) return base::fail_errno(errno, "open the memory file " + path);
  struct stat status {};
  TESSERA_TRY_VOID(check(::fstat(opened.number(), &status), "look at the memory file " + path));
  if (!S_ISREG(status.st_mode)) return base::fail(base::Code::kInvalid, path + " is no file");
  return MemoryFile(std::move(opened));
}

base::Result<int64_t> MemoryFile::size() const {
  struct stat status {};
  TESSERA_TRY_VOID(check(::fstat(descriptor(), &status), "get the size of a memory file"));
  return int64_t{status.st_size};
}

base::Result<void> MemoryFile::grow(int64_t size) {
  const WithoutSizeSignal quiet;
  return check(uninterrupted([&] { return ::ftruncate(descriptor(), size); }),
               "grow a memory file to " + std::to_string(size) + " bytes");
}

base::Result<Mapping> MemoryFile::map(int64_t offset, int64_t length) const {
  TESSERA_ASSERT(offset >= 0 && length > 0);
  const auto bytes = base::exact_cast<size_t>(length);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor(), offset);
  if (memory == MAP_FAILED) {
    return base::fail_errno(errno, "map " + std::to_string(length) + " bytes of a memory file");
  }
  // Most systems do not give them to shared memory, which is no error.
  (void)::madvise(memory, bytes, MADV_HUGEPAGE);
  return Mapping({static_cast<std::byte*>(memory), bytes});
}

bool MemoryFile::try_own(int64_t number) const {
  struct flock range = byte_lock(F_WRLCK, number);
  return uninterrupted([&] { return ::fcntl(descriptor(), F_OFD_SETLK, &range); }) != -1;
}

void MemoryFile::disown(int64_t number) const {
  struct flock range = byte_lock(F_UNLCK, number);
  (void)uninterrupted([&] { return ::fcntl(descriptor(), F_OFD_SETLK, &range); });
}

}  // namespace tessera::port
