// Object files as text and JSON.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/show_model.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

[[nodiscard]] std::string show_text(const ObjectFileFacts& facts);
[[nodiscard]] std::string show_json(const ObjectFileFacts& facts,
                                    const container::Contents& contents);

// The writers, at most so many; also for pages.
[[nodiscard]] Table writer_table(const ObjectFileFacts& facts, size_t writers_max);
// "4 of every 16 bytes from byte 8 on"
[[nodiscard]] std::string view_text(const container::WriterView& view);

}  // namespace tessera::cli
