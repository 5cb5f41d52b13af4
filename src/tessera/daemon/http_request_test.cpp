#include "tessera/daemon/http_request.hpp"

#include <gtest/gtest.h>

namespace tessera::daemon {
namespace {

std::optional<std::string> answer(const std::string& received) {
  return http_answer(received, "/metrics", [] { return std::optional<std::string>("page\n"); });
}

TEST(HttpRequest, ThePageIsShown) {
  const std::string shown = answer("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").value();
  EXPECT_TRUE(shown.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_NE(shown.find("text/plain; version=0.0.4"), shown.npos);
  EXPECT_NE(shown.find("Content-Length: 5\r\n"), shown.npos);
  EXPECT_TRUE(shown.ends_with("\r\n\r\npage\n"));
  EXPECT_EQ(answer("GET /metrics?x=1 HTTP/1.0\r\n\r\n"), shown);
  EXPECT_TRUE(answer("HEAD /metrics HTTP/1.1\r\n\r\n")->ends_with("\r\n\r\n"));
}

TEST(HttpRequest, NothingElseIs) {
  for (const auto& [request, status] : std::vector<std::pair<std::string, std::string>>{
           {"GET / HTTP/1.1\r\n\r\n", "404"},
           {"GET /metrics/ HTTP/1.1\r\n\r\n", "404"},
           {"POST /metrics HTTP/1.1\r\n\r\n", "405"},
           {"GET /metrics\r\n\r\n", "400"},
           {"GET /metrics FTP/1.1\r\n", "400"},
           {"\r\n", "400"},
           {std::string("\0\xff\x01 garbage", 11), "400"},
           {"get /metrics HTTP/1.1\r\n\r\n", "400"},
           {std::string(kHttpHeadBytesMax + 1, 'A'), "400"},
           {"GET / HTTP/1.1\r\n" + std::string(kHttpHeadBytesMax, 'x'), "400"}}) {
    EXPECT_TRUE(answer(request).value().starts_with("HTTP/1.1 " + status)) << request;
  }
  EXPECT_TRUE(http_answer("GET /metrics HTTP/1.1\r\n\r\n", "/metrics", [] {
                return std::optional<std::string>();
              })->starts_with("HTTP/1.1 503"));
}

TEST(HttpRequest, HalfARequestIsWaitedFor) {
  const std::string request = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
  for (size_t i = 0; i < request.size(); ++i) EXPECT_FALSE(answer(request.substr(0, i))) << i;
}

}  // namespace
}  // namespace tessera::daemon
