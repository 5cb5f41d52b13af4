#include "tessera/cli/locks_text.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/table.hpp"

namespace tessera::cli {

namespace {

using lock::LockRow;
using lock::LockState;
using lock::ServerFacts;

const char* word_of(LockState state) { return state == LockState::kHeld ? "held" : "waiting"; }

const char* word_of(lock::Mode mode) {
  return mode == lock::Mode::kExclusive ? "exclusive" : "shared";
}

// Ages and leases; clocks may make them negative for a moment.
std::string time_text(int64_t ns) {
  return duration_text(static_cast<double>(std::max<int64_t>(0, ns)));
}

double seconds(int64_t ns) { return static_cast<double>(ns) * 1e-9; }

std::string bytes_text(const LockRow& row) {
  std::string span = interval_text({row.begin, row.end});
  if (row.runs == 1) return span;
  return fmt::format("{}, {} in {}", counted(row.runs, "run"), size_text(row.size_bytes), span);
}

std::string facts_text(const std::string& address, const ServerFacts& facts) {
  std::string text = fmt::format("{}: up {}, lease {}, {}, {} on {}: {} held, {} waiting\n",
                                 printable(address), time_text(facts.uptime_ns),
                                 time_text(facts.lease_ns), counted(facts.sessions, "session"),
                                 counted(facts.requests, "request"), counted(facts.files, "file"),
                                 with_commas(facts.held), with_commas(facts.requests - facts.held));
  if (facts.in_grace) {
    text += fmt::format("  restarted: waits for those who had locks; {} came meanwhile\n",
                        counted(facts.early, "request"));
  }
  return text;
}

std::vector<LockRow> sorted(std::vector<LockRow> rows) {
  const auto key = [](const LockRow& row) {
    return std::make_tuple(std::cref(row.file), row.state == LockState::kHeld ? 0 : 1, -row.age_ns,
                           row.lock);
  };
  std::sort(rows.begin(), rows.end(),
            [&](const LockRow& a, const LockRow& b) { return key(a) < key(b); });
  return rows;
}

std::string rows_text(const std::vector<LockRow>& rows) {
  if (rows.empty()) return "";
  constexpr auto kLeft = Table::Align::kLeft;
  Table table({{"file", kLeft},
               {"lock", kLeft},
               {"state", kLeft},
               {"mode", kLeft},
               {"client", kLeft},
               {"age"},
               {"lease left"},
               {"waits for", kLeft},
               {"bytes", kLeft}});
  for (const LockRow& row : sorted(rows)) {
    table.add({printable(row.file), to_string(row.lock), word_of(row.state), word_of(row.mode),
               printable(row.client), time_text(row.age_ns), time_text(row.lease_left_ns),
               row.waits_for ? to_string(*row.waits_for) : "", bytes_text(row)});
  }
  return table.text();
}

void write_facts(base::JsonWriter& writer, const ServerFacts& facts) {
  // In hexadecimal digits: it has more bits than a number of JSON keeps.
  writer.member("epoch", fmt::format("{:016x}", facts.epoch)).member("in_grace", facts.in_grace);
  writer.member("lease_s", seconds(facts.lease_ns)).member("uptime_s", seconds(facts.uptime_ns));
  writer.member("sessions", facts.sessions).member("requests", facts.requests);
  writer.member("held", facts.held).member("early", facts.early).member("files", facts.files);
  writer.member("pattern_bytes", facts.pattern_bytes).key("counts").begin_object();
  for (const lock::CountName& known : lock::kCountNames) {
    writer.member(known.name, facts.counts.*known.count);
  }
  writer.end_object();
}

void write_row(base::JsonWriter& writer, const LockRow& row) {
  writer.begin_object(base::JsonWriter::Layout::kOneLine);
  writer.member("lock", to_string(row.lock)).member("file", row.file);
  writer.member("client", row.client).member("mode", word_of(row.mode));
  writer.member("state", word_of(row.state)).member("age_s", seconds(row.age_ns));
  writer.member("lease_left_s", seconds(row.lease_left_ns)).key("waits_for");
  if (row.waits_for) {
    writer.value(to_string(*row.waits_for));
  } else {
    writer.null();
  }
  writer.member("size", row.size_bytes).member("runs", row.runs);
  writer.member("begin", row.begin).member("end", row.end).end_object();
}

}  // namespace

std::string locks_text(const std::vector<LockServerLook>& servers) {
  std::string text;
  for (const LockServerLook& server : servers) {
    if (server) {
      text += facts_text(server->address, server->facts) + rows_text(server->rows);
    } else {
      text += printable(server.error().message()) + "\n";
    }
  }
  return text;
}

std::string locks_json(const std::vector<LockServerLook>& servers, base::JsonWriter::Style style) {
  base::JsonWriter writer(style);
  writer.begin_object().key("servers").begin_array();
  for (const LockServerLook& server : servers) {
    writer.begin_object();
    if (server) {
      writer.member("address", server->address);
      write_facts(writer, server->facts);
      writer.key("locks").begin_array();
      for (const LockRow& row : sorted(server->rows)) write_row(writer, row);
      writer.end_array();
    } else {
      writer.member("error", server.error().message());
    }
    writer.end_object();
  }
  writer.end_array().end_object();
  return writer.finish();
}

std::string lock_line(const LockRow& row) {
  return fmt::format("lock {} of {} on {}: {}, {} for {}, {}", to_string(row.lock),
                     printable(row.client), printable(row.file), word_of(row.mode),
                     word_of(row.state), time_text(row.age_ns), bytes_text(row));
}

}  // namespace tessera::cli
