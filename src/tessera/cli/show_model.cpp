#include "tessera/cli/show_model.hpp"

#include <fmt/core.h>

#include "tessera/container/space.hpp"
#include "tessera/pattern/line.hpp"
#include "tessera/pattern/view.hpp"

namespace tessera::cli {

using base::Result;
using container::Contents;
using pattern::ByteSet;

namespace {

using Writers = std::map<int32_t, WriterFacts>;

Result<ByteSet> bytes_of(const container::WriterView& view, int64_t size) {
  pattern::Datatype type;
  type.bytes = view.tile;
  type.extent = view.extent;
  TESSERA_TRY(const pattern::View whole,
              pattern::View::make(view.displacement, type, view.etype_size));
  return whole.within({0, size});
}

// In how many runs a process reads its bytes: from a place that has all of them, be it with copies,
// as programs do, or from wherever they are visible.
std::optional<int64_t> read_runs(const Contents& contents, const ByteSet& bytes) {
  constexpr map::AllocationId kAny = 0;
  if (const auto whole = contents.map.find_whole(bytes, kAny)) return whole->places.runs();
  const auto found = contents.map.find(bytes);
  if (!found) return std::nullopt;
  int64_t runs = 0;
  for (const map::Part& part : found->parts) runs += part.places.runs();
  return runs;
}

ViewFacts view_facts(const Contents& contents, const container::WriterView& view,
                     const Result<ByteSet>& bytes) {
  ViewFacts facts{view, std::nullopt, std::nullopt};
  if (!bytes) return facts;
  facts.size_bytes = bytes->size();
  facts.read_runs = read_runs(contents, *bytes);
  return facts;
}

// The views of all writers, and who shares what of them.
std::optional<Shown> add_views(const std::string& path, const Contents& contents,
                               Writers& writers) {
  std::vector<object::ProcessView> views;
  Names names;
  // Object sets end a little before the largest files do.
  const bool fits = contents.size > 0 && contents.size < pattern::kMaxLine;
  bool all = fits && !contents.views.empty();
  for (const container::WriterView& view : contents.views) {
    const Result<ByteSet> bytes = bytes_of(view, contents.size);
    WriterFacts& writer = writers[view.process];
    writer.process = view.process;
    writer.view = view_facts(contents, view, bytes);
    names[view.process] = process_name(view.process);
    all = all && bytes;
    if (bytes) views.push_back({view.process, *bytes});
  }
  if (!all) return std::nullopt;
  auto objects = object::ObjectSet::of({0, contents.size}, views);
  if (!objects) return std::nullopt;
  return Shown{path, *std::move(objects), std::move(names)};
}

void add_allocations(const Contents& contents, Writers& writers, ObjectFileFacts& facts) {
  for (const container::Allocation& allocation : contents.allocations) {
    WriterFacts& writer = writers[allocation.manager];
    writer.process = allocation.manager;
    ++writer.allocations;
    writer.allocated_bytes += allocation.place.length();
    facts.allocated_bytes += allocation.place.length();
    facts.dead_bytes += allocation.place.length() - contents.map.live_bytes(allocation.id);
  }
}

}  // namespace

Result<ObjectFileFacts> facts_of(const std::string& path, const container::Superblock& superblock,
                                 const Contents& contents) {
  TESSERA_TRY(const auto used, container::used_space(superblock, contents.allocations));
  ObjectFileFacts facts;
  facts.path = path;
  facts.superblock = superblock;
  facts.visible_bytes = contents.map.covered_bytes();
  facts.allocations = std::ssize(contents.allocations);
  facts.free_bytes = container::Space(used, 1).gap_bytes();
  facts.pieces = contents.map.piece_count();
  facts.runs = contents.map.run_count();
  facts.attributes = contents.attributes;
  Writers writers;
  add_allocations(contents, writers, facts);
  contents.map.for_each([&](const map::Piece& piece) {
    WriterFacts& writer = writers[contents.find(piece.allocation)->manager];
    writer.visible_bytes += piece.pairs.size();
    writer.runs += piece.pairs.runs();
  });
  contents.map.for_each_replica(
      [&](const map::Piece& piece) { facts.replica_bytes += piece.pairs.size(); });
  facts.objects = add_views(path, contents, writers);
  for (auto& [process, writer] : writers) facts.writers.push_back(std::move(writer));
  return facts;
}

std::string id_text(const container::FileId& id) {
  std::string text;
  for (const std::byte byte : id) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

std::string process_name(int32_t process) {
  // What no view has is nobody's.
  return process < 0 ? "nobody" : fmt::format("P{}", process);
}

}  // namespace tessera::cli
