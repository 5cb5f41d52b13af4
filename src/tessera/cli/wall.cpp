#include "tessera/cli/wall.hpp"

#include <fmt/core.h>

#include <utility>

#include "tessera/base/checked.hpp"

namespace tessera::cli {

using base::Result;

namespace {

void add_view(Shown& shown, int64_t process, std::string name) {
  shown.names[base::exact_cast<object::Process>(process)] = std::move(name);
}

}  // namespace

Result<Shown> reader_objects(const Wall& wall) {
  Shown shown{"tile readers", object::ObjectSet({0, wall.file_bytes()}), {}};
  for (int64_t reader = 0; reader < wall.readers(); ++reader) {
    add_view(shown, reader, fmt::format("TR{}", reader));
    TESSERA_TRY_VOID(
        shown.objects.add(base::exact_cast<object::Process>(reader), reader_view(wall, reader)));
  }
  return shown;
}

Result<Shown> writer_objects(const Wall& wall, int64_t writers) {
  Shown shown{"tile writers", object::ObjectSet({0, wall.file_bytes()}), {}};
  for (int64_t writer = 0; writer < writers; ++writer) {
    add_view(shown, writer, fmt::format("TW{}", writer));
    TESSERA_TRY_VOID(shown.objects.add(base::exact_cast<object::Process>(writer),
                                       writer_view(wall, writer, writers)));
  }
  return shown;
}

}  // namespace tessera::cli
