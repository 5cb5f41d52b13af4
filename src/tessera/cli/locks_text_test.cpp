#include "tessera/cli/locks_text.hpp"

#include <gtest/gtest.h>

#include "tessera/base/json.hpp"

namespace tessera::cli {
namespace {

lock::LockRow row(const std::string& file, lock::LockId lock, lock::LockState state,
                  int64_t age_ns) {
  return {.lock = lock,
          .file = file,
          .client = "c",
          .state = state,
          .age_ns = age_ns,
          .lease_left_ns = -5,
          .size_bytes = 10,
          .runs = 1,
          .begin = 0,
          .end = 10};
}

LockServerState server() {
  using enum lock::LockState;
  return {"unix:/x",
          {.epoch = ~uint64_t{0}, .in_grace = true, .requests = 4, .held = 2, .early = 1},
          {row("b", {1, 1}, kWaiting, 50), row("b", {1, 2}, kHeld, 10), row("b", {2, 1}, kHeld, 20),
           row("a", {~uint64_t{0}, ~uint64_t{0}}, kWaiting, 1)}};
}

TEST(LocksText, FilesByNameThenHoldersThenTheOldest) {
  const std::string text = locks_text({server()});
  size_t last = 0;
  for (const char* lock :
       {"18446744073709551615.18446744073709551615 ", " 2.1 ", " 1.2 ", " 1.1 "}) {
    const size_t at = text.find(lock);
    ASSERT_NE(at, text.npos) << lock;
    EXPECT_GT(at, last) << lock;
    last = at;
  }
  EXPECT_NE(text.find("4 requests"), text.npos);
  EXPECT_NE(text.find("2 held, 2 waiting"), text.npos);
  EXPECT_NE(text.find("restarted"), text.npos);
  EXPECT_EQ(text.find('-'), text.npos) << "a lease that is over has nothing left";
}

// The largest numbers that a server can send are no reason to give up.
TEST(LocksText, JsonHoldsWhatAServerMaySay) {
  const LockServerLook gone = base::fail(base::Code::kNotFound, "it is \x1b gone");
  for (const auto style : {base::JsonWriter::Style::kPretty, base::JsonWriter::Style::kCompact}) {
    const std::string text = locks_json({server(), gone}, style);
    EXPECT_TRUE(base::Json::parse(text)) << text;
    EXPECT_NE(text.find("ffffffffffffffff"), text.npos);
    EXPECT_NE(text.find("gone"), text.npos);
  }
  EXPECT_EQ(locks_text({gone}), "it is ? gone\n");
}

}  // namespace
}  // namespace tessera::cli
