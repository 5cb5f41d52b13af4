// The locks of servers as people and programs read them.
//
// Names come from clients, so whatever they hold, a terminal sees only characters of them.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/json_writer.hpp"
#include "tessera/base/result.hpp"
#include "tessera/cli/lock_administrator.hpp"

namespace tessera::cli {

// A server, or why it could not be looked at.
using LockServerLook = base::Result<LockServerState>;

// A line and a table for each server: files by name, for each the holders first, the oldest first.
[[nodiscard]] std::string locks_text(const std::vector<LockServerLook>& servers);
[[nodiscard]] std::string locks_json(const std::vector<LockServerLook>& servers,
                                     base::JsonWriter::Style style);
// One request in one line, for a question.
[[nodiscard]] std::string lock_line(const lock::LockRow& row);

}  // namespace tessera::cli
