// What an object file holds, told by a process that is no MPI job: object_probe FILE COPY.
//
// Checks the container and copies the logical bytes to a plain file. Prints a line for each
// finding; the exit code is 0 if the file is sound.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

#include "tessera/cache/linear_file.hpp"
#include "tessera/container/checker.hpp"
#include "tessera/port/plain_file.hpp"
#include "tessera/port/self_team.hpp"
#include "tessera/port/system_random.hpp"

namespace {

using tessera::base::Result;
namespace cache = tessera::cache;
namespace port = tessera::port;

constexpr int64_t kPartBytes = int64_t{1} << 20;

Result<void> copy_bytes(port::File& from, port::File& to) {
  TESSERA_TRY(const int64_t size, from.size());
  std::vector<std::byte> part(static_cast<size_t>(kPartBytes));
  for (int64_t at = 0; at < size; at += kPartBytes) {
    const auto count = static_cast<size_t>(std::min(kPartBytes, size - at));
    TESSERA_TRY_VOID(from.read_at(at, std::span(part).first(count)).status);
    TESSERA_TRY_VOID(to.write_at(at, std::span(part).first(count)).status);
  }
  return {};
}

Result<int> probe(const char* path, const char* copy) {
  TESSERA_TRY(const auto file, port::PlainFile::open(path, {}));
  TESSERA_TRY(const auto report, tessera::container::check(*file));
  for (const std::string& finding : report.findings) std::printf("%s\n", finding.c_str());
  port::SelfTeam team;
  cache::OwnNumbers numbers;
  port::SystemRandom random;
  TESSERA_TRY(const auto objects,
              cache::ObjectFile::open(*file, {team, &team, numbers, true}, random, {}));
  port::OpenMode mode;
  mode.write = true;
  mode.create = true;
  TESSERA_TRY(const auto out, port::PlainFile::open(copy, mode));
  cache::LinearFile linear(*objects);
  TESSERA_TRY_VOID(copy_bytes(linear, *out));
  return report.sound() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto done = probe(argv[1], argv[2]);
  if (!done) std::printf("%s\n", done.error().message().c_str());
  return done ? *done : 1;
}
