// The translator of paper 0, as a plan on paper: which objects of the readers a written object
// meets, and where their bytes lie in the file that is laid out for the readers.
//
// For small sets that a person looks at; the translator that moves bytes is remap/.
// Thread safety: pure functions on values.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/object/object_set.hpp"

namespace tessera::cli {

// One written object, and the numbers of the reader objects it meets, ascending.
struct Lookup {
  object::Object written;
  std::vector<int64_t> met;
};

// Cost: O(objects of both).
[[nodiscard]] std::vector<Lookup> look_up(const object::ObjectSet& writers,
                                          const object::ObjectSet& readers);

// A copy of an object in the readers' file.
struct Copy {
  int64_t object = 0;  // its number in the readers' set
  pattern::Interval at;
};

// The part of the readers' file that one reader reads, in one run.
struct Section {
  object::Process reader = 0;
  pattern::Interval at;
  std::vector<Copy> copies;
};

// Figure 8: the objects of each reader one after another, shared ones replicated.
// Cost: O(objects x sharers).
[[nodiscard]] std::vector<Section> replicated_layout(const object::ObjectSet& readers);

}  // namespace tessera::cli
