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

void write_numbers(JsonWriter& json, const char* name,
                   const std::map<std::string, double>& numbers) {
  json.key(name).begin_object(JsonWriter::Layout::kOneLine);
  for (const auto& [key, value] : numbers) write_number(json, key.c_str(), value);
  json.end_object();
}

void write_verdicts(JsonWriter& json, const Outcome& outcome) {
  json.member("bar", outcome.bar).member("met", *outcome.met);
  json.key("bars").begin_array(JsonWriter::Layout::kOneLine);
  for (const Verdict& verdict : outcome.verdicts) {
    json.begin_object(JsonWriter::Layout::kOneLine);
    json.member("bar", verdict.bar).member("met", verdict.met).end_object();
  }
  json.end_array();
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

bool counts_in_mean(const Outcome& outcome) {
  return outcome.in_mean && outcome.kind != Kind::kSize && outcome.ratio.value_or(0) > 0;
}

// Empty: it counts in the mean against the other build.
std::string why_not_in_against_mean(const Outcome& outcome) {
  if (!outcome.not_compared.empty()) return outcome.not_compared;
  if (!outcome.before_ratio) {
    return outcome.kind == Kind::kSize ? "a figure that is not timed" : "only this build runs it";
  }
  return *outcome.before_ratio > 0 ? "" : "no time was measured";
}

void write_against(JsonWriter& json, const Outcome& outcome) {
  json.key("against").begin_object(JsonWriter::Layout::kOneLine);
  write_number(json, "before", outcome.before);
  write_number(json, "ratio", outcome.before_ratio);
  write_noise(json, outcome.before_noise);
  write_number(json, "twin", outcome.twin);
  write_number(json, "twin_ratio", outcome.twin_ratio);
  json.member("in_mean", why_not_in_against_mean(outcome).empty());
  json.member("not_compared", outcome.not_compared).end_object();
}

void write_case(JsonWriter& json, const Outcome& outcome) {
  json.begin_object(JsonWriter::Layout::kOneLine);
  json.member("case", outcome.name).member("unit", outcome.unit);
  write_number(json, "ours", outcome.ours);
  write_numbers(json, "peers", outcome.peers);
  write_number(json, "ratio", outcome.ratio);
  write_noise(json, outcome.noise);
  write_number(json, "ceiling", outcome.ceiling);
  json.member("group", outcome.group).member("runs", outcome.runs);
  json.member("in_mean", counts_in_mean(outcome));
  write_number(json, "spread", outcome.spread);
  write_paper(json, outcome.paper);
  json.member("note", outcome.note);
  if (!outcome.mark.empty()) json.member("mark", outcome.mark);
  if (outcome.ratio_of_all) write_number(json, "ratio_of_all", outcome.ratio_of_all);
  if (outcome.before) write_against(json, outcome);
  if (outcome.x) write_number(json, "x", outcome.x);
  write_numbers(json, "peer_spread", outcome.peer_spread);
  if (!outcome.dropped.empty()) write_numbers(json, "dropped", outcome.dropped);
  if (outcome.met) write_verdicts(json, outcome);
  json.end_object();
}

void write_names(JsonWriter& json, const char* name, const std::vector<std::string>& names) {
  json.key(name).begin_array(JsonWriter::Layout::kOneLine);
  for (const std::string& one : names) json.value(one);
  json.end_array();
}

void write_against_summary(JsonWriter& json, const Summary& summary) {
  write_number(json, "against_geometric_mean", summary.against_mean);
  write_number(json, "against_twin_geometric_mean", summary.against_twin_mean);
  json.member("against_cases", summary.against_cases);
  json.key("against_left_out").begin_object(JsonWriter::Layout::kOneLine);
  for (const auto& [reason, names] : summary.not_compared) {
    write_names(json, reason.c_str(), names);
  }
  json.end_object();
}

void write_summary(JsonWriter& json, const BenchRun& run) {
  const Summary summary = summary_of(run);
  json.key("summary").begin_object(JsonWriter::Layout::kOneLine);
  json.member("cases", static_cast<int64_t>(run.outcomes.size())).member("failed", run.failed);
  json.member("left_out", run.left_out);
  json.member("cases_held", summary.cases_held).member("cases_met", summary.cases_met);
  json.member("bars", summary.bars).member("bars_met", summary.bars_met);
  write_number(json, "geometric_mean", summary.geometric_mean);
  write_number(json, "geometric_mean_bar", run.mean_bar);
  if (summary.mean_met) json.member("geometric_mean_met", *summary.mean_met);
  if (run.against) write_against_summary(json, summary);
  write_names(json, "marked", summary.marked);
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
  if (outcome.ratio_of_all && outcome.best_of_all != outcome.best_peer) {
    add(fmt::format("against {}; of all the best is {}, {}x", outcome.best_peer,
                    outcome.best_of_all, number_text(*outcome.ratio_of_all)));
  }
  if (outcome.before) {
    add(fmt::format("before {}, {:.3f}x, A/A {:.3f}-{:.3f}", number_text(*outcome.before),
                    *outcome.before_ratio, outcome.before_noise->low, outcome.before_noise->high));
  }
  if (!outcome.not_compared.empty()) {
    add(fmt::format("not in the mean: {}", outcome.not_compared));
  }
  if (outcome.ceiling) {
    add(fmt::format("ceiling {} {}, ours {}", outcome.ceiling_name, number_text(*outcome.ceiling),
                    percent(*outcome.ceiling_fraction)));
  }
  if (outcome.paper) {
    add(fmt::format("paper: {} ({})", outcome.paper->figure, outcome.paper->source));
  }
  if (outcome.met) add(fmt::format("{}: {}", outcome.bar, *outcome.met ? "met" : "NOT MET"));
  add(outcome.mark);
  add(outcome.note);
  return line.empty() ? line : "    " + line + "\n";
}

// The pair of this build has its mean over the same cases.
void summarise_against(const BenchRun& run, Summary& summary) {
  double logarithms = 0;
  double twin_logarithms = 0;
  for (const Outcome& outcome : run.outcomes) {
    const std::string why = why_not_in_against_mean(outcome);
    if (!why.empty()) {
      summary.not_compared[why].push_back(outcome.name);
      continue;
    }
    logarithms += std::log(*outcome.before_ratio);
    twin_logarithms += std::log(*outcome.twin_ratio);
    ++summary.against_cases;
  }
  for (const NotRun& missing : run.not_run)
    summary.not_compared[missing.why].push_back(missing.name);
  if (summary.against_cases == 0) return;
  const auto cases = static_cast<double>(summary.against_cases);
  summary.against_mean = std::exp(logarithms / cases);
  summary.against_twin_mean = std::exp(twin_logarithms / cases);
}

std::string against_text(const Summary& summary) {
  std::string text = "against the build before: no case is compared\n";
  if (summary.against_mean) {
    text = fmt::format(
        "against the build before: geometric mean {:.3f} of {} cases; of this build against itself "
        "(A/A) {:.3f}\n",
        *summary.against_mean, summary.against_cases, *summary.against_twin_mean);
  }
  for (const auto& [reason, names] : summary.not_compared) {
    text += fmt::format("  not in that mean: {} case{}, {}\n", names.size(),
                        names.size() == 1 ? "" : "s", reason);
    for (const std::string& name : names) text += fmt::format("    {}\n", name);
  }
  return text;
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
  json.end_array();
  write_summary(json, run);
  json.end_object();
  return json.finish();
}

Summary summary_of(const BenchRun& run) {
  Summary summary;
  double logarithms = 0;
  int64_t ratios = 0;
  for (const Outcome& outcome : run.outcomes) {
    summary.cases_held += outcome.met.has_value() ? 1 : 0;
    summary.cases_met += outcome.met == true ? 1 : 0;
    for (const Verdict& verdict : outcome.verdicts) {
      ++summary.bars;
      summary.bars_met += verdict.met ? 1 : 0;
    }
    if (!outcome.mark.empty()) summary.marked.push_back(outcome.name);
    if (!counts_in_mean(outcome)) continue;
    logarithms += std::log(*outcome.ratio);
    ++ratios;
  }
  if (ratios > 0) summary.geometric_mean = std::exp(logarithms / static_cast<double>(ratios));
  if (run.against) summarise_against(run, summary);
  if (run.mean_bar) {
    summary.mean_met = summary.geometric_mean && *summary.geometric_mean >= *run.mean_bar;
  }
  return summary;
}

std::string summary_text(const BenchRun& run) {
  const Summary summary = summary_of(run);
  std::string text = fmt::format("\n{} cases, {} of {} bars met\n", run.outcomes.size(),
                                 summary.cases_met, summary.cases_held);
  if (run.left_out > 0) text += fmt::format("{} cases left out\n", run.left_out);
  if (run.failed > 0) text += fmt::format("{} cases could not be run\n", run.failed);
  if (summary.geometric_mean && run.mean_bar) {
    text +=
        fmt::format("geometric mean of the ratios {:.2f}, at least {:g}: {}\n",
                    *summary.geometric_mean, *run.mean_bar, *summary.mean_met ? "met" : "NOT MET");
  }
  for (const std::string& name : summary.marked) {
    text += fmt::format("within the floor and the noise band: {}\n", name);
  }
  if (run.against) text += against_text(summary);
  return text;
}

std::string table_heading(const Machine& machine) {
  return fmt::format(
      "{}\nRatios are against the best peer that does what ours does (collective or "
      "independent), above 1\nbetter. Noise: the best peer against itself.\n\n"
      "{:<56}{:>12}{:>9}{:>16}{:>6}{:>9}  peers\n",
      machine_text(machine), "case", "ours", "ratio", "noise", "runs", "spread");
}

std::string table_rows(const Outcome& outcome) {
  std::string peers;
  for (const auto& [name, value] : outcome.peers) {
    peers += fmt::format("{}{} {}", peers.empty() ? "" : ", ", name, number_text(value));
  }
  const std::string noise =
      outcome.noise ? fmt::format("{:.3f}-{:.3f}", outcome.noise->low, outcome.noise->high) : "-";
  return fmt::format("{:<56} {:>11}{:>9}{:>16}{:>6}{:>9}  {}\n", outcome.name,
                     number_text(outcome.ours) + " " + outcome.unit,
                     outcome.ratio ? number_text(*outcome.ratio) : "-", noise, outcome.runs,
                     percent(outcome.spread), peers) +
         detail_line(outcome);
}

}  // namespace tessera::bench
