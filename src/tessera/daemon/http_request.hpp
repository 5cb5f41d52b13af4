// The little of HTTP that somebody who only shows one page needs to understand.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tessera::daemon {

// Bytes up to the end of the head; whoever sends more of them wants something else.
inline constexpr size_t kHttpHeadBytesMax = 8192;

// The whole answer to the bytes that a client has sent so far, or nothing while its request is not
// there yet. GET and HEAD of `path` are answered by what `page` makes, 503 if it makes nothing;
// other paths by 404, other methods by 405, what is no request by 400. The connection is to be
// closed after it.
[[nodiscard]] std::optional<std::string> http_answer(
    std::string_view received, std::string_view path,
    const std::function<std::optional<std::string>()>& page);
}  // namespace tessera::daemon
