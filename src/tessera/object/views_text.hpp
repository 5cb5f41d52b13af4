// The text of a views file: the inverse of parse_views() (views_file.hpp).
//
// Each view is written as its bytes are built: a repetition as a vector, a sequence as a list of
// intervals or places, or as a struct of such parts. So regular views take a line of some hundred
// characters however many runs they have, and irregular ones about twenty characters a run.
//   (W1) parse_views() of the text gives the same range, processes, names and bytes.
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "tessera/base/result.hpp"
#include "tessera/object/views_file.hpp"

namespace tessera::object {

// `comment`, where it is not empty, is the first key of the text, so that whoever knows it can tell
// by its begin what a file is about. Fails with kInvalid if there is no view, no byte in the
// range, or a negative process, with kTooComplex if the text would be one that parse_views()
// refuses: see the limits in docs/formats/views.md. Requires names of 1 to 200 bytes, and bytes
// inside the range. Cost: O(text).
[[nodiscard]] base::Result<std::string> text_of_views(const ViewsFile& file,
                                                      std::string_view comment = {});

// How a text with this comment begins.
[[nodiscard]] std::string text_begin(std::string_view comment);

}  // namespace tessera::object
