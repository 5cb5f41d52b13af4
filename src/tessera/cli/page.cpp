#include "tessera/cli/page.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/utf8.hpp"

namespace tessera::cli {

namespace {

// Colours are variables, so that pictures follow the reader's choice of light or dark.
// s: bytes by number of sharers, t: text on them. c: processes.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark;
  --paper: #fbfbfa; --card: #ffffff; --ink: #1d2530; --soft: #5d6875; --rule: #dfe3e8;
  --s0: #f0f1f2; --s1: #d3e5f5; --s2: #86bbe3; --s3: #4b93c9; --s4: #1f5f9e; --s5: #12355e;
  --t0: #5d6875; --t1: #14314c; --t2: #0e2a44; --t3: #ffffff; --t4: #ffffff; --t5: #ffffff;
  --c0: #c2571a; --c1: #2b8a5f; --c2: #8353c4; --c3: #b8336a;
  --c4: #8a6d00; --c5: #1b7f8c; --c6: #5c5c5c; --c7: #3f51b5; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14181d; --card: #1b2128; --ink: #e4e8ec; --soft: #9aa5b1; --rule: #313a45;
  --s0: #242b33; --s1: #23405a; --s2: #2f6796; --s3: #4f98cf; --s4: #a3d0f2; --s5: #e3f2ff;
  --t0: #9aa5b1; --t1: #d7e8f7; --t2: #ffffff; --t3: #08131d; --t4: #0a2033; --t5: #0a2033;
  --c0: #f0915a; --c1: #5fc795; --c2: #b592ec; --c3: #f07ba6;
  --c4: #d9bb4a; --c5: #58c3d0; --c6: #b0b0b0; --c7: #93a1f0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2.5rem 1.5rem 4rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .6rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 3rem 0 .5rem; padding-top: 1.2rem;
  border-top: 1px solid var(--rule); }
p { max-width: 46rem; margin: .5rem 0 1rem; }
p.lead { font-size: 1.08rem; color: var(--soft); }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .8rem;
  margin: 1.2rem 0; }
.fact { background: var(--card); border: 1px solid var(--rule); border-radius: .6rem;
  padding: .6rem 1rem; }
.fact b { display: block; font-size: 1.35rem; font-weight: 650; white-space: nowrap; }
.fact span { color: var(--soft); font-size: .86rem; line-height: 1.3; display: block; }
figure { margin: 1.2rem 0 1.6rem; background: var(--card); border: 1px solid var(--rule);
  border-radius: .6rem; padding: 1rem; overflow-x: auto; }
figcaption { color: var(--soft); font-size: .9rem; margin-top: .6rem; max-width: 56rem; }
svg { display: block; width: 100%; height: auto; min-width: 40rem;
  font-family: inherit; }
