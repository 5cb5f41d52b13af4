// TESSERA_HOT: a function on the way of an access that takes less than a microsecond.
//
// The linker puts such functions side by side. Where several ranks share a core, each of them finds
// nothing of its own in the caches when its turn comes; then an access costs as many microseconds
// as it touches pages of the program, not as it has instructions.
#pragma once

#define TESSERA_HOT [[gnu::hot]]
