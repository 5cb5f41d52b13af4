#include "tessera/mpiio/elements.hpp"

#include <utility>

#include "tessera/base/assert.hpp"

namespace tessera::mpiio {

namespace {

bool same_basic(const Basic& a, const Basic& b) {
  return a.coding == b.coding && a.native_bytes == b.native_bytes &&
         a.external_bytes == b.external_bytes && a.numbers == b.numbers;
}

ElementsPtr copies_of(const Basic& basic, int64_t copies) {
  Elements result;
  result.copies = copies;
  result.basic = basic;
  result.native_size = copies * basic.native_size();
  result.external_size = copies * basic.external_size();
  result.count = copies;
  result.basic_size = copies > 0 ? basic.native_size() : 0;
  result.resizes = copies > 0 && basic.native_bytes != basic.external_bytes;
  return std::make_shared<const Elements>(std::move(result));
}

ElementsPtr list_of(std::vector<ElementsPtr> parts, int64_t copies) {
  Elements result;
  result.copies = copies;
  result.basic_size = parts.front()->basic_size;
  for (const ElementsPtr& part : parts) {
    result.native_size += copies * part->native_size;
    result.external_size += copies * part->external_size;
    result.count += copies * part->count;
    result.resizes = result.resizes || part->resizes;
    if (part->basic_size != result.basic_size) result.basic_size = 0;
  }
  result.parts = std::move(parts);
  return std::make_shared<const Elements>(std::move(result));
}

}  // namespace

ElementsPtr element(const Basic& basic) { return copies_of(basic, 1); }

ElementsPtr repeated(const ElementsPtr& elements, int64_t copies) {
  TESSERA_ASSERT(copies >= 0);
  if (copies == 1) return elements;
  if (copies == 0 || elements->count == 0) return copies_of({}, 0);
  if (elements->parts.empty()) return copies_of(elements->basic, elements->copies * copies);
  return list_of({elements}, copies);
}

ElementsPtr sequence(const std::vector<ElementsPtr>& parts) {
  std::vector<ElementsPtr> kept;
  for (const ElementsPtr& part : parts) {
    if (part->count == 0) continue;
    const bool joins = !kept.empty() && kept.back()->parts.empty() && part->parts.empty() &&
                       same_basic(kept.back()->basic, part->basic);
    if (joins) {
      kept.back() = copies_of(part->basic, kept.back()->copies + part->copies);
    } else {
      kept.push_back(part);
    }
  }
  if (kept.empty()) return copies_of({}, 0);
  return kept.size() == 1 ? kept.front() : list_of(std::move(kept), 1);
}

}  // namespace tessera::mpiio
