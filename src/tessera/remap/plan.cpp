#include "tessera/remap/plan.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "tessera/base/checked.hpp"
#include "tessera/pattern/join.hpp"

namespace tessera::remap {

namespace {

using base::Code;
using base::Result;
using pattern::Join;
using pattern::Pattern;

// All pairs of a shelf (P3).
Result<Join> pairs_of(const Shelf& shelf) {
  TESSERA_TRY(const Pattern places, Pattern::run({{0}}, shelf.bytes.size()));
  return pattern::join(shelf.bytes.ascending(), places);
}

Result<ByteSet> bytes_of_view(const container::WriterView& view, int64_t size) {
  const Interval span = view.tile.span();
  if (view.extent <= 0 || view.displacement < 0 || span.begin < 0 ||
      view.displacement > pattern::kMaxLine - span.end) {
    return base::fail(Code::kIntegrity, "the view of process " + std::to_string(view.process) +
                                            " that the object file records makes no sense");
  }
  const int64_t first = view.displacement + span.begin;
  if (view.tile.empty() || first >= size) return ByteSet();
  const int64_t tiles = base::ceil_div(size - first, view.extent);
  TESSERA_TRY(const Pattern shifted, view.tile.shifted({{view.displacement}}));
  TESSERA_TRY(const Pattern all, pattern::repeat(shifted, tiles, {{view.extent}}));
  TESSERA_TRY(const ByteSet bytes, ByteSet::of(all));
  return bytes.within({0, size});
}

}  // namespace

int64_t Plan::stored_bytes() const {
  int64_t bytes = 0;
  for (const Shelf& shelf : shelves) bytes += shelf.bytes.size();
  return bytes;
}

int64_t Plan::extra_bytes() const {
  int64_t bytes = 0;
  for (const Shelf& shelf : shelves) bytes += shelf.copies.size();
  return bytes;
}

Interval Plan::hull() const {
  if (shelves.empty()) return {0, 0};
  Interval hull = shelves.front().bytes.span();
  for (const Shelf& shelf : shelves) {
    const Interval span = shelf.bytes.span();
    hull = {std::min(hull.begin, span.begin), std::max(hull.end, span.end)};
  }
  return hull;
}

Result<Plan> make_plan(int64_t size, std::span<const Consumer> consumers, PlanOptions options) {
  Plan plan;
  plan.size = size;
  ByteSet shown;
  for (const Consumer& consumer : consumers) {
    Shelf shelf = {consumer.process, consumer.bytes.within({0, size}), {}};
    TESSERA_TRY(ByteSet first, pattern::subtract(shelf.bytes, shown));
    TESSERA_TRY(shown, pattern::unite(shown, shelf.bytes));
    if (options.sharing == Sharing::kOnce) {
      shelf.bytes = std::move(first);
    } else {
      TESSERA_TRY(shelf.copies, pattern::subtract(shelf.bytes, first));
    }
    if (!shelf.bytes.empty()) plan.shelves.push_back(std::move(shelf));
  }
  TESSERA_TRY(ByteSet rest, shown.complement({0, size}));
  if (options.keep_rest && !rest.empty()) plan.shelves.push_back({kNobody, std::move(rest), {}});
  return plan;
}

Result<Plan> restrict_plan(const Plan& plan, const ByteSet& bytes) {
  Plan restricted;
  restricted.size = plan.size;
  for (const Shelf& shelf : plan.shelves) {
    Shelf part;
    part.manager = shelf.manager;
    TESSERA_TRY(part.bytes, pattern::intersect(shelf.bytes, bytes));
    TESSERA_TRY(part.copies, pattern::intersect(shelf.copies, bytes));
    if (!part.bytes.empty()) restricted.shelves.push_back(std::move(part));
  }
  return restricted;
}

Result<map::FileMap> map_of(const Plan& plan, map::AllocationId first_id, uint64_t epoch) {
  std::vector<map::Piece> visible;
  std::vector<map::Piece> replicas;
  map::AllocationId id = first_id;
  for (const Shelf& shelf : plan.shelves) {
    TESSERA_TRY(const Join pairs, pairs_of(shelf));
    if (shelf.copies.empty()) {
      visible.push_back({id++, epoch, pairs});
      continue;
    }
    TESSERA_TRY(const ByteSet first, pattern::subtract(shelf.bytes, shelf.copies));
    TESSERA_TRY(Join shown, pattern::restrict(pairs, first));
    TESSERA_TRY(Join copied, pattern::restrict(pairs, shelf.copies));
    if (!shown.empty()) visible.push_back({id, epoch, std::move(shown)});
    replicas.push_back({id++, epoch, std::move(copied)});
  }
  return map::FileMap::of(visible, replicas, epoch);
}

Result<std::vector<Consumer>> consumers_of(const object::ViewsFile& file) {
  std::vector<Consumer> consumers;
  for (const object::NamedView& view : file.views) {
    if (!std::in_range<int32_t>(view.process)) {
      return base::fail(Code::kInvalid, "process " + std::to_string(view.process) +
                                            " has a number too large for an object file, which "
                                            "knows those below 2^31");
    }
    consumers.push_back({static_cast<int32_t>(view.process), view.bytes, view.name});
  }
  return consumers;
}

Result<std::vector<Consumer>> consumers_of(const container::Contents& contents, int64_t size) {
  std::map<int32_t, ByteSet> views;
  for (const container::WriterView& view : contents.views) {
    TESSERA_TRY(views[view.process], bytes_of_view(view, size));
  }
  if (views.empty()) {
    return base::fail(Code::kInvalid,
                      "the object file records no views; give them in a views file instead");
  }
  std::vector<Consumer> consumers;
  for (auto& [process, bytes] : views) {
    consumers.push_back({process, std::move(bytes), container::view_name(contents, process)});
  }
  return consumers;
}

object::ViewsFile views_file_of(std::span<const Consumer> consumers, int64_t size) {
  object::ViewsFile file;
  file.range = {0, size};
  for (const Consumer& consumer : consumers) {
    const std::string number = "P" + std::to_string(consumer.process);
    file.views.push_back({consumer.process, consumer.name.empty() ? number : consumer.name,
                          consumer.bytes.within(file.range)});
  }
  return file;
}

container::WriterView writer_view(const Consumer& consumer, int64_t size) {
  const int64_t begin = consumer.bytes.span().begin;
  container::WriterView view;
  view.process = consumer.process;
  view.displacement = begin;
  view.extent = std::max(size, consumer.bytes.span().end);
  // Towards 0, so the bounds of positions hold.
  view.tile = consumer.bytes.ascending().shifted({{-begin}}).value();
  return view;
}

void record_views(std::span<const Consumer> consumers, int64_t size,
                  container::Contents& contents) {
  contents.views.clear();
  container::forget_view_names(contents);
  for (const Consumer& consumer : consumers) {
    if (consumer.bytes.empty()) continue;
    contents.views.push_back(writer_view(consumer, size));
    container::set_view_name(contents, consumer.process, consumer.name);
  }
}

}  // namespace tessera::remap
