// TESSERA_HOT: a function on the way of an access that takes less than a microsecond.
//
// The linker puts such functions side by side, so that together they take few pages. Where several
// ranks share a core, the others have used its caches when the turn of one comes; then what an
// access touches counts besides what it computes.
#pragma once

#define TESSERA_HOT [[gnu::hot]]
