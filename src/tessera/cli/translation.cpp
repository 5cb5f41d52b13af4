#include "tessera/cli/translation.hpp"

#include <algorithm>
#include <utility>

namespace tessera::cli {

using object::Object;

std::vector<Lookup> look_up(const object::ObjectSet& writers, const object::ObjectSet& readers) {
  // Objects are numbered in file order, so the first that is met gives the numbers of the others.
  const std::vector<Object> numbered = readers.meeting(readers.range());
  std::vector<Lookup> lookups;
  for (const Object& written : writers.meeting(writers.range())) {
    Lookup lookup{written, {}};
    for (const Object& met : readers.meeting(written.bytes)) {
      const auto found = std::lower_bound(
          numbered.begin(), numbered.end(), met.bytes.begin,
          [](const Object& object, int64_t begin) { return object.bytes.begin < begin; });
      lookup.met.push_back(found - numbered.begin());
    }
    lookups.push_back(std::move(lookup));
  }
  return lookups;
}

std::vector<Section> replicated_layout(const object::ObjectSet& readers) {
  const std::vector<Object> objects = readers.meeting(readers.range());
  std::vector<Section> sections;
  int64_t end = 0;
  for (const object::Process reader : readers.processes()) {
    Section section{reader, {end, end}, {}};
    for (size_t i = 0; i < objects.size(); ++i) {
      const auto sharers = readers.sharers(objects[i].sharers);
      if (!std::binary_search(sharers.begin(), sharers.end(), reader)) continue;
      const int64_t begin = std::exchange(end, end + objects[i].bytes.length());
      section.copies.push_back({static_cast<int64_t>(i), {begin, end}});
    }
    section.at.end = end;
    sections.push_back(std::move(section));
  }
  return sections;
}

}  // namespace tessera::cli
