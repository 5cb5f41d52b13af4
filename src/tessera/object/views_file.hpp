// Views files: the views of all processes of a job, as people and programs write them down.
//
// A JSON text names a range of the file and, for each process, a datatype placed at a displacement;
// docs/formats/views.md describes it. Parsing builds each view compressed, so a short text may
// describe billions of runs; texts that would need more than bounded work are refused with
// kTooComplex, all others that are wrong with kInvalid and a message that names the view, the key
// and the cause. Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/result.hpp"
#include "tessera/object/object_set.hpp"
#include "tessera/object/sharers.hpp"
#include "tessera/pattern/byte_set.hpp"

namespace tessera::object {

// Texts with more views are refused.
inline constexpr int64_t kMaxViews = int64_t{1} << 17;

struct NamedView {
  Process process = 0;
  std::string name;        // "P3" where the text gives none
  pattern::ByteSet bytes;  // inside the range
};

struct ViewsFile {
  pattern::Interval range;
  bool disjoint = false;         // the text asserts that no two views share a byte
  std::vector<NamedView> views;  // in the order of the text; processes are distinct
};

// Cost: O(text) for views that ascend; ordering others is bounded, see docs/formats/views.md.
[[nodiscard]] base::Result<ViewsFile> parse_views(std::string_view text);

// The object set of all views. Fails with kInvalid, naming two views and the first byte they share,
// if the file asks for disjoint views and they are not; with kTooComplex if the sets of sharers
// would take more than 256 MiB or the work, by estimate, a minute.
[[nodiscard]] base::Result<ObjectSet> object_set_of(const ViewsFile& file);

}  // namespace tessera::object
