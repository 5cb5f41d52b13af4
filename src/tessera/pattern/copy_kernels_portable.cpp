// The copy kernels in plain C++, for every processor.
#include <cstring>

#include "tessera/pattern/copy_kernels_streams.hpp"

namespace tessera::pattern {
namespace {

struct Portable {
  static constexpr int kStep = 16;

  template <int N>
  static void move(std::byte* out, const std::byte* in) {
    std::byte bytes[N];
    std::memcpy(bytes, in, N);
    std::memcpy(out, bytes, N);
  }
  static void move_line(std::byte* out, const std::byte* in) { move<64>(out, in); }
  static void join(std::byte* out, const std::byte* first, const std::byte* second) {
    move<8>(out, first);
    move<8>(out + 8, second);
  }
  static void stream_line(std::byte* out, const std::byte* in) { move<64>(out, in); }
  static void move_within_line(std::byte* out, const std::byte* in, int64_t length) {
    loops::move_any<Portable>(out, in, length);
  }
  static void prefetch(const std::byte* at) { __builtin_prefetch(at, 0, 3); }
  static void prefetch_far(const std::byte* at) { __builtin_prefetch(at, 0, 2); }
  static void prefetch_write(const std::byte* at) { __builtin_prefetch(at, 1, 3); }
  static void pause() {}
};

}  // namespace

const CopyTable* copy_table_portable() { return &loops::table<Portable>(); }

}  // namespace tessera::pattern
