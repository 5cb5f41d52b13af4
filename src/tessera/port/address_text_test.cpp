#include "tessera/port/address_text.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace tessera::port {
namespace {

TEST(AddressText, TextsHaveOneForm) {
  using Pair = std::pair<const char*, const char*>;
  for (const auto& [given, text] :
       {Pair{"unix:/run/x", "unix:/run/x"}, Pair{"unix:a:b", "unix:a:b"},
        Pair{"tcp:node7:7000", "tcp:node7:7000"}, Pair{"node7:7000", "tcp:node7:7000"},
        Pair{"10.0.0.1:07000", "tcp:10.0.0.1:7000"}, Pair{"[::1]:80", "tcp:[::1]:80"},
        Pair{"tcp:[::1]:0", "tcp:[::1]:0"}}) {
    const auto parsed = parse_address_text(given);
    ASSERT_TRUE(parsed) << given;
    EXPECT_EQ(parsed->text(), text);
    EXPECT_EQ(parse_address_text(parsed->text())->text(), text);
  }
}

TEST(AddressText, OthersAreRefused) {
  for (const char* given :
       {"", "unix:", "tcp:80", "node7", ":7000", "tcp:", "tcp::7000", "node7:", "node7:x",
        "node7:65536", "node7:-1", "node7: 7", "::1:80", "tcp:::1:80"}) {
    const auto parsed = parse_address_text(given);
    ASSERT_FALSE(parsed) << given;
    EXPECT_EQ(parsed.error().code, base::Code::kInvalid);
    EXPECT_NE(parsed.error().message().find(given), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::port
