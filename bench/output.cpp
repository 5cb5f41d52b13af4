#include "bench/output.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tessera/base/json_writer.hpp"

namespace tessera::bench {

namespace {

using base::JsonWriter;

// Six digits are more than any measurement has.
double rounded(double value) {
  if (value == 0.0 || !std::isfinite(value)) return value;
  const double unit = std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 5.0);
  return unit < 1.0 ? std::round(value / unit) / std::round(1.0 / unit)
                    : std::round(value / unit) * unit;
}

void write_number(JsonWriter& json, const char* name, const std::optional<double>& value) {
  json.key(name);
  if (value) {
    json.value(rounded(*value));
  } else {
    json.null();
  }
}

void write_noise(JsonWriter& json, const std::optional<NoiseBand>& noise) {
  json.key("noise");
  if (!noise) {
    json.null();
    return;
  }
  json.begin_array(JsonWriter::Layout::kOneLine);
  json.value(rounded(noise->low)).value(rounded(noise->high)).end_array();
}

void write_paper(JsonWriter& json, const std::optional<Paper>& paper) {
  json.key("paper");
  if (!paper) {
    json.null();
    return;
  }
  json.begin_object(JsonWriter::Layout::kOneLine);
  json.member("figure", paper->figure).member("source", paper->source);
  write_number(json, "value", paper->value);
  json.end_object();
}

void write_case(JsonWriter& json, const Outcome& outcome) {
  json.begin_object(JsonWriter::Layout::kOneLine);
  json.member("case", outcome.name).member("unit", outcome.unit);
  write_number(json, "ours", outcome.ours);
  json.key("peers").begin_object(JsonWriter::Layout::kOneLine);
  for (const auto& [name, value] : outcome.peers) write_number(json, name.c_str(), value);
  json.end_object();
  write_number(json, "ratio", outcome.ratio);
  write_noise(json, outcome.noise);
  write_number(json, "ceiling", outcome.ceiling);
  json.member("group", outcome.group).member("runs", outcome.runs);
  write_number(json, "spread", outcome.spread);
  write_paper(json, outcome.paper);
  json.member("note", outcome.note);
  if (outcome.x) write_number(json, "x", outcome.x);
  if (outcome.met) json.member("bar", outcome.bar).member("met", *outcome.met);
  json.end_object();
}

void write_machine(JsonWriter& json, const Machine& machine) {
  json.key("machine").begin_object(JsonWriter::Layout::kOneLine);
  json.member("cpu", machine.cpu).member("cores", machine.cores);
  json.member("memory_bytes", machine.memory_bytes).member("kernel", machine.kernel);
  json.member("compiler", machine.compiler).member("load", machine.load).end_object();
}

std::string percent(double part) { return fmt::format("{:.1f} %", 100.0 * part); }

std::string detail_line(const Outcome& outcome) {
  std::string line;
  const auto add = [&line](const std::string& part) {
    if (!part.empty()) line += (line.empty() ? "" : " · ") + part;
  };
  if (outcome.ceiling) {
    add(fmt::format("ceiling {} {}, ours {}", outcome.ceiling_name, number_text(*outcome.ceiling),
                    percent(*outcome.ceiling_fraction)));
  }
  if (outcome.paper) {
    add(fmt::format("paper: {} ({})", outcome.paper->figure, outcome.paper->source));
  }
  if (outcome.met) add(fmt::format("{}: {}", outcome.bar, *outcome.met ? "met" : "NOT MET"));
  add(outcome.note);
  return line.empty() ? line : "    " + line + "\n";
}

}  // namespace

std::string number_text(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::fabs(value);
  if (size != 0.0 && (size < 1e-3 || size >= 1e7)) return fmt::format("{:.2e}", value);
  if (size >= 100.0) return fmt::format("{:.0f}", value);
  return fmt::format("{:.3g}", value);
}

std::string to_json(const BenchRun& run) {
  JsonWriter json;
  json.begin_object().member("bench", run.bench);
  write_machine(json, run.machine);
  json.key("cases").begin_array();
  for (const Outcome& outcome : run.outcomes) write_case(json, outcome);
  json.end_array().end_object();
  return json.finish();
}

std::string table_heading(const Machine& machine) {
  return fmt::format(
      "{}\nRatios are against the best peer, above 1 better. Noise: the best peer against "
      "itself.\n\n"
      "{:<44}{:>12}{:>9}{:>16}{:>6}{:>9}  peers\n",
      machine_text(machine), "case", "ours", "ratio", "noise", "runs", "spread");
}

std::string table_rows(const Outcome& outcome) {
  std::string peers;
  for (const auto& [name, value] : outcome.peers) {
    peers += fmt::format("{}{} {}", peers.empty() ? "" : ", ", name, number_text(value));
  }
  const std::string noise =
      outcome.noise ? fmt::format("{:.3f}-{:.3f}", outcome.noise->low, outcome.noise->high) : "-";
  return fmt::format("{:<44}{:>12}{:>9}{:>16}{:>6}{:>9}  {}\n", outcome.name,
                     number_text(outcome.ours) + " " + outcome.unit,
                     outcome.ratio ? number_text(*outcome.ratio) : "-", noise, outcome.runs,
                     percent(outcome.spread), peers) +
         detail_line(outcome);
}

}  // namespace tessera::bench
