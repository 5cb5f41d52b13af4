// A file drawn as a line of text: one row for each view, and the objects they cut it into.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/summary.hpp"

namespace tessera::cli {

// The picture of a small set: a ruler, a row for each process ('#' every byte of the column is in
// its view, ':' some are, '.' none), and a row of objects that shows where each begins. Requires
// is_small().
[[nodiscard]] std::string draw_objects(const Shown& shown);

// The picture of any set in one row: how many processes share the most shared byte that was looked
// at in each column ('.' none, 1 to 9, '+' more). At most kLookedAtMax objects are looked at
// in each.
[[nodiscard]] std::string draw_sharing(const Shown& shown);

}  // namespace tessera::cli
