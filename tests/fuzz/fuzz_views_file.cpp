// Fuzzes views files: whatever the text says, reading it and building its object set ends within
// bounded time and memory, in objects that keep their invariants or in a one-line message; and
// views that were read are written as a text that says the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/base/assert.hpp"
#include "tessera/object/object_set.hpp"
#include "tessera/object/views_file.hpp"
#include "tessera/object/views_text.hpp"

namespace {

using tessera::object::Object;
using tessera::object::ObjectSet;
using tessera::object::ViewsFile;

void expect_one_line(const tessera::base::Error& error) {
  TESSERA_ASSERT(!error.message().empty());
  TESSERA_ASSERT(error.message().find('\n') == std::string::npos);
}

// (O1) and (O2) for the first objects of a set.
void check_objects(const ObjectSet& objects) {
  int64_t looked_at = 0;
  Object last;
  objects.for_each_meeting(objects.range(), [&](const Object& object) {
    TESSERA_ASSERT(!object.bytes.empty() && objects.range().contains(object.bytes));
    TESSERA_ASSERT(!objects.sharers(object.sharers).empty());
    if (looked_at > 0) {
      TESSERA_ASSERT(last.bytes.end <= object.bytes.begin);
      TESSERA_ASSERT(last.bytes.end < object.bytes.begin || last.sharers != object.sharers);
    }
    last = object;
    return ++looked_at < 1000;
  });
}

// (W1) of views_text.hpp.
void check_text(const ViewsFile& file) {
  const auto text = tessera::object::text_of_views(file);
  if (!text) {
    expect_one_line(text.error());
    return;
  }
  const auto read = tessera::object::parse_views(*text);
  TESSERA_ASSERT(read && read->range == file.range && read->views.size() == file.views.size());
  for (size_t i = 0; i < file.views.size(); ++i) {
    TESSERA_ASSERT(read->views[i].process == file.views[i].process);
    TESSERA_ASSERT(read->views[i].bytes.size() == file.views[i].bytes.size());
    const auto same = equal(read->views[i].bytes, file.views[i].bytes);
    TESSERA_ASSERT(!same || *same);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size_bytes) {
  const std::string_view text(reinterpret_cast<const char*>(data), size_bytes);
  const auto file = tessera::object::parse_views(text);
  if (!file) {
    expect_one_line(file.error());
    return 0;
  }
  for (const auto& view : file->views) {
    TESSERA_ASSERT(view.bytes.empty() || file->range.contains(view.bytes.span()));
  }
  check_text(*file);
  const auto objects = tessera::object::object_set_of(*file);
  if (objects) {
    check_objects(*objects);
  } else {
    expect_one_line(objects.error());
  }
  return 0;
}
