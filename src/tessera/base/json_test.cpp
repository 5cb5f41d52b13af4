#include "tessera/base/json.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "tessera/base/json_writer.hpp"

namespace tessera::base {
namespace {

std::string error_of(std::string_view text, const JsonLimits& limits = {}) {
  const auto json = Json::parse(text, limits);
  if (json) return "accepted";
  EXPECT_EQ(json.error().code, Code::kInvalid);
  return json.error().message();
}

std::string rewritten(std::string_view text) {
  const auto json = Json::parse(text);
  if (!json) return json.error().message();
  JsonWriter writer(JsonWriter::Style::kCompact);
  writer.value(*json);
  return writer.finish();
}

TEST(Json, ReadsEveryKind) {
  const auto json = Json::parse(" {\"a\": [null, true, false, -7, 0.5, \"x\"],\n  \"b\": {}} ");
  ASSERT_TRUE(json) << json.error().message();
  const Json::Array& a = *json->find("a")->array();
  ASSERT_EQ(a.size(), 6U);
  EXPECT_TRUE(a[0].is_null());
  EXPECT_TRUE(*a[1].boolean());
  EXPECT_FALSE(*a[2].boolean());
  EXPECT_EQ(*a[3].integer(), -7);
  EXPECT_EQ(*a[4].real(), 0.5);
  EXPECT_EQ(*a[5].string(), "x");
  EXPECT_TRUE(json->find("b")->object()->empty());
  EXPECT_EQ(json->find("c"), nullptr);
  EXPECT_EQ(json->array(), nullptr);
  EXPECT_STREQ(a[3].kind_name(), "an integer");
  EXPECT_EQ(to_string(json->find("b")->place()), "line 2, column 8");
}

TEST(Json, KeepsIntegersExactAndNamesTheOnesThatDoNotFit) {
  EXPECT_EQ(*Json::parse("9223372036854775807")->integer(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(*Json::parse("-9223372036854775808")->integer(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(*Json::parse("-0")->integer(), 0);
  EXPECT_EQ(error_of("[1, 9223372036854775808]"),
            "line 1, column 5: integer 9223372036854775808 does not fit in 64 bits");
  EXPECT_EQ(error_of(std::string(100, '9')),
            "line 1, column 1: integer 999999999999999999999999... does not fit in 64 bits");
  EXPECT_EQ(*Json::parse("1e3")->real(), 1000.0);
  EXPECT_EQ(error_of("1e999"), "line 1, column 1: number 1e999 is out of range");
}

TEST(Json, SaysWhereAndWhatWasExpected) {
  EXPECT_EQ(error_of(""), "line 1, column 1: expected a value, found the end of the text");
  EXPECT_EQ(error_of("\n\n  [1 2]"), "line 3, column 6: expected ',' or ']', found '2'");
  EXPECT_EQ(error_of("[1,]"), "line 1, column 4: expected a value, found ']'");
  EXPECT_EQ(error_of("{\"a\" 1}"), "line 1, column 6: expected ':', found '1'");
  EXPECT_EQ(error_of("{a: 1}"), "line 1, column 2: expected a key in quotes, found 'a'");
  EXPECT_EQ(error_of("{\"a\": 1,}"), "line 1, column 9: expected a key in quotes, found '}'");
  EXPECT_EQ(error_of("1 1"), "line 1, column 3: expected the end of the text, found '1'");
  EXPECT_EQ(error_of("[1"), "line 1, column 3: expected ',' or ']', found the end of the text");
  EXPECT_EQ(error_of("\"abc"), "line 1, column 1: this string has no closing quote");
  EXPECT_EQ(error_of("nul"), "line 1, column 1: expected a value, found 'n'");
  EXPECT_EQ(error_of("\xEF\xBB\xBF{}"), "line 1, column 1: expected a value, found '\xEF\xBB\xBF'");
  EXPECT_EQ(error_of("{\"a\": 1,\n \"b\": 2, \"a\": 3}"),
            "line 2, column 10: key \"a\" is given twice");
  EXPECT_EQ(error_of("{\"a\\n\": 1, \"a\\n\": 3}"),
            "line 1, column 12: key \"a\\n\" is given twice");
}

TEST(Json, RefusesWhatTheGrammarDoesNotHave) {
  for (const char* text :
       {"01",  "-",        "1.",     ".5",      "+1",          "1e",          "1e+",     "0x10",
        "NaN", "Infinity", "'a'",    "\"\\x\"", "\"\\u12g4\"", "[1] // note", "{\"a\"}", "tru",
        "--1", "\"\t\"",   "\"\n\"", "]",       "{]",          "[}"}) {
    EXPECT_FALSE(Json::parse(text)) << text;
  }
  EXPECT_FALSE(Json::parse(std::string_view("1\0", 2)));
}

TEST(Json, DecodesEscapesAndChecksUtf8) {
  EXPECT_EQ(*Json::parse(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00")")->string(),
            "\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(*Json::parse(R"("\u0000")")->string(), std::string(1, '\0'));
  for (const char* text : {R"("\ud83d")", R"("\ude00")", R"("\ud83d\u0041")", R"("\ud83dx")"}) {
    EXPECT_NE(error_of(text).find("a surrogate without its other half"), std::string::npos) << text;
  }
  for (const char* text : {"\"\xC0\x80\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xFF\"",
                           "\"\xE2\x82\"", "\"\x80\""}) {
    EXPECT_NE(error_of(text).find("is not UTF-8"), std::string::npos) << text;
  }
}

TEST(Json, HoldsItsLimits) {
  EXPECT_TRUE(Json::parse(std::string(64, '[') + std::string(64, ']')));
  EXPECT_EQ(error_of(std::string(65, '[')), "line 1, column 65: nested deeper than 64 levels");
  EXPECT_EQ(error_of(std::string(1'000'000, '[')),
            "line 1, column 65: nested deeper than 64 levels");
  EXPECT_EQ(error_of("[1,2,3]", {.values = 3}), "line 1, column 6: more than 3 values");
  EXPECT_EQ(error_of("[1,2,3]", {.size_bytes = 6}), "the text has 7 bytes; at most 6 are read");
}

TEST(JsonWriter, LaysOutPrettyAndCompact) {
  const auto write = [](JsonWriter::Style style) {
    JsonWriter writer(style);
    writer.begin_object().member("name", "a\"b\n").member("whole", true);
    writer.key("bytes").begin_array(JsonWriter::Layout::kOneLine).value(0).value(15).end_array();
    writer.key("none").begin_array().end_array();
    writer.key("real").value(2.0).key("nothing").null().end_object();
    return writer.finish();
  };
  EXPECT_EQ(write(JsonWriter::Style::kCompact),
            R"({"name":"a\"b\n","whole":true,"bytes":[0,15],"none":[],"real":2.0,"nothing":null})");
  EXPECT_EQ(write(JsonWriter::Style::kPretty),
            "{\n  \"name\": \"a\\\"b\\n\",\n  \"whole\": true,\n  \"bytes\": [0, 15],\n"
            "  \"none\": [],\n  \"real\": 2.0,\n  \"nothing\": null\n}\n");
}

TEST(JsonWriter, WritesValidTextWhateverTheStringsHold) {
  EXPECT_EQ(json_quoted("\x01\x7F\xFF"
                        "a\xC3\xA9"),
            "\"\\u0001\\u007f\\ufffda\xC3\xA9\"");
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  EXPECT_TRUE(Json::parse(json_quoted(all)));
  JsonWriter writer(JsonWriter::Style::kCompact);
  writer.begin_array().value(std::numeric_limits<double>::infinity()).value(1e300).end_array();
  EXPECT_EQ(writer.finish(), "[null,1e+300]");
}

TEST(JsonWriterDeath, AssertsOnMisplacedCalls) {
  EXPECT_DEATH(JsonWriter().begin_object().value(1), "assertion failed");
  EXPECT_DEATH(JsonWriter().begin_array().key("a"), "assertion failed");
  EXPECT_DEATH(JsonWriter().begin_array().end_object(), "assertion failed");
  EXPECT_DEATH((void)JsonWriter().begin_array().finish(), "assertion failed");
}

// Writes a random value as compact text, spaced at random.
class RandomText {
 public:
  explicit RandomText(uint64_t seed) : random_(seed) {}

  std::string value(int depth) {
    const int kind = below(depth > 0 ? 7 : 5);
    if (kind == 5) return container('[', ']', depth);
    if (kind == 6) return container('{', '}', depth);
    constexpr const char* kScalars[] = {"null", "true", "-12", "0.25", "\"\\u00e9 \\\\\""};
    return kScalars[kind];
  }

 private:
  int below(int bound) { return std::uniform_int_distribution<int>(0, bound - 1)(random_); }
  std::string space() { return std::string(static_cast<size_t>(below(3)), below(2) ? ' ' : '\n'); }

  std::string container(char open, char close, int depth) {
    std::string text(1, open);
    const int items = below(4);
    for (int i = 0; i < items; ++i) {
      if (i > 0) text += ',' + space();
      if (open == '{') text += "\"k" + std::to_string(i) + "\":" + space();
      text += value(depth - 1) + space();
    }
    return text + close;
  }

  std::mt19937_64 random_;
};

// The oracle: text without its white space (the strings here hold none that would go) is what the
// writer makes of what the reader read.
TEST(JsonModel, ReadingAndWritingKeepEveryValue) {
  const char* given = std::getenv("TESSERA_SEED");
  const uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20231115;
  SCOPED_TRACE("TESSERA_SEED=" + std::to_string(seed));
  RandomText source(seed);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = source.value(5);
    const std::string once = rewritten(text);
    ASSERT_EQ(rewritten(once), once) << text;
    std::string expected;
    for (size_t at = 0; at < text.size(); ++at) {
      if (text.compare(at, 10, "\\u00e9 \\\\\"") == 0) {
        expected += "\xC3\xA9 \\\\\"";
        at += 9;
      } else if (text[at] != ' ' && text[at] != '\n') {
        expected += text[at];
      }
    }
    ASSERT_EQ(once, expected) << text;
  }
}

}  // namespace
}  // namespace tessera::base
