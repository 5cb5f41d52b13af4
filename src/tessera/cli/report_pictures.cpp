#include "tessera/cli/report_pictures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tessera/cli/numbers.hpp"
#include "tessera/cli/report_text.hpp"
#include "tessera/cli/svg.hpp"

namespace tessera::cli {

namespace {

constexpr size_t kBarsMax = 64;
constexpr double kWidth = 960;
constexpr double kLeft = 110;   // of the bars, after their names
constexpr double kRight = 110;  // for the figures behind them
constexpr double kTop = 34;     // below the legend
constexpr double kBar = 16;
constexpr double kStep = 22;
constexpr const char* kReadStyle = "fill: var(--s3)";
constexpr const char* kWriteStyle = "fill: var(--c0)";

// The averages of neighbouring ranks.
struct Bar {
  int64_t first = 0;
  int64_t last = 0;
  double read_bytes = 0;
  double write_bytes = 0;
  PhaseSeconds seconds{};

  [[nodiscard]] double bytes() const { return read_bytes + write_bytes; }
  [[nodiscard]] double time() const {
    double sum = 0;
    for (const double part : seconds) sum += part;
    return sum;
  }
  [[nodiscard]] std::string name() const {
    return first == last ? fmt::format("rank {}", first) : fmt::format("{} to {}", first, last);
  }
};

Bar bar_of(const std::vector<const RankRecord*>& ranks, size_t begin, size_t end) {
  Bar bar{ranks[begin]->rank, ranks[end - 1]->rank};
  const auto count = static_cast<double>(end - begin);
  for (size_t i = begin; i < end; ++i) {
    bar.read_bytes += static_cast<double>(ranks[i]->read.bytes) / count;
    bar.write_bytes += static_cast<double>(ranks[i]->write.bytes) / count;
    for (size_t phase = 0; phase < kPhases.size(); ++phase) {
      bar.seconds[phase] += ranks[i]->seconds[phase] / count;
    }
  }
  return bar;
}

std::vector<Bar> bars_of(const FileRecord& file) {
  std::vector<const RankRecord*> ranks;
  for (const RankRecord& rank : file.ranks) ranks.push_back(&rank);
  std::sort(ranks.begin(), ranks.end(),
            [](const RankRecord* a, const RankRecord* b) { return a->rank < b->rank; });
  const size_t count = std::min(ranks.size(), kBarsMax);
  std::vector<Bar> bars;
  for (size_t i = 0; i < count; ++i) {
    bars.push_back(bar_of(ranks, i * ranks.size() / count, (i + 1) * ranks.size() / count));
  }
  return bars;
}

template <typename Measure>
double largest(const std::vector<Bar>& bars, const Measure& measure) {
  double most = 0;
  for (const Bar& bar : bars) most = std::max(most, measure(bar));
  return most;
}

Svg canvas(size_t bars, const char* label) {
  return {kWidth, kTop + kStep * static_cast<double>(std::max<size_t>(bars, 1)), label};
}

// Small squares with words, from left to right.
void draw_legend(Svg& svg, const std::vector<std::pair<std::string, std::string>>& entries) {
  double x = kLeft;
  for (const auto& [style, word] : entries) {
    svg.rect({x, 4, 12, 12}, "", style, 2);
    svg.text({x + 17, 14.5}, word, "soft");
    x += 34 + 7.5 * static_cast<double>(word.size());
  }
}

struct Part {
  double amount = 0;
  std::string style;
};

// One bar of several parts, its name before it and its figure after it.
void draw_bar(Svg& svg, size_t index, double scale, const std::vector<Part>& parts) {
  const double y = kTop + kStep * static_cast<double>(index);
  double x = kLeft;
  for (const Part& part : parts) {
    const double width = part.amount * scale;
    if (width > 0) svg.rect({x, y, width, kBar}, "", part.style);
    x += width;
  }
}

void draw_words(Svg& svg, size_t index, const std::string& name, double bar_width,
                const std::string& figure) {
  const double y = kTop + kStep * static_cast<double>(index) + 12.5;
  svg.text({kLeft - 8, y}, name, "soft end");
  svg.text({kLeft + bar_width + 8, y}, figure, "soft");
}

std::string bytes_text(double bytes) { return size_text(static_cast<int64_t>(bytes)); }

}  // namespace

std::string bytes_picture(const FileRecord& file) {
  const auto bars = bars_of(file);
  const double most = largest(bars, [](const Bar& bar) { return bar.bytes(); });
  const double scale = most > 0 ? (kWidth - kLeft - kRight) / most : 0;
  Svg svg = canvas(bars.size(), "bytes that each rank read and wrote");
  draw_legend(svg, {{kReadStyle, "read"}, {kWriteStyle, "written"}});
  for (size_t i = 0; i < bars.size(); ++i) {
    const Bar& bar = bars[i];
    svg.begin_hot(fmt::format("{}: read {}, wrote {}", bar.name(), bytes_text(bar.read_bytes),
                              bytes_text(bar.write_bytes)));
    draw_bar(svg, i, scale, {{bar.read_bytes, kReadStyle}, {bar.write_bytes, kWriteStyle}});
    draw_words(svg, i, bar.name(), bar.bytes() * scale, bytes_text(bar.bytes()));
    svg.end_hot();
  }
  return svg.finish();
}

std::string time_picture(const FileRecord& file) {
  const auto bars = bars_of(file);
  const double most = largest(bars, [](const Bar& bar) { return bar.time(); });
  const double scale = most > 0 ? (kWidth - kLeft - kRight) / most : 0;
  const auto style = [](size_t phase) {
    return fmt::format("fill: {}", process_colour(static_cast<int64_t>(phase)));
  };
  Svg svg = canvas(bars.size(), "where the time of each rank went");
  std::vector<std::pair<std::string, std::string>> legend;
  for (size_t i = 0; i < kPhases.size(); ++i) legend.emplace_back(style(i), kPhases[i]);
  draw_legend(svg, legend);
  for (size_t i = 0; i < bars.size(); ++i) {
    std::vector<Part> parts;
    std::string title = bars[i].name() + ":";
    for (size_t phase = 0; phase < kPhases.size(); ++phase) {
      const double seconds = bars[i].seconds[phase];
      parts.push_back({seconds, style(phase)});
      if (seconds > 0) title += fmt::format(" {} {}", kPhases[phase], seconds_text(seconds));
    }
    svg.begin_hot(title);
    draw_bar(svg, i, scale, parts);
    draw_words(svg, i, bars[i].name(), bars[i].time() * scale, seconds_text(bars[i].time()));
    svg.end_hot();
  }
  return svg.finish();
}

std::string runs_picture(const FileTotals& totals) {
  constexpr double kHeight = 200;
  constexpr double kFoot = 34;
  constexpr double kMargin = 40;
  const std::vector<int64_t>& reads = totals.read.run_sizes;
  const std::vector<int64_t>& writes = totals.write.run_sizes;
  const size_t classes = std::max(reads.size(), writes.size());
  const auto runs = [](const std::vector<int64_t>& sizes, size_t i) {
    return i < sizes.size() ? sizes[i] : 0;
  };
  int64_t most = 1;
  for (size_t i = 0; i < classes; ++i) most = std::max({most, runs(reads, i), runs(writes, i)});
  // Thousands of short runs must not hide a few long ones.
  const double scale = (kHeight - kTop - 16) / std::log1p(static_cast<double>(most));
  const double step = (kWidth - 2 * kMargin) / static_cast<double>(std::max<size_t>(classes, 8));
  Svg svg(kWidth, kHeight + kFoot, "how many runs had which size");
  draw_legend(svg, {{kReadStyle, "runs read"}, {kWriteStyle, "runs written"}});
  const auto column = [&](size_t i, int64_t count, double offset, const char* style) {
    if (count == 0) return;
    const double height = std::log1p(static_cast<double>(count)) * scale;
    const Box box{kMargin + step * static_cast<double>(i) + offset, kHeight - height, step * .42,
                  height};
    svg.begin_hot(fmt::format("{} of {}", counted(count, "run"), run_class_text(i)));
    svg.rect(box, "", style);
    svg.end_hot();
  };
  for (size_t i = 0; i < classes; ++i) {
    column(i, runs(reads, i), step * .04, kReadStyle);
    column(i, runs(writes, i), step * .5, kWriteStyle);
    if (classes <= 16 || i % 4 == 0) {
      svg.text({kMargin + step * (static_cast<double>(i) + .48), kHeight + 18},
               size_text(int64_t{1} << i), "soft mid");
    }
  }
  svg.line({kMargin, kHeight}, {kWidth - kMargin, kHeight}, "rule");
  return svg.finish();
}

}  // namespace tessera::cli
