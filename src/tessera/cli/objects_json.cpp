#include "tessera/cli/objects_json.hpp"

#include <vector>

#include "tessera/cli/objects_text.hpp"

namespace tessera::cli {

using base::JsonWriter;
using object::Family;
using object::Object;
using Layout = JsonWriter::Layout;

namespace {

void write_object(JsonWriter& writer, const Shown& shown, int64_t number, const Object& object) {
  writer.begin_object(Layout::kOneLine).member("object", number).key("bytes");
  write_interval(writer, object.bytes);
  writer.key("sharers");
  write_sharers(writer, shown.objects, object.sharers);
  writer.end_object();
}

void write_views(JsonWriter& writer, const Shown& shown) {
  writer.key("views").begin_array();
  for (const object::Process process : shown.objects.processes()) {
    writer.begin_object(Layout::kOneLine).member("process", process);
    writer.member("name", name_of(shown, process)).end_object();
  }
  writer.end_array();
}

void write_totals(JsonWriter& writer, const Shown& shown, const Summary& summary) {
  writer.key("totals").begin_object();
  writer.member("objects", summary.objects).member("shared_objects", summary.shared_objects);
  writer.member("private_bytes", summary.private_bytes);
  writer.member("shared_bytes", summary.shared_bytes);
  writer.member("unviewed_bytes", summary.unviewed_bytes());
  writer.member("views_bytes", summary.views_bytes);
  writer.member("replication", summary.replication());
  writer.member("memory_bytes", shown.objects.memory_bytes()).end_object();
  writer.key("levels").begin_array();
  for (const SharingLevel& level : summary.levels) {
    writer.begin_object(Layout::kOneLine).member("sharers", level.sharers);
    writer.member("families", level.families).member("objects", level.objects);
    writer.member("bytes", level.size_bytes).end_object();
  }
  writer.end_array();
}

void write_families(JsonWriter& writer, const Shown& shown, const std::vector<Family>& families) {
  writer.key("families").begin_array();
  for (const Family& family : families) {
    writer.begin_object(Layout::kOneLine).member("first_byte", family.bytes.span().begin);
    writer.member("bytes", family.bytes.size()).member("objects", family.object_count());
    writer.key("sharers");
    write_sharers(writer, shown.objects, family.sharers);
    writer.end_object();
  }
  writer.end_array();
}

void write_conflicts(JsonWriter& writer, const Shown& shown, const std::vector<Family>& families) {
  writer.key("conflicts");
  if (!conflicts_listable(shown.objects, families)) {
    writer.null();
    return;
  }
  writer.begin_array();
  for (const object::Conflict& conflict : shown.objects.conflicts()) {
    writer.begin_object(Layout::kOneLine).key("processes").begin_array();
    writer.value(conflict.first).value(conflict.second).end_array();
    writer.member("bytes", conflict.size_bytes);
    writer.member("objects", conflict.object_count).end_object();
  }
  writer.end_array();
}

}  // namespace

void write_interval(JsonWriter& writer, pattern::Interval interval) {
  writer.begin_array(Layout::kOneLine).value(interval.begin).value(interval.end).end_array();
}

void write_sharers(JsonWriter& writer, const object::ObjectSet& objects,
                   object::SharersId sharers) {
  writer.begin_array(Layout::kOneLine);
  for (const object::Process process : objects.sharers(sharers)) writer.value(process);
  writer.end_array();
}

void write_objects(JsonWriter& writer, const Shown& shown) {
  const std::vector<Family> families = shown.objects.families();
  writer.begin_object().member("title", shown.title).key("range");
  write_interval(writer, shown.objects.range());
  write_views(writer, shown);
  write_totals(writer, shown, summarise(shown.objects, families));
  if (is_small(shown.objects)) {
    writer.key("objects").begin_array();
    int64_t number = 0;
    for (const Object& object : shown.objects.meeting(shown.objects.range())) {
      write_object(writer, shown, number++, object);
    }
    writer.end_array();
  }
  write_families(writer, shown, families);
  write_conflicts(writer, shown, families);
  writer.end_object();
}

void write_meeting(JsonWriter& writer, const Shown& shown, pattern::Interval at) {
  writer.begin_object().member("title", shown.title).key("at");
  write_interval(writer, at);
  writer.key("objects").begin_array();
  int64_t number = 0;
  bool more = false;
  shown.objects.for_each_meeting(at, [&](const Object& object) {
    more = number == kMeetingMax;
    if (!more) write_object(writer, shown, number++, object);
    return !more;
  });
  writer.end_array().member("more", more).end_object();
}

}  // namespace tessera::cli
