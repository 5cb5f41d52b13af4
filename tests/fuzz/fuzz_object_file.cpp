// Any bytes as an object file that a program opens, reads, writes, cuts and commits; checksums are
// made right where they are in the way. Whatever is opened must answer every call with success or
// an error, and hold what was written to it once that was committed.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "container_image.hpp"
#include "tessera/base/assert.hpp"
#include "tessera/cache/linear_file.hpp"
#include "tessera/cache/object_file.hpp"
#include "tessera/port/seeded_random.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/sim_disk.hpp"

namespace {

using namespace tessera::cache;
using tessera::base::Bytes;
namespace port = tessera::port;

constexpr char kPath[] = "f";
constexpr size_t kReadBytes = size_t{1} << 16;

class Program {
 public:
  explicit Program(const Bytes& image) : disk_(port::DiskImage{{{kPath, image}}, {}}) {}

  void run(bool verify) {
    read_only(verify);
    auto objects = open(true, verify);
    if (!objects) return;
    const int64_t size = objects->size().value();
    read(*objects, size);
    if (!write(*objects, size / 2, 'a') || !write(*objects, 0, 'b')) return;
    if (!objects->set_size(size / 2 + 1)) return;
    if (!write(*objects, 1, 'c') || !objects->commit()) return;
    TESSERA_ASSERT(letter_at(*objects, 1) == 'c');
    if (!write(*objects, 1, 'd') || !objects->close()) return;
    objects = open(false, verify);
    TESSERA_ASSERT(objects && letter_at(*objects, 1) == 'd');
  }

 private:
  std::unique_ptr<ObjectFile> open(bool write, bool verify) {
    ObjectFileOptions options;
    options.write = write;
    options.verify = verify;
    port::SeededRandom ids(7);
    auto opened = ObjectFile::open(*file_, {team_, &team_, numbers_, true}, ids, options);
    return opened ? *std::move(opened) : nullptr;
  }

  void read_only(bool verify) {
    const auto objects = open(false, verify);
    if (!objects) return;
    const int64_t size = objects->size().value();
    read(*objects, size);
    read(*objects, size / 2);
  }

  // The bytes up to the end.
  static void read(ObjectFile& objects, int64_t end) {
    Bytes memory(kReadBytes);
    const int64_t begin = std::max<int64_t>(0, end - std::ssize(memory));
    static_cast<void>(LinearFile(objects).read_at(begin, memory));
  }

  static bool write(ObjectFile& objects, int64_t at, char letter) {
    const Bytes memory(3, static_cast<std::byte>(letter));
    return static_cast<bool>(LinearFile(objects).write_at(at, memory));
  }

  static char letter_at(ObjectFile& objects, int64_t at) {
    Bytes memory(1);
    TESSERA_ASSERT(LinearFile(objects).read_at(at, memory));
    return static_cast<char>(memory.front());
  }

  port::SimDisk disk_;
  std::unique_ptr<port::File> file_ = disk_.open(kPath, port::Access::kReadWrite).value();
  port::SelfTeam team_;
  OwnNumbers numbers_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  Bytes image(input.begin(), input.end());
  if (!tessera::fuzz::repair_image(image)) return 0;
  Program(image).run(true);
  Program(image).run(false);
  return 0;
}
