#include "tessera/cli/mesh_page.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/cli/mesh_text.hpp"
#include "tessera/cli/numbers.hpp"
#include "tessera/cli/page.hpp"
#include "tessera/cli/svg.hpp"

namespace tessera::cli {

namespace {

constexpr double kWidth = 960;
constexpr double kLeft = 90;    // of bars and columns, after the names of the policies
constexpr double kRight = 150;  // for the figures behind bars
constexpr double kBar = 18;
constexpr double kBarStep = 26;
constexpr double kRow = 96;  // of columns, with the space above them
constexpr double kColumns = 72;
constexpr size_t kColumnsMax = 256;

using Amounts = std::vector<int64_t>;  // by process

std::vector<const PlannedPolicy*> plans_of(const MeshPlanFacts& facts) {
  std::vector<const PlannedPolicy*> plans;
  for (const PlannedPolicy& planned : facts.planned) {
    if (planned.writers) plans.push_back(&planned);
  }
  return plans;
}

std::string style_of(owner::Policy policy) {
  return fmt::format("fill: {}", process_colour(static_cast<int64_t>(policy)));
}

std::string intervals_picture(const std::vector<const PlannedPolicy*>& plans) {
  int64_t most = 1;
  for (const PlannedPolicy* plan : plans) most = std::max(most, plan->metrics.intervals);
  const double scale = (kWidth - kLeft - kRight) / static_cast<double>(most);
  Svg svg(kWidth, kBarStep * static_cast<double>(plans.size()) + 8, "intervals of each policy");
  double y = 4;
  for (const PlannedPolicy* plan : plans) {
    const owner::WriterMetrics& metrics = plan->metrics;
    const double width = static_cast<double>(metrics.intervals) * scale;
    svg.begin_hot(fmt::format("{}: {}, {:.1f} nodes long on average",
                              owner::policy_name(plan->policy),
                              counted(metrics.intervals, "interval"), metrics.average_length));
    svg.rect({kLeft, y, width, kBar}, "o", style_of(plan->policy));
    svg.text({kLeft - 8, y + 13.5}, owner::policy_name(plan->policy), "end");
    svg.text({kLeft + width + 8, y + 13.5}, with_commas(metrics.intervals), "soft");
    svg.end_hot();
    y += kBarStep;
  }
  return svg.finish();
}

// One policy's amounts of all processes; where there are many, neighbours share a column that is as
// high as the largest of them.
void draw_columns(Svg& svg, const Amounts& amounts, const Box& frame, double scale,
                  const std::string& style) {
  const size_t columns = std::min(amounts.size(), kColumnsMax);
  const double step = frame.width / static_cast<double>(columns);
  for (size_t i = 0; i < columns; ++i) {
    const size_t begin = i * amounts.size() / columns;
    const size_t end = (i + 1) * amounts.size() / columns;
    const int64_t most = *std::max_element(amounts.begin() + static_cast<std::ptrdiff_t>(begin),
                                           amounts.begin() + static_cast<std::ptrdiff_t>(end));
    const double height = static_cast<double>(most) * scale;
    const std::string who = end - begin == 1 ? fmt::format("process {}", begin)
                                             : fmt::format("processes {} to {}", begin, end - 1);
    svg.begin_hot(fmt::format("{}: {}", who, with_commas(most)));
    svg.rect({frame.x + step * static_cast<double>(i), frame.bottom() - height, step * .86, height},
             "", style);
    svg.end_hot();
  }
}

// The amounts of all processes, a row for each policy, to one scale.
template <typename AmountsOf>
std::string processes_picture(const std::vector<const PlannedPolicy*>& plans,
                              const AmountsOf& amounts_of, const char* label) {
  int64_t most = 1;
  for (const PlannedPolicy* plan : plans) {
    for (const int64_t amount : amounts_of(plan->metrics)) most = std::max(most, amount);
  }
  Svg svg(kWidth, kRow * static_cast<double>(plans.size()) + 4, label);
  double top = kRow - kColumns;
  for (const PlannedPolicy* plan : plans) {
    const Box frame{kLeft, top, kWidth - kLeft - 12, kColumns};
    const Amounts& amounts = amounts_of(plan->metrics);
    draw_columns(svg, amounts, frame, kColumns / static_cast<double>(most), style_of(plan->policy));
    svg.line({frame.x, frame.bottom()}, {frame.right(), frame.bottom()}, "rule");
    const auto [least, largest] = std::ranges::minmax(amounts);
    svg.text({kLeft - 8, frame.center_y()}, owner::policy_name(plan->policy), "end");
    svg.text({kLeft, top - 6}, fmt::format("{} to {}", with_commas(least), with_commas(largest)),
             "soft");
    top += kRow;
  }
  return svg.finish();
}

void add_facts(Page& page, const MeshPlanFacts& facts) {
  page.facts({{with_commas(facts.mesh.nodes), "nodes"},
              {with_commas(facts.mesh.elements), "elements"},
              {with_commas(facts.parts), "parts"},
              {fmt::format("{:.1f}%", facts.replication_percent), "of the nodes are shared"},
              {with_commas(facts.replicas), "nodes with all copies"},
              {with_commas(facts.optimal_intervals), "intervals at least"}});
}

void add_pictures(Page& page, const std::vector<const PlannedPolicy*>& plans) {
  page.heading("Intervals");
  page.figure(intervals_picture(plans),
              "Runs of nodes that one process writes. Fewer and longer ones are less work for the "
              "file system.");
  page.heading("Intervals of each process");
  page.figure(processes_picture(
                  plans,
                  [](const owner::WriterMetrics& metrics) -> const Amounts& {
                    return metrics.intervals_of;
                  },
                  "intervals of each process"),
              "All processes from left to right, to one scale for all policies. Point at a column "
              "to see its process.");
  page.heading("Load of each process");
  page.figure(
      processes_picture(
          plans,
          [](const owner::WriterMetrics& metrics) -> const Amounts& { return metrics.items_of; },
          "nodes that each process writes"),
      "Nodes that each process writes.");
}

}  // namespace

std::string mesh_plan_page(const MeshPlanFacts& facts) {
  Page page("Who writes the shared nodes",
            fmt::format("{}: {}; {}. Any part that holds a node may write it; a policy chooses "
                        "which.",
                        facts.path, mesh_line(facts), partition_line(facts)));
  add_facts(page, facts);
  page.heading("Policies");
  page.paragraph(
      "LB is the difference between the most and the fewest nodes that a process writes, divided "
      "by the average.");
  page.table(mesh_policy_table(facts));
  for (const PlannedPolicy& planned : facts.planned) {
    if (!planned.writers) page.paragraph(planned.failure);
  }
  if (const auto plans = plans_of(facts); !plans.empty()) add_pictures(page, plans);
  return page.html();
}

}  // namespace tessera::cli
