// Pictures of object sets, as SVG for a page.
//
// Colours tell how many processes share what is drawn; pointing at it tells who and which bytes.
// Every picture is drawn from the object set, not from how it came about.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tessera/cli/summary.hpp"
#include "tessera/cli/translation.hpp"
#include "tessera/cli/wall.hpp"

namespace tessera::cli {

// The file as a line: a row for each view, and the objects below. Requires is_small().
[[nodiscard]] std::string line_picture(const Shown& shown);

// Any set as one strip: the largest number of sharers at each place, of the first kLookedAtMax
// objects there.
[[nodiscard]] std::string strip_picture(const Shown& shown);

// The image of a small wall with the objects of its readers and the outlines of their tiles.
[[nodiscard]] std::string tiles_picture(const Wall& wall, const Shown& readers);

// The image of a small wall with the rows of its writers.
[[nodiscard]] std::string rows_picture(const Wall& wall, const Shown& writers);

// A large wall as a map of who shares what.
[[nodiscard]] std::string wall_picture(const Wall& wall, const Shown& readers,
                                       const std::vector<object::Family>& families);

// The midpoint tree that holds the objects of a small set.
[[nodiscard]] std::string tree_picture(const Shown& shown);

// From written objects to reader objects to the readers' sections of the new file.
[[nodiscard]] std::string translator_picture(const Shown& writers, const Shown& readers,
                                             const std::vector<Lookup>& lookups,
                                             const std::vector<Section>& layout);

// The readers' file: a section for each reader.
[[nodiscard]] std::string layout_picture(const Shown& readers, const std::vector<Section>& layout);

// "O4: bytes [80, 100), shared by TR0 TR1 TR2 TR3"
[[nodiscard]] std::string object_title(const Shown& shown, int64_t number,
                                       const object::Object& object);
[[nodiscard]] int64_t sharer_count(const Shown& shown, object::SharersId id);

}  // namespace tessera::cli
