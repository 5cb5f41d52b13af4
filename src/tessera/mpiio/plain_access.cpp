#include "tessera/mpiio/plain_access.hpp"

#include "tessera/base/checked.hpp"
#include "tessera/base/hot.hpp"
#include "tessera/mpiio/journal.hpp"

namespace tessera::mpiio {

namespace {

// Longer ones may be mapped, if they are long enough or a hint asks for it.
constexpr int64_t kPlainBytesMax = int64_t{1} << 20;

// Whether accesses of the file need nothing but the transfer.
TESSERA_HOT bool is_plain(const OpenFile& file, const Access& access) {
  const int forbidden =
      access.direction == move::Direction::kRead ? MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  const bool locks_simply = !file.atomic || file.locks->locks_runs_by_ranges();
  return !file.objects && file.view.dense && locks_simply && !is_shared(access.pointer) &&
         (file.amode & (forbidden | MPI_MODE_SEQUENTIAL)) == 0 && !Journal::get().on();
}

}  // namespace

TESSERA_HOT std::optional<PlainRun> as_plain(const OpenFile& file, const Access& access,
                                             const Buffer& buffer) {
  if (!is_plain(file, access)) return std::nullopt;
  const int64_t size = dense_size(buffer.type);
  const int64_t etype = access.pointer == Pointer::kExplicit ? access.offset : file.position;
  if (size == 0 || buffer.count < 0 || etype < 0) return std::nullopt;
  const auto bytes = base::checked_mul(buffer.count, size);
  const auto begin = base::checked_mul(etype, file.view.etype_size);
  if (!bytes || !begin || *bytes % file.view.etype_size != 0) return std::nullopt;
  const auto offset = base::checked_add(file.view.displacement, *begin);
  const auto end = offset ? base::checked_add(*offset, *bytes) : std::nullopt;
  if (!end || *end > pattern::kMaxPosition || *bytes >= kPlainBytesMax) return std::nullopt;
  return PlainRun{access.direction,
                  *offset,
                  {static_cast<std::byte*>(buffer.address), static_cast<size_t>(*bytes)}};
}

}  // namespace tessera::mpiio
