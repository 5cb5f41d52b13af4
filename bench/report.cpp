#include "bench/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "bench/plot.hpp"
#include "bench/svg.hpp"

namespace tessera::bench {

namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --page: #fbfaf8; --card: #ffffff; --ink: #1d2026; --soft: #626a76;
  --rule: #e3e1dc; --s0: #0b6e4f; --s1: #c8553d; --s2: #3a6ea5; --s3: #b0872b; --s4: #7b5ea7;
  --s5: #4f8a8b; --s6: #a2456e; --limit: #8a8f98; --band: #c8553d; --good: #0b6e4f;
  --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --page: #15171b; --card: #1d2026; --ink: #e8e6e1; --soft: #9aa2ae; --rule: #33373f;
    --s0: #4fd1a1; --s1: #f08a70; --s2: #7fb2e8; --s3: #e3bd63; --s4: #b79ae0; --s5: #7cc4c5;
    --s6: #e08ab0; --limit: #a4a9b2; --band: #f08a70; --good: #4fd1a1; --bad: #ff8a80; } }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", "Helvetica Neue", "DejaVu Sans", sans-serif; }
main { max-width: 960px; margin: 0 auto; padding: 32px 20px 64px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 0 0 6px; }
p { margin: 4px 0; } .soft { color: var(--soft); } .machine { font-size: 13px; }
section { background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
  padding: 18px 20px; margin: 22px 0; }
.verdict { font-size: 17px; margin: 14px 0 0; } .met { color: var(--good); }
.missed { color: var(--bad); font-weight: 600; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 6px 0 8px; font-size: 13px; }
.legend i { display: inline-block; width: 18px; height: 4px; border-radius: 2px; margin-right: 6px;
  vertical-align: middle; }
.legend i.dash { background: none !important; border-top: 2px dashed var(--limit); height: 0; }
.legend i.shade { height: 12px; opacity: .3; }
svg { width: 100%; height: auto; display: block; }
svg text { fill: var(--ink); font-size: 12px; } svg .tick, svg .label { fill: var(--soft); }
svg .case { font-weight: 600; font-size: 13px; } svg .number { font-size: 12px; }
.grid { stroke: var(--rule); } .axis { stroke: var(--soft); }
.unity { stroke: var(--soft); stroke-dasharray: 2 3; }
.series { fill: none; stroke-width: 2; stroke-linejoin: round; } .series.s0 { stroke-width: 3; }
polyline.ceiling { stroke: var(--limit); stroke-dasharray: 6 4; } rect.ceiling { fill: var(--limit);
  opacity: .55; }
.band { fill: var(--band); opacity: .22; stroke: none; } .noise { fill: var(--band); opacity: .35; }
circle.paper, rect.paper { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 13px; margin-top: 12px; }
th, td { text-align: right; padding: 4px 7px; border-top: 1px solid var(--rule);
  font-variant-numeric: tabular-nums; white-space: nowrap; }
th { color: var(--soft); font-weight: 500; border-top: none; }
th:first-child, td:first-child { text-align: left; white-space: normal; }
tr.words td { border-top: none; padding: 0 8px 6px; color: var(--soft); font-size: 12px; }
@media print { section { break-inside: avoid; } body { background: #fff; } }
)css";

std::string colour_rules() {
  std::string rules;
  for (int i = 0; i <= 6; ++i) {
    rules += fmt::format(
        "polyline.s{0} {{ stroke: var(--s{0}); }} circle.s{0}, rect.s{0} {{ fill: var(--s{0}); }} "
        ".legend i.s{0} {{ background: var(--s{0}); }}\n",
        i);
  }
  return rules;
}

std::string legend_html(const std::vector<Outcome>& group) {
  const Legend legend = legend_of(group);
  std::string html = "<div class=\"legend\"><span><i class=\"s0\"></i>Tessera</span>";
  for (const std::string& peer : legend.peers) {
    html +=
        fmt::format("<span><i class=\"{}\"></i>{}</span>", legend.style_class(peer), escaped(peer));
  }
  if (!legend.ceiling.empty()) {
    html += fmt::format("<span><i class=\"dash\"></i>{} (ceiling)</span>", escaped(legend.ceiling));
  }
  if (!legend.peers.empty() && group.front().kind != Kind::kSize) {
    html +=
        "<span><i class=\"shade\" style=\"background:var(--band)\"></i>"
        "noise of the best peer</span>";
  }
  return html + "</div>\n";
}

std::string cell(const std::string& text) { return "<td>" + escaped(text) + "</td>"; }

// Under the row, since sentences do not fit into a column: the bar, the note, the paper.
std::string words_row(const Outcome& outcome) {
  std::string words;
  const auto add = [&words](const std::string& html) {
    if (!html.empty()) words += (words.empty() ? "" : " &middot; ") + html;
  };
  if (outcome.met) {
    add(fmt::format("<span class=\"{}\">{}</span> {}", *outcome.met ? "met" : "missed",
                    *outcome.met ? "met:" : "not met:", escaped(outcome.bar)));
  }
  add(escaped(outcome.note));
  if (outcome.paper) {
    add(escaped(fmt::format("the paper: {} ({})", outcome.paper->figure, outcome.paper->source)));
  }
  if (words.empty()) return {};
  return "<tr class=\"words\"><td colspan=\"20\">" + words + "</td></tr>\n";
}

std::string row(const Outcome& outcome, const Legend& legend) {
  std::string html = "<tr>" + cell(outcome.name) + cell(number_text(outcome.ours));
  for (const std::string& peer : legend.peers) {
    const auto found = outcome.peers.find(peer);
    html += cell(found == outcome.peers.end() ? "" : number_text(found->second));
  }
  html += cell(outcome.ratio ? number_text(*outcome.ratio) : "");
  html += cell(
      outcome.noise ? fmt::format("{:.3f} – {:.3f}", outcome.noise->low, outcome.noise->high) : "");
  if (!legend.ceiling.empty()) {
    html += cell(outcome.ceiling ? number_text(*outcome.ceiling) : "");
    html += cell(outcome.ceiling_fraction ? fmt::format("{:.2f}", *outcome.ceiling_fraction) : "");
  }
  html += cell(std::to_string(outcome.runs)) + cell(fmt::format("{:.1f} %", 100 * outcome.spread));
  return html + "</tr>\n" + words_row(outcome);
}

std::string table(const std::vector<Outcome>& group) {
  const Legend legend = legend_of(group);
  std::string html = fmt::format("<div class=\"scroll\"><table><tr><th>{}</th><th>Tessera</th>",
                                 escaped(group.front().unit));
  for (const std::string& peer : legend.peers) html += "<th>" + escaped(peer) + "</th>";
  html += "<th>ratio</th><th>noise</th>";
  if (!legend.ceiling.empty()) html += "<th>" + escaped(legend.ceiling) + "</th><th>of it</th>";
  html += "<th>runs</th><th>spread</th></tr>\n";
  for (const Outcome& outcome : group) html += row(outcome, legend);
  return html + "</table></div>\n";
}

std::string section(const std::vector<Outcome>& group) {
  return fmt::format("<section><h2>{}</h2>\n{}{}{}</section>\n", escaped(group.front().group),
                     legend_html(group), is_sweep(group) ? line_plot(group) : bar_plot(group),
                     table(group));
}

// Groups in order of their first case; a bar plot needs one unit, so the unit parts groups too.
std::vector<std::vector<Outcome>> groups_of(const std::vector<Outcome>& outcomes) {
  std::vector<std::vector<Outcome>> groups;
  for (const Outcome& outcome : outcomes) {
    auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.front().group == outcome.group && group.front().unit == outcome.unit;
    });
    if (same == groups.end()) same = groups.insert(groups.end(), std::vector<Outcome>{});
    same->push_back(outcome);
  }
  return groups;
}

