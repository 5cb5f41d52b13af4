#include "tessera/cli/show_text.hpp"

#include <fmt/core.h>

#include "tessera/base/json_writer.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/objects_json.hpp"
#include "tessera/cli/objects_text.hpp"

namespace tessera::cli {

using base::JsonWriter;
using Layout = JsonWriter::Layout;

namespace {

constexpr size_t kWritersMax = 32;
constexpr size_t kAllocationsMax = 10'000;

std::string optional_number(const std::optional<int64_t>& number) {
  return number ? with_commas(*number) : "?";
}

std::string figures(const ObjectFileFacts& facts) {
  const auto bytes = [](const char* name, int64_t number, const std::string& what) {
    return fmt::format("  {:<12} {} bytes {}\n", name, with_commas(number), what);
  };
  const container::Superblock& root = facts.superblock;
  std::string text = fmt::format("  commit       {} of file {}, blocks of {} bytes\n",
                                 root.sequence, id_text(root.file_id), root.block_bytes);
  text += bytes("visible", facts.visible_bytes,
                fmt::format("in {} of the map, {}, {} on average", counted(facts.pieces, "piece"),
                            counted(facts.runs, "run"), size_text(facts.mean_run())));
  text += bytes("holes", facts.hole_bytes(), "that nobody wrote");
  text += bytes("replicas", facts.replica_bytes, "stored once more");
  text += bytes("allocated", facts.allocated_bytes,
                fmt::format("in {}", counted(facts.allocations, "allocation")));
  text += bytes("not visible", facts.dead_bytes, "of them, overwritten or filling up blocks");
  text += bytes("free", facts.free_bytes, "between allocations");
  text += bytes("contents", root.blob.length(), "for map, checksums and views");
  for (const auto& [key, value] : facts.attributes) {
    text += fmt::format("  attribute    {} = {}\n", printable(key), printable(value));
  }
  for (const std::string& complaint : facts.complaints) {
    text += fmt::format("  complaint    {}\n", printable(complaint));
  }
  return text;
}

void write_view(JsonWriter& writer, const ViewFacts& facts) {
  const auto number = [&](const char* name, const std::optional<int64_t>& value) {
    writer.key(name);
    if (value) {
      writer.value(*value);
    } else {
      writer.null();
    }
  };
  writer.key("view").begin_object(Layout::kOneLine);
  writer.member("displacement", facts.view.displacement);
  writer.member("etype_bytes", facts.view.etype_size).member("extent", facts.view.extent);
  writer.member("tile_bytes", facts.view.tile.size()).member("tile_runs", facts.view.tile.runs());
  number("bytes", facts.size_bytes);
  number("read_runs", facts.read_runs);
  writer.end_object();
}

void write_writers(JsonWriter& writer, const ObjectFileFacts& facts) {
  writer.key("writers").begin_array();
  for (const WriterFacts& one : facts.writers) {
    writer.begin_object().member("process", one.process).member("allocations", one.allocations);
    writer.member("allocated_bytes", one.allocated_bytes);
    writer.member("visible_bytes", one.visible_bytes).member("runs", one.runs);
    if (one.view) write_view(writer, *one.view);
    writer.end_object();
  }
  writer.end_array();
}

void write_allocations(JsonWriter& writer, const container::Contents& contents) {
  writer.key("allocations").begin_array();
  size_t listed = 0;
  for (const container::Allocation& allocation : contents.allocations) {
    if (listed++ == kAllocationsMax) break;
    writer.begin_object(Layout::kOneLine).member("id", allocation.id).key("place");
    write_interval(writer, allocation.place);
    writer.member("process", allocation.manager);
    writer.member("live_bytes", contents.map.live_bytes(allocation.id)).end_object();
  }
  writer.end_array();
}

void write_figures(JsonWriter& writer, const ObjectFileFacts& facts) {
  const container::Superblock& root = facts.superblock;
  writer.member("file", facts.path).member("kind", "object");
  writer.member("size_bytes", root.logical_size).member("container_bytes", facts.container_bytes);
  // As text: it is a number of 64 bits.
  writer.member("sequence", std::to_string(root.sequence));
  writer.member("file_id", id_text(root.file_id)).member("block_bytes", root.block_bytes);
  writer.member("visible_bytes", facts.visible_bytes).member("hole_bytes", facts.hole_bytes());
  writer.member("replica_bytes", facts.replica_bytes);
  writer.member("allocated_bytes", facts.allocated_bytes);
  writer.member("dead_bytes", facts.dead_bytes).member("free_bytes", facts.free_bytes);
  writer.member("contents_bytes", root.blob.length());
  writer.member("pieces", facts.pieces).member("runs", facts.runs);
  writer.member("allocation_count", facts.allocations);
}

}  // namespace

std::string view_text(const container::WriterView& view) {
  const std::string from =
      view.displacement == 0 ? "" : fmt::format(" from byte {} on", with_commas(view.displacement));
  if (view.tile.size() == view.extent) return "all bytes" + from;
  return fmt::format("{} of every {} bytes in {}{}", with_commas(view.tile.size()),
                     with_commas(view.extent), counted(view.tile.runs(), "run"), from);
}

Table writer_table(const ObjectFileFacts& facts, size_t writers_max) {
  constexpr auto kLeft = Table::Align::kLeft;
  Table table({{"writer", kLeft},
               {"allocations"},
               {"visible bytes"},
               {"runs"},
               {"mean run"},
               {"view bytes"},
               {"runs to read it"},
               {"view", kLeft}});
  for (const WriterFacts& one : facts.writers) {
    if (table.rows().size() == writers_max) {
      table.add({fmt::format("... and {} more", facts.writers.size() - writers_max), "", "", "", "",
                 "", "", ""});
      break;
    }
    const bool seen = one.view.has_value();
    table.add({process_name(one.process), with_commas(one.allocations),
               with_commas(one.visible_bytes), with_commas(one.runs), size_text(one.mean_run()),
               seen ? optional_number(one.view->size_bytes) : "",
               seen ? optional_number(one.view->read_runs) : "",
               seen ? view_text(one.view->view) : "not recorded"});
  }
  return table;
}

std::string show_text(const ObjectFileFacts& facts) {
  std::string text =
      fmt::format("{}: object file of {} bytes, in a container of {} bytes\n\n", facts.path,
                  with_commas(facts.superblock.logical_size), with_commas(facts.container_bytes));
  text += figures(facts);
  if (!facts.writers.empty()) text += "\n" + writer_table(facts, kWritersMax).text();
  if (facts.objects) {
    const auto families = facts.objects->objects.families();
    text += "\nThe recorded views share:\n" +
            totals_text(*facts.objects, summarise(facts.objects->objects, families));
  }
  return text;
}

std::string show_json(const ObjectFileFacts& facts, const container::Contents& contents) {
  JsonWriter writer;
  writer.begin_object();
  write_figures(writer, facts);
  write_writers(writer, facts);
  write_allocations(writer, contents);
  writer.key("attributes").begin_object();
  for (const auto& [key, value] : facts.attributes) writer.member(key, value);
  writer.end_object().key("views");
  if (facts.objects) {
    write_objects(writer, *facts.objects);
  } else {
    writer.null();
  }
  writer.end_object();
  return writer.finish();
}

}  // namespace tessera::cli
