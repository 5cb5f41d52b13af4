#include "tessera/cli/table.hpp"

#include <gtest/gtest.h>

namespace tessera::cli {
namespace {

TEST(Printable, CharactersStay) {
  EXPECT_EQ(printable(""), "");
  EXPECT_EQ(printable("a b~"), "a b~");
  EXPECT_EQ(printable("\u00e4\u20ac\U0001f512\u00a0"), "\u00e4\u20ac\U0001f512\u00a0");
}

TEST(Printable, WhatControlsATerminalDoesNot) {
  EXPECT_EQ(printable("\x1b[2J\n\r\t\x7f"), "?[2J????");
  EXPECT_EQ(printable("\u0080\u009b\u009fx"), "???x");
}

TEST(Printable, WhatIsNoCharacterDoesNot) {
  EXPECT_EQ(printable("\x9b\xff"), "??");
  EXPECT_EQ(printable("a\xc3"), "a?");
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a?b");
}

}  // namespace
}  // namespace tessera::cli
