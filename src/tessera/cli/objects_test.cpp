// What `tessera objects` shows, without the program around it.
#include <gtest/gtest.h>

#include <string>

#include "tessera/base/json_writer.hpp"
#include "tessera/cli/line_drawing.hpp"
#include "tessera/cli/objects_command.hpp"
#include "tessera/cli/objects_json.hpp"
#include "tessera/cli/objects_page.hpp"
#include "tessera/cli/objects_text.hpp"
#include "tessera/cli/page.hpp"

namespace tessera::cli {
namespace {

Shown shown(const std::string& views) {
  const auto file = object::parse_views(views);
  EXPECT_TRUE(file) << file.error().message();
  auto objects = object::object_set_of(*file);
  EXPECT_TRUE(objects) << objects.error().message();
  return Shown{"test", *std::move(objects), names_of(*file)};
}

const char* const kSmall = R"({"size": 20, "views": [
    {"name": "left", "type": 8}, {"name": "right", "type": 8, "displacement": 4}]})";
const char* const kLarge = R"({"size": 4000, "views": [
    {"type": {"vector": {"count": 1000, "stride": 4}}},
    {"type": {"vector": {"count": 500, "stride": 8}}}]})";

TEST(Objects, SmallSetsAreDrawnAsALine) {
  EXPECT_EQ(draw_objects(shown(kSmall)),
            "  bytes    0         10\n"
            "  left     ########............\n"
            "  right    ....########........\n"
            "  objects  |0  |1  |2\n");
}

TEST(Objects, DrawingsMarkColumnsThatAreHeldInPart) {
  const std::string drawing =
      draw_objects(shown(R"({"size": 180, "views": [{"name": "odd", "type": 3}]})"));
  EXPECT_NE(drawing.find("odd      #:...."), std::string::npos) << drawing;
  EXPECT_NE(drawing.find("(one column is 2 bytes)"), std::string::npos) << drawing;
}

TEST(Objects, SummariesCountEveryByteOnce) {
  const Shown set = shown(kSmall);
  const Summary summary = summarise(set.objects, set.objects.families());
  EXPECT_EQ(summary.objects, 3);
  EXPECT_EQ(summary.shared_objects, 1);
  EXPECT_EQ(summary.private_bytes, 8);
  EXPECT_EQ(summary.shared_bytes, 4);
  EXPECT_EQ(summary.unviewed_bytes(), 8);
  EXPECT_EQ(summary.views_bytes, 16);
  EXPECT_DOUBLE_EQ(summary.replication(), 16.0 / 12.0);
}

TEST(Objects, LargeSetsAreListedAsFamilies) {
  const std::string text = objects_text(shown(kLarge), 1);
  EXPECT_NE(text.find("2 families"), std::string::npos) << text;
  EXPECT_NE(text.find("... and 1 more; --families 0 prints all"), std::string::npos) << text;
  EXPECT_NE(text.find("P0 P1    500      500"), std::string::npos) << text;
  EXPECT_EQ(objects_text(shown(kLarge), 0).find("--families"), std::string::npos);
}

TEST(Objects, MeetingSaysWhenThereIsNothing) {
  EXPECT_NE(meeting_text(shown(kSmall), {12, 20}).find("none"), std::string::npos);
  EXPECT_NE(meeting_text(shown(kSmall), {3, 5}).find("[4, 8)"), std::string::npos);
}

TEST(Objects, JsonIsReadBack) {
  for (const char* views : {kSmall, kLarge}) {
    base::JsonWriter writer;
    write_objects(writer, shown(views));
    const auto json = base::Json::parse(writer.finish());
    ASSERT_TRUE(json) << json.error().message();
    EXPECT_EQ(json->find("conflicts")->array()->size(), 1U);
    EXPECT_EQ(json->find("objects") != nullptr, views == kSmall);
  }
}

TEST(Objects, PagesEscapeNames) {
  const std::string page =
      objects_page(shown(R"({"size": 9, "views": [{"name": "<b>&\"", "type": 4}]})"));
  EXPECT_EQ(page.find("<b>&"), std::string::npos);
  EXPECT_NE(page.find("&lt;b&gt;&amp;&quot;"), std::string::npos);
  EXPECT_EQ(escaped("a\xFF"
                    "b"),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(Objects, IntervalsAreBeginAndEnd) {
  EXPECT_EQ(*parse_interval("15:30"), (pattern::Interval{15, 30}));
  EXPECT_EQ(*parse_interval("-5:30"), (pattern::Interval{-5, 30}));
  for (const char* text : {"", ":", "15", "15:", ":30", "15:30x", " 15:30", "30:15", "15:15",
                           "15-30", "99999999999999999999:1"}) {
    EXPECT_FALSE(parse_interval(text)) << text;
  }
}

}  // namespace
}  // namespace tessera::cli
