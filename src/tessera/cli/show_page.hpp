// Object files as a page: which process's bytes lie where.
//
// Thread safety: pure functions.
#pragma once

#include <string>

#include "tessera/cli/show_model.hpp"

namespace tessera::cli {

[[nodiscard]] std::string show_page(const ObjectFileFacts& facts,
                                    const container::Contents& contents);

// A row for each writer, the first kPictureRows of them and one for all others, so that no colour
// has to be told from another; the darker a place, the more of its bytes are the writer's. A
// bounded number of shapes. Cost: O(mappings).
inline constexpr size_t kPictureRows = 16;
// From left to right the file.
[[nodiscard]] std::string file_order_picture(const ObjectFileFacts& facts,
                                             const container::Contents& contents);
// From left to right the container, with rows for what is no writer's.
[[nodiscard]] std::string container_order_picture(const ObjectFileFacts& facts,
                                                  const container::Contents& contents);

}  // namespace tessera::cli