svg text { fill: var(--ink); font-size: 13px; }
svg text.soft { fill: var(--soft); font-size: 11.5px; }
svg text.mid { text-anchor: middle; } svg text.end { text-anchor: end; }
svg text.big { font-weight: 600; font-size: 15px; }
svg .frame { fill: none; stroke: var(--soft); stroke-width: 1; }
svg .rule { stroke: var(--rule); stroke-width: 1; fill: none; }
svg .cut { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 2 3; opacity: .6; }
svg .o { stroke: var(--card); stroke-width: 1.5; }
svg .thin { stroke-width: .4; }
svg g.hot:hover .o { stroke: var(--ink); stroke-width: 2; }
.s0 { fill: var(--s0); background: var(--s0); } .s1 { fill: var(--s1); background: var(--s1); }
.s2 { fill: var(--s2); background: var(--s2); } .s3 { fill: var(--s3); background: var(--s3); }
.s4 { fill: var(--s4); background: var(--s4); } .s5 { fill: var(--s5); background: var(--s5); }
svg text.t0 { fill: var(--t0); } svg text.t1 { fill: var(--t1); } svg text.t2 { fill: var(--t2); }
svg text.t3 { fill: var(--t3); } svg text.t4 { fill: var(--t4); } svg text.t5 { fill: var(--t5); }
.tile { fill: none; stroke: var(--ink); stroke-width: 1; opacity: .55; }
.table { overflow-x: auto; margin: 1rem 0 1.4rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .93rem; }
th, td { padding: .32rem .9rem .32rem 0; text-align: left; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
.r { text-align: right; } td { white-space: nowrap; }
.legend { display: flex; flex-wrap: wrap; gap: 1.2rem; font-size: .9rem; color: var(--soft); }
.legend i { display: inline-block; width: 1.1em; height: 1.1em; border-radius: .2em;
  vertical-align: -.2em; margin-right: .45em; border: 1px solid var(--rule); }
footer { margin-top: 3rem; color: var(--soft); font-size: .85rem; }
@media print { body { background: #fff; } h2 { break-after: avoid; }
  figure { break-inside: avoid; } }
)";

constexpr int64_t kSharingClasses = 5;

// By these the pages of all versions are known.
constexpr std::string_view kBegin = "<!DOCTYPE html>";
constexpr std::string_view kFooter = "<footer>Made by tessera ";

const char* escape_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      return nullptr;
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string html;
  while (!text.empty()) {
    const size_t length = base::utf8_length(text);
    const bool control = length == 1 && static_cast<unsigned char>(text.front()) < 0x20;
    if (length == 0 || control) {
      html += "\xEF\xBF\xBD";
    } else if (const char* escape = escape_of(text.front())) {
      html += escape;
    } else {
      html += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return html;
}

std::string sharing_class(int64_t sharers) {
  return fmt::format("s{}", std::clamp<int64_t>(sharers, 0, kSharingClasses));
}

Page::Page(std::string title, std::string_view introduction) : title_(std::move(title)) {
  body_ = fmt::format("<h1>{}</h1>\n<p class=\"lead\">{}</p>\n", escaped(title_),
                      escaped(introduction));
}

void Page::heading(std::string_view text) { body_ += fmt::format("<h2>{}</h2>\n", escaped(text)); }

void Page::paragraph(std::string_view text) { body_ += fmt::format("<p>{}</p>\n", escaped(text)); }

void Page::facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  body_ += "<div class=\"facts\">\n";
  for (const auto& [number, meaning] : facts) {
    body_ += fmt::format("<div class=\"fact\"><b>{}</b><span>{}</span></div>\n", escaped(number),
                         escaped(meaning));
  }
  body_ += "</div>\n";
}

void Page::figure(const std::string& svg, std::string_view caption) {
  body_ +=
      fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", svg, escaped(caption));
}

void Page::table(const Table& table) {
  const auto row = [&](const char* tag, const auto& cell_of) {
    body_ += "<tr>";
    for (size_t i = 0; i < table.columns().size(); ++i) {
      const bool right = table.columns()[i].align == Table::Align::kRight;
      body_ +=
          fmt::format("<{0}{1}>{2}</{0}>", tag, right ? " class=\"r\"" : "", escaped(cell_of(i)));
    }
    body_ += "</tr>\n";
  };
  body_ += "<div class=\"table\"><table>\n<thead>";
  row("th", [&](size_t i) { return table.columns()[i].title; });
  body_ += "</thead>\n<tbody>\n";
  for (const auto& cells : table.rows()) row("td", [&](size_t i) { return cells[i]; });
  body_ += "</tbody>\n</table></div>\n";
}

void Page::legend(const std::vector<int64_t>& sharers) {
  body_ += "<div class=\"legend\">\n";
  for (const int64_t count : sharers) {
    const std::string meaning =
        count == 0 ? std::string("in no view")
        : count == 1
            ? std::string("private: one process")
            : fmt::format("shared by {}{}", count, count >= kSharingClasses ? " or more" : "");
    body_ += fmt::format("<span><i class=\"{}\"></i>{}</span>\n", sharing_class(count), meaning);
    if (count >= kSharingClasses) break;
  }
  body_ += "</div>\n";
}

std::string Page::html() const {
  return fmt::format(
      "{}\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}"
      "{}{}. Intervals are half-open: [0, 15) holds the bytes 0 to 14."
      "</footer>\n</main>\n</body>\n</html>\n",
      kBegin, escaped(title_), kStyle, body_, kFooter, TESSERA_VERSION);
}

bool is_page(std::string_view begin, std::string_view end) {
  return begin.starts_with(kBegin) && end.find(kFooter) != end.npos;
}

}  // namespace tessera::cli