std::string verdict(const BenchRun& run) {
  int64_t held = 0;
  int64_t met = 0;
  for (const Outcome& outcome : run.outcomes) {
    held += outcome.met.has_value() ? 1 : 0;
    met += outcome.met.value_or(false) ? 1 : 0;
  }
  return fmt::format(
      "<p class=\"verdict\">{} cases; <span class=\"{}\">{} of {} bars met</span></p>",
      run.outcomes.size(), met == held ? "met" : "missed", met, held);
}

}  // namespace

std::string to_html(const BenchRun& run) {
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>tessera bench {0}</title><style>{1}{2}</style></head>\n<body><main>\n"
      "<h1>tessera bench {0}</h1>\n<p class=\"soft machine\">{3}</p>\n{4}\n",
      escaped(run.bench), kStyle, colour_rules(), escaped(machine_text(run.machine)), verdict(run));
  html +=
      "<p class=\"soft\">Medians of interleaved rounds. The ratio is ours against the best peer, "
      "above 1 is better, be the number a time or a rate. The noise is the band of ratios of that "
      "peer against itself in the same run; a ratio inside it is a tie. A ceiling is what the "
      "hardware allows and not a peer. Work that only computes is measured in processor time. All "
      "axes are logarithmic.</p>\n";
  for (const auto& group : groups_of(run.outcomes)) html += section(group);
  return html + "</main></body></html>\n";
}

}  // namespace tessera::bench
