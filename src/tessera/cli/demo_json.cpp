#include "tessera/base/json_writer.hpp"
#include "tessera/cli/demo_text.hpp"
#include "tessera/cli/objects_json.hpp"

namespace tessera::cli {

using base::JsonWriter;
using Layout = JsonWriter::Layout;

namespace {

void write_wall(JsonWriter& writer, const Wall& wall) {
  writer.member("width", wall.width()).member("height", wall.height());
  writer.member("pixel_bytes", wall.pixel_bytes).member("file_bytes", wall.file_bytes());
}

void write_lookups(JsonWriter& writer, const SmallDemo& demo) {
  writer.key("lookup").begin_array();
  for (const Lookup& lookup : demo.lookups) {
    writer.begin_object(Layout::kOneLine).key("written");
    write_interval(writer, lookup.written.bytes);
    writer.key("meets").begin_array();
    for (const int64_t number : lookup.met) writer.value(number);
    writer.end_array().end_object();
  }
  writer.end_array();
}

void write_layout(JsonWriter& writer, const SmallDemo& demo) {
  writer.key("layout").begin_array();
  for (const Section& section : demo.layout) {
    writer.begin_object(Layout::kOneLine).member("reader", section.reader).key("at");
    write_interval(writer, section.at);
    writer.key("objects").begin_array();
    for (const Copy& copy : section.copies) writer.value(copy.object);
    writer.end_array().end_object();
  }
  writer.end_array();
}

void write_small(JsonWriter& writer, const SmallDemo& demo) {
  writer.key("example").begin_object();
  write_wall(writer, demo.wall);
  write_objects(writer.key("writers"), demo.writers);
  write_objects(writer.key("readers"), demo.readers);
  write_lookups(writer, demo);
  write_layout(writer, demo);
  writer.end_object();
}

void write_large(JsonWriter& writer, const LargeDemo& demo) {
  writer.key("wall").begin_object();
  write_wall(writer, demo.wall);
  writer.member("build_ns", demo.build_ns).member("lookup_ns", demo.reach_ns);
  write_objects(writer.key("readers"), demo.readers);
  writer.key("writers").begin_array();
  for (const WriterReach& reach : demo.reach) {
    writer.begin_object(Layout::kOneLine).member("writer", reach.writer).key("bytes");
    write_interval(writer, reach.bytes);
    writer.member("objects_met", reach.objects).key("readers").begin_array();
    for (const object::Process reader : reach.readers) writer.value(reader);
    writer.end_array().end_object();
  }
  writer.end_array().end_object();
}

void write_times(JsonWriter& writer, const char* name, const WallTimes& times) {
  writer.key(name).begin_object(Layout::kOneLine);
  writer.member("write_seconds", times.write_seconds).member("read_seconds", times.read_seconds);
  writer.member("verified_bytes", times.verified_bytes).end_object();
}

void write_runs(JsonWriter& writer, const std::vector<WallRun>& runs) {
  writer.key("runs").begin_array();
  for (const WallRun& run : runs) {
    writer.begin_object().member("mpi", mpi_word(run.mpi));
    writer.member("columns", run.columns).member("rows", run.rows);
    write_times(writer, "stock", run.stock);
    write_times(writer, "ours", run.ours);
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace

std::string demo_json(const Demo& demo, const std::string& page_path) {
  JsonWriter writer;
  writer.begin_object().member("page", page_path);
  write_small(writer, demo.small);
  write_large(writer, demo.large);
  write_runs(writer, demo.runs);
  writer.end_object();
  return writer.finish();
}

}  // namespace tessera::cli
