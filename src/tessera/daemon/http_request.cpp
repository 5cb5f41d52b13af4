#include "tessera/daemon/http_request.hpp"

#include <algorithm>

namespace tessera::daemon {

namespace {

enum class Kind { kIncomplete, kMalformed, kOtherMethod, kGet, kHead };

struct HttpRequest {
  Kind kind = Kind::kIncomplete;
  std::string path = {};  // of the last two, without what follows a '?'
};

// A word of capital letters; of something else the bytes are no request, however many follow.
bool is_method(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(),
                                      [](char letter) { return letter >= 'A' && letter <= 'Z'; });
}

HttpRequest parse_line(std::string_view line) {
  const size_t first = line.find(' ');
  const size_t second = line.rfind(' ');
  if (first == line.npos || first == second) return {Kind::kMalformed, {}};
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, second - first - 1);
  if (!is_method(method) || target.empty() || !line.substr(second + 1).starts_with("HTTP/1.")) {
    return {Kind::kMalformed, {}};
  }
  if (method != "GET" && method != "HEAD") return {Kind::kOtherMethod, {}};
  return {method == "GET" ? Kind::kGet : Kind::kHead,
          std::string(target.substr(0, target.find('?')))};
}

HttpRequest parse_http_request(std::string_view received) {
  const size_t line_end = received.find("\r\n");
  if (line_end != received.npos) {
    HttpRequest request = parse_line(received.substr(0, line_end));
    const bool whole = received.find("\r\n\r\n", line_end) != received.npos;
    if (whole || request.kind == Kind::kMalformed) return request;
  }
  const size_t word_end = std::min(received.find(' '), received.size());
  const bool nonsense = word_end > 0 && !is_method(received.substr(0, word_end));
  if (nonsense || received.size() > kHttpHeadBytesMax) return {Kind::kMalformed, {}};
  return {};
}

// With the body, or for HEAD only the length of it.
std::string http_response(const char* status, const char* type, const std::string& body,
                          bool with_body = true) {
  return std::string("HTTP/1.1 ") + status + "\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
         (with_body ? body : "");
}

}  // namespace

std::optional<std::string> http_answer(std::string_view received, std::string_view path,
                                       const std::function<std::optional<std::string>()>& page) {
  constexpr const char* kText = "text/plain; charset=utf-8";
  const HttpRequest request = parse_http_request(received);
  if (request.kind == Kind::kIncomplete) return std::nullopt;
  if (request.kind == Kind::kMalformed) {
    return http_response("400 Bad Request", kText, "no request\n");
  }
  if (request.kind == Kind::kOtherMethod) {
    return http_response("405 Method Not Allowed", kText, "only GET and HEAD\n");
  }
  const bool with_body = request.kind == Kind::kGet;
  if (request.path != path) {
    return http_response("404 Not Found", kText, "there is only " + std::string(path) + "\n",
                         with_body);
  }
  const std::optional<std::string> body = page();
  if (!body) {
    return http_response("503 Service Unavailable", kText, "busy\n", with_body);
  }
  return http_response("200 OK", "text/plain; version=0.0.4; charset=utf-8", *body, with_body);
}

}  // namespace tessera::daemon
