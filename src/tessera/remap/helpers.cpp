#include "tessera/remap/helpers.hpp"

#include <memory>
#include <utility>

#include "tessera/base/bytes.hpp"
#include "tessera/pattern/encode.hpp"
#include "tessera/port/posix_disk.hpp"

namespace tessera::remap {

namespace {

using base::ByteReader;
using base::Bytes;
using base::ByteWriter;
using base::Result;
using container::Allocation;
using container::Contents;

enum class Kind : uint8_t { kIdle, kFill, kLayOutAnew, kEnd };

// A fill as it was told.
struct Task {
  Contents found;
  uint64_t sequence = 0;
  int64_t begin = 0;
  int64_t block_bytes = 0;
  Plan plan;
};

Bytes encode(Kind kind) { return {static_cast<std::byte>(kind)}; }

Bytes encode(const HelpedFill& job) {
  Bytes told = encode(Kind::kFill);
  ByteWriter writer(told);
  writer.u64(job.sequence);
  writer.signed_varint(job.begin);
  writer.signed_varint(job.block_bytes);
  writer.sized_bytes(container::encode_contents(job.found));
  writer.signed_varint(job.plan.size);
  writer.varint(job.plan.shelves.size());
  for (const Shelf& shelf : job.plan.shelves) {
    writer.signed_varint(shelf.manager);
    writer.sized_bytes(pattern::encode(shelf.bytes.ascending()));
    writer.sized_bytes(pattern::encode(shelf.copies.ascending()));
  }
  return told;
}

Result<ByteSet> decode_set(ByteReader& reader) {
  pattern::DecodeLimits limits;
  limits.max_items = pattern::kMaxWeight;
  TESSERA_TRY(const base::ByteView bytes, reader.sized_bytes());
  TESSERA_TRY(pattern::Pattern set, pattern::decode<1>(bytes, limits));
  return ByteSet::of_ascending(std::move(set));
}

Result<Task> decode_task(ByteReader& reader) {
  Task task;
  TESSERA_TRY(task.sequence, reader.u64());
  TESSERA_TRY(task.begin, reader.signed_varint());
  TESSERA_TRY(task.block_bytes, reader.signed_varint());
  TESSERA_TRY(const base::ByteView contents, reader.sized_bytes());
  TESSERA_TRY(task.found, container::decode_contents(contents));
  TESSERA_TRY(task.plan.size, reader.signed_varint());
  TESSERA_TRY(const uint64_t shelves, reader.varint());
  for (uint64_t i = 0; i < shelves; ++i) {
    Shelf shelf;
    TESSERA_TRY(const int64_t manager, reader.signed_varint());
    shelf.manager = static_cast<int32_t>(manager);
    TESSERA_TRY(shelf.bytes, decode_set(reader));
    TESSERA_TRY(shelf.copies, decode_set(reader));
    task.plan.shelves.push_back(std::move(shelf));
  }
  return task;
}

FillOptions fill_options(bool syncs) {
  FillOptions options;
  options.syncs = syncs;
  return options;
}

// One rank's part of a fill that it was told.
Result<void> help_to_fill(port::Exchange& exchange, ByteReader& reader, const Request& request,
                          bool syncs) {
  Task task;
  std::unique_ptr<port::File> in;
  std::unique_ptr<port::File> out;
  const auto prepare = [&]() -> Result<void> {
    TESSERA_TRY(task, decode_task(reader));
    port::PosixDisk disk;
    TESSERA_TRY(in, disk.open(path_of(request.in), port::Access::kRead));
    TESSERA_TRY(out, disk.open(path_of(request.out), port::Access::kReadWrite));
    return {};
  };
  TESSERA_TRY_VOID(exchange.agree(prepare()));
  ObjectSource source(*in, std::move(task.found), task.sequence);
  const Layout layout = layout_of(task.plan, task.begin, task.block_bytes);
  const auto filled = fill({exchange, source, *out, task.plan, layout}, 0, fill_options(syncs));
  return filled ? Result<void>() : base::failure_of(filled);
}

}  // namespace

Request anew(const Request& request, bool syncs) {
  Request again = request;
  again.in = request.out;
  again.options.existing = port::Existing::kReplace;
  again.options.fill.syncs = syncs;
  return again;
}

Result<void> Helpers::idle() {
  const auto told = exchange_.broadcast(0, encode(Kind::kIdle));
  return told ? Result<void>() : base::failure_of(told);
}

Result<std::vector<Allocation>> Helpers::fill(const HelpedFill& job, map::AllocationId first_id) {
  TESSERA_TRY(const Bytes told, exchange_.broadcast(0, encode(job)));
  TESSERA_TRY_VOID(exchange_.agree({}));
  ObjectSource source(job.in, job.found, job.sequence);
  const Layout layout = layout_of(job.plan, job.begin, job.block_bytes);
  return remap::fill({exchange_, source, job.out, job.plan, layout}, first_id,
                     fill_options(syncs_));
}

Result<RemapReport> Helpers::lay_out_anew(const Request& request) {
  TESSERA_TRY(const Bytes told, exchange_.broadcast(0, encode(Kind::kLayOutAnew)));
  return run_on_machine(exchange_, anew(request, syncs_));
}

void Helpers::end(const Result<void>& verdict) {
  if (exchange_.broadcast(0, encode(Kind::kEnd))) static_cast<void>(exchange_.agree(verdict));
}

Result<void> help(port::Exchange& exchange, const Request& request, bool syncs,
                  const std::function<void()>& pause) {
  while (true) {
    TESSERA_TRY(const Bytes told, exchange.broadcast(0, {}));
    ByteReader reader(told);
    TESSERA_TRY(const uint8_t kind, reader.u8());
    // What fails here fails on the first rank too, which goes on or ends.
    switch (static_cast<Kind>(kind)) {
      case Kind::kIdle:
        pause();
        break;
      case Kind::kFill:
        static_cast<void>(help_to_fill(exchange, reader, request, syncs));
        break;
      case Kind::kLayOutAnew:
        static_cast<void>(run_on_machine(exchange, anew(request, syncs)));
        break;
      case Kind::kEnd:
        return exchange.agree({});
    }
  }
}

}  // namespace tessera::remap
