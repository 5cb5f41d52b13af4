// The environment variables that Tessera reads, and those that were meant to be one of them.
//
// A misspelt variable would be ignored without a word, since only known names are looked up. Names
// that are far from all known ones are left alone: scripts keep variables of their own.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

namespace tessera::move {

// One sentence for each variable of `environment` (as environ, null at its end) that begins with
// TESSERA_, is not known and nearly spelt like a known one, for example
// "TESSERA_ENGIN is not a variable of Tessera; did you mean TESSERA_ENGINE?".
[[nodiscard]] std::vector<std::string> misspelt_variables(const char* const* environment);

}  // namespace tessera::move
